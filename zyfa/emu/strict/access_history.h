#ifndef ZYFA_EMU_STRICT_ACCESS_HISTORY_H_
#define ZYFA_EMU_STRICT_ACCESS_HISTORY_H_

#include <bit>
#include <cstdint>

#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Who touched one byte (or dword) in the present interval between barriers.
// Intervals are numbered over all groups that a host thread runs, from 1 on, so
// that nothing has to be cleared.
struct AccessHistory {
  static constexpr uint8_t kSeveral = 0xff;

  struct Change {
    uint32_t interval = 0;
    uint32_t pc = 0;
    uint8_t wave = 0;  // or kSeveral
  };
  Change write;   // plain ones
  Change atomic;  // among themselves no race
  uint32_t read_interval = 0;
  uint32_t read_pc = 0;
  uint16_t readers = 0;  // waves, by bit
  // Readers of which the barrier found the read still in flight.
  uint32_t late_interval = 0;
  uint16_t late_readers = 0;

  // Another wave's access that nothing orders with this one.
  struct Conflict {
    const char* what = nullptr;  // nullptr: there is none
    int wave = -1;               // -1: several
    uint32_t pc = 0;
    bool late_read = false;  // the other access is a late read
  };

  // A read that was in flight when the barrier before `interval` opened.
  void AddLateRead(uint32_t interval, int wave, uint32_t pc) {
    if (late_interval != interval) {
      late_interval = interval;
      late_readers = 0;
    }
    late_readers |= static_cast<uint16_t>(1u << wave);
    if (read_interval != interval) read_pc = pc;
  }

  Conflict Add(AccessKind kind, uint32_t interval, int wave, uint32_t pc) {
    const auto self = static_cast<uint8_t>(wave);
    const auto bit = static_cast<uint16_t>(1u << wave);
    Conflict conflict;
    const auto against = [&](const Change& change, const char* what) {
      if (change.interval != interval || change.wave == self) return;
      conflict = {what, change.wave == kSeveral ? -1 : change.wave, change.pc,
                  false};
    };
    if (kind != AccessKind::kRead && late_interval == interval) {
      const auto others = static_cast<uint16_t>(late_readers & ~bit);
      if (others != 0) {
        conflict = {"reads", std::countr_zero(others), read_pc, true};
      }
    }
    if (kind != AccessKind::kRead && read_interval == interval) {
      const auto others = static_cast<uint16_t>(readers & ~bit);
      if (others != 0) {
        conflict = {"reads", std::countr_zero(others), read_pc, false};
      }
    }
    if (kind != AccessKind::kAtomic) against(atomic, "changes atomically");
    against(write, "writes");
    switch (kind) {
      case AccessKind::kRead:
        if (read_interval != interval) {
          read_interval = interval;
          readers = 0;
        }
        readers |= bit;
        read_pc = pc;
        break;
      case AccessKind::kAtomic:
        atomic = {interval, pc,
                  atomic.interval == interval && atomic.wave != self ? kSeveral
                                                                     : self};
        break;
      case AccessKind::kWrite:
      case AccessKind::kDmaWrite:
        write = {interval, pc, self};
        break;
    }
    return conflict;
  }
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_ACCESS_HISTORY_H_
