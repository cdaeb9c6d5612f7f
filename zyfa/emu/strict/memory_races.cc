#include "zyfa/emu/strict/memory_races.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_format.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

constexpr uint64_t kPageBytes = 4096;

// Shadow of a page: one state a dword, or one a byte from the first access on
// that takes less than a dword.
template <class State>
class Page {
 public:
  Page() : states_(kPageBytes / 4) {}

  void SplitDwords() {
    if (shift_ == 0) return;
    std::vector<State> bytes(kPageBytes);
    for (size_t i = 0; i < kPageBytes; ++i) bytes[i] = states_[i / 4];
    states_ = std::move(bytes);
    shift_ = 0;
  }
  // f(state) for what covers bytes [first, last) of the page.
  template <class F>
  void ForEach(uint64_t first, uint64_t last, F f) {
    if (((first | last) & 3) != 0) SplitDwords();
    for (uint64_t i = first >> shift_; i < last >> shift_; ++i) f(states_[i]);
  }
  std::vector<State>& states() { return states_; }
  int shift() const { return shift_; }

 private:
  std::vector<State> states_;
  int shift_ = 2;
};

// What the waves of the running group did; intervals as in lds_races.cc.
struct WaveState {
  uint32_t write_interval = 0;
  uint32_t read_interval = 0;
  uint32_t write_pc = 0;
  uint32_t read_pc = 0;
  uint16_t readers = 0;
  uint8_t writer = 0;
  bool atomic = false;
  // Since the group started.
  bool plain_write = false, any_atomic = false;
};
constexpr uint8_t kSeveral = 0xff;

// What the groups of the launch did: numbers plus one of the two lowest groups
// that write, access atomically and read, 0 for none.
struct GroupState {
  struct Who {
    uint32_t group[2] = {0, 0};
    uint32_t pc = 0;  // of group[0]
    uint8_t wave = 0;
    void Add(uint32_t number, uint32_t at, uint8_t by) {
      if (number == group[0] || number == group[1]) return;
      if (group[0] == 0 || number < group[0]) {
        group[1] = group[0];
        group[0] = number;
        pc = at;
        wave = by;
      } else if (group[1] == 0 || number < group[1]) {
        group[1] = number;
      }
    }
    // The lowest group that is not `number`, 0 for none.
    uint32_t OtherThan(uint32_t number) const {
      return group[0] != number ? group[0] : group[1];
    }
  };
  Who write, atomic, read;
};

struct InFlight {
  bool unordered = false;
  uint32_t sequence = 0;
  AccessKind kind = AccessKind::kRead;
  const Instruction* inst = nullptr;
  // Runs of bytes, lane by lane.
  std::vector<std::pair<uint64_t, uint32_t>> runs;
  bool Retired(const WaitState& waits) const {
    return unordered ? sequence <= waits.any_retired
                     : sequence <= waits.vm_retired;
  }
};

}  // namespace

class MemoryRaces::Launch {
 public:
  void Merge(const Group& group, uint64_t page_number, Page<WaveState>& page,
             uint32_t since) {
    Page<GroupState>& mine = pages_[page_number];
    if (page.shift() < mine.shift()) mine.SplitDwords();
    const int spread = page.shift() - mine.shift();
    const uint32_t number = group.linear_id + 1;
    for (size_t i = 0; i < mine.states().size(); ++i) {
      const WaveState& state = page.states()[i >> spread];
      GroupState& all = mine.states()[i];
      if (state.read_interval >= since) {
        all.read.Add(number, state.read_pc, FirstReader(state));
      }
      if (state.write_interval < since) continue;
      if (state.plain_write) {
        all.write.Add(number, state.write_pc, state.writer);
      }
      if (state.any_atomic) {
        all.atomic.Add(number, state.write_pc, state.writer);
        atomics_ = true;
      }
    }
  }

