#ifndef ZYFA_PROBE_LEAN_H_
#define ZYFA_PROBE_LEAN_H_

#include "absl/status/statusor.h"
#include "zyfa/launch/device.h"

namespace zyfa::probe {

// AttentionArgs::lean_top of a device, from the codes that a ramp of arguments
// gives: the middle of those that become code 126, so 126.5 if the conversion
// rounds down. Once for a device is enough.
//
// FailedPrecondition names what was seen if the lean kernels cannot be right
// there: a multiply-add whose denormal results lack bits, codes that do not
// rise by one for each unit of the argument, that do not end at 0 or 255, or a
// packing conversion that does not keep the other half of its destination.
// Else the device's errors.
absl::StatusOr<float> ProbeLean(Device& device);

}  // namespace zyfa::probe

#endif  // ZYFA_PROBE_LEAN_H_
