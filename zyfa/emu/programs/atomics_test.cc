// Atomic operations on memory, LDS and buffers.
#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

class Atomics : public testing::TestWithParam<std::string> {};

TEST_P(Atomics, AtomicsOnMemoryAndLds) {
  TestDevice device(GetParam());
  Noise noise(5);
  std::vector<uint8_t> in(1111);
  for (uint8_t& x : in) x = static_cast<uint8_t>(noise.Next());
  const uint64_t bins = device.Upload(std::vector<uint32_t>(16));
  const uint64_t lds_bins = device.Upload(std::vector<uint32_t>(16));
  const uint64_t sum = device.Upload(std::vector<float>(1));
  device.RunClean("histogram", Shape(5, 256),
                  Kernarg()
                      .Add(bins)
                      .Add(lds_bins)
                      .Add(sum)
                      .Add(device.Upload(in))
                      .Add(static_cast<int>(in.size())));
  std::vector<uint32_t> want(16);
  for (uint8_t x : in) ++want[x & 15];
  EXPECT_EQ(device.Download<uint32_t>(bins, 16), want);
  EXPECT_EQ(device.Download<uint32_t>(lds_bins, 16), want);
  EXPECT_EQ(device.Download<float>(sum, 1)[0], 1111.0f);
}

// What all work-items do to cells[0 .. 8], in any order.
template <class T>
void CheckIntegers(const std::vector<T>& start, const std::vector<T>& got,
                   const std::vector<T>& seen, const std::vector<T>& x) {
  using U = std::make_unsigned_t<T>;
  std::vector<T> want = start;
  std::vector<T> counts, candidates;
  for (size_t i = 0; i < x.size(); ++i) {
    const U u = static_cast<U>(x[i]);
    counts.push_back(
        static_cast<T>(static_cast<U>(start[0]) + static_cast<U>(i)));
    want[1] = static_cast<T>(static_cast<U>(want[1]) - u);
    want[2] &= x[i];
    want[3] |= x[i];
    want[4] ^= x[i];
    want[5] = std::min(want[5], x[i]);
    want[6] = std::max(want[6], x[i]);
    if (x[i] % 5 == 0) candidates.push_back(x[i]);
    want[8] = static_cast<T>(static_cast<U>(want[8]) * (2 * u + 1));
  }
  want[0] = static_cast<T>(static_cast<U>(want[0]) + static_cast<U>(x.size()));
  // The last of the exchanges stays, whichever that was.
  EXPECT_NE(std::find(candidates.begin(), candidates.end(), got[7]),
            candidates.end());
  for (size_t c : {0, 1, 2, 3, 4, 5, 6, 8}) EXPECT_EQ(got[c], want[c]) << c;
  std::vector<T> sorted(seen.begin(),
                        seen.begin() + static_cast<long>(x.size()));
  std::sort(sorted.begin(), sorted.end());
  std::sort(counts.begin(), counts.end());
  EXPECT_EQ(sorted, counts);
}

void CheckIntegerAtomics(TestDevice& device, const std::string& kernel,
                         uint32_t groups) {
  const size_t items = groups * 256;
  Noise noise(7);
  std::vector<int32_t> in(items);
  for (int32_t& x : in) x = noise.Between(-100000, 100000);
  const std::vector<int32_t> i32 = {5, 1, -1, 8, 77, 50, -50, 0, 3, 0, 0};
  const std::vector<uint32_t> u32 = {9, 1, ~0u, 8, 77, ~0u, 0, 0, 3, 90, 7};
  const std::vector<int64_t> i64 = {
      int64_t{1} << 40, 1, -1, 8, 77, 50, -50, 0, 3, 0, 0};
  const std::vector<uint64_t> u64 = {9, 1, ~uint64_t{0}, 8, 77, ~uint64_t{0}, 0,
                                     0, 3, 90,           7};
  const uint64_t at32 = device.Upload(i32), atu32 = device.Upload(u32);
  const uint64_t at64 = device.Upload(i64), atu64 = device.Upload(u64);
  const uint64_t seen32 = device.Upload(std::vector<int32_t>(2048));
  const uint64_t seen64 = device.Upload(std::vector<int64_t>(2048));
  // LDS has no atomic read, so what compilers make of one looks like any other.
  device.RunClean(kernel, Shape(groups, 256),
                  Kernarg()
                      .Add(at32)
                      .Add(atu32)
                      .Add(at64)
                      .Add(atu64)
                      .Add(seen32)
                      .Add(seen64)
                      .Add(device.Upload(in)),
                  StrictOptions(), {"lds-race"});
  std::vector<uint32_t> in_u32(items);
  std::vector<int64_t> in_64(items);
  std::vector<uint64_t> in_u64(items);
  for (size_t i = 0; i < items; ++i) {
    in_u32[i] = static_cast<uint32_t>(in[i]);
    in_64[i] = int64_t{in[i]} * 0x10001;
    in_u64[i] = static_cast<uint64_t>(int64_t{in[i]}) * 0x10001;
  }
  CheckIntegers(i32, device.Download<int32_t>(at32, 11),
                device.Download<int32_t>(seen32, 1024), in);
  const auto got_u32 = device.Download<uint32_t>(atu32, 11);
  CheckIntegers(u32, got_u32, device.Download<uint32_t>(seen32 + 4096, 1024),
                in_u32);
  CheckIntegers(i64, device.Download<int64_t>(at64, 11),
                device.Download<int64_t>(seen64, 1024), in_64);
  const auto got_u64 = device.Download<uint64_t>(atu64, 11);
  CheckIntegers(u64, got_u64, device.Download<uint64_t>(seen64 + 8192, 1024),
                in_u64);
  // Counters that go round after 100, up and down (ISA 13: wrap to 0, to 100).
  uint32_t up = 90, down = 7;
  for (size_t i = 0; i < items; ++i) {
    up = up >= 100 ? 0 : up + 1;
    down = down == 0 || down > 100 ? 100 : down - 1;
  }
  EXPECT_EQ(got_u32[9], up);
  EXPECT_EQ(got_u32[10], down);
  EXPECT_EQ(got_u64[9], up);
  EXPECT_EQ(got_u64[10], down);
}
TEST_P(Atomics, IntegersInMemory) {
  TestDevice device(GetParam());
  CheckIntegerAtomics(device, "integer_atomics", 3);
}
TEST_P(Atomics, IntegersInLds) {
  TestDevice device(GetParam());
  CheckIntegerAtomics(device, "lds_integer_atomics", 1);
}

