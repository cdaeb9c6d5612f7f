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
#include "zyfa/emu/strict/access_history.h"
#include "zyfa/emu/strict/shadow_page.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

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
  Who write, atomic, read, atomic_read;
};

}  // namespace

class MemoryRaces::Launch {
 public:
  void Merge(const Group& group, uint64_t page_number,
             ShadowPage<AccessHistory>& page, uint32_t since) {
    ShadowPage<GroupState>& mine = pages_[page_number];
    if (mine.states().empty()) mine.states().resize(kPageBytes / 4);
    if (page.shift() < mine.shift()) mine.SplitDwords();
    const int spread = page.shift() - mine.shift();
    const uint32_t number = group.linear_id + 1;
    for (size_t i = 0; i < mine.states().size(); ++i) {
      const AccessHistory& state = page.states()[i >> spread];
      GroupState& all = mine.states()[i];
      for (const auto& [readers, who] :
           {std::pair{&state.read, &all.read},
            std::pair{&state.atomic_read, &all.atomic_read}}) {
        if (readers->interval < since) continue;
        who->Add(number, readers->pc,
                 static_cast<uint8_t>(std::countr_zero(readers->waves)));
      }
      if (state.write.interval >= since) {
        all.write.Add(number, state.write.pc, state.write.wave);
      }
      if (state.atomic.interval >= since) {
        all.atomic.Add(number, state.atomic.pc, state.atomic.wave);
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
          uint32_t other = state.write.OtherThan(group);
          if (other == 0) other = state.read.OtherThan(group);
          if (other == 0 && who == &state.write) {
            other = state.atomic.OtherThan(group);
            if (other == 0) other = state.atomic_read.OtherThan(group);
          }
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
    finding.wave = who.wave == AccessHistory::kSeveral ? 0 : who.wave;
    const auto& theirs = ids_.at(other);
    finding.detail = absl::StrFormat(
        "%s memory at %#x that work-group (%d, %d, %d) accesses too", what,
        address, theirs[0], theirs[1], theirs[2]);
    return finding;
  }

  std::mutex mutex_;
  std::map<uint64_t, ShadowPage<GroupState>> pages_;
  std::map<uint32_t, std::array<uint32_t, 3>> ids_;
  std::string kernel_;
  const Program* program_ = nullptr;
  bool atomics_ = false;
};

class MemoryRaces::Watcher : public Observer {
 public:
  explicit Watcher(Launch& launch) : launch_(launch) {}

  void StartGroup(Group& /*group*/, Wave* /*waves*/) override {
    ++interval_;
    start_ = interval_;
    touched_.clear();
  }

  void AccessMemory(const Instruction& inst, Wave& wave,
                    const MemoryAccess& access) override {
    // Neighbouring lanes mostly access neighbouring bytes.
    bool reported = false;
    uint64_t first = 0, last = 0;
    for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      const uint32_t bytes =
          (access.clipped >> l & 1) != 0 ? 4u * access.dwords[l] : access.bytes;
      if (access.address[l] != last) {
        Touch(inst, access, first, last, wave, reported);
        first = access.address[l];
      }
      last = access.address[l] + bytes;
    }
    Touch(inst, access, first, last, wave, reported);
  }

  // The vector memory instructions of a compute unit pass its L1 in the order
  // of their issue, so a barrier orders them even if none has been waited for
  // (LLVM's memory model for gfx90a to gfx950, work-group scope).
  void OpenBarrier(Group& /*group*/, Wave* /*waves*/) override { ++interval_; }

  void EndGroup(Group& group, Wave* /*waves*/) override {
    std::lock_guard<std::mutex> lock(launch_.mutex());
    launch_.Remember(group);
    for (const uint64_t page : touched_) {
      launch_.Merge(group, page, pages_[page], start_);
    }
  }

 private:
  void Touch(const Instruction& inst, const MemoryAccess& access,
             uint64_t first, uint64_t last, Wave& wave, bool& reported) {
    while (first < last) {
      const uint64_t number = first / kPageBytes;
      const uint64_t end = std::min(last, (number + 1) * kPageBytes);
      touched_.insert(number);
      pages_[number].ForEach(
          first - number * kPageBytes, end - number * kPageBytes,
          [&](AccessHistory& state) {
            Update(inst, access, first, wave, state, reported);
          });
      first = end;
    }
  }

  void Update(const Instruction& inst, const MemoryAccess& access,
              uint64_t address, Wave& wave, AccessHistory& state,
              bool& reported) {
    const AccessHistory::Conflict conflict =
        state.Add(access.kind, access.scoped, interval_, wave.index,
                  static_cast<uint32_t>(inst.address));
    if (conflict.what == nullptr || reported) return;
    reported = true;
    wave.group->Note(
        Severity::kError, "memory-race", inst, wave, -1, "",
        absl::StrFormat("part of the memory from %#x on, which wave %d of the "
                        "group %s at %#x with no barrier between",
                        address, conflict.wave, conflict.what, conflict.pc));
  }

  Launch& launch_;
  std::unordered_map<uint64_t, ShadowPage<AccessHistory>> pages_;
  std::set<uint64_t> touched_;  // pages, by this group
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
