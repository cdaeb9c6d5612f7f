#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_group.h"

namespace zyfa::emu {
namespace {

uint32_t Word(uint32_t i) { return i * 2654435761u + 17; }

// A wave with `words` known dwords in memory at s[2:3] and as buffer s[4:7].
struct MemoryTest : TestGroup {
  explicit MemoryTest(uint32_t words) : TestGroup(), bytes(4 * words) {
    address = *memory.Allocate(bytes);
    for (uint32_t i = 0; i < words; ++i) At(i) = Word(i);
    SetScalar64(2, address);
    SetBuffer(4, address, bytes);
  }
  uint32_t& At(uint32_t word) {
    return reinterpret_cast<uint32_t*>(memory.Translate(address, bytes))[word];
  }
  uint8_t& Byte(uint32_t byte) {
    return memory.Translate(address, bytes)[byte];
  }
  void SetAddress64(int row, uint64_t value, uint32_t lane) {
    wave->vgpr[row][lane] = static_cast<uint32_t>(value);
    wave->vgpr[row + 1][lane] = static_cast<uint32_t>(value >> 32);
  }
  uint32_t bytes;
  uint64_t address;
};

TEST(Global, LoadsByBothAddressForms) {
  MemoryTest g(1024);
  for (uint32_t l = 0; l < kLanes; ++l) {
    g.wave->vgpr[20][l] = (63 - l) * 48;
    g.SetAddress64(22, g.address + l * 36 + 4096 - 4096 + 16, l);
  }
  const struct {
    const char* name;
    uint32_t dwords;
  } cases[] = {{"dword", 1}, {"dwordx2", 2}, {"dwordx3", 3}, {"dwordx4", 4}};
  for (const auto& c : cases) {
    const std::string to =
        c.dwords == 1 ? "v0" : "v[0:" + std::to_string(c.dwords - 1) + "]";
    g.Run(std::string("global_load_") + c.name + " " + to +
          ", v20, s[2:3] offset:8");
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t d = 0; d < c.dwords; ++d) {
        ASSERT_EQ(g.wave->vgpr[d][l], Word((63 - l) * 12 + 2 + d)) << c.name;
      }
    }
    g.Run(std::string("global_load_") + c.name + " " + to +
          ", v[22:23], off offset:-16");
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t d = 0; d < c.dwords; ++d) {
        ASSERT_EQ(g.wave->vgpr[d][l], Word(l * 9 + d)) << c.name;
      }
    }
  }
}

TEST(Global, NarrowLoadsAndStores) {
  MemoryTest g(64);
  g.Byte(5) = 0x91;
  g.Byte(6) = 0xf0;
  const struct {
    const char* name;
    uint32_t want;
  } loads[] = {{"ubyte", 0x91},
               {"sbyte", 0xffffff91},
               {"ushort", 0xf091},
               {"sshort", 0xfffff091},
               {"ubyte_d16", 0x91},
               {"sbyte_d16", 0xff91},
               {"short_d16", 0xf091},
               {"ubyte_d16_hi", 0x910000},
               {"sbyte_d16_hi", 0xff910000},
               {"short_d16_hi", 0xf0910000}};
  for (const auto& c : loads) {
    g.Run(std::string("global_load_") + c.name + " v0, v1, s[2:3] offset:5");
    EXPECT_EQ(g.wave->vgpr[0][9], c.want) << c.name;
    g.Run(std::string("buffer_load_") + c.name + " v0, v1, s[4:7], 0 offen" +
          " offset:5");
    EXPECT_EQ(g.wave->vgpr[0][9], c.want) << c.name;
  }
  const struct {
    const char* name;
    uint32_t want;  // bytes 100.. before: 0
  } stores[] = {{"byte", 0x44},
                {"short", 0x3344},
                {"byte_d16_hi", 0x22},
                {"short_d16_hi", 0x1122},
                {"dword", 0x11223344}};
  g.wave->exec = 1;
  g.wave->vgpr[0][0] = 0x11223344;
  for (const auto& c : stores) {
    g.At(25) = 0;
    g.Run(std::string("global_store_") + c.name + " v1, v0, s[2:3] offset:100");
    EXPECT_EQ(g.At(25), c.want) << c.name;
    g.At(25) = 0;
    g.Run(std::string("buffer_store_") + c.name + " v0, off, s[4:7], 0" +
          " offset:100");
    EXPECT_EQ(g.At(25), c.want) << c.name;
  }
}

