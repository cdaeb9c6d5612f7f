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
  struct Readers {
    uint32_t interval = 0;
    uint32_t pc = 0;  // of the last one
    uint16_t waves = 0;

    void Add(uint32_t now, int wave, uint32_t at) {
      if (interval != now) {
        interval = now;
        waves = 0;
      }
      waves |= static_cast<uint16_t>(1u << wave);
      pc = at;
    }
  };
  Change write;         // plain ones
  Change atomic;        // changes; among themselves and with atomic reads none
  Readers read;         // plain ones
  Readers atomic_read;  // race with plain writes alone
  Readers late_read;    // in flight when the barrier before opened

  // Another wave's access that nothing orders with this one.
  struct Conflict {
    const char* what = nullptr;  // nullptr: there is none
    int wave = -1;               // -1: several
    uint32_t pc = 0;
    bool late_read = false;  // the other access is a late read
    // One of the two changes atomically, the other reads: harmless if the read
    // was meant to be atomic as well.
    bool atomic_and_read = false;
  };

  // `scoped`: an atomic read or write instead of a plain one.
  Conflict Add(AccessKind kind, bool scoped, uint32_t interval, int wave,
               uint32_t pc) {
    const auto self = static_cast<uint8_t>(wave);
    const bool reads = kind == AccessKind::kRead;
    const bool is_atomic = scoped || kind == AccessKind::kAtomic;
    Conflict conflict;
    const auto against = [&](const Change& change, const char* what) {
      if (change.interval != interval || change.wave == self) return;
      conflict = {what, change.wave == kSeveral ? -1 : change.wave, change.pc,
                  false, reads && &change == &atomic};
    };
    const auto against_readers = [&](const Readers& readers, bool late) {
      const auto others = static_cast<uint16_t>(readers.waves & ~(1u << wave));
      if (readers.interval != interval || others == 0) return;
      conflict = {"reads", std::countr_zero(others), readers.pc, late,
                  is_atomic};
    };
    if (!reads) {
      against_readers(late_read, true);
      if (!is_atomic) against_readers(atomic_read, false);
      against_readers(read, false);
    }
    if (!is_atomic) against(atomic, "changes atomically");
    against(write, "writes");
    if (reads) {
      (is_atomic ? atomic_read : read).Add(interval, wave, pc);
    } else if (is_atomic) {
      const bool several = atomic.interval == interval && atomic.wave != self;
      atomic = {interval, pc, several ? kSeveral : self};
    } else {
      write = {interval, pc, self};
    }
    return conflict;
  }
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_ACCESS_HISTORY_H_
