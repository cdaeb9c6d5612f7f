// Asks the library whether it takes a call, and why not.

#include <cstdio>

#include "absl/status/status.h"
#include "zyfa/launch/attention.h"

int main() {
  zyfa::AttentionParams params;
  // Addresses are only looked at, not used.
  params.query = zyfa::DenseTensor(0x100000, 1, 100, 8, 128);
  params.key = zyfa::DenseTensor(0x200000, 1, 100, 2, 128);
  params.value = zyfa::DenseTensor(0x300000, 1, 100, 2, 128);
  params.output = zyfa::DenseTensor(0x400000, 1, 100, 8, 128);
  const absl::Status taken = zyfa::Supports(params);
  std::printf("8 query heads on 2 KV heads: %s\n", taken.ToString().c_str());

  params.key = zyfa::DenseTensor(0x200000, 1, 100, 3, 128);
  params.value = zyfa::DenseTensor(0x300000, 1, 100, 3, 128);
  const absl::Status refused = zyfa::Supports(params);
  std::printf("8 query heads on 3 KV heads: %s\n", refused.ToString().c_str());
  return taken.ok() && !refused.ok() ? 0 : 1;
}
