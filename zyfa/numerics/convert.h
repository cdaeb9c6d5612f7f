#ifndef ZYFA_NUMERICS_CONVERT_H_
#define ZYFA_NUMERICS_CONVERT_H_

#include <span>

#include "absl/status/status.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e2m1.h"
#include "zyfa/numerics/e2m3.h"
#include "zyfa/numerics/e3m2.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/e5m2.h"

namespace zyfa::numerics {

// Whole arrays through FromFloat() and ToFloat(), compiled for speed in every
// build mode. One code a byte for the formats below 8 bits, unpacked.
// InvalidArgument if the sizes differ.
absl::Status Convert(std::span<const float> from, std::span<Bf16> to);
absl::Status Convert(std::span<const float> from, std::span<E4m3> to,
                     Overflow overflow);
absl::Status Convert(std::span<const float> from, std::span<E5m2> to,
                     Overflow overflow);
absl::Status Convert(std::span<const float> from, std::span<E2m1> to);
absl::Status Convert(std::span<const float> from, std::span<E2m3> to);
absl::Status Convert(std::span<const float> from, std::span<E3m2> to);

absl::Status Convert(std::span<const Bf16> from, std::span<float> to);
absl::Status Convert(std::span<const E4m3> from, std::span<float> to);
absl::Status Convert(std::span<const E5m2> from, std::span<float> to);
absl::Status Convert(std::span<const E2m1> from, std::span<float> to);
absl::Status Convert(std::span<const E2m3> from, std::span<float> to);
absl::Status Convert(std::span<const E3m2> from, std::span<float> to);

}  // namespace zyfa::numerics

#endif  // ZYFA_NUMERICS_CONVERT_H_
