#ifndef ZYFA_KERNELS_REGISTRY_H_
#define ZYFA_KERNELS_REGISTRY_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "zyfa/kernels/kernel_resources.h"
#include "zyfa/variant/variant.h"

namespace zyfa {

// A kernel that is linked into this program.
struct KernelEntry {
  absl::string_view name;  // VariantName(variant)
  Variant variant;
  absl::string_view symbol;  // name of the kernel inside the code object
  absl::string_view digest;  // SHA-256 of code_object, 64 lower-case hex digits
  KernelResources resources;
  absl::Span<const uint8_t> code_object;  // gfx950 ELF, aligned to 4096 bytes
};

// Every kernel of the table zyfa/kernels/variants.bzl, in its order. The table
// is constant data: it can be read at any time, also before main().
absl::Span<const KernelEntry> AllKernels();

// The kernel of that name or variant; nullptr if there is none.
const KernelEntry* FindKernel(absl::string_view name);
const KernelEntry* FindKernel(const Variant& variant);

}  // namespace zyfa

#endif  // ZYFA_KERNELS_REGISTRY_H_
