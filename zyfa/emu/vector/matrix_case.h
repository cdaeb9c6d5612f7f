#ifndef ZYFA_EMU_VECTOR_MATRIX_CASE_H_
#define ZYFA_EMU_VECTOR_MATRIX_CASE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "zyfa/emu/vector/testing.h"

// Matrix instructions in tests, with the register layouts written down from the
// ISA's tables once more: lane l, element e, i row of A, j column of B.
namespace zyfa::emu::testing {

enum class Type { kBf16, kF16, kF32, kI8, kFp8, kBf8, kFp6, kBf6, kFp4 };

int BitsOf(Type type);
// Exponent of the smallest normal number of a float type.
int LeastExponent(Type type);
// Value of a code by the definition: sign, exponent with bias, fraction. Codes
// of infinities and NaNs count as numbers.
double ValueOf(Type type, uint32_t code);

// A code whose value is a small integer (or a small multiple of 1/2), so that
// all sums are exact.
uint32_t SmallCode(Type type, Random& random);

// k of element e of lane l.
using Depth = std::function<int(int l, int e)>;

struct Source {
  Type type;
  int registers;
  int elements;  // a lane
  Depth depth;
};

struct Dense {
  std::string name;
  int rows, depth, blocks;
  Source a, b;
  std::string modifiers;
  bool integer = false;
  // Lane that B's lane l is taken from, block of A that serves block n.
  std::function<int(int)> lane_of_b = [](int l) { return l; };
  std::function<int(int)> block_of_a = [](int n) { return n; };
  // Power of two that scales A's row (B's column) and k.
  std::function<int(int i, int k)> scale_a = [](int, int) { return 0; };
  std::function<int(int j, int k)> scale_b = [](int, int) { return 0; };
  std::string scale_operands;
};

// An instruction whose lane groups follow each other along k (one block) or
// hold one block each.
Dense Simple(const std::string& name, Type type_a, Type type_b, int rows,
             int depth, int blocks);
// v_mfma_[scale_]f32_*_f8f6f4 with formats as cbsz and blgp number them.
Dense F8f6f4(bool scaled, int rows, int format_a, int format_b);
// Random scales of 2^-2 .. 2^2 in v160 and v161 for a scaled F8f6f4.
void SetRandomScales(Dense& op, TestWave& wave, Random& random);

// D += A * B, A with two of every four values.
struct Sparse {
  std::string name;
  Type type_a, type_b;
  int rows, depth;
  bool chunked;
};

// What one element of the result is made of, in the order of k; for a sparse
// product the values that A holds.
struct Dot {
  std::vector<double> a, b;
  std::vector<int> scale_a, scale_b;  // powers of two
  double c;
};
using Code = std::function<uint32_t(Type type, Random& random)>;
using Sum = std::function<double(const Dot& dot)>;
// Float32 bits of C.
using Addend = std::function<uint32_t(Random& random)>;

struct Inputs {
  Code code = SmallCode;
  Addend addend = [](Random& random) {
    return Bits(static_cast<float>(random.Between(-1000, 1000)));
  };
  // The expected result; integers and exact sums by default.
  Sum sum;
};

// Fills the operands, runs the instruction and compares with `inputs.sum`.
void Check(const Dense& op, TestWave& wave, uint64_t seed,
           const Inputs& inputs = {});
void CheckSparse(const Sparse& op, TestWave& wave, int cbsz, int abid,
                 uint64_t seed, const Inputs& inputs = {});

std::string Tuple(char file, int first, int count);

}  // namespace zyfa::emu::testing

#endif  // ZYFA_EMU_VECTOR_MATRIX_CASE_H_
