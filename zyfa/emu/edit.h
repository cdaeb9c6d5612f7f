#ifndef ZYFA_EMU_EDIT_H_
#define ZYFA_EMU_EDIT_H_

#include <cstdint>

namespace zyfa::emu {

// A change to the code of a kernel for one run, to see what breaks: how tests
// prove that the strict checks bite, and a way to ask "is this wait needed?".
struct Edit {
  enum class Kind {
    kDrop,       // the instruction is not there: it takes no issue slot either
    kImmediate,  // s_nop, s_waitcnt: `immediate` instead of its own
    kSwapNext,   // the instruction and the one behind it change places
  };
  Kind kind = Kind::kDrop;
  uint64_t pc = 0;  // byte offset inside .text
  uint16_t immediate = 0;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_EDIT_H_
