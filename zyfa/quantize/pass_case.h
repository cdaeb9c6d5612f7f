#ifndef ZYFA_QUANTIZE_PASS_CASE_H_
#define ZYFA_QUANTIZE_PASS_CASE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/quantize/host_quantize.h"
#include "zyfa/quantize/options.h"

namespace zyfa::testing {

// Where a tensor lies. Around and between its rows is 0xff, up to the exact end
// of the allocation; nothing in one of more than 64 MiB.
struct PassLayout {
  // The dimensions from the outermost to the innermost, rows apart.
  enum Order { kBshd, kBhsd, kSbhd, kHsbd };
  Order order = kBshd;
  int64_t row_padding = 0;  // bytes behind each row, multiple of 16
  int64_t lead = 0;         // bytes in front of the tensor, multiple of 16
  bool one_token = false;   // inputs: sequence stride 0
};

// One pass, its input and where all lies.
struct PassCase {
  QuantizeOptions options;
  QuantizeExtent extent;
  PassLayout input, output;
  // With an LSE correction, if not 0.
  int64_t heads_kv = 0;
  float softmax_scale = 0.1f;
  uint64_t seed = 1;
  // Value of an element; Gaussian if unset.
  using Fill = std::function<float(int64_t batch, int64_t token, int64_t head,
                                   int64_t channel, float gaussian)>;
  Fill fill;

  std::string Name() const;
};

struct PassResult {
  QuantizedTensor tensor;
  std::vector<float> lse_correction;
  std::vector<emu::Finding> findings;
  bool wrote_outside = false;
};

// [batch][seqlen][heads][head_dim]
std::vector<numerics::Bf16> PassInput(const PassCase& c);
// A mean for the LSE correction, [batch][heads_kv][head_dim].
std::vector<float> PassKeyMean(const PassCase& c);

absl::StatusOr<PassResult> RunOnHost(const PassCase& c);
// By the launch plan of the public API; `all_schedules`: every launch under all
// orders of waves.
absl::StatusOr<PassResult> RunOnEmulator(const PassCase& c,
                                         const emu::RunOptions& options,
                                         bool all_schedules = false);

// "" if the emulator gives the bits of the host, without a finding and without
// a byte written outside.
std::string Compare(const PassCase& c, bool all_schedules = false);

}  // namespace zyfa::testing

#endif  // ZYFA_QUANTIZE_PASS_CASE_H_
