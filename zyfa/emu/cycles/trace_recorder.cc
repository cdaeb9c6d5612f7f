#include "zyfa/emu/cycles/trace_recorder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "zyfa/emu/group.h"
#include "zyfa/emu/lds_banks.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

// Turns of the banks do not change when all addresses move by whole rows of
// banks, which is all that a loop's buffers do: one entry for each step.
class BankCostCache {
 public:
  explicit BankCostCache(size_t steps) : entries_(steps) {}

  uint32_t PassesOf(size_t step, const LdsAccess& access) {
    Entry& entry = entries_[step];
    if (entry.valid && Same(entry, access)) return entry.passes;
    entry.valid = true;
    entry.lanes = access.lanes;
    entry.bytes = access.bytes;
    entry.kind = access.kind;
    std::copy_n(access.address, kLanes, entry.address.begin());
    for (uint32_t& address : entry.address) address += access.offset;
    entry.passes = CostOf(access).passes;
    return entry.passes;
  }

 private:
  struct Entry {
    bool valid = false;
    uint64_t lanes = 0;
    uint32_t bytes = 0;
    AccessKind kind = AccessKind::kRead;
    uint32_t passes = 0;
    std::array<uint32_t, kLanes> address = {};
  };
  static bool Same(const Entry& entry, const LdsAccess& access) {
    if (entry.lanes != access.lanes || entry.bytes != access.bytes ||
        entry.kind != access.kind || ~access.lanes != 0) {
      return false;
    }
    const uint32_t shift = access.address[0] + access.offset - entry.address[0];
    if (shift % 256 != 0) return false;
    uint32_t differ = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      differ |=
          access.address[lane] + access.offset - entry.address[lane] - shift;
    }
    return differ == 0;
  }
  std::vector<Entry> entries_;
};

// Appends the distinct lines of the access; returns how many.
uint32_t AddLines(const MemoryAccess& access, std::vector<uint32_t>& out) {
  std::array<uint64_t, 2 * kLanes> lines;
  size_t count = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    uint32_t bytes = access.lanes >> lane & 1 ? access.bytes : 0;
    if (access.clipped >> lane & 1) bytes = 4u * access.dwords[lane];
    if (bytes == 0) continue;
    const uint64_t first = access.address[lane] / 128;
    const uint64_t last = (access.address[lane] + bytes - 1) / 128;
    lines[count++] = first;
    if (last != first) lines[count++] = last;
  }
  std::sort(lines.begin(), lines.begin() + static_cast<ptrdiff_t>(count));
  const auto end =
      std::unique(lines.begin(), lines.begin() + static_cast<ptrdiff_t>(count));
  for (auto line = lines.begin(); line != end; ++line) {
    out.push_back(static_cast<uint32_t>(*line));
  }
  return static_cast<uint32_t>(end - lines.begin());
}

// Whether the operand holds the same in every lane, nothing in half of them, or
// nothing but zeros and one other word, as a selection of rows does.
bool IsPlain(const Operand& operand, const Wave& wave) {
  if (operand.kind != OperandKind::kVgpr &&
      operand.kind != OperandKind::kAgpr) {
    return true;
  }
  const int row = Wave::Row(operand);
  uint64_t differing = 0;
  uint64_t nonzero = 0;
  uint32_t word = 0;  // the first that is not zero
  bool one_word = true;
  for (int r = row; r < row + operand.count; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t value = wave.vgpr[r][lane];
      differing |= uint64_t{value != wave.vgpr[r][0]} << lane;
      nonzero |= uint64_t{value != 0} << lane;
      if (word == 0) word = value;
      one_word = one_word && (value == 0 || value == word);
    }
  }
  return one_word || differing == 0 || std::popcount(nonzero) <= kLanes / 2;
}

}  // namespace

class TraceRecorder::Recorder : public Observer {
 public:
  Recorder(TraceRecorder& owner, const Program& program)
      : owner_(owner),
        program_(program),
        banks_(program.steps().size()),
        auxiliary_(program.steps().size(), true),
        seen_(program.steps().size(), false) {}
  ~Recorder() override {
    std::lock_guard<std::mutex> lock(owner_.mutex_);
    for (size_t i = 0; i < seen_.size(); ++i) {
      if (seen_[i] && !auxiliary_[i]) owner_.auxiliary_[i] = false;
    }
  }

  void StartGroup(Group& group, Wave* /*waves*/) override {
    trace_ = GroupTrace{};
    trace_.group = group.linear_id;
    trace_.waves.resize(static_cast<size_t>(group.wave_count));
  }

  void Before(const ProgramStep& step, Wave& wave) override {
    const size_t index = program_.IndexOf(step);
    trace_.waves[static_cast<size_t>(wave.index)].events.push_back(
        {static_cast<uint32_t>(index), 0});
    if (step.inst->instruction_class != InstructionClass::kMfma) return;
    seen_[index] = true;
    if (auxiliary_[index] && !IsPlain(step.inst->operands[1], wave) &&
        !IsPlain(step.inst->operands[2], wave)) {
      auxiliary_[index] = false;
    }
  }

  void AccessLds(const Instruction& inst, Wave& wave,
                 const LdsAccess& access) override {
    if (inst.instruction_class != InstructionClass::kLds) return;
    TraceEvent& event =
        trace_.waves[static_cast<size_t>(wave.index)].events.back();
    const uint32_t bytes =
        access.bytes * static_cast<uint32_t>(std::popcount(access.lanes));
    event.load += banks_.PassesOf(event.step, access);
    event.load += (bytes + 127) / 128 << 16;
  }

  void AccessMemory(const Instruction& inst, Wave& wave,
                    const MemoryAccess& access) override {
    if (inst.instruction_class != InstructionClass::kVmem) return;
    WaveTrace& trace = trace_.waves[static_cast<size_t>(wave.index)];
    trace.events.back().load += AddLines(access, trace.lines);
    trace_.memory_bytes +=
        access.bytes * static_cast<uint64_t>(std::popcount(access.lanes));
  }

  void EndGroup(Group& /*group*/, Wave* /*waves*/) override {
    std::lock_guard<std::mutex> lock(owner_.mutex_);
    const uint32_t group = trace_.group;
    owner_.groups_[group] = std::move(trace_);
  }

 private:
  TraceRecorder& owner_;
  const Program& program_;
  BankCostCache banks_;
  std::vector<bool> auxiliary_;
  std::vector<bool> seen_;
  GroupTrace trace_;
};

TraceRecorder::TraceRecorder() = default;
TraceRecorder::~TraceRecorder() = default;

std::unique_ptr<Observer> TraceRecorder::Make(const Program& program,
                                              const KernelInfo& /*kernel*/) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (instructions_.empty()) {
    for (const ProgramStep& step : program.steps()) {
      instructions_.push_back(InstructionTimeOf(*step.inst));
    }
    auxiliary_.assign(instructions_.size(), true);
  }
  return std::make_unique<Recorder>(*this, program);
}

}  // namespace zyfa::emu
