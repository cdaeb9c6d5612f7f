#ifndef ZYFA_REFERENCE_INT8_RULE_FIGURES_H_
#define ZYFA_REFERENCE_INT8_RULE_FIGURES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/reference/int8_slow_paths.h"
#include "zyfa/reference/int8_tensors.h"
#include "zyfa/reference/problem.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::reference {

// What a rule costs, summed over heads.
struct Int8RuleFigures {
  Int8RuleFigures& operator+=(const Int8RuleFigures& other);

  // Of the outputs against float64 attention of the same integers, relative
  // RMSE: what P and its sum add.
  double Error() const;
  // That in units of the one of exact P.
  double ErrorOverExact() const;

  // Sums of squares.
  double output = 0.0;
  double error = 0.0;
  double exact_error = 0.0;

  Int8SlowPaths paths;
};

// One head, with all that rules do not change.
class Int8RuleStudy {
 public:
  // Takes whole work-groups of rows, `groups` of them spread evenly, the last
  // one among them. InvalidArgument for fewer than 1, for more than there are,
  // and as Int8Tensors.
  static absl::StatusOr<Int8RuleStudy> Make(Int8Tensors tensors, int groups);

  // InvalidArgument for a rule out of range.
  absl::StatusOr<Int8RuleFigures> Measure(const Int8Rule& rule) const;

 private:
  Int8RuleStudy() = default;

  Int8Tensors tensors_;
  AttentionOptions attention_;
  std::vector<double> expected_;
  double output_ = 0.0;
  double exact_error_ = 0.0;
};

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_INT8_RULE_FIGURES_H_
