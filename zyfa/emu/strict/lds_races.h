#ifndef ZYFA_EMU_STRICT_LDS_RACES_H_
#define ZYFA_EMU_STRICT_LDS_RACES_H_

#include <memory>

#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Accesses to the same byte of LDS, one of them a write, that nothing orders.
//
// An access is in flight from its issue until an s_waitcnt of its wave retires
// it; an s_barrier orders two waves only for what both had retired before it.
// Rules, errors but for two cases:
//   "lds-race"         two waves, at least one write; atomics among themselves
//                      are no race. A warning where one is a read that the
//                      barrier between the two found in flight and the other a
//                      load into LDS, whose data need the way to memory and
//                      back before they can meet it; and between a read and an
//                      atomic, as LDS has no atomic read of its own
//   "lds-dma-unwaited" a wave reads or writes what its own load into LDS has
//                      not brought yet, or starts a load into what its own read
//                      has not fetched yet
std::unique_ptr<Observer> MakeLdsRaces();

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_LDS_RACES_H_
