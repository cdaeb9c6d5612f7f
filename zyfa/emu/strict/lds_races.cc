#include "zyfa/emu/strict/lds_races.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "absl/strings/str_format.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/strict/access_history.h"
#include "zyfa/emu/strict/shadow_page.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

// An access that no s_waitcnt has retired.
struct InFlight {
  enum class Counter : uint8_t { kVm, kDs, kUnordered };
  Counter counter = Counter::kDs;
  uint32_t sequence = 0;
  AccessKind kind = AccessKind::kRead;
  uint32_t bytes = 0;
  uint64_t lanes = 0;
  const Instruction* inst = nullptr;
  uint32_t address[kLanes];      // offset included
  uint32_t first = 0, last = 0;  // bounds of all its bytes

  bool Retired(const WaitState& waits) const {
    switch (counter) {
      case Counter::kVm:
        return sequence <= waits.vm_retired;
      case Counter::kDs:
        return sequence <= waits.ds_retired;
      case Counter::kUnordered:
        return sequence <= waits.any_retired;
    }
    return true;
  }

  // A lane of this whose bytes meet one of `other`'s, or -1.
  int Overlap(const InFlight& other) const {
    if (first >= other.last || other.first >= last) return -1;
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      if (address[l] >= other.last || other.first >= address[l] + bytes) {
        continue;
      }
      for (uint64_t theirs = other.lanes; theirs != 0; theirs &= theirs - 1) {
        const int m = std::countr_zero(theirs);
        if (address[l] < other.address[m] + other.bytes &&
            other.address[m] < address[l] + bytes) {
          return l;
        }
      }
    }
    return -1;
  }
};

class LdsRaces : public Observer {
 public:
  LdsRaces() : pages_(kMaxLdsBytes / kPageBytes) {}

  void StartGroup(Group& group, Wave* /*waves*/) override {
    ++interval_;
    in_flight_.assign(static_cast<size_t>(group.wave_count), {});
  }

  void AccessLds(const Instruction& inst, Wave& wave,
                 const LdsAccess& access) override {
    auto& in_flight = in_flight_[static_cast<size_t>(wave.index)];
    const WaitState& waits = WaitsOf(wave);
    Forget(in_flight, waits);
    InFlight now;
    now.kind = access.kind;
    now.bytes = access.bytes;
    now.lanes = access.lanes;
    now.inst = &inst;
    now.first = ~0u;
    for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      now.address[l] = access.address[l] + access.offset;
      now.first = std::min(now.first, now.address[l]);
      now.last = std::max(now.last, now.address[l] + now.bytes);
    }
    // The number that the instruction gets: a load into LDS has it already.
    if (access.kind == AccessKind::kDmaWrite) {
      now.counter = InFlight::Counter::kVm;
      now.sequence = waits.vm_issued;
    } else if (inst.instruction_class == InstructionClass::kLds) {
      now.counter = InFlight::Counter::kDs;
      now.sequence = waits.ds_issued + 1;
    } else {
      now.counter = InFlight::Counter::kUnordered;
      now.sequence = waits.any_issued + 1;
    }
    CheckOwn(in_flight, now, wave);
    Touch(now, wave);
    in_flight.push_back(now);
  }

  void OpenBarrier(Group& group, Wave* waves) override {
    ++interval_;
    // What is still in flight happens on this side of the barrier as well.
    for (int w = 0; w < group.wave_count; ++w) {
      auto& in_flight = in_flight_[static_cast<size_t>(w)];
      Forget(in_flight, group.waits[w]);
      for (const InFlight& access : in_flight) {
        if (access.kind == AccessKind::kRead) {
          TouchLate(access, w);
        } else {
          Touch(access, waves[w]);
        }
      }
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

  // LDS instructions of a wave keep their order among themselves, and so do its
  // loads into LDS, but not the ones with the others.
  static void CheckOwn(const std::vector<InFlight>& in_flight,
                       const InFlight& now, Wave& wave) {
    const bool dma = now.kind == AccessKind::kDmaWrite;
    for (const InFlight& earlier : in_flight) {
      if ((earlier.kind == AccessKind::kDmaWrite) == dma) continue;
      const int lane = now.Overlap(earlier);
      if (lane < 0) continue;
      wave.group->Note(
          Severity::kError, "lds-dma-unwaited", *now.inst, wave, lane, "",
          absl::StrFormat("meets, at LDS byte %d, %s that no s_waitcnt has "
                          "retired: %#x: %s",
                          now.address[lane], dma ? "a use" : "a load into LDS",
                          earlier.inst->address, earlier.inst->text));
      return;
    }
  }

  // f(history, byte) for what covers [first, last); a history is that of a byte
  // or of a dword.
  template <class F>
  void ForEach(uint32_t first, uint32_t last, F f) {
    while (first < last) {
      const auto page = static_cast<uint32_t>(first / kPageBytes);
      const auto base = static_cast<uint32_t>(page * kPageBytes);
      const uint32_t end =
          std::min(last, base + static_cast<uint32_t>(kPageBytes));
      pages_[page].ForEach(first - base, end - base,
                           [&](AccessHistory& history) { f(history, first); });
      first = end;
    }
  }

  void TouchLate(const InFlight& access, int wave) {
    const auto pc = static_cast<uint32_t>(access.inst->address);
    for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
      const uint32_t first = access.address[std::countr_zero(rest)];
      ForEach(first, first + access.bytes,
              [&](AccessHistory& history, uint32_t /*byte*/) {
                history.late_read.Add(interval_, wave, pc);
              });
    }
  }

  void Touch(const InFlight& access, Wave& wave) {
    const auto pc = static_cast<uint32_t>(access.inst->address);
    bool reported = false;
    for (uint64_t rest = access.lanes; rest != 0; rest &= rest - 1) {
      const int l = std::countr_zero(rest);
      const uint32_t first = access.address[l];
      ForEach(first, first + access.bytes,
              [&](AccessHistory& history, uint32_t byte) {
                const AccessHistory::Conflict conflict =
                    history.Add(access.kind, false, interval_, wave.index, pc);
                if (conflict.what == nullptr || reported) return;
                reported = true;
                Report(access, conflict, wave, l, byte);
              });
    }
  }

  static void Report(const InFlight& access,
                     const AccessHistory::Conflict& conflict, Wave& wave,
                     int lane, uint32_t byte) {
    const bool late = conflict.late_read;
    const bool harmless = conflict.atomic_and_read ||
                          (late && access.kind == AccessKind::kDmaWrite);
    wave.group->Note(
        harmless ? Severity::kWarning : Severity::kError, "lds-race",
        *access.inst, wave, lane, "",
        absl::StrFormat("LDS from byte %d on, which wave %d %s at %#x with no "
                        "%s between",
                        byte, conflict.wave, conflict.what, conflict.pc,
                        late ? "wait before the barrier" : "barrier and wait"));
  }

  std::vector<ShadowPage<AccessHistory>> pages_;
  std::vector<std::vector<InFlight>> in_flight_;  // by wave
  uint32_t interval_ = 0;
};

}  // namespace

std::unique_ptr<Observer> MakeLdsRaces() {
  return std::make_unique<LdsRaces>();
}

}  // namespace zyfa::emu
