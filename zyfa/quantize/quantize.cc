#include "zyfa/quantize/quantize.h"

#include <cstring>
#include <string>
#include <vector>

#include "zyfa/quantize/int8_plan.h"
#include "zyfa/quantize/plan.h"

namespace zyfa {
namespace {

template <typename Params>
absl::StatusOr<int64_t> WorkspaceBytes(const Params& params) {
  const auto workspace = PlanQuantizeWorkspace(params);
  if (!workspace.ok()) return workspace.status();
  return workspace->bytes;
}

absl::Status Launch(const absl::StatusOr<std::vector<QuantizeLaunch>>& plan,
                    Device& device, Stream stream) {
  if (!plan.ok()) return plan.status();
  for (const QuantizeLaunch& launch : *plan) {
    const auto kernel = device.LoadOnce(launch.kernel->code_object,
                                        std::string(launch.kernel->symbol));
    if (!kernel.ok()) return kernel.status();
    uint8_t bytes[sizeof(QuantizeArgs)];
    std::memcpy(bytes, &launch.args, sizeof(bytes));
    const absl::Status status =
        device.Launch(*kernel, launch.shape, bytes, stream);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> QuantizeWorkspaceBytes(const QuantizeParams& params) {
  return WorkspaceBytes(params);
}

absl::StatusOr<int64_t> QuantizeWorkspaceBytes(
    const QuantizeKeysInt8Params& params) {
  return WorkspaceBytes(params);
}

absl::Status Quantize(const QuantizeParams& params, Device& device,
                      Stream stream) {
  return Launch(PlanQuantize(params), device, stream);
}

absl::Status Quantize(const QuantizeKeysInt8Params& params, Device& device,
                      Stream stream) {
  return Launch(PlanQuantize(params), device, stream);
}

absl::Status Quantize(const QuantizeQueriesInt8Params& params, Device& device,
                      Stream stream) {
  return Launch(PlanQuantize(params), device, stream);
}

}  // namespace zyfa
