#include "zyfa/emu/cycles/period_csv.h"

#include <cstdint>

#include "absl/strings/str_cat.h"

namespace zyfa::emu {
namespace {

const char* ClassOf(const InstructionTime& time, bool auxiliary) {
  switch (time.issue) {
    case IssueKind::kVector:
      if (time.matrix) return auxiliary ? "auxiliary" : "matrix";
      if (time.rate == VectorRate::kTranscendental) return "transcendental";
      if (time.rate == VectorRate::kPackedFp32) return "packed";
      return "vector";
    case IssueKind::kLds:
      return "LDS";
    case IssueKind::kMemory:
      return "memory";
    case IssueKind::kScalar:
      return "scalar";
    case IssueKind::kBranch:
    case IssueKind::kInternal:
      break;
  }
  return "control";
}

}  // namespace

std::string PeriodCsv(const Timeline& timeline, const TimelineNames& names,
                      const std::vector<bool>& auxiliary, size_t simd) {
  const ClockWindow& window = timeline.window();
  std::string csv = absl::StrCat(
      "# kernel: ", names.kernel, "\n# simd: ", simd, "\n# from: ", window.from,
      "\n# clocks: ", window.to - window.from,
      "\ntrack,start,clocks,what,phase,name,address\n");
  const auto add = [&](const std::string& track, const Slice& slice) {
    const InstructionTime& time = names.instructions[slice.step];
    const bool extra = slice.step < auxiliary.size() && auxiliary[slice.step];
    absl::StrAppend(
        &csv, track, ",",
        static_cast<int64_t>(slice.start) - static_cast<int64_t>(window.from),
        ",", slice.clocks, ",",
        slice.stall.has_value() ? "wait" : ClassOf(time, extra), ",",
        PhaseOf(slice.step, names.phases), ",",
        slice.stall.has_value() ? StallName(*slice.stall) : MnemonicOf(time),
        ",0x", absl::Hex(time.address), "\n");
  };
  for (const Pipe pipe : {Pipe::kMatrix, Pipe::kVector}) {
    for (const Slice& slice : timeline.pipe(simd, pipe)) {
      add(PipeName(pipe), slice);
    }
  }
  for (const std::vector<Slice>& slices : timeline.waves()) {
    const Slice& any = slices.front();
    if (any.simd != simd) continue;
    const std::string track =
        names.groups.size() > 1
            ? absl::StrCat("group ", names.groups[any.group], " wave ",
                           any.wave)
            : absl::StrCat("wave ", any.wave);
    for (const Slice& slice : slices) add(track, slice);
  }
  return csv;
}

}  // namespace zyfa::emu
