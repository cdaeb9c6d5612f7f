#ifndef ZYFA_REFERENCE_INT8_RULE_FIGURES_H_
#define ZYFA_REFERENCE_INT8_RULE_FIGURES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/reference/int8_tensors.h"
#include "zyfa/reference/problem.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::reference {

// Pairs of a run of neighbouring rows and a tile that one of them sees, the
// first tile apart, and those of them where a row's base moves, where a row's e
// rises and where either is so.
struct Int8RuleCounts {
  Int8RuleCounts& operator+=(const Int8RuleCounts& other);

  // Of 1000 pairs; 0 if there are none.
  double Moves() const;
  double Rises() const;
  double Changes() const;

  int64_t pairs = 0;
  int64_t moves = 0;
  int64_t rises = 0;
  int64_t changes = 0;
};

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

  // Of waves (32 rows) and work-groups (256): of all tiles, and of those with
  // more than 8 tiles between them and either end of what the run sees.
  Int8RuleCounts wave;
  Int8RuleCounts wave_inner;
  Int8RuleCounts group;
  Int8RuleCounts group_inner;
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
