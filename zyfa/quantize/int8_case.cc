#include "zyfa/quantize/int8_case.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/host_quantize.h"
#include "zyfa/quantize/int8_plan.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;

// Numbers of tokens in an allocation that ends with the last of them.
class TokenPlacement {
 public:
  TokenPlacement(const TokenLayout& layout, const QuantizeExtent& e,
                 int64_t bytes)
      : extent_(e), bytes_(bytes), lead_(layout.lead) {
    const int64_t row = e.seqlen + layout.padding;
    batch_ = layout.heads_first ? row : row * e.heads;
    head_ = layout.heads_first ? row * e.batch : row;
    count_ =
        e.elements() > 0 ? lead_ + e.batch * e.heads * row - layout.padding : 0;
  }
  TokenView View(uint64_t address) const {
    return {address + static_cast<uint64_t>(bytes_ * lead_),
            extent_.batch,
            extent_.heads,
            extent_.seqlen,
            bytes_ * batch_,
            bytes_ * head_};
  }
  int64_t count() const { return count_; }
  // Takes the numbers out of the allocation's; what is left must be 0xff.
  template <typename T>
  std::vector<T> Take(std::vector<T> all, bool& wrote_outside) const {
    std::vector<T> out;
    for (int64_t i = 0; i < extent_.batch * extent_.heads; ++i) {
      const int64_t at =
          lead_ + i / extent_.heads * batch_ + i % extent_.heads * head_;
      for (int64_t s = 0; s < extent_.seqlen; ++s) {
        T& token = all[static_cast<size_t>(at + s)];
        out.push_back(token);
        token = static_cast<T>(-1);
      }
    }
    wrote_outside |= std::any_of(all.begin(), all.end(),
                                 [](T x) { return x != static_cast<T>(-1); });
    return out;
  }

 private:
  QuantizeExtent extent_;
  int64_t bytes_, lead_, batch_ = 0, head_ = 0, count_ = 0;
};

}  // namespace

std::string KeysCase::Name() const {
  return absl::StrCat(
      TensorCase::Name(),
      " granularity=", static_cast<int>(options.granularity),
      " multipliers=", options.token_multipliers, " rotate=", options.rotate,
      " mean=", options.subtract_mean, " calibrated=", !descales.empty());
}

std::string QueriesCase::Name() const {
  return absl::StrCat(
      TensorCase::Name(),
      " granularity=", static_cast<int>(options.key_granularity),
      " multipliers=", options.multipliers, " rotate=", options.rotate,
      " heads_kv=", options.heads_kv, " scale=", options.softmax_scale);
}

absl::StatusOr<KeysResult> RunOnHost(const KeysCase& c) {
  std::optional<QuantizeCalibration> calibration;
  if (!c.descales.empty())
    calibration = QuantizeCalibration{c.descales, c.mean};
  const auto keys =
      QuantizeKeysInt8OnHost(c.options, c.extent, PassInput(c), calibration);
  if (!keys.ok()) return keys.status();
  KeysResult result;
  result.keys = *keys;
  return result;
}

absl::StatusOr<QueriesResult> RunOnHost(const QueriesCase& c) {
  const std::vector<Bf16> input = PassInput(c);
  const auto queries =
      QuantizeQueriesInt8OnHost(c.options, c.extent, input, c.key_descales);
  if (!queries.ok()) return queries.status();
  QueriesResult result;
  result.queries = *queries;
  if (!c.correct_lse) return result;
  const auto lse = LseCorrectionOnHost(c.extent, input, c.options.heads_kv,
                                       PassKeyMean(c, c.options.heads_kv),
                                       c.options.softmax_scale);
  if (!lse.ok()) return lse.status();
  result.lse_correction = *lse;
  return result;
}

