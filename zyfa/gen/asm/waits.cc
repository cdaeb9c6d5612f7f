#include "zyfa/gen/asm/waits.h"

#include <algorithm>
#include <array>
#include <bitset>

#include "absl/strings/str_cat.h"

namespace zyfa::gen {
namespace {

// Later operations of the same counter since the one that writes the register.
constexpr uint8_t kNotPending = 255;
// A counter at its maximum stalls issue, so more operations are never open; one
// less than the maximum can still be waited for.
constexpr int kVmcntCap = WaitCounts::kMaxVmcnt - 1;
constexpr int kLgkmcntCap = WaitCounts::kMaxLgkmcnt - 1;

struct Outstanding {
  std::array<uint8_t, kUnitCount> vector;
  std::array<uint8_t, kUnitCount> lds;
  std::bitset<kUnitCount> scalar;
  bool any_scalar = false;

  Outstanding() {
    vector.fill(kNotPending);
    lds.fill(kNotPending);
  }

  bool Merge(const Outstanding& o) {
    const Outstanding before = *this;
    for (int u = 0; u < kUnitCount; ++u) {
      vector[u] = std::min(vector[u], o.vector[u]);
      lds[u] = std::min(lds[u], o.lds[u]);
    }
    scalar |= o.scalar;
    any_scalar = any_scalar || o.any_scalar;
    return vector != before.vector || lds != before.lds ||
           scalar != before.scalar || any_scalar != before.any_scalar;
  }

  void Retire(const WaitCounts& wait) {
    for (uint8_t& later : vector) {
      if (later >= wait.vmcnt) later = kNotPending;
    }
    if (wait.lgkmcnt == 0) {
      scalar.reset();
      any_scalar = false;
    }
    if (any_scalar) return;
    for (uint8_t& later : lds) {
      if (later >= wait.lgkmcnt) later = kNotPending;
    }
  }

  static void Issue(std::array<uint8_t, kUnitCount>& counter, int cap,
                    const UnitRanges& writes) {
    for (uint8_t& later : counter) {
      if (later < cap) ++later;
    }
    for (const UnitRange& r : writes) {
      std::fill_n(counter.begin() + r.first, r.count, 0);
    }
  }
};

struct Need {
  WaitCounts wait;
  int unit = -1;  // one register that needs it

  bool Any() const { return unit >= 0; }
};

Need NeedOf(const Instruction& inst, const Outstanding& state) {
  Need need;
  auto look = [&](const UnitRanges& ranges) {
    for (const UnitRange& r : ranges) {
      for (int u = r.first; u < r.first + r.count; ++u) {
        if (state.vector[u] < need.wait.vmcnt) {
          need.wait.vmcnt = state.vector[u];
          need.unit = u;
        }
        int lgkm = state.lds[u];
        if (lgkm != kNotPending && state.any_scalar) lgkm = 0;
        if (state.scalar.test(u)) lgkm = 0;
        if (lgkm < need.wait.lgkmcnt) {
          need.wait.lgkmcnt = lgkm;
          need.unit = u;
        }
      }
    }
  };
  look(inst.reads);
  look(inst.writes);
  return need;
}

void Step(const Instruction& inst, Outstanding& state) {
  const Need need = NeedOf(inst, state);
  if (need.Any()) state.Retire(need.wait);
  if (!inst.IsOperation()) return;
  const OpcodeInfo& info = inst.info();
  switch (info.format) {
    case Format::kWaitcnt:
      state.Retire(inst.mods.wait);
      break;
    case Format::kSmem:
      state.any_scalar = true;
      for (const UnitRange& r : inst.writes) {
        for (int u = r.first; u < r.first + r.count; ++u) state.scalar.set(u);
      }
      break;
    case Format::kDsRead:
    case Format::kDsWrite:
    case Format::kDsPermute:
      Outstanding::Issue(state.lds, kLgkmcntCap, inst.writes);
      break;
    case Format::kBufferLoad:
    case Format::kBufferLoadLds:
    case Format::kBufferStore:
    case Format::kGlobalLoad:
    case Format::kGlobalLoadLds:
    case Format::kGlobalStore:
      Outstanding::Issue(state.vector, kVmcntCap, inst.writes);
      break;
    default:
      // Cache control is not counted here: too few operations make the waits
      // stricter, never weaker.
      break;
  }
}

Instruction WaitFor(const Need& need, const Instruction& user) {
  Instruction wait;
  wait.opcode = Opcode::s_waitcnt;
  wait.mods.wait = need.wait;
  wait.inserted = true;
  wait.number = user.number;
  wait.section = user.section;
  wait.comment = absl::StrCat("wait: load -> ", UnitText({need.unit, 1}));
  return wait;
}

}  // namespace

absl::Status ApplyWaits(std::vector<Instruction>& program,
                        const std::vector<BasicBlock>& blocks,
                        WaitPolicy policy,
                        const std::vector<std::string>& label_names) {
  std::vector<bool> reached;
  const std::vector<Outstanding> in = ForwardFlow<Outstanding>(
      blocks, Outstanding(),
      [&](const BasicBlock& block, Outstanding& state) {
        for (int i = block.begin; i < block.end; ++i) Step(program[i], state);
      },
      &reached);
  std::vector<Instruction> result;
  for (size_t b = 0; b < blocks.size(); ++b) {
    Outstanding state = in[b];
    for (int i = blocks[b].begin; i < blocks[b].end; ++i) {
      const Need need = NeedOf(program[i], state);
      if (need.Any() && reached[b]) {
        Instruction wait = WaitFor(need, program[i]);
        if (policy == WaitPolicy::kCheck) {
          return absl::InvalidArgumentError(absl::StrCat(
              DescribeInstruction(program[i], label_names), ": ",
              UnitText({need.unit, 1}), " is still being loaded; missing `",
              FormatInstruction(wait, label_names), "`"));
        }
        result.push_back(std::move(wait));
      }
      Step(program[i], state);
      result.push_back(program[i]);
    }
  }
  program = std::move(result);
  return absl::OkStatus();
}

}  // namespace zyfa::gen
