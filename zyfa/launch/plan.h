#ifndef ZYFA_LAUNCH_PLAN_H_
#define ZYFA_LAUNCH_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/device.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa {

// What calls are planned for: the kernels that there are, and a device.
struct LaunchTarget {
  absl::Span<const KernelEntry> kernels = AllKernels();
  uint32_t compute_units = kDefaultComputeUnits;
  // AttentionArgs::lean_top: for a conversion that rounds down. A probe tells
  // what the device's is (zyfa/probe/lean.h).
  float lean_top = 126.5f;
};

// The linked kernels and that device, unprobed.
LaunchTarget TargetOf(const DeviceProperties& properties);

// A checked attention call: which kernel, and the arguments of one launch over
// all of it. The grid may be too small for that; see MakePiece().
struct AttentionPlan {
  const KernelEntry* kernel = nullptr;
  AttentionArgs args = {};
  int64_t batch = 0;
  int64_t heads_q = 0;
  uint32_t compute_units = 0;
};

// Does all the checks that AttentionParams documents. Whether a call is refused
// does not depend on the target's device.
absl::StatusOr<AttentionPlan> PlanAttention(const AttentionParams& params,
                                            const LaunchTarget& target = {});

// One launch of a plan.
struct AttentionPiece {
  AttentionArgs args = {};
  LaunchShape shape;
};

// A call becomes several launches over parts of the batch and of the query rows
// where one would have more than HIP's 65535 work-groups along y or z or, of
// FP8 kernels, 2^31 items. 0 if there are no rows.
int64_t PieceCount(const AttentionPlan& plan);
// 0 <= index < PieceCount(plan).
AttentionPiece MakePiece(const AttentionPlan& plan, int64_t index);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_PLAN_H_