TEST(Global, StoresHonourExec) {
  MemoryTest g(256);
  for (uint32_t l = 0; l < kLanes; ++l) {
    g.wave->vgpr[1][l] = l * 16;
    for (uint32_t d = 0; d < 4; ++d) g.wave->vgpr[4 + d][l] = l * 10 + d;
  }
  g.wave->exec = 0x5555555555555555;
  g.Run("global_store_dwordx4 v1, v[4:7], s[2:3]");
  for (uint32_t i = 0; i < 256; ++i) {
    ASSERT_EQ(g.At(i), i / 4 % 2 == 0 ? i / 4 * 10 + i % 4 : Word(i));
  }
}

TEST(Global, OutOfRangeNamesTheLane) {
  MemoryTest g(64);
  for (uint32_t l = 0; l < kLanes; ++l) g.wave->vgpr[1][l] = l * 4;
  g.Run("global_load_dword v0, v1, s[2:3]");
  g.wave->vgpr[1][33] = 254;  // two bytes too far
  EXPECT_EQ(g.RunForRule("global_load_dword v0, v1, s[2:3]"), "out-of-range");
  EXPECT_EQ(g.group->findings.back().lane, 33);
  EXPECT_EQ(g.wave->signal, WaveSignal::kFault);
  g.wave->exec = ~(uint64_t{1} << 33);
  g.Run("global_load_dword v0, v1, s[2:3]");
  EXPECT_EQ(g.RunForRule("global_store_dword v1, v0, s[2:3] offset:-4"),
            "out-of-range");
  // LDS and scratch are reached by FLAT alone.
  g.SetScalar64(10, kSharedAperture);
  EXPECT_EQ(g.RunForRule("global_load_dword v0, v1, s[10:11]"), "out-of-range");
}

TEST(Flat, LdsScratchAndMemory) {
  MemoryTest g(64);
  g.wave->exec = 7;
  std::memcpy(g.group->lds.get() + 40, "LDS!", 4);
  g.SetAddress64(2, kSharedAperture + 40, 0);
  g.SetAddress64(2, kPrivateAperture + 12, 1);
  g.SetAddress64(2, g.address + 8, 2);
  const uint32_t private_word = 0xabcdef01;
  std::memcpy(g.group->scratch[0].get() + 256 + 12, &private_word, 4);
  g.Run("flat_load_dword v0, v[2:3]");
  EXPECT_EQ(g.wave->vgpr[0][0], 0x2153444cu);
  EXPECT_EQ(g.wave->vgpr[0][1], private_word);
  EXPECT_EQ(g.wave->vgpr[0][2], Word(2));
  // Lanes have scratch of their own at the same address.
  g.wave->sgpr[8] = 100;
  for (uint32_t l = 0; l < 3; ++l) g.wave->vgpr[5][l] = l + 50;
  g.Run("scratch_store_dword off, v5, s8 offset:4");
  g.wave->vgpr[6][0] = g.wave->vgpr[6][1] = g.wave->vgpr[6][2] = 104;
  g.Run("scratch_load_dword v7, v6, off");
  for (uint32_t l = 0; l < 3; ++l) EXPECT_EQ(g.wave->vgpr[7][l], l + 50);
  EXPECT_EQ(g.RunForRule("scratch_load_dword v7, v6, off offset:149"),
            "out-of-range");
}

TEST(Buffer, AddressParts) {
  MemoryTest g(1024);
  for (uint32_t l = 0; l < kLanes; ++l) {
    g.wave->vgpr[8][l] = l * 4;
    g.wave->vgpr[9][l] = 40;
  }
  g.wave->sgpr[10] = 400;
  g.Run("buffer_load_dwordx4 v[0:3], v9, s[4:7], s10 offen offset:1200");
  EXPECT_EQ(g.wave->vgpr[3][63], Word((40 + 400 + 1200) / 4 + 3));
  g.Run("buffer_load_dword v0, off, s[4:7], 0 offset:4092");
  EXPECT_EQ(g.wave->vgpr[0][0], Word(1023));
  // Index times stride; num_records counts structures.
  g.wave->WriteScalar32(5, g.wave->ReadScalar32(5) | 12 << 16);
  g.wave->sgpr[6] = 200;
  g.Run("buffer_load_dword v0, v[8:9], s[4:7], 0 idxen offen");
  for (uint32_t l = 0; l < kLanes; ++l) {
    ASSERT_EQ(g.wave->vgpr[0][l], 4 * l < 200 ? Word((4 * l * 12 + 40) / 4) : 0)
        << l;
  }
}

