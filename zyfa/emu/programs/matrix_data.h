#ifndef ZYFA_EMU_PROGRAMS_MATRIX_DATA_H_
#define ZYFA_EMU_PROGRAMS_MATRIX_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

namespace zyfa::emu {

// Repeatable values without a pattern.
class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}
  uint32_t Next();
  float Float();                     // [-1, 1)
  int Between(int least, int most);  // both included
  std::vector<float> Floats(size_t n);

 private:
  uint64_t state_;
};

// Element formats of matrices, by the names of the instructions.
enum class Format {
  kF64,
  kF32,
  kF16,
  kBf16,
  kI8,
  kFp8,
  kBf8,
  kFp6,
  kBf6,
  kFp4,
};
int BitsOf(Format format);
std::string NameOf(Format format);  // "fp8"
// Code and value of an element; CodeOf rounds to nearest even and saturates.
uint64_t CodeOf(Format format, double value);
double ValueOf(Format format, uint64_t code);

// Rows of packed elements, lowest bits first; a row fills whole bytes.
struct Matrix {
  int rows = 0, columns = 0;
  std::vector<uint8_t> bytes;
  std::vector<double> values;
  double at(int row, int column) const {
    return values[static_cast<size_t>(row) * static_cast<size_t>(columns) +
                  static_cast<size_t>(column)];
  }
};
// Values around [-2, 2), or all of a signed byte.
Matrix RandomMatrix(Format format, int rows, int columns, uint64_t seed);
// Element `index` of packed bytes.
uint64_t CodeAt(Format format, const uint8_t* bytes, size_t index);

// a b^T, and the sum of the products' magnitudes: errors are judged by it.
struct Product {
  double value = 0, magnitude = 0;
};
Product RowTimesRow(const Matrix& a, int i, const Matrix& b, int j);

// The code objects that a HIP file is compiled to: optimised by -O2 and by -O3.
std::vector<std::string> BothLevels(const std::string& program);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_PROGRAMS_MATRIX_DATA_H_
