#ifndef ZYFA_QUANTIZE_INT8_CASE_H_
#define ZYFA_QUANTIZE_INT8_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/quantize/host_int8.h"
#include "zyfa/quantize/pass_run.h"

namespace zyfa::testing {

// Where numbers of tokens lie: batch entries outermost, or heads; numbers
// behind each row and in front of the first. Around and between is 0xff.
struct TokenLayout {
  bool heads_first = false;
  int64_t padding = 0;
  int64_t lead = 0;
};

// A pass over keys to int8.
struct KeysCase : TensorCase {
  KeyInt8Options options;
  TokenLayout multipliers;
  // Given, if not empty, as QuantizeCalibration.
  std::vector<float> descales;
  std::vector<float> mean;

  std::string Name() const;
};

// A pass over queries to int8.
struct QueriesCase : TensorCase {
  QueryInt8Options options;
  TokenLayout shifts;
  std::vector<float> key_descales;
  bool correct_lse = false;

  std::string Name() const;
};

struct KeysResult {
  Int8Keys keys;
  std::vector<emu::Finding> findings;
  bool wrote_outside = false;
};

struct QueriesResult {
  Int8Queries queries;
  std::vector<float> lse_correction;
  std::vector<emu::Finding> findings;
  bool wrote_outside = false;
};

absl::StatusOr<KeysResult> RunOnHost(const KeysCase& c);
absl::StatusOr<QueriesResult> RunOnHost(const QueriesCase& c);
// By the launch plan of the public API; `all_schedules`: every launch under all
// orders of waves.
absl::StatusOr<KeysResult> RunOnEmulator(const KeysCase& c,
                                         const emu::RunOptions& options,
                                         bool all_schedules = false);
absl::StatusOr<QueriesResult> RunOnEmulator(const QueriesCase& c,
                                            const emu::RunOptions& options,
                                            bool all_schedules = false);

// CompareWithHost().
std::string Compare(const KeysCase& c, bool all_schedules = false);
std::string Compare(const QueriesCase& c, bool all_schedules = false);

}  // namespace zyfa::testing

#endif  // ZYFA_QUANTIZE_INT8_CASE_H_
