// The transposing reads of LDS, used to transpose matrices of 16 columns.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

class Transpose : public testing::TestWithParam<std::string> {};

// `bits` an element; Out holds one.
template <class Out>
void Check(TestDevice& device, size_t bits) {
  for (size_t rows : {1u, 16u, 64u, 77u, 200u}) {
    Noise noise(bits);
    std::vector<uint8_t> in(rows * 16 * bits / 8);
    for (uint8_t& x : in) x = static_cast<uint8_t>(noise.Next());
    const uint64_t out = device.Upload(std::vector<Out>(rows * 16));
    device.RunClean("transpose" + std::to_string(bits),
                    Shape(static_cast<uint32_t>((rows + 63) / 64), 64),
                    Kernarg()
                        .Add(out)
                        .Add(device.Upload(in))
                        .Add(static_cast<int32_t>(rows)));
    const auto got = device.Download<Out>(out, rows * 16);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < 16; ++column) {
        uint32_t want = 0;
        for (size_t b = 0; b < bits; ++b) {
          const size_t at = (row * 16 + column) * bits + b;
          want |= (in[at / 8] >> at % 8 & 1u) << b;
        }
        ASSERT_EQ(got[column * rows + row], want)
            << bits << " bits, " << rows << " rows: row " << row << " column "
            << column;
      }
    }
  }
}

TEST_P(Transpose, EveryWidth) {
  TestDevice device(GetParam());
  Check<uint16_t>(device, 16);
  Check<uint8_t>(device, 8);
  Check<uint8_t>(device, 6);
  Check<uint8_t>(device, 4);
}

INSTANTIATE_TEST_SUITE_P(Levels, Transpose,
                         testing::ValuesIn(BothLevels("transpose")));

}  // namespace
}  // namespace zyfa::emu