absl::StatusOr<KeysResult> RunOnEmulator(const KeysCase& c,
                                         const emu::RunOptions& options,
                                         bool all_schedules) {
  const QuantizeExtent& e = c.extent;
  const int64_t scales =
      ScaleCount(c.options.granularity, e.batch, e.heads, e.seqlen);
  const int64_t means =
      c.options.subtract_mean ? e.batch * e.heads * e.head_dim : 0;
  const TokenPlacement place(c.multipliers, e, sizeof(uint32_t));
  PassRun run(c);
  QuantizeKeysInt8Params params;
  params.options = c.options;
  params.input = run.Input();
  params.output = run.Output(DataType::kInt8);
  params.calibrated = !c.descales.empty();
  params.descale =
      params.calibrated ? run.Array(c.descales) : run.Allocate(4 * scales);
  params.mean = params.calibrated ? run.Array(c.mean) : run.Allocate(4 * means);
  uint64_t multipliers = 0;
  if (c.options.token_multipliers) {
    multipliers = run.Allocate(4 * place.count());
    params.multipliers = place.View(multipliers);
  }
  const auto workspace = PlanQuantizeWorkspace(params);
  if (!workspace.ok()) return workspace.status();
  params.workspace = run.Allocate(workspace->bytes);
  run.Run(PlanQuantize(params), options, all_schedules);

  KeysResult result;
  result.keys.codes = run.Codes<int8_t>();
  result.wrote_outside = run.wrote_outside();
  result.keys.descales = run.Read<float>(params.descale, scales);
  result.keys.mean = run.Read<float>(params.mean, means);
  if (c.options.token_multipliers) {
    result.keys.multipliers = place.Take(
        run.Read<uint32_t>(multipliers, place.count()), result.wrote_outside);
  }
  result.findings = run.findings();
  if (!run.status().ok()) return run.status();
  return result;
}

absl::StatusOr<QueriesResult> RunOnEmulator(const QueriesCase& c,
                                            const emu::RunOptions& options,
                                            bool all_schedules) {
  const QuantizeExtent& e = c.extent;
  const int64_t corrections = c.correct_lse ? e.batch * e.heads * e.seqlen : 0;
  const TokenPlacement place(c.shifts, e, sizeof(uint8_t));
  PassRun run(c);
  QuantizeQueriesInt8Params params;
  params.options = c.options;
  params.input = run.Input();
  params.output = run.Output(DataType::kInt8);
  params.key_descale = run.Array(c.key_descales);
  const uint64_t shifts = run.Allocate(place.count());
  params.shifts = place.View(shifts);
  const uint64_t lse = run.Allocate(4 * corrections);
  if (c.correct_lse) {
    params.lse_correction = {DenseLse(lse, e.batch, e.heads, e.seqlen),
                             run.Array(PassKeyMean(c, c.options.heads_kv)),
                             c.options.heads_kv, c.options.softmax_scale};
  }
  run.Run(PlanQuantize(params), options, all_schedules);

  QueriesResult result;
  result.queries.codes = run.Codes<int8_t>();
  result.wrote_outside = run.wrote_outside();
  result.queries.shifts = place.Take(run.Read<uint8_t>(shifts, place.count()),
                                     result.wrote_outside);
  result.lse_correction = run.Read<float>(lse, corrections);
  result.findings = run.findings();
  if (!run.status().ok()) return run.status();
  return result;
}

std::string Compare(const KeysCase& c, bool all_schedules) {
  return CompareWithHost(
      c, all_schedules, [](const KeysResult& got, const KeysResult& want) {
        const Int8Keys &x = got.keys, &y = want.keys;
        return std::vector<std::string>{
            FirstDifference("mean", x.mean, y.mean),
            FirstDifference("descales", x.descales, y.descales),
            FirstDifference("multipliers", x.multipliers, y.multipliers),
            FirstDifference("codes", x.codes, y.codes)};
      });
}

std::string Compare(const QueriesCase& c, bool all_schedules) {
  return CompareWithHost(
      c, all_schedules,
      [](const QueriesResult& got, const QueriesResult& want) {
        const Int8Queries &x = got.queries, &y = want.queries;
        return std::vector<std::string>{
            FirstDifference("shifts", x.shifts, y.shifts),
            FirstDifference("codes", x.codes, y.codes),
            FirstDifference("lse_correction", got.lse_correction,
                            want.lse_correction)};
      });
}

}  // namespace zyfa::testing
