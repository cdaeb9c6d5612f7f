#include "zyfa/quantize/quantize.h"

#include <cstring>
#include <string>

#include "zyfa/quantize/plan.h"

namespace zyfa {

absl::StatusOr<int64_t> QuantizeWorkspaceBytes(const QuantizeParams& params) {
  const auto workspace = PlanQuantizeWorkspace(params);
  if (!workspace.ok()) return workspace.status();
  return workspace->bytes;
}

absl::Status Quantize(const QuantizeParams& params, Device& device,
                      Stream stream) {
  const auto plan = PlanQuantize(params);
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

}  // namespace zyfa
