#ifndef ZYFA_KERNELS_SHA256_H_
#define ZYFA_KERNELS_SHA256_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"

namespace zyfa {

// SHA-256 (FIPS 180-4) of `bytes` as 64 lower-case hex digits.
std::string Sha256Hex(absl::Span<const uint8_t> bytes);

}  // namespace zyfa

#endif  // ZYFA_KERNELS_SHA256_H_
