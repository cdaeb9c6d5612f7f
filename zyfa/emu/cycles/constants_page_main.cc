// Prints the table of constants in docs/cycle-model.md.
#include <cstdio>

#include "zyfa/emu/cycles/constants_page.h"

int main() {
  std::fputs(zyfa::emu::ConstantsMarkdown().c_str(), stdout);
  return 0;
}
