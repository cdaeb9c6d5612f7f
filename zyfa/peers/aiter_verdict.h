#ifndef ZYFA_PEERS_AITER_VERDICT_H_
#define ZYFA_PEERS_AITER_VERDICT_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"

namespace zyfa::peers {

struct AiterVerdict {
  double max_error = 0;   // of the output, absolute; NaN where one is NaN
  double max_output = 0;  // largest reference output
  // Largest part of its bound (RowErrorBound) that an element's error is.
  double max_share = 0;
  // Largest error allowed, if cdna4-isa 6.5 has a figure for the kernel.
  std::optional<double> limit;
  double max_lse_error = 0;  // relative to max(1, |lse|); 0 without LSE
  double lse_limit = 0;
  int64_t rows = 0;  // query rows of all heads that were compared
  bool ok() const;   // false too where anything is NaN
};

// Compares what a launch left in `memory` with float64 attention on the
// operands' exact values. At most about `max_rows` query tokens of each
// sequence are compared, spread evenly with the first and the last among them.
absl::StatusOr<AiterVerdict> JudgeAiterLaunch(const AiterKernel& kernel,
                                              const AiterProblem& problem,
                                              const AiterOperands& operands,
                                              const AiterLaunch& launch,
                                              const emu::DeviceMemory& memory,
                                              int64_t max_rows);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_AITER_VERDICT_H_
