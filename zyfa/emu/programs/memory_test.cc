// Pointers of every kind, scratch, calls.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

class Memory : public testing::TestWithParam<std::string> {};

TEST_P(Memory, PrivateArrayInScratch) {
  TestDevice device(GetParam());
  ASSERT_GT(device.code().FindKernel("private_array")->private_bytes, 0u);
  std::vector<int32_t> in(256);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i) - 9;
  const uint64_t out = device.Upload(std::vector<int32_t>(in.size()));
  device.RunClean("private_array", Shape(2, 128),
                  Kernarg().Add(out).Add(device.Upload(in)).Add(13));
  const std::vector<int32_t> got = device.Download<int32_t>(out, in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    uint32_t sum = 0;
    for (uint32_t j = 0; j < 13; ++j) {
      sum = sum * 3 + static_cast<uint32_t>(in[i]) * j;
    }
    ASSERT_EQ(static_cast<uint32_t>(got[i]), sum) << i;
  }
}

TEST_P(Memory, FlatPointerToLdsAndToMemory) {
  TestDevice device(GetParam());
  for (int use_lds : {0, 1}) {
    const uint64_t out = device.Upload(std::vector<int32_t>(128));
    const uint64_t other = device.Upload(std::vector<int32_t>(64));
    device.RunClean("flat_pointer", Shape(1, 64),
                    Kernarg().Add(out).Add(other).Add(use_lds));
    const auto got = device.Download<int32_t>(out, 128);
    const auto memory = device.Download<int32_t>(other, 64);
    for (int t = 0; t < 64; ++t) {
      ASSERT_EQ(got[t], (63 - t) * (use_lds ? 7 : 11));
      ASSERT_EQ(got[64 + t], use_lds ? -t : 7 * t);
      ASSERT_EQ(memory[t], use_lds ? 11 * t : -t);
    }
  }
}

TEST_P(Memory, PointersThatDifferByLane) {
  TestDevice device(GetParam());
  Noise noise(1);
  std::vector<int32_t> kinds(64), memory(64);
  for (size_t l = 0; l < 64; ++l) {
    kinds[l] = noise.Between(0, 2);
    memory[l] = static_cast<int>(l) + 5000;
  }
  const uint64_t out = device.Upload(std::vector<int32_t>(256));
  device.RunClean(
      "three_kinds", Shape(1, 64),
      Kernarg().Add(out).Add(device.Upload(memory)).Add(device.Upload(kinds)));
  const auto got = device.Download<int32_t>(out, 256);
  for (int l = 0; l < 64; ++l) {
    const auto at = static_cast<size_t>(4 * l);
    // Of memory, LDS and scratch, the chosen one is tripled.
    int32_t values[3] = {l + 5000, l + 1000, 8 * l + 3 + 2000};
    int32_t& chosen = values[kinds[static_cast<size_t>(l)]];
    ASSERT_EQ(got[at], chosen) << l;
    chosen *= 3;
    for (size_t kind = 0; kind < 3; ++kind) {
      ASSERT_EQ(got[at + 1 + kind], values[kind]) << l << " " << kind;
    }
  }
}

TEST_P(Memory, AtomicsThroughFlatPointers) {
  TestDevice device(GetParam());
  for (int use_lds : {0, 1}) {
    const uint64_t out = device.Upload(std::vector<int32_t>(68));
    const uint64_t sums = device.Upload(std::vector<float>(2));
    const uint64_t memory = device.Upload(std::vector<int32_t>(4));
    device.RunClean("flat_atomics", Shape(1, 64),
                    Kernarg().Add(out).Add(sums).Add(memory).Add(use_lds));
    const auto got = device.Download<int32_t>(out, 68);
    const auto sum = device.Download<float>(sums, 2);
    const auto in_memory = device.Download<int32_t>(memory, 4);
    const std::vector<int32_t> want = {16, 16, 16, 630};
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(got[64 + i], use_lds ? want[i] : 0) << i;
      EXPECT_EQ(in_memory[i], use_lds ? 0 : want[i]) << i;
    }
    EXPECT_EQ(sum[0], use_lds ? 0 : 1008);
    EXPECT_EQ(sum[1], use_lds ? 1008 : 0);
    // Of each cell every count is seen once; cell 3 is changed by maxima too.
    for (size_t cell = 0; cell < 3; ++cell) {
      uint32_t seen = 0;
      for (size_t l = cell; l < 64; l += 4) seen |= 1u << got[l];
      EXPECT_EQ(seen, 0xffffu) << cell;
    }
  }
}

