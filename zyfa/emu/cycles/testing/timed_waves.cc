#include "zyfa/emu/cycles/testing/timed_waves.h"

#include <numeric>

#include "zyfa/emu/cycles/testing/assemble.h"
#include "zyfa/emu/instruction.h"
#include "zyfa/emu/lds_banks.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kLanes = 64;

// Bytes that one lane accesses, by the end of the mnemonic.
uint32_t LdsBytes(const std::string& mnemonic) {
  for (const auto& [end, bytes] : {std::pair{"_b128", 16u},
                                   {"_b96", 12u},
                                   {"_b64", 8u},
                                   {"_tr_b16", 8u},
                                   {"_tr_b8", 8u},
                                   {"_tr_b4", 8u}}) {
    if (mnemonic.find(end) != std::string::npos) return bytes;
  }
  return 4;
}

uint32_t DefaultLoad(const Instruction& inst, const InstructionTime& time) {
  if (inst.instruction_class == InstructionClass::kVmem) {
    return time.dwords * kLanes * 4 / 128;
  }
  if (inst.instruction_class != InstructionClass::kLds) return 0;
  const uint32_t bytes = LdsBytes(inst.mnemonic);
  std::array<uint32_t, 64> addresses;
  for (uint32_t lane = 0; lane < kLanes; ++lane) addresses[lane] = lane * bytes;
  const bool write = inst.mnemonic.rfind("ds_write", 0) == 0;
  return LdsLoad(write ? AccessKind::kWrite : AccessKind::kRead, bytes,
                 addresses);
}

class Recorder : public IssueListener {
 public:
  explicit Recorder(Timeline& timeline) : timeline_(timeline) {}
  void Issue(const IssueEvent& event) override {
    timeline_.issues.push_back(event);
  }
  void Wait(const IssueEvent& event, Stall stall, uint64_t from,
            uint64_t clocks) override {
    timeline_.waits.push_back({event, stall, from, clocks});
  }

 private:
  Timeline& timeline_;
};

}  // namespace

Lines Repeat(size_t times, const Lines& parts) {
  Lines lines;
  for (size_t i = 0; i < times; ++i) {
    lines.insert(lines.end(), parts.begin(), parts.end());
  }
  return lines;
}

Lines Join(const std::vector<Lines>& parts) {
  Lines lines;
  for (const Lines& part : parts) {
    lines.insert(lines.end(), part.begin(), part.end());
  }
  return lines;
}

uint32_t LdsLoad(AccessKind kind, uint32_t bytes,
                 const std::array<uint32_t, 64>& addresses) {
  LdsAccess access;
  access.kind = kind;
  access.bytes = bytes;
  access.lanes = ~uint64_t{0};
  access.address = addresses.data();
  return CostOf(access).passes | bytes * kLanes / 128 << 16;
}

TimedCode::TimedCode(const Lines& lines) {
  std::vector<std::string> texts;
  texts.reserve(lines.size());
  for (const Line& line : lines) texts.push_back(line.text);
  const std::vector<Instruction> decoded = Assemble(texts);
  for (size_t i = 0; i < lines.size(); ++i) {
    instructions.push_back(InstructionTimeOf(decoded[i]));
    loads.push_back(lines[i].has_load
                        ? lines[i].load
                        : DefaultLoad(decoded[i], instructions.back()));
  }
}

WaveTrace TimedCode::Events(const std::vector<uint32_t>& steps) const {
  WaveTrace trace;
  trace.events.reserve(steps.size());
  for (const uint32_t step : steps) {
    trace.events.push_back({step, loads[step]});
    if (instructions[step].issue != IssueKind::kMemory) continue;
    for (uint32_t i = 0; i < loads[step]; ++i) {
      trace.lines.push_back(next_line++);
    }
  }
  return trace;
}

WaveTrace TimedCode::Events(size_t first, size_t end) const {
  std::vector<uint32_t> steps(end - first);
  std::iota(steps.begin(), steps.end(), static_cast<uint32_t>(first));
  return Events(steps);
}

std::vector<uint64_t> Timeline::Of(size_t wave, size_t group) const {
  std::vector<uint64_t> times;
  for (const IssueEvent& event : issues) {
    if (event.wave == wave && event.group == group) times.push_back(event.time);
  }
  return times;
}

CycleConstants WarmCode() {
  CycleConstants constants = CycleConstants::Defaults();
  constants.fetch_miss = 0;
  constants.barrier_release = 12;
  return constants;
}

Timeline RunTraces(const TimedCode& code, const std::vector<GroupTrace>& groups,
                   const ComputeUnitOptions& options) {
  Timeline timeline;
  Recorder recorder(timeline);
  ComputeUnitOptions with_listener = options;
  with_listener.listener = &recorder;
  std::vector<const GroupTrace*> traces;
  traces.reserve(groups.size());
  for (const GroupTrace& group : groups) traces.push_back(&group);
  timeline.report = RunComputeUnit(code.instructions, traces, with_listener);
  return timeline;
}

Timeline RunWaves(const std::vector<Lines>& waves,
                  const CycleConstants& constants) {
  const TimedCode code(Join(waves));
  GroupTrace trace;
  size_t first = 0;
  for (const Lines& wave : waves) {
    trace.waves.push_back(code.Events(first, first + wave.size()));
    first += wave.size();
  }
  ComputeUnitOptions options;
  options.constants = constants;
  return RunTraces(code, {trace}, options);
}

std::vector<uint64_t> IssuesOf(const Lines& wave,
                               const CycleConstants& constants) {
  return RunWaves({wave}, constants).Of(0);
}

}  // namespace zyfa::emu