void CheckFloatAtomics(TestDevice& device, const std::string& kernel,
                       uint32_t groups) {
  const size_t items = groups * 256;
  Noise noise(8);
  std::vector<float> in(items);
  for (float& x : in) x = static_cast<float>(noise.Between(-3, 3));
  in[17] = 40;
  in[30] = -41;
  const uint64_t f32 = device.Upload(std::vector<float>(8));
  const uint64_t f64 = device.Upload(std::vector<double>(9));
  const uint64_t f16 = device.Upload(std::vector<uint16_t>(14));
  const uint64_t bf16 = device.Upload(std::vector<uint16_t>(14));
  device.RunClean(
      kernel, Shape(groups, 256),
      Kernarg().Add(f32).Add(f64).Add(f16).Add(bf16).Add(device.Upload(in)));
  const auto got32 = device.Download<float>(f32, 8);
  const auto got64 = device.Download<double>(f64, 9);
  const auto got16 = device.Download<uint16_t>(f16, 14);
  const auto got_bf16 = device.Download<uint16_t>(bf16, 14);
  for (size_t cell = 0; cell < 7; ++cell) {
    // Small enough on the way that bfloat16 is exact too.
    double want = 0;
    for (size_t i = cell; i < items; i += 7) want += in[i];
    EXPECT_EQ(got32[cell], want);
    EXPECT_EQ(got64[cell], want);
    EXPECT_EQ(ValueOf(Format::kF16, got16[2 * cell]), want);
    EXPECT_EQ(ValueOf(Format::kF16, got16[2 * cell + 1]), -want);
    EXPECT_EQ(ValueOf(Format::kBf16, got_bf16[2 * cell]), want);
    EXPECT_EQ(ValueOf(Format::kBf16, got_bf16[2 * cell + 1]), -want);
  }
  EXPECT_EQ(got64[7], -41);
  EXPECT_EQ(got64[8], 40);
  if (groups == 1) {
    EXPECT_EQ(got32[7], 40);
  }
}
TEST_P(Atomics, FloatsInMemory) {
  TestDevice device(GetParam());
  CheckFloatAtomics(device, "float_atomics", 2);
}
TEST_P(Atomics, FloatsInLds) {
  TestDevice device(GetParam());
  CheckFloatAtomics(device, "lds_float_atomics", 1);
}

TEST_P(Atomics, BufferEndsInTheMiddle) {
  TestDevice device(GetParam());
  std::vector<int32_t> in(256);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i);
  const uint64_t sums = device.Upload(std::vector<int32_t>(16, 1000));
  const uint64_t floats = device.Upload(std::vector<float>(16, 0.5f));
  device.RunClean(
      "buffer_atomics", Shape(1, 256),
      Kernarg().Add(sums).Add(floats).Add(int32_t{40}).Add(device.Upload(in)));
  const auto got = device.Download<int32_t>(sums, 16);
  const auto got_floats = device.Download<float>(floats, 16);
  for (int cell = 0; cell < 16; ++cell) {
    // 16 numbers, each 16 above the one before; cells 10 to 15 lie behind.
    const int sum = cell < 10 ? 16 * cell + 16 * 120 : 0;
    EXPECT_EQ(got[static_cast<size_t>(cell)], 1000 + sum) << cell;
    EXPECT_EQ(got_floats[static_cast<size_t>(cell)],
              0.5f + static_cast<float>(sum))
        << cell;
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Atomics,
                         testing::ValuesIn(BothLevels("atomics")));

}  // namespace
}  // namespace zyfa::emu
