#include "zyfa/emu/device_memory.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

TEST(DeviceMemory, EndsAreExact) {
  DeviceMemory memory;
  const uint64_t a = *memory.Allocate(1001);
  const uint64_t b = *memory.Allocate(8);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(b % 256, 0u);
  EXPECT_NE(memory.Translate(a, 1001), nullptr);
  EXPECT_NE(memory.Translate(a + 1000, 1), nullptr);
  EXPECT_EQ(memory.Translate(a + 1000, 2), nullptr);
  EXPECT_EQ(memory.Translate(a, 1002), nullptr);
  EXPECT_EQ(memory.Translate(a + 1001, 1), nullptr);
  EXPECT_EQ(memory.Translate(a - 1, 1), nullptr);
  EXPECT_EQ(memory.Translate(a - 1, 2), nullptr);
  EXPECT_EQ(memory.Translate(a, ~size_t{0}), nullptr);
  EXPECT_EQ(memory.Translate(0, 1), nullptr);
  EXPECT_EQ(memory.Translate(~uint64_t{0}, 1), nullptr);
}

TEST(DeviceMemory, No32BitOffsetMeetsAnotherBlock) {
  DeviceMemory memory;
  const uint64_t a = *memory.Allocate(4096);
  const uint64_t b = *memory.Allocate(4096);
  EXPECT_GE(b - a, (uint64_t{1} << 32) + 4096);
}

TEST(DeviceMemory, FreshMemoryIsZeroAndLargeMemoryIsCheap) {
  DeviceMemory memory;
  const uint64_t bytes = uint64_t{48} << 30;
  const uint64_t big = *memory.Allocate(bytes);
  uint8_t last = 7;
  ASSERT_TRUE(memory.Read(big + bytes - 1, absl::MakeSpan(&last, 1)).ok());
  EXPECT_EQ(last, 0);
  last = 5;
  ASSERT_TRUE(memory.Write(big + bytes - 1, absl::MakeSpan(&last, 1)).ok());
  EXPECT_TRUE(memory.Free(big).ok());
}

TEST(DeviceMemory, FreeAndErrors) {
  DeviceMemory memory;
  const uint64_t a = *memory.Allocate(100);
  EXPECT_NE(memory.Translate(a, 100), nullptr);
  EXPECT_TRUE(memory.Free(a).ok());
  EXPECT_EQ(memory.Translate(a, 1), nullptr);
  EXPECT_EQ(memory.Free(a).code(), absl::StatusCode::kNotFound);
  const uint64_t b = *memory.Allocate(100);
  EXPECT_NE(a, b) << "a stale pointer must not meet a new block";
  EXPECT_EQ(memory.Free(b + 1).code(), absl::StatusCode::kNotFound);
  uint8_t bytes[4] = {};
  const absl::Status status = memory.Read(b + 97, absl::MakeSpan(bytes));
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_NE(std::string(status.message()).find("100 bytes"), std::string::npos)
      << status;
  const uint64_t empty = *memory.Allocate(0);
  EXPECT_EQ(memory.Translate(empty, 1), nullptr);
  EXPECT_TRUE(memory.Write(empty, {}).ok());
  EXPECT_EQ(memory.Allocate(uint64_t{1} << 50).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(DeviceMemory, AddressesAreReusedWhenAllWereGivenOut) {
  DeviceMemory memory;
  const uint64_t kept = *memory.Allocate(4096);
  for (int i = 0; i < 40000; ++i) {
    const auto address = memory.Allocate(64);
    ASSERT_TRUE(address.ok()) << i << ": " << address.status();
    ASSERT_NE(*address, kept);
    ASSERT_TRUE(memory.Free(*address).ok());
  }
}

TEST(DeviceMemory, ThreadsSeeBlocksAppearAndGo) {
  DeviceMemory memory;
  const uint64_t fixed = *memory.Allocate(64);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&memory, fixed] {
      for (int i = 0; i < 2000; ++i) {
        const uint64_t own = *memory.Allocate(128);
        ASSERT_NE(memory.Translate(own, 128), nullptr);
        ASSERT_NE(memory.Translate(fixed, 64), nullptr);
        ASSERT_TRUE(memory.Free(own).ok());
        ASSERT_EQ(memory.Translate(own, 1), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace zyfa::emu
