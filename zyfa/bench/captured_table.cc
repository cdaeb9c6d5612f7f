#include "zyfa/bench/captured_table.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace zyfa::bench {
namespace {

using proto::Record;
using Records = std::vector<Record>;

// The first one of which `wanted` is true; nullptr: none is.
template <typename Wanted>
const Record* Find(const Records& records, const Wanted& wanted) {
  const auto at = std::find_if(records.begin(), records.end(), wanted);
  return at == records.end() ? nullptr : &*at;
}

void AddLine(const Record& r, const Record* gaussian, const Record* lean,
             std::string& text) {
  const auto over = [&](const Record* other) {
    return other == nullptr
               ? std::string()
               : absl::StrFormat("%.3f", r.clocks() / other->clocks());
  };
  absl::StrAppendFormat(
      &text, "%-26s %-32s %9.0f %8s %8s %5.1f%% %8.1f%% %9.0f %6.3f %7.0f\n",
      r.has_source() ? r.source() : "gaussian", r.variant(), r.clocks(),
      over(gaussian), over(lean), 100 * r.useful_busy(),
      100 * r.useful_occupied(), r.operand_flips_per_clock(), r.clock_ghz(),
      r.tflops());
}

}  // namespace

std::string RenderCaptured(const Records& records) {
  if (records.empty()) return "";
  std::string text = absl::StrFormat(
      "Modelled.\n%-26s %-32s %9s %8s %8s %6s %9s %9s %6s %7s\n", "inputs",
      "variant", "clocks", "/ gauss", "/ lean", "useful", "in groups",
      "flips/clk", "GHz", "TFLOP/s");
  for (const Record& r : records) {
    const Record* gaussian = Find(records, [&](const Record& other) {
      return !other.has_source() && other.variant() == r.variant() &&
             other.seqlen_q() == r.seqlen_q();
    });
    const Record* lean = Find(records, [&](const Record& other) {
      return absl::StartsWith(other.variant(), "fp8_lean") &&
             other.source() == r.source() &&
             other.head_dim_qk() == r.head_dim_qk() &&
             other.seqlen_q() == r.seqlen_q();
    });
    AddLine(r, gaussian, lean, text);
  }
  return text;
}

}  // namespace zyfa::bench
