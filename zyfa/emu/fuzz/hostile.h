#ifndef ZYFA_EMU_FUZZ_HOSTILE_H_
#define ZYFA_EMU_FUZZ_HOSTILE_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

// Deterministic: the same seed gives the same inputs everywhere.
using Random = std::mt19937_64;

// All code objects that the build makes: those of testdata and our kernels.
std::vector<std::string> CodeObjectPaths();

// `count` words: half of them anything, half in the encodings that exist.
std::vector<uint8_t> RandomWords(Random& random, size_t count);
// A word with one to three of its bits flipped.
uint32_t FlipBits(Random& random, uint32_t word);

// Whether a message can show it: not empty, printable ASCII on one line.
bool IsPrintable(const std::string& text);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_FUZZ_HOSTILE_H_