  std::mutex& mutex() { return mutex_; }
  void Remember(const Group& group) {
    ids_[group.linear_id + 1] = {group.id[0], group.id[1], group.id[2]};
    kernel_ = group.kernel;
  }
  void set_program(const Program& program) { program_ = &program; }

  std::vector<Finding> Finish() {
    std::vector<Finding> findings;
    std::map<uint32_t, int> seen;
    for (auto& [number, page] : pages_) {
      for (size_t i = 0; i < page.states().size(); ++i) {
        const GroupState& state = page.states()[i];
        const uint64_t address = number * kPageBytes + (i << page.shift());
        for (const auto& [who, what] :
             {std::pair{&state.write, "writes"},
              std::pair{&state.atomic, "changes atomically"}}) {
          const uint32_t group = who->group[0];
          if (group == 0) continue;
          const uint32_t writer = state.write.OtherThan(group);
          const uint32_t other =
              writer != 0 ? writer
              : what[0] == 'w' && state.atomic.OtherThan(group) != 0
                  ? state.atomic.OtherThan(group)
                  : state.read.OtherThan(group);
          if (other == 0 || seen[who->pc]++ >= Group::kFindingsPerRule) {
            continue;
          }
          findings.push_back(Describe(*who, what, other, address));
          break;
        }
      }
    }
    return findings;
  }

 private:
  static uint8_t FirstReader(const WaveState& state) {
    return static_cast<uint8_t>(std::countr_zero(state.readers));
  }

  Finding Describe(const GroupState::Who& who, const char* what, uint32_t other,
                   uint64_t address) const {
    Finding finding;
    finding.severity = atomics_ ? Severity::kWarning : Severity::kError;
    finding.rule = "memory-race";
    finding.kernel = kernel_;
    finding.pc = who.pc;
    const ProgramStep* const step = program_->At(who.pc);
    if (step != nullptr) finding.disassembly = step->inst->text;
    const auto& id = ids_.at(who.group[0]);
    std::copy(id.begin(), id.end(), finding.workgroup);
    finding.wave = who.wave == kSeveral ? 0 : who.wave;
    const auto& theirs = ids_.at(other);
    finding.detail = absl::StrFormat(
        "%s memory at %#x that work-group (%d, %d, %d) accesses too", what,
        address, theirs[0], theirs[1], theirs[2]);
    return finding;
  }

  std::mutex mutex_;
  std::map<uint64_t, Page<GroupState>> pages_;
  std::map<uint32_t, std::array<uint32_t, 3>> ids_;
  std::string kernel_;
  const Program* program_ = nullptr;
  bool atomics_ = false;
};

class MemoryRaces::Watcher : public Observer {
 public:
  explicit Watcher(Launch& launch) : launch_(launch) {}

  void StartGroup(Group& group, Wave* /*waves*/) override {
    ++interval_;
    start_ = interval_;
    touched_.clear();
    in_flight_.assign(static_cast<size_t>(group.wave_count), {});
  }

