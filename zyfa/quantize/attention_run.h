#ifndef ZYFA_QUANTIZE_ATTENTION_RUN_H_
#define ZYFA_QUANTIZE_ATTENTION_RUN_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/quantize.h"
#include "zyfa/reference/attention.h"

namespace zyfa::testing {

// From bf16 to attention on the emulator: causal self-attention of one batch
// entry over set M of numerics 8, a gain a head.
inline constexpr int64_t kRunHeads = 2;
inline constexpr int64_t kRunSeqlen = 2048;
inline constexpr int64_t kRunValueDim = 128;
inline constexpr size_t kRunRows = kRunHeads * kRunSeqlen;

struct RunInput {
  int64_t head_dim = 0;
  std::vector<numerics::Bf16> query, key, value;  // [seqlen][heads][head_dim]
  // In float64, with a softmax scale of 1 / sqrt(head_dim).
  reference::AttentionResult exact;
};

RunInput MakeRunInput(int64_t head_dim);

struct RunOutcome {
  double error = NAN;                  // of the output, relative
  double lse_error = NAN;              // RMS
  double uncorrected_lse_error = NAN;  // the same, of what attention gives
  uint64_t vector_instructions = 0;
};

class AttentionRun : public ::testing::Test {
 protected:
  uint64_t Allocate(size_t bytes);
  TensorView Upload(const std::vector<numerics::Bf16>& x, int64_t head_dim);
  TensorView AllocateCodes(int64_t head_dim, DataType type);

  template <typename T>
  std::vector<T> Download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    const absl::Status status = device_.CopyFromDevice(
        {reinterpret_cast<uint8_t*>(values.data()), count * sizeof(T)},
        address);
    EXPECT_TRUE(status.ok()) << status;
    return values;
  }

  // A pass to e4m3, descales a head, but for what else its options say.
  QuantizeParams Pass(const std::vector<numerics::Bf16>& x, int64_t head_dim);

  // Runs a pass that needs a workspace.
  template <typename Params>
  void Start(Params& pass) {
    const auto bytes = QuantizeWorkspaceBytes(pass);
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    pass.workspace = Allocate(static_cast<size_t>(*bytes));
    const absl::Status status = Quantize(pass, device_);
    ASSERT_TRUE(status.ok()) << status;
  }

  // Attention with inputs as given, against the exact one; `correction`: what
  // Q's pass wrote for the LSE, 0 if nothing. Printed behind `name`.
  RunOutcome Attend(const RunInput& in, AttentionParams params,
                    uint64_t correction, const std::string& name);

  EmulatorDevice& device() { return device_; }

 private:
  EmulatorDevice device_;
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
};

}  // namespace zyfa::testing

#endif  // ZYFA_QUANTIZE_ATTENTION_RUN_H_
