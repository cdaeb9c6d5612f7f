#ifndef ZYFA_EMU_STRICT_CONTROL_H_
#define ZYFA_EMU_STRICT_CONTROL_H_

#include <memory>

#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Rules about what a wave does as a whole:
//   error    "partial-exec": a matrix instruction with lanes off. The hardware
//            takes all 64 lanes whatever EXEC says (ISA 1.1), so the lanes that
//            are off must have been meant to take part - or the wave was not
//            meant to be here
//   error    "lds-dma-at-end": the wave ends while a load into LDS is in
//            flight, which may then land in LDS that another group owns
//   warning  "partial-barrier": a barrier opens although a wave of the group
//            has ended before it; the hardware allows it, HIP does not
//
// It also counts the turns of the LDS banks.
std::unique_ptr<Observer> MakeControl();

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_CONTROL_H_