TEST_P(Memory, EveryWidth) {
  TestDevice device(GetParam());
  Noise noise(2);
  std::vector<uint8_t> in(64 * 48);
  for (uint8_t& x : in) x = static_cast<uint8_t>(noise.Next());
  const uint64_t out = device.Upload(std::vector<int64_t>(64));
  const uint64_t odd = device.Upload(std::vector<uint8_t>(64 * 15));
  const uint64_t bytes = device.Upload(std::vector<uint8_t>(512));
  device.RunClean(
      "widths", Shape(1, 64),
      Kernarg().Add(out).Add(device.Upload(in)).Add(odd).Add(bytes));
  const auto got = device.Download<int64_t>(out, 64);
  const auto packed = device.Download<uint8_t>(odd, 64 * 15);
  const auto narrow = device.Download<uint8_t>(bytes, 512);
  const auto at = [&](size_t offset, auto value) {
    std::memcpy(&value, in.data() + offset, sizeof(value));
    return static_cast<int64_t>(value);
  };
  for (size_t t = 0; t < 64; ++t) {
    const size_t from = (63 - t) * 48, other = t * 48;
    const int64_t terms[] = {at(from, int8_t{}),
                             at(from + 1, uint8_t{}),
                             at(from + 2, int16_t{}),
                             at(from + 4, uint16_t{}),
                             at(from + 8, int32_t{}),
                             at(from + 16, int64_t{}),
                             at(from + 32, int32_t{}) +
                                 5 * at(from + 36, int32_t{}) +
                                 7 * at(from + 40, int32_t{}),
                             at(other + 5, int8_t{}),
                             at(other + 6, int16_t{}),
                             at(other + 10, uint16_t{})};
    uint64_t sum = 0;
    for (int64_t term : terms) sum = sum * 3 + static_cast<uint64_t>(term);
    ASSERT_EQ(static_cast<uint64_t>(got[t]), sum) << t;
    uint8_t want[15];
    const auto b = static_cast<uint32_t>(sum);
    const auto c = static_cast<uint16_t>(sum >> 8);
    const uint64_t d = sum * 3;
    want[0] = static_cast<uint8_t>(t);
    std::memcpy(want + 1, &b, 4);
    std::memcpy(want + 5, &c, 2);
    std::memcpy(want + 7, &d, 8);
    ASSERT_EQ(std::memcmp(&packed[15 * t], want, 15), 0) << t;
    ASSERT_EQ(narrow[3 * t], static_cast<uint8_t>(sum));
    ASSERT_EQ(narrow[3 * t + 1], static_cast<uint8_t>(sum >> 16));
    ASSERT_EQ(narrow[3 * t + 2], 0);
    ASSERT_EQ(narrow[256 + 2 * t], static_cast<uint8_t>(sum >> 24));
    ASSERT_EQ(narrow[257 + 2 * t], static_cast<uint8_t>(sum >> 32));
  }
}

TEST_P(Memory, CallsAndRecursion) {
  TestDevice device(GetParam());
  for (int which : {0, 1}) {
    for (int depth : {0, 1, 7}) {
      const uint64_t out = device.Upload(std::vector<int32_t>(64));
      device.RunClean("calls", Shape(1, 64),
                      Kernarg().Add(out).Add(which).Add(depth));
      int recursed = 1;
      for (int d = 1; d <= depth; ++d) recursed = recursed * 3 + d;
      const auto got = device.Download<int32_t>(out, 64);
      for (int l = 0; l < 64; ++l) {
        const int x = l - 9;
        ASSERT_EQ(got[static_cast<size_t>(l)],
                  (which ? 2 * x + 1 : x * x) + recursed)
            << l << " " << depth;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Memory,
                         testing::ValuesIn(BothLevels("memory")));

}  // namespace
}  // namespace zyfa::emu
