#ifndef ZYFA_EMU_SEMANTICS_H_
#define ZYFA_EMU_SEMANTICS_H_

#include <string_view>

namespace zyfa::emu {

// A set of instructions that are implemented and tested together.
struct Subject {
  std::string_view title;
  // Where their meaning is written: "pseudocode" is the vendor's, instruction
  // by instruction; "ISA facts n" and "numerics n" are sections of the
  // project's own references, "ISA guide n" of AMD's CDNA4 guide.
  std::string_view source;
  std::string_view tests;  // build targets, by commas
};

// What is known about one emulated mnemonic.
struct Semantics {
  const Subject* subject = nullptr;
  // Why results may differ from the hardware's; empty: they do not.
  std::string_view approximation;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_SEMANTICS_H_
