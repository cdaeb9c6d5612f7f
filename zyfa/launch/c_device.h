#ifndef ZYFA_LAUNCH_C_DEVICE_H_
#define ZYFA_LAUNCH_C_DEVICE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/zyfa.h"

// What C programs hold a pointer to.
struct zyfa_device {
  std::unique_ptr<zyfa::Device> device;
};

namespace zyfa {

// The C code of `status`, whose words zyfa_last_error() gives from now on.
zyfa_status ToC(const absl::Status& status);

// Hands an opened device to a C program; `out` becomes null on an error.
zyfa_status ToC(absl::StatusOr<std::unique_ptr<Device>> device,
                zyfa_device** out);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_C_DEVICE_H_
