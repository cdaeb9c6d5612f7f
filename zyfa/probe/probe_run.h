#ifndef ZYFA_PROBE_PROBE_RUN_H_
#define ZYFA_PROBE_PROBE_RUN_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/launch/device.h"
#include "zyfa/probe/layout.h"

namespace zyfa::probe {

// The vector instructions on each input, in the same order. Errors: the
// device's.
absl::StatusOr<std::vector<VectorResult>> RunVector(
    Device& device, absl::Span<const VectorInput> inputs);

// One element of a 32x32x64 matrix product: row 0 of A times column 0 of B. All
// other elements of the operands are 0.
struct Dot {
  std::map<int, std::pair<uint8_t, uint8_t>> codes;  // by k: e4m3 of A and of B
  float c = 0;
  uint8_t scale_a[2] = {127, 127};  // e8m0, of k < 32 and of the others
  uint8_t scale_b[2] = {127, 127};

  // Adds sign * 2^exponent at position k; exponent in -18..16.
  Dot& Add(int k, int exponent, bool negative = false);
};

// c + the products of each, as the matrix unit adds them up.
absl::StatusOr<std::vector<float>> RunDots(Device& device,
                                           absl::Span<const Dot> dots);

// The instructions on operands of whole waves, a lane each.
absl::StatusOr<std::vector<Int8Result>> RunInt8(
    Device& device, absl::Span<const Int8Input> lanes);
absl::StatusOr<std::vector<SparseResult>> RunSparse(
    Device& device, absl::Span<const SparseInput> lanes);

}  // namespace zyfa::probe

#endif  // ZYFA_PROBE_PROBE_RUN_H_
