#ifndef ZYFA_EMU_MUTATION_MUTANTS_H_
#define ZYFA_EMU_MUTATION_MUTANTS_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "zyfa/emu/code_object.h"
#include "zyfa/emu/edit.h"

namespace zyfa::emu {

// One small change to a kernel that leaves the order of dependent work alone:
// hardware may still run it right, or not.
struct Mutant {
  Edit edit;
  std::string what;  // "drop 0x1a4: s_nop 3"
};

// Every mutant of the instructions at `executed` bytes of .text:
//   s_nop      dropped, and shortened by one
//   s_waitcnt  dropped, and loosened by one in each counter it waits for
//   s_barrier  dropped
//   neighbours change places, where neither needs the other's result: s_nop,
//              s_waitcnt and s_barrier with anything but a branch, others if
//              their registers do not meet and not both access memory
std::vector<Mutant> MutantsOf(const CodeObject& code,
                              const std::set<uint64_t>& executed);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_MUTATION_MUTANTS_H_
