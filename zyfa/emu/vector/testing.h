#ifndef ZYFA_EMU_VECTOR_TESTING_H_
#define ZYFA_EMU_VECTOR_TESTING_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/wave.h"

// Running single instructions in tests.
namespace zyfa::emu::testing {

// Which set of handlers.
enum class CodeSet { kChosen, kBaseline, kAvx2 };
bool HostHasAvx2();

// An instruction from its text as LLVM prints it, with its handler (nullptr if
// it is refused). Sizes are not filled in.
Instruction Assemble(const std::string& text, CodeSet set = CodeSet::kChosen);

// Texts of an instruction with operands of many shapes, some of which every
// mnemonic accepts. Registers: v8, v40, v80, v120 up, s[10:11], s[12:13].
std::vector<std::string> OperandShapes(const std::string& name);

// A wave with EXEC all ones, round to nearest, denormals kept, all else zero.
struct TestWave {
  TestWave();
  Wave& operator*() { return *wave; }
  Wave* operator->() { return wave.get(); }
  // Executes `text`; a refused instruction fails the test.
  void Run(const std::string& text, CodeSet set = CodeSet::kChosen);

  std::unique_ptr<Wave> wave;
};

// MODE bits by name.
inline constexpr uint32_t kModeDenormF32 = 3u << 4;
inline constexpr uint32_t kModeDenormF16F64 = 3u << 6;
inline constexpr uint32_t kModeDx10Clamp = 1u << 8;
inline constexpr uint32_t kModeIeee = 1u << 9;
inline constexpr uint32_t kModeFp16Ovfl = 1u << 23;

uint32_t Bits(float x);
float Float(uint32_t bits);
uint64_t Bits(double x);
double Double(uint64_t bits);

// Small deterministic generator.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint32_t Next32();
  uint64_t Next64() { return Next32() | uint64_t{Next32()} << 32; }
  int Between(int least, int most) {
    return least + static_cast<int>(Next32() % (most - least + 1));
  }
  // Float bits with every exponent, and often 0, 1, Inf, NaN or denormals.
  uint32_t FloatBits();
  uint32_t HalfBits();

 private:
  uint64_t state_;
};

}  // namespace zyfa::emu::testing

#endif  // ZYFA_EMU_VECTOR_TESTING_H_
