#include "zyfa/reference/int8_rule_figures.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "zyfa/reference/int8_model.h"
#include "zyfa/reference/refuse.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::reference {
namespace {

double SquaredDistance(const std::vector<double>& a,
                       const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

Int8RuleFigures& Int8RuleFigures::operator+=(const Int8RuleFigures& other) {
  output += other.output;
  error += other.error;
  exact_error += other.exact_error;
  paths += other.paths;
  return *this;
}

double Int8RuleFigures::Error() const { return std::sqrt(error / output); }
double Int8RuleFigures::ErrorOverExact() const {
  return std::sqrt(error / exact_error);
}

absl::StatusOr<Int8RuleStudy> Int8RuleStudy::Make(Int8Tensors tensors,
                                                  int groups) {
  const int64_t most = tensors.problem.seqlen_q / kQueryTile;
  if (groups < 1 || groups > most) {
    return Refuse("groups", groups, absl::StrCat("1 .. ", most));
  }
  Int8RuleStudy study;
  study.tensors_ = std::move(tensors);
  study.attention_.rows.emplace();
  for (int64_t i = 1; i <= groups; ++i) {
    const int64_t group = i * most / groups - 1;
    for (int64_t r = 0; r < kQueryTile; ++r) {
      study.attention_.rows->push_back(group * kQueryTile + r);
    }
  }
  const auto expected = study.tensors_.Float64(study.attention_);
  if (!expected.ok()) return expected.status();
  const auto exact = study.tensors_.ExactP(study.attention_);
  if (!exact.ok()) return exact.status();
  study.expected_ = expected->output;
  study.exact_error_ = SquaredDistance(exact->output, expected->output);
  study.output_ = SquaredDistance(
      expected->output, std::vector<double>(expected->output.size(), 0.0));
  return study;
}

absl::StatusOr<Int8RuleFigures> Int8RuleStudy::Measure(
    const Int8Rule& rule) const {
  Int8SlowPathCounter counter(*attention_.rows, tensors_.problem.seqlen_kv);
  Int8ModelOptions options;
  options.rule = rule;
  options.attention = attention_;
  options.on_tile = [&](const Int8Tile& tile) { counter.Note(tile); };
  const auto model = tensors_.Model(options);
  if (!model.ok()) return model.status();
  Int8RuleFigures figures;
  figures.output = output_;
  figures.exact_error = exact_error_;
  figures.error = SquaredDistance(model->output, expected_);
  figures.paths = counter.Count();
  return figures;
}

}  // namespace zyfa::reference