TEST(Buffer, RangeIsJudgedPerDword) {
  MemoryTest g(1024);
  for (uint32_t l = 0; l < kLanes; ++l) {
    g.wave->vgpr[9][l] = l * 16;
    for (uint32_t d = 0; d < 4; ++d) g.wave->vgpr[d][l] = 0xdead;
  }
  const uint32_t limit = 16 * 20 + 8;  // half of lane 20's four dwords
  g.SetBuffer(4, g.address, limit);
  g.Run("buffer_load_dwordx4 v[0:3], v9, s[4:7], 0 offen");
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t d = 0; d < 4; ++d) {
      const uint32_t at = 16 * l + 4 * d;
      ASSERT_EQ(g.wave->vgpr[d][l], at + 4 <= limit ? Word(at / 4) : 0);
      g.wave->vgpr[d][l] = 1000 + 4 * l + d;
    }
  }
  EXPECT_EQ(g.group->counters.clipped_dwords, 43u * 4 + 2);
  g.Run("buffer_store_dwordx4 v[0:3], v9, s[4:7], 0 offen");
  for (uint32_t i = 0; i < 1024; ++i) {
    ASSERT_EQ(g.At(i), 4 * i + 4 <= limit ? 1000 + i : Word(i));
  }
  // A dword that the end cuts is out as a whole.
  g.SetBuffer(4, g.address, limit - 2);
  g.Run("buffer_load_dwordx4 v[0:3], v9, s[4:7], 0 offen");
  EXPECT_EQ(g.wave->vgpr[0][20], 1000 + 80u);
  EXPECT_EQ(g.wave->vgpr[1][20], 0u);
  // The offsets wrap at 32 bits before the check.
  g.wave->exec = 1;
  g.wave->vgpr[9][0] = 0xfffffffc;
  g.Run("buffer_load_dword v0, v9, s[4:7], 0 offen offset:8");
  EXPECT_EQ(g.wave->vgpr[0][0], 1001u);
}

// GCN3 ISA 8.1.5: a raw access is out of range from num_records - soffset on.
// Where CDNA4 ISA 9.1.5, which does not name soffset, says otherwise, a warning
// tells.
TEST(Buffer, ScalarOffsetCountsInTheRangeCheck) {
  MemoryTest g(1024);
  g.SetBuffer(4, g.address, 64);
  g.wave->exec = 1;
  const auto load = [&g](uint32_t soffset) {
    g.wave->sgpr[10] = soffset;
    for (int d = 0; d < 4; ++d) g.wave->vgpr[d][0] = 1;
    const std::string rule =
        g.RunForRule("buffer_load_dwordx4 v[0:3], off, s[4:7], s10 offset:16");
    EXPECT_EQ(g.wave->signal, WaveSignal::kNone);
    return rule;
  };
  g.Run("buffer_load_dwordx4 v[0:3], off, s[4:7], 0 offset:16");
  EXPECT_EQ(g.wave->vgpr[3][0], Word(7));
  EXPECT_EQ(load(40), "ambiguous-range");  // bytes 56 to 71 of 64
  EXPECT_EQ(g.wave->vgpr[0][0], Word(14));
  EXPECT_EQ(g.wave->vgpr[1][0], Word(15));
  EXPECT_EQ(g.wave->vgpr[2][0], 0u);
  EXPECT_EQ(g.wave->vgpr[3][0], 0u);
  for (const uint32_t soffset : {48u, 64u, 0x1000u, 0xfffffff0u}) {
    EXPECT_EQ(load(soffset), "ambiguous-range") << soffset;
    for (int d = 0; d < 4; ++d) EXPECT_EQ(g.wave->vgpr[d][0], 0u) << soffset;
  }
}

// LLVM, unaligned-access-mode, which amdhsa sets.
TEST(Buffer, AddressesNeedNoAlignment) {
  MemoryTest g(1024);
  for (uint32_t l = 0; l < kLanes; ++l) g.wave->vgpr[9][l] = 5 * l;
  g.Run("buffer_load_dword v0, v9, s[4:7], 0 offen offset:6");
  for (uint32_t l = 0; l < kLanes; ++l) {
    uint32_t want;
    std::memcpy(&want, &g.Byte(5 * l + 6), 4);
    ASSERT_EQ(g.wave->vgpr[0][l], want) << l;
  }
}

