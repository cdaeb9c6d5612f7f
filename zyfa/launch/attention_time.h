#ifndef ZYFA_LAUNCH_ATTENTION_TIME_H_
#define ZYFA_LAUNCH_ATTENTION_TIME_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/emu/cycles/launch_work.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/launch/device.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/variant.h"

namespace zyfa {

// The work of all groups of a launch that MakePiece() gave, in the emulator's
// terms; each stands for itself in the emulated grid.
emu::LaunchWork AttentionLaunchWork(const Variant& variant,
                                    const AttentionArgs& args,
                                    const LaunchShape& shape);

// Whether a linked variant has a kernel of that name in its code object.
bool IsAttentionKernel(const std::string& kernel);

// Models a launch of one of our kernels, known by its name in the code object.
// `options` as the caller wants them, but for the bytes of HBM, which follow
// from the arguments, and the peak, which is the data type's.
// FailedPrecondition: no linked variant has that kernel, or `arguments` is no
// AttentionArgs; else the errors of ModelKernelTime().
absl::StatusOr<emu::KernelTime> ModelAttentionTime(
    const emu::CodeObject& code, const std::string& kernel,
    const LaunchShape& shape, absl::Span<const uint8_t> arguments,
    emu::DeviceMemory& memory, const emu::KernelTimeOptions& options);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_ATTENTION_TIME_H_