  void AccessMemory(const Instruction& inst, Wave& wave,
                    const MemoryAccess& access) override {
    auto& in_flight = in_flight_[static_cast<size_t>(wave.index)];
    const WaitState& waits = WaitsOf(wave);
    Forget(in_flight, waits);
    InFlight now;
    now.unordered = inst.instruction_class == InstructionClass::kSmem;
    now.sequence = 1 + (now.unordered ? waits.any_issued : waits.vm_issued);
    now.kind = access.kind;
    now.inst = &inst;
    for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      const uint32_t bytes =
          (access.clipped >> l & 1) != 0 ? 4u * access.dwords[l] : access.bytes;
      if (!now.runs.empty() &&
          now.runs.back().first + now.runs.back().second == access.address[l]) {
        now.runs.back().second += bytes;
      } else {
        now.runs.push_back({access.address[l], bytes});
      }
    }
    Touch(now, wave);
    in_flight.push_back(std::move(now));
  }

  void OpenBarrier(Group& group, Wave* waves) override {
    ++interval_;
    for (int w = 0; w < group.wave_count; ++w) {
      auto& in_flight = in_flight_[static_cast<size_t>(w)];
      Forget(in_flight, group.waits[w]);
      for (const InFlight& access : in_flight) Touch(access, waves[w]);
    }
  }

  void EndGroup(Group& group, Wave* /*waves*/) override {
    std::lock_guard<std::mutex> lock(launch_.mutex());
    launch_.Remember(group);
    for (const uint64_t page : touched_) {
      launch_.Merge(group, page, pages_[page], start_);
    }
  }

 private:
  static void Forget(std::vector<InFlight>& in_flight, const WaitState& waits) {
    in_flight.erase(std::remove_if(in_flight.begin(), in_flight.end(),
                                   [&waits](const InFlight& access) {
                                     return access.Retired(waits);
                                   }),
                    in_flight.end());
  }

  void Touch(const InFlight& access, Wave& wave) {
    bool reported = false;
    for (const auto& [address, bytes] : access.runs) {
      for (uint64_t at = address; at < address + bytes;) {
        const uint64_t number = at / kPageBytes;
        const uint64_t end =
            std::min(address + bytes, (number + 1) * kPageBytes);
        touched_.insert(number);
        uint64_t byte = at;
        pages_[number].ForEach(at - number * kPageBytes,
                               end - number * kPageBytes,
                               [&](WaveState& state) {
                                 Update(access, wave, byte, state, reported);
                               });
        at = end;
      }
    }
  }

  void Update(const InFlight& access, Wave& wave, uint64_t address,
              WaveState& state, bool& reported) {
    const auto pc = static_cast<uint32_t>(access.inst->address);
    const auto self = static_cast<uint8_t>(wave.index);
    const auto bit = static_cast<uint16_t>(1u << wave.index);
    const bool writes = access.kind != AccessKind::kRead;
    const bool atomic = access.kind == AccessKind::kAtomic;
    const bool written = state.write_interval == interval_;
    const bool after_write =
        written && state.writer != self && !(atomic && state.atomic);
    const bool after_read = writes && state.read_interval == interval_ &&
                            (state.readers & ~bit) != 0;
    if ((after_write || after_read) && !reported) {
      reported = true;
      wave.group->Note(
          Severity::kError, "memory-race", *access.inst, wave, -1, "",
          absl::StrFormat("%s memory of the access from %#x on that another "
                          "wave of the group %s at %#x, with no barrier and "
                          "wait between",
                          writes ? "writes" : "reads", address,
                          after_write ? "writes" : "reads",
                          after_write ? state.write_pc : state.read_pc));
    }
    if (writes) {
      const bool several =
          atomic && written && state.atomic && state.writer != self;
      if (state.write_interval < start_) {
        state.plain_write = state.any_atomic = false;
      }
      state.write_interval = interval_;
      state.writer = several ? kSeveral : self;
      state.atomic = atomic;
      state.write_pc = pc;
      (atomic ? state.any_atomic : state.plain_write) = true;
    } else {
      if (state.read_interval != interval_) {
        state.read_interval = interval_;
        state.readers = 0;
      }
      state.readers |= bit;
      state.read_pc = pc;
    }
  }

  Launch& launch_;
  std::unordered_map<uint64_t, Page<WaveState>> pages_;
  std::set<uint64_t> touched_;  // pages, by this group
  std::vector<std::vector<InFlight>> in_flight_;
  uint32_t interval_ = 0, start_ = 0;
};

MemoryRaces::MemoryRaces() : launch_(std::make_unique<Launch>()) {}
MemoryRaces::~MemoryRaces() = default;

std::unique_ptr<Observer> MemoryRaces::Make(const Program& program) {
  std::lock_guard<std::mutex> lock(launch_->mutex());
  launch_->set_program(program);
  return std::make_unique<Watcher>(*launch_);
}

std::vector<Finding> MemoryRaces::Finish() { return launch_->Finish(); }

}  // namespace zyfa::emu
