#ifndef ZYFA_QUANTIZE_PASS_RUN_H_
#define ZYFA_QUANTIZE_PASS_RUN_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/quantize/extent.h"
#include "zyfa/quantize/plan.h"

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

// The tensors of a pass.
struct TensorCase {
  QuantizeExtent extent;
  PassLayout input, output;
  uint64_t seed = 1;
  // Value of an element; Gaussian if unset.
  using Fill = std::function<float(int64_t batch, int64_t token, int64_t head,
                                   int64_t channel, float gaussian)>;
  Fill fill;

  std::string Name() const;
};

// Zeros of both signs, a huge number, denormal ones, and `same` all over.
std::vector<TensorCase::Fill> ExtremeFills(float same);

// [batch][seqlen][heads][head_dim]
std::vector<numerics::Bf16> PassInput(const TensorCase& c);

// A mean for the LSE correction, [batch][heads_kv][head_dim].
std::vector<float> PassKeyMean(const TensorCase& c, int64_t heads_kv);

// Device memory of a pass, and the pass on the emulator. The first error stays:
// what comes after it does nothing.
class PassRun {
 public:
  explicit PassRun(const TensorCase& c) : case_(c) {}

  // PassInput() where the case says.
  TensorView Input();
  // Place for codes.
  TensorView Output(DataType type);
  uint64_t Allocate(int64_t bytes);
  template <typename T>
  uint64_t Array(const std::vector<T>& values) {
    const uint64_t address =
        Allocate(static_cast<int64_t>(values.size() * sizeof(T)));
    Write(address, BytesOf(values.data(), values.size()));
    return address;
  }

  void Run(const absl::StatusOr<std::vector<QuantizeLaunch>>& launches,
           const emu::RunOptions& options, bool all_schedules);

  // The codes of Output(), dense; what is beside its rows is looked at too.
  template <typename Code>
  std::vector<Code> Codes() {
    static_assert(sizeof(Code) == 1);
    std::vector<Code> codes(static_cast<size_t>(case_.extent.elements()));
    ReadCodes({reinterpret_cast<uint8_t*>(codes.data()), codes.size()});
    return codes;
  }
  template <typename T>
  std::vector<T> Read(uint64_t address, int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));
    ReadBytes(address, {reinterpret_cast<uint8_t*>(values.data()),
                        values.size() * sizeof(T)});
    return values;
  }

  const absl::Status& status() const { return status_; }
  void Update(const absl::Status& status) { status_.Update(status); }
  const std::vector<emu::Finding>& findings() const { return findings_; }
  bool wrote_outside() const { return wrote_outside_; }

 private:
  template <typename T>
  static absl::Span<const uint8_t> BytesOf(const T* values, size_t count) {
    return {reinterpret_cast<const uint8_t*>(values), count * sizeof(T)};
  }
  void Write(uint64_t address, absl::Span<const uint8_t> bytes);
  void ReadBytes(uint64_t address, absl::Span<uint8_t> bytes);
  void ReadCodes(absl::Span<uint8_t> codes);

  TensorCase case_;
  emu::DeviceMemory memory_;
  absl::Status status_;
  uint64_t output_ = 0;
  std::vector<emu::Finding> findings_;
  bool wrote_outside_ = false;
};

// "" if there are no findings and nothing was written outside.
std::string Trouble(const std::vector<emu::Finding>& findings,
                    bool wrote_outside);

// "WHAT[i] is .. and not .." of the first difference in bits, or "".
template <typename T>
std::string FirstDifference(const char* what, const std::vector<T>& got,
                            const std::vector<T>& want) {
  if (got.size() != want.size()) {
    return absl::StrCat(what, ": ", got.size(), " and not ", want.size());
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) == 0) continue;
    const auto text = [](const T& x) {
      if constexpr (sizeof(T) == 1) {
        return absl::StrCat("code 0x", absl::Hex(std::bit_cast<uint8_t>(x)));
      } else {
        return absl::StrCat(x);
      }
    };
    return absl::StrCat(what, "[", i, "] is ", text(got[i]), " and not ",
                        text(want[i]));
  }
  return "";
}

// "" if the emulator gives the bits of the host, without a finding and without
// a byte written outside. `differences(got, want)`: FirstDifference() of what
// the case's RunOnEmulator() and RunOnHost() give.
template <typename Case, typename Differences>
std::string CompareWithHost(const Case& c, bool all_schedules,
                            const Differences& differences) {
  const auto fail = [&](const std::string& what) {
    return absl::StrCat(c.Name(), ": ", what);
  };
  const auto want = RunOnHost(c);
  if (!want.ok()) return fail(want.status().ToString());
  const auto got = RunOnEmulator(c, emu::StrictOptions(), all_schedules);
  if (!got.ok()) return fail(got.status().ToString());
  std::string trouble = Trouble(got->findings, got->wrote_outside);
  if (!trouble.empty()) return fail(trouble);
  for (const std::string& difference : differences(*got, *want)) {
    if (!difference.empty()) return fail(difference);
  }
  return "";
}

}  // namespace zyfa::testing

#endif  // ZYFA_QUANTIZE_PASS_RUN_H_