TEST(Buffer, Warnings) {
  MemoryTest g(1024);
  g.wave->sgpr[7] = 0;
  EXPECT_EQ(g.RunForRule("buffer_load_dword v0, off, s[4:7], 0"),
            "unbound-buffer");
  EXPECT_EQ(g.wave->vgpr[0][0], 0u);
}

TEST(Atomics, ReturnTheOldValue) {
  MemoryTest g(64);
  g.At(4) = 100;
  for (uint32_t l = 0; l < kLanes; ++l) {
    g.wave->vgpr[2][l] = 1;
    g.wave->vgpr[1][l] = 16;
  }
  g.Run("global_atomic_add v0, v1, v2, s[2:3] sc0");
  EXPECT_EQ(g.At(4), 164u);
  EXPECT_EQ(g.wave->vgpr[0][0], 100u);
  EXPECT_EQ(g.wave->vgpr[0][63], 163u);
  g.Run("buffer_atomic_umax v2, off, s[4:7], 0 offset:16");
  EXPECT_EQ(g.At(4), 164u);
  g.wave->exec = 1;
  g.wave->vgpr[2][0] = 7;    // new
  g.wave->vgpr[3][0] = 164;  // comparand
  g.Run("global_atomic_cmpswap v0, v1, v[2:3], s[2:3] sc0");
  EXPECT_EQ(g.wave->vgpr[0][0], 164u);
  EXPECT_EQ(g.At(4), 7u);
  g.At(4) = 0x40490fdb;
  g.wave->vgpr[2][0] = 0x3f800000;
  g.Run("global_atomic_add_f32 v1, v2, s[2:3]");
  float sum;
  std::memcpy(&sum, &g.At(4), 4);
  EXPECT_EQ(sum, 3.14159274f + 1.0f);
  g.At(4) = g.At(5) = 0;
  g.SetAddress64(2, uint64_t{1} << 40, 0);
  g.Run("global_atomic_or_x2 v1, v[2:3], s[2:3]");
  EXPECT_EQ(g.At(5), 256u);
  EXPECT_EQ(g.RunForRule("global_atomic_add v1, v2, s[2:3] offset:2"),
            "misaligned");
}

// ISA 3.2: where a load into LDS puts what.
TEST(Dma, PlacesLanesInOrder) {
  for (const bool at_wait : {false, true}) {
    MemoryTest g(4096);
    g.group->dma_lands_at_wait = at_wait;
    const auto lds = [&g](uint32_t at) {
      uint32_t word;
      std::memcpy(&word, g.group->lds.get() + at, 4);
      return word;
    };
    // The text carries no encoding: an all-zero s_waitcnt waits for all.
    const auto wait = [&g] { g.Run("s_waitcnt vmcnt(0) lgkmcnt(0)"); };
    for (uint32_t l = 0; l < kLanes; ++l) g.wave->vgpr[9][l] = (l ^ 5) * 32;
    std::memset(g.group->lds.get(), 0xee, 8192);
    g.wave->sgpr[kM0] = 1024;
    g.wave->sgpr[10] = 256;
    // The instruction's offset moves both addresses, soffset memory's alone.
    g.Run("buffer_load_dwordx4 v9, s[4:7], s10 offen offset:64 lds");
    EXPECT_EQ(lds(1024 + 64),
              at_wait ? 0xeeeeeeeeu : Word((5 * 32 + 256 + 64) / 4));
    wait();
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t d = 0; d < 4; ++d) {
        ASSERT_EQ(lds(1024 + 64 + 16 * l + 4 * d),
                  Word(((l ^ 5) * 32 + 256 + 64) / 4 + d));
      }
    }
    EXPECT_EQ(lds(1024 + 60), 0xeeeeeeeeu);
    EXPECT_EQ(lds(1024 + 64 + 1024), 0xeeeeeeeeu);
    // x3: 12 of 16 bytes a lane; lanes that are off leave a hole.
    std::memset(g.group->lds.get(), 0xee, 8192);
    g.wave->exec = ~uint64_t{2};
    g.Run("buffer_load_dwordx3 v9, s[4:7], 0 offen lds");
    wait();
    EXPECT_EQ(lds(1024 + 8), Word(5 * 8 + 2));
    EXPECT_EQ(lds(1024 + 12), 0xeeeeeeeeu);
    EXPECT_EQ(lds(1024 + 16), 0xeeeeeeeeu);
    EXPECT_EQ(lds(1024 + 32), Word((2 ^ 5) * 8));
    // A dword a lane: 4 bytes apart; out of range gives zeros.
    g.wave->exec = ~uint64_t{0};
    g.SetBuffer(4, g.address, 10 * 32);
    g.Run("buffer_load_dword v9, s[4:7], 0 offen lds");
    wait();
    for (uint32_t l = 0; l < kLanes; ++l) {
      ASSERT_EQ(lds(1024 + 4 * l), (l ^ 5) < 10 ? Word((l ^ 5) * 8) : 0);
    }
    // A byte is extended to a dword.
    g.Run("global_load_lds_sbyte v9, s[2:3]");
    wait();
    EXPECT_EQ(lds(1024),
              static_cast<uint32_t>(static_cast<int8_t>(Word(5 * 8) & 0xff)));
    for (uint32_t l = 0; l < kLanes; ++l) {
      g.SetAddress64(12, g.address + 16 * (63 - l), l);
    }
    g.Run("global_load_lds_dwordx4 v[12:13], off offset:16");
    wait();
    EXPECT_EQ(lds(1024 + 16 + 16 * 3 + 8), Word(60 * 4 + 4 + 2));
  }
}

