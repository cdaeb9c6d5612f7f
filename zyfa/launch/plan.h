#ifndef ZYFA_LAUNCH_PLAN_H_
#define ZYFA_LAUNCH_PLAN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/device.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa {

// A checked attention call: which kernel, and the arguments of one launch over
// all of it. The grid may be too small for that; see MakePiece().
struct AttentionPlan {
  const KernelEntry* kernel = nullptr;
  AttentionArgs args = {};
  int64_t batch = 0;
  int64_t heads_q = 0;
};

// Does all the checks that AttentionParams documents.
absl::StatusOr<AttentionPlan> PlanAttention(const AttentionParams& params);

// One launch of a plan.
struct AttentionPiece {
  AttentionArgs args = {};
  LaunchShape shape;
};

// HIP allows 65535 work-groups along y and z, so a call becomes several
// launches over parts of the batch and of the query rows. 0 if there are no
// rows.
int64_t PieceCount(const AttentionPlan& plan);
// 0 <= index < PieceCount(plan).
AttentionPiece MakePiece(const AttentionPlan& plan, int64_t index);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_PLAN_H_
