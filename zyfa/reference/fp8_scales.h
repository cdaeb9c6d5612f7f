#ifndef ZYFA_REFERENCE_FP8_SCALES_H_
#define ZYFA_REFERENCE_FP8_SCALES_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace zyfa::reference {

// The scales of e4m3 inputs and the output formats of the models that add up
// e4m3 products.

// real value = e4m3 value * descale(batch, head); finite. `head` counts query
// heads for the query and KV heads for key and value. Called before any work,
// on one thread.
using Fp8Descale = std::function<float(int64_t batch, int64_t head)>;

enum class Fp8Output {
  kFloat32,  // before the last rounding
  kBf16,     // nearest even
  kE4m3,     // of value * output_scale, saturated; the result holds the decoded
             // e4m3, still scaled
};

// The descale of a head, 1 if not set; InvalidArgument naming it, as `name`, if
// it is not finite.
absl::StatusOr<float> CallDescale(const Fp8Descale& descale,
                                  absl::string_view name, int64_t batch,
                                  int64_t head);

// InvalidArgument for an unknown format, and for a scale that is not finite.
absl::Status ValidateFp8Output(Fp8Output output, float output_scale);

// output[i] = accumulated[i] * factor, in float32, in the output format. For
// kE4m3 output_scale is multiplied into the factor first, which saturates.
void StoreFp8Row(const double* accumulated, int64_t count, float factor,
                 Fp8Output format, float output_scale, double* output);

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_FP8_SCALES_H_
