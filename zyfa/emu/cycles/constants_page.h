#ifndef ZYFA_EMU_CYCLES_CONSTANTS_PAGE_H_
#define ZYFA_EMU_CYCLES_CONSTANTS_PAGE_H_

#include <string>

namespace zyfa::emu {

// CycleConstantTable() as a table in Markdown, as docs/cycle-model.md has it:
// name, default, range, how it is known, source.
std::string ConstantsMarkdown();

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_CONSTANTS_PAGE_H_
