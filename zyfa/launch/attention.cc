#include "zyfa/launch/attention.h"

#include <cstring>
#include <string>

#include "zyfa/launch/plan.h"
#include "zyfa/probe/lean.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa {
namespace {

bool HasLeanProbabilities(const Variant& variant) {
  return variant.data_type == DataType::kFp8 &&
         variant.probability == Probability::kLean;
}

}  // namespace

absl::Status Supports(const AttentionParams& params) {
  return PlanAttention(params).status();
}

absl::Status AttentionForward(const AttentionParams& params, Device& device,
                              Stream stream) {
  auto plan = PlanAttention(params, TargetOf(device.properties()));
  if (!plan.ok()) return plan.status();
  const int64_t pieces = PieceCount(*plan);
  if (pieces == 0) return absl::OkStatus();
  if (HasLeanProbabilities(plan->kernel->variant)) {
    const auto lean_top = device.ProbeOnce(probe::ProbeLean);
    if (!lean_top.ok()) return lean_top.status();
    plan->args.lean_top = *lean_top;
  }
  const auto kernel = device.LoadOnce(plan->kernel->code_object,
                                      std::string(plan->kernel->symbol));
  if (!kernel.ok()) return kernel.status();
  for (int64_t i = 0; i < pieces; ++i) {
    const AttentionPiece piece = MakePiece(*plan, i);
    uint8_t bytes[sizeof(AttentionArgs)];
    std::memcpy(bytes, &piece.args, sizeof(bytes));
    const absl::Status status =
        device.Launch(*kernel, piece.shape, bytes, stream);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace zyfa
