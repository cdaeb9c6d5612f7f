#include "zyfa/kernels/registry.h"

namespace zyfa {

const KernelEntry* FindKernel(absl::string_view name) {
  for (const KernelEntry& entry : AllKernels()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

const KernelEntry* FindKernel(const Variant& variant) {
  for (const KernelEntry& entry : AllKernels()) {
    if (entry.variant == variant) return &entry;
  }
  return nullptr;
}

}  // namespace zyfa
