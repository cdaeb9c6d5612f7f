#ifndef ZYFA_PROBE_FACT_H_
#define ZYFA_PROBE_FACT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/launch/device.h"

namespace zyfa::probe {

enum class Verdict {
  kOk,           // what our kernels rely on
  kNotOk,        // something else than they rely on
  kInformative,  // they do not care
};
// "ok", "NOT OK", "informative"
const char* VerdictName(Verdict verdict);

// One thing that no document says for sure, as a device has it.
struct Fact {
  std::string name;    // instruction and question
  std::string seen;    // the answer
  std::string needed;  // what our kernels need; "" if they do not care
  Verdict verdict = Verdict::kInformative;
};

// Conversions, exponential and multiply-add (cdna4-isa 9, numerics 10 and 11).
// These and the next ones' errors are the device's.
absl::StatusOr<std::vector<Fact>> VectorFacts(Device& device);
// How matrix instructions add up (numerics 9).
absl::StatusOr<std::vector<Fact>> MatrixFacts(Device& device);
// What INT8 kernels do with scores (int8-qk 6 and 9).
absl::StatusOr<std::vector<Fact>> IntegerFacts(Device& device);
absl::StatusOr<std::vector<Fact>> Int8MatrixFacts(Device& device);
absl::StatusOr<std::vector<Fact>> RowSumFacts(Device& device);
// These one after the other.
absl::StatusOr<std::vector<Fact>> AllFacts(Device& device);

// Whether nothing is other than our kernels rely on.
bool AsNeeded(const std::vector<Fact>& facts);

// A row each; columns name, seen, needed, verdict.
std::string FactTable(const std::vector<Fact>& facts);

}  // namespace zyfa::probe

#endif  // ZYFA_PROBE_FACT_H_
