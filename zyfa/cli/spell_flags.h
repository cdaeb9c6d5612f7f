#ifndef ZYFA_CLI_SPELL_FLAGS_H_
#define ZYFA_CLI_SPELL_FLAGS_H_

namespace zyfa::cli {

// Lets flags be written with '-' between words (--dma-landing): changes them in
// `argv` to the '_' that absl wants. For main(), before absl parses.
void SpellFlags(int argc, char** argv);

}  // namespace zyfa::cli

#endif  // ZYFA_CLI_SPELL_FLAGS_H_
