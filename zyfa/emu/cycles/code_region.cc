#include "zyfa/emu/cycles/code_region.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace zyfa::emu {
namespace {

// First step that belongs to a kernel behind `kernel`.
uint32_t EndOf(const CodeObject& code, const KernelInfo& kernel) {
  uint32_t end = static_cast<uint32_t>(code.instructions().size());
  for (const KernelInfo& other : code.kernels()) {
    const int64_t step = code.IndexAt(other.entry);
    if (other.entry > kernel.entry && step >= 0) {
      end = std::min(end, static_cast<uint32_t>(step));
    }
  }
  return end;
}

}  // namespace

std::vector<CodeRegion> PhasesBySymbol(const CodeObject& code,
                                       const KernelInfo& kernel) {
  const int64_t entry = code.IndexAt(kernel.entry);
  if (entry < 0) return {};
  const uint32_t end = EndOf(code, kernel);
  std::vector<CodeRegion> phases = {
      {"entry", static_cast<uint32_t>(entry), end}};
  bool named = false;
  for (const CodeObject::Symbol& symbol : code.symbols()) {
    const int64_t step = code.IndexAt(symbol.offset);
    if (step <= entry || step >= int64_t{end}) continue;
    const auto first = static_cast<uint32_t>(step);
    if (phases.back().first == first) continue;
    phases.back().end = first;
    phases.push_back(
        {std::string(absl::StripPrefix(symbol.name, "phase.")), first, end});
    named = true;
  }
  return named ? phases : std::vector<CodeRegion>();
}

CodeRegion RegionOf(const TracedLoop& loop,
                    absl::Span<const InstructionTime> instructions) {
  return {absl::StrCat("loop 0x", absl::Hex(instructions[loop.head].address)),
          loop.head, loop.tail + 1};
}

std::vector<CodeRegion> PhasesByLoop(
    absl::Span<const TracedLoop> loops,
    absl::Span<const InstructionTime> instructions) {
  std::vector<CodeRegion> chosen;
  for (const TracedLoop& loop : loops) {
    const CodeRegion region = RegionOf(loop, instructions);
    const bool apart = std::all_of(
        chosen.begin(), chosen.end(), [&region](const CodeRegion& other) {
          return other.end <= region.first || region.end <= other.first;
        });
    if (apart) chosen.push_back(region);
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const CodeRegion& a, const CodeRegion& b) {
              return a.first < b.first;
            });
  std::vector<CodeRegion> phases;
  std::string gap = chosen.empty() ? "all" : "before loop";
  uint32_t done = 0;
  for (const CodeRegion& loop : chosen) {
    if (loop.first > done) phases.push_back({gap, done, loop.first});
    phases.push_back(loop);
    done = loop.end;
    gap = absl::StrCat("after ", loop.name);
  }
  const auto end = static_cast<uint32_t>(instructions.size());
  if (done < end) phases.push_back({gap, done, end});
  return phases;
}

}  // namespace zyfa::emu