TEST(Dma, StaysInsideLds) {
  MemoryTest g(4096);
  g.group->lds_bytes = 2048;
  g.wave->sgpr[kM0] = 1024;
  g.Run("global_load_lds_dwordx4 v9, s[2:3]");
  EXPECT_EQ(g.RunForRule("global_load_lds_dwordx4 v9, s[2:3] offset:16"),
            "lds-out-of-range");
  g.wave->exec = 1;
  g.Run("global_load_lds_dwordx4 v9, s[2:3] offset:16");
  EXPECT_EQ(g.RunForRule("global_load_lds_dword v9, s[2:3] offset:2"),
            "misaligned");
  EXPECT_FALSE(
      TestGroup::Accepts("buffer_load_dwordx2 v9, s[4:7], 0 offen lds"));
}

// The counter of FLAT holds 15: clang reads the first of 16 after vmcnt(0)
// alone.
TEST(Flat, OldestIsBackWhenTheCounterIsFull) {
  MemoryTest g(64);
  WaitState& waits = g.group->waits[0];
  for (uint32_t l = 0; l < kLanes; ++l) g.SetAddress64(20, g.address, l);
  const auto conflicts = [&waits](uint16_t row) {
    return waits.Conflicts({true, false, row, 1}, WaitState::Kind::kNone);
  };
  for (int i = 0; i < 16; ++i) {
    g.Run("flat_load_dword v" + std::to_string(i) + ", v[20:21]");
  }
  EXPECT_TRUE(conflicts(0));
  waits.WaitVm(0);
  EXPECT_FALSE(conflicts(0));
  EXPECT_TRUE(conflicts(1));
  waits.WaitLgkm(0);
  EXPECT_FALSE(conflicts(1));
}

TEST(Dma, LandsInIssueOrderAtItsCount) {
  MemoryTest g(4096);
  WaitState& waits = g.group->waits[0];
  for (uint32_t i = 0; i < 3; ++i) {
    g.wave->sgpr[kM0] = 256 * i;
    g.Run("global_load_lds_dword v9, s[2:3]");
    g.Run("global_store_dword v9, v0, s[2:3] offset:2048");
  }
  const auto landed = [&g](uint32_t i) { return g.group->lds[256 * i] != 0; };
  EXPECT_FALSE(landed(0));
  waits.WaitVm(4);  // two retired: the first DMA and the first store
  LandRetired(*g.group, waits);
  EXPECT_TRUE(landed(0));
  EXPECT_FALSE(landed(1));
  waits.WaitVm(2);
  LandRetired(*g.group, waits);
  EXPECT_TRUE(landed(1));
  EXPECT_FALSE(landed(2));
  g.Run("s_endpgm");
  EXPECT_TRUE(landed(2));
}

TEST(Refusals, FormsWithoutSemantics) {
  for (const char* text :
       {"buffer_load_format_xyzw v[0:3], v0, s[0:3], 0 idxen",
        "scratch_load_lds_dword v1, off", "s_store_dword s0, s[2:3], 0x0",
        "buffer_load_dword v0, v1, s[0:3], 0 offen tfe", "ds_gws_barrier v0"}) {
    EXPECT_FALSE(TestGroup::Accepts(text)) << text;
  }
}

}  // namespace
}  // namespace zyfa::emu
