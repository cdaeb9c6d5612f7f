#include "zyfa/launch/open_device.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/launch/emulator_device.h"

namespace zyfa {

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(const std::string& kind,
                                                   const HipOptions& options,
                                                   std::string* why_not_hip) {
  if (kind != "auto" && kind != "emulator" && kind != "hip") {
    return absl::InvalidArgumentError(
        absl::StrCat("device is '", kind, "'; allowed: auto, emulator, hip"));
  }
  if (kind != "emulator") {
    auto hip = OpenHipDevice(options);
    if (why_not_hip != nullptr) {
      *why_not_hip = std::string(hip.status().message());
    }
    if (hip.ok() || kind == "hip") return hip;
  }
  return std::unique_ptr<Device>(std::make_unique<EmulatorDevice>());
}

}  // namespace zyfa
