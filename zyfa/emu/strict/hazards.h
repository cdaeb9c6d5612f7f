#ifndef ZYFA_EMU_STRICT_HAZARDS_H_
#define ZYFA_EMU_STRICT_HAZARDS_H_

#include <memory>

#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Wait states between dependent instructions of a wave that the hardware does
// not insert (ISA 5.1, 5.2), counted in issued instructions on the path that
// really ran. Rules begin with "hazard-"; each says how many it wants and how
// many there were.
//
// Levels (ISA 5): warnings are what vendor code is known to break - M0 before a
// load into LDS, a conversion right before the matrix instruction that takes
// it, one instruction instead of two between any vector result and that,
// v_permlane* after v_permlane* -, an LDS load over the data of a store right
// behind it, and results that come in time only because something between takes
// longer than its issue: a matrix instruction that has to wait until its
// predecessor leaves the pipe, or a barrier. Everything else is an error.
//
// Rule "pk-fma-fault", an error: v_pk_fma_f32 with one source's high half for
// both results, which gfx950 computes wrong now and then (peers.md 1).
//
// Not here: S_SETREG TRAPSTS, S_SET_VSKIP (privileged), and VCC named in two
// ways (the encoding does not tell them apart).
std::unique_ptr<Observer> MakeHazards(const Program& program);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_HAZARDS_H_
