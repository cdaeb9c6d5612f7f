#ifndef ZYFA_LAUNCH_HIP_DEVICE_H_
#define ZYFA_LAUNCH_HIP_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/kfd_topology.h"

namespace zyfa {

struct HipOptions {
  int ordinal = 0;      // as HIP counts devices
  std::string library;  // the HIP runtime; empty: found as hip_api.h says
  // For messages only.
  std::string topology_directory = kKfdTopology;
};

// A gfx950 GPU through the HIP runtime, which is loaded by this call; nothing
// of ROCm is needed to build. The calling thread's current HIP device is left
// as it was by all functions of the device.
//
// Unavailable: no runtime, or no GPU. InvalidArgument: no such ordinal.
// FailedPrecondition: the runtime lacks functions, or the GPU is not gfx950.
// Errors of HIP name the function, its error number and text.
absl::StatusOr<std::unique_ptr<Device>> OpenHipDevice(
    const HipOptions& options = {});

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_HIP_DEVICE_H_
