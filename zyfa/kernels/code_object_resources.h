#ifndef ZYFA_KERNELS_CODE_OBJECT_RESOURCES_H_
#define ZYFA_KERNELS_CODE_OBJECT_RESOURCES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "zyfa/kernels/kernel_resources.h"

namespace zyfa {

// Reads what kernel `symbol` of a gfx950 code object needs, from its 64-byte
// descriptor (symbol NAME.kd: registers, LDS, scratch) and from its metadata
// note (work-group size, argument bytes). Sources: LLVM's AMDGPU usage guide,
// "Kernel Descriptor" and "Code Object V3 and Above Metadata".
//
// InvalidArgument: not an ELF for gfx950, truncated, or descriptor and metadata
// disagree. NotFound: no such kernel.
absl::StatusOr<KernelResources> ReadKernelResources(
    absl::Span<const uint8_t> elf, absl::string_view symbol);

}  // namespace zyfa

#endif  // ZYFA_KERNELS_CODE_OBJECT_RESOURCES_H_
