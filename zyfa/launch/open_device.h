#ifndef ZYFA_LAUNCH_OPEN_DEVICE_H_
#define ZYFA_LAUNCH_OPEN_DEVICE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/hip_device.h"

namespace zyfa {

// A device by the word of a command line: "hip", "emulator", or "auto" for HIP
// if it has a usable gfx950 and the emulator otherwise. With "auto",
// `why_not_hip` (if given) receives what speaks against HIP, or "".
// InvalidArgument for other words; else the errors of OpenHipDevice().
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(
    const std::string& kind, const HipOptions& options = {},
    std::string* why_not_hip = nullptr);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_OPEN_DEVICE_H_
