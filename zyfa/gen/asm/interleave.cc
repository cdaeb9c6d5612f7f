#include "zyfa/gen/asm/interleave.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace zyfa::gen {
namespace {

// One instruction of the merge, with the stream it came from (0 is main).
struct Placed {
  const Instruction* inst;
  int stream;
};

absl::Status Refuse(const Instruction& a, const Instruction& b,
                    const std::string& why) {
  return absl::InvalidArgumentError(
      absl::StrCat("Interleave: ", DescribeInstruction(a, {}), " and ",
                   DescribeInstruction(b, {}), ": ", why));
}

// The first register that both touch and one writes, or an empty range. SCC
// that only gets written is left to the caller.
UnitRange Conflict(const Instruction& a, const Instruction& b) {
  auto meet = [](const UnitRanges& x, const UnitRanges& y,
                 bool both_write) -> UnitRange {
    for (const UnitRange& r : x) {
      for (const UnitRange& s : y) {
        if (!r.Overlaps(s)) continue;
        if (both_write && r.first == kSccUnit) continue;
        const int first = std::max(r.first, s.first);
        return {first, std::min(r.first + r.count, s.first + s.count) - first};
      }
    }
    return {};
  };
  UnitRange r = meet(a.writes, b.reads, false);
  if (r.count == 0) r = meet(a.reads, b.writes, false);
  if (r.count == 0) r = meet(a.writes, b.writes, true);
  return r;
}

bool IsControl(const Instruction& inst) {
  if (!inst.IsOperation()) return inst.kind == Instruction::Kind::kLabel;
  const OpcodeInfo& info = inst.info();
  return info.format == Format::kBranch || info.Has(kBarrier) ||
         info.Has(kTerminator);
}

// Counters that an instruction raises: bit 0 vmcnt, bit 1 lgkmcnt.
int Raises(const Instruction& inst) {
  if (!inst.IsOperation()) return 0;
  const OpcodeInfo& info = inst.info();
  if (info.IsVmem()) return 1;
  return info.IsDs() || info.format == Format::kSmem ? 2 : 0;
}

// Counters that an explicit wait names with a number that the other stream's
// operations would shift. Waiting for 0 stays right.
int Counts(const Instruction& inst) {
  if (!inst.IsOperation() || inst.info().format != Format::kWaitcnt) return 0;
  const WaitCounts& w = inst.mods.wait;
  const bool vm = w.vmcnt > 0 && w.vmcnt < WaitCounts::kMaxVmcnt;
  const bool lgkm = w.lgkmcnt > 0 && w.lgkmcnt < WaitCounts::kMaxLgkmcnt;
  return (vm ? 1 : 0) | (lgkm ? 2 : 0);
}

absl::Status CheckWaits(const std::vector<Placed>& all) {
  for (const Placed& wait : all) {
    const int counts = Counts(*wait.inst);
    if (counts == 0) continue;
    for (const Placed& other : all) {
      if (other.stream == wait.stream) continue;
      if ((Raises(*other.inst) & counts) != 0) {
        return Refuse(*wait.inst, *other.inst,
                      "an explicit wait counts operations of its own stream, "
                      "and this other stream raises the same counter");
      }
    }
  }
  return absl::OkStatus();
}

// `merged` in final order. With kSequential only pairs whose stream order is
// reversed matter.
absl::Status CheckRegisters(const std::vector<Placed>& merged,
                            InterleaveCheck check) {
  for (size_t i = 0; i < merged.size(); ++i) {
    for (size_t j = i + 1; j < merged.size(); ++j) {
      const Placed& first = merged[i];
      const Placed& second = merged[j];
      if (first.stream == second.stream) continue;
      const bool reversed = first.stream > second.stream;
      if (check == InterleaveCheck::kSequential && !reversed) continue;
      const UnitRange r = Conflict(*first.inst, *second.inst);
      if (r.count != 0) {
        return Refuse(*first.inst, *second.inst,
                      absl::StrCat("both touch ", UnitText(r)));
      }
    }
  }
  return absl::OkStatus();
}

// How many operations of filler f go behind anchor i of n.
int Share(const Filler& f, int i, int n) {
  if (!f.after.empty()) return f.after[i % f.after.size()];
  const int total = f.stream.size();
  // Running totals, so that the remainder is spread too.
  return static_cast<int>(static_cast<int64_t>(total) * (i + 1) / n -
                          static_cast<int64_t>(total) * i / n);
}

}  // namespace

absl::StatusOr<Stream> InterleaveStreams(const Stream& main,
                                         const std::vector<Filler>& fillers,
                                         const InterleaveOptions& options) {
  auto is_anchor = [&](const Instruction& inst) {
    if (!inst.IsOperation()) return false;
    return options.anchor ? options.anchor(inst) : inst.IsMatrix();
  };
  int anchors = 0;
  for (const Instruction& inst : main.instructions()) {
    if (is_anchor(inst)) ++anchors;
  }
  for (const Filler& f : fillers) {
    for (int n : f.after) {
      if (n < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("Interleave: ", n, " operations behind an anchor"));
      }
    }
    for (const Instruction& inst : f.stream.instructions()) {
      if (options.check != InterleaveCheck::kNone && IsControl(inst)) {
        return absl::InvalidArgumentError(
            inst.IsOperation()
                ? absl::StrCat("Interleave: ", DescribeInstruction(inst, {}),
                               ": no control flow in a filler")
                : std::string("Interleave: no label in a filler"));
      }
    }
  }

  std::vector<Placed> merged;
  std::vector<size_t> next(fillers.size(), 0);
  // The next `n` operations of a filler, with the section titles before them.
  auto take = [&](size_t f, int n) {
    const std::vector<Instruction>& from = fillers[f].stream.instructions();
    while (next[f] < from.size() && n > 0) {
      const Instruction& inst = from[next[f]++];
      if (inst.IsOperation()) --n;
      merged.push_back({&inst, static_cast<int>(f) + 1});
    }
  };
  int anchor = 0;
  for (const Instruction& inst : main.instructions()) {
    merged.push_back({&inst, 0});
    if (!is_anchor(inst)) continue;
    for (size_t f = 0; f < fillers.size(); ++f) {
      take(f, Share(fillers[f], anchor, anchors));
    }
    ++anchor;
  }
  for (size_t f = 0; f < fillers.size(); ++f) {
    take(f, fillers[f].stream.size());
  }

  if (options.check != InterleaveCheck::kNone) {
    if (absl::Status s = CheckWaits(merged); !s.ok()) return s;
    if (absl::Status s = CheckRegisters(merged, options.check); !s.ok()) {
      return s;
    }
  }
  std::vector<Instruction> result;
  for (const Placed& p : merged) result.push_back(*p.inst);
  return Stream(std::move(result));
}

}  // namespace zyfa::gen
