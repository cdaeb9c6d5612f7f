#ifndef ZYFA_GEN_QUANTIZE_QUANTIZE_KERNEL_H_
#define ZYFA_GEN_QUANTIZE_QUANTIZE_KERNEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace zyfa::gen {

// The assembly of one kernel of the quantiser; the kernel is "zyfa_" and the
// name. Arguments and grids: QuantizeArgs. D is 128 or 192.
//   quantize_sum_dD    sums of the tokens of a chunk
//   quantize_mean      sums of all chunks, times 1 / seqlen
//   quantize_max_dD    largest magnitude of a chunk, rotated, without the mean
//   quantize_scale     descale and multiplier from the maxima of a scale
//   quantize_head_dD   codes, by a multiplier or a descale of the head
//   quantize_token_dD  codes and descales, each token by its own maximum
//   quantize_scale_int8       descale of int8 from the maxima of a scale
//   quantize_keys_int8_dD     codes by a descale, and multipliers of tokens
//   quantize_queries_int8_dD  codes and shifts, each row by its own maximum
//
// InvalidArgument for another name.
absl::StatusOr<std::string> GenerateQuantizeKernel(absl::string_view name);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_QUANTIZE_KERNEL_H_
