#include "zyfa/reference/published_fp8.h"

namespace zyfa::reference {
namespace {

Fp8ModelOptions UnroundedSum(int headroom) {
  Fp8ModelOptions options;
  options.probability = Probability::kExact;
  options.move_share = 0.0f;
  options.block_maximum = false;
  options.rounded_sum = false;
  options.headroom = headroom;
  return options;
}

}  // namespace

Fp8ModelOptions AiterLikeFp8() { return UnroundedSum(0); }

Fp8ModelOptions CkLikeFp8() { return UnroundedSum(8); }

Fp8ModelOptions IntegerMaximumFp8(Probability probability) {
  Fp8ModelOptions options;
  options.probability = probability;
  options.move_share = 0.0f;
  options.integer_reference = true;
  return options;
}

}  // namespace zyfa::reference
