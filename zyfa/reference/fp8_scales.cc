#include "zyfa/reference/fp8_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/reference/refuse.h"

namespace zyfa::reference {
namespace {

double Rounded(float x, Fp8Output format) {
  switch (format) {
    case Fp8Output::kFloat32:
      return x;
    case Fp8Output::kBf16:
      return numerics::Bf16::FromFloat(x).ToFloat();
    default:
      return numerics::E4m3::FromFloat(x, numerics::Overflow::kSaturate)
          .ToFloat();
  }
}

}  // namespace

absl::StatusOr<float> CallDescale(const Fp8Descale& descale,
                                  absl::string_view name, int64_t batch,
                                  int64_t head) {
  const float value = descale == nullptr ? 1.0f : descale(batch, head);
  if (!std::isfinite(value)) {
    return Refuse(
        absl::StrCat(name, " of batch entry ", batch, ", head ", head), value,
        "finite numbers");
  }
  return value;
}

absl::Status ValidateFp8Output(Fp8Output output, float output_scale) {
  if (output != Fp8Output::kFloat32 && output != Fp8Output::kBf16 &&
      output != Fp8Output::kE4m3) {
    return Refuse("output", static_cast<int>(output),
                  "0 (float32), 1 (bf16) and 2 (e4m3)");
  }
  if (!std::isfinite(output_scale)) {
    return Refuse("output_scale", output_scale, "finite numbers");
  }
  return absl::OkStatus();
}

void StoreFp8Row(const double* accumulated, int64_t count, float factor,
                 Fp8Output format, float output_scale, double* output) {
  constexpr float kMax = std::numeric_limits<float>::max();
  if (format == Fp8Output::kE4m3) {
    factor = std::clamp(factor * output_scale, -kMax, kMax);
  }
  for (int64_t i = 0; i < count; ++i) {
    output[i] = Rounded(static_cast<float>(accumulated[i]) * factor, format);
  }
}

}  // namespace zyfa::reference
