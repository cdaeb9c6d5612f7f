#ifndef ZYFA_LAUNCH_FP8_ENTRIES_H_
#define ZYFA_LAUNCH_FP8_ENTRIES_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/variant/variant.h"

namespace zyfa {

// Names of all FP8 variants.
inline constexpr absl::string_view kFp8Names[] = {
    "fp8_lean_d128_causal",      "fp8_lean_d128_full",
    "fp8_lean_d192x128_causal",  "fp8_lean_d192x128_full",
    "fp8_exact_d128_causal",     "fp8_exact_d128_full",
    "fp8_exact_d192x128_causal", "fp8_exact_d192x128_full"};

// Entries of a table of FP8 kernels without code, behind the linked BF16 ones:
// what a plan needs to know of kernels.
inline std::vector<KernelEntry> EntriesWithFp8() {
  std::vector<KernelEntry> entries;
  for (const KernelEntry& entry : AllKernels()) {
    if (entry.variant.data_type == DataType::kBf16) entries.push_back(entry);
  }
  for (const absl::string_view name : kFp8Names) {
    KernelEntry entry;
    entry.name = name;
    entry.variant = *ParseVariant(name);
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_FP8_ENTRIES_H_
