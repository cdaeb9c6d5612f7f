#ifndef ZYFA_EMU_KERNEL_METADATA_H_
#define ZYFA_EMU_KERNEL_METADATA_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/code_object.h"

namespace zyfa::emu {

// One entry of amdhsa.kernels: `kernel` without what the descriptor tells.
struct KernelMetadata {
  KernelInfo kernel;
  std::string symbol;  // of the descriptor
};

// From the msgpack text of the metadata note. InvalidArgument if it is no
// msgpack, lacks a required field or contradicts gfx950 (wave size, limits).
absl::StatusOr<std::vector<KernelMetadata>> ReadKernelMetadata(
    const std::string& msgpack);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_KERNEL_METADATA_H_
