#include "zyfa/emu/mutation/executed_trace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

class AddOne : public TestDevice {
 public:
  AddOne() : TestDevice("control") {
    in = Upload(std::vector<float>(512));
    out = Upload(std::vector<float>(512));
  }
  // `n` of 512 elements in two work-groups of four waves.
  RunReport RunWith(ObserverFactory& observer, uint32_t n,
                    const std::vector<Edit>& edits = {}) {
    RunOptions options;
    options.observers.push_back(&observer);
    options.edits = edits;
    return RunClean("add_one", Shape(2, 256),
                    Kernarg().Add(out).Add(in).Add(n).Add(uint32_t{0}),
                    options);
  }
  uint64_t in, out;
};

std::vector<std::string> Texts(const std::vector<const Instruction*>& trace) {
  std::vector<std::string> texts;
  for (const Instruction* inst : trace) texts.push_back(inst->text);
  return texts;
}

// add_one as testdata/control.s has it.
const std::vector<std::string> kAddOne = {
    "s_load_dwordx4 s[4:7], s[0:1], 0x0",
    "s_load_dword s8, s[0:1], 0x10",
    "v_and_b32_e32 v0, 0x3ff, v0",
    "s_lshl_b32 s9, s2, 8",
    "v_add_u32_e32 v1, s9, v0",
    "v_lshlrev_b32_e32 v1, 2, v1",
    "s_waitcnt lgkmcnt(0)",
    "v_lshrrev_b32_e32 v2, 2, v1",
    "v_cmp_gt_u32_e32 vcc, s8, v2",
    "s_and_saveexec_b64 s[10:11], vcc",
    "s_cbranch_execz 0x50",
    "global_load_dword v3, v1, s[6:7]",
    "s_waitcnt vmcnt(0)",
    "v_add_f32_e32 v3, 1.0, v3",
    "global_store_dword v1, v3, s[4:5]",
    "s_endpgm",
};

TEST(ExecutedTrace, ChosenWavesInOrder) {
  AddOne device;
  ExecutedTrace trace({0, 2});
  // Waves 2 and 3 of group 0 and all of group 1 find nothing to do.
  device.RunWith(trace, 128);
  EXPECT_EQ(Texts(trace.Trace(0)), kAddOne);
  std::vector<std::string> skips(kAddOne.begin(), kAddOne.begin() + 11);
  skips.push_back("s_endpgm");
  EXPECT_EQ(Texts(trace.Trace(2)), skips);
  EXPECT_TRUE(trace.Trace(1).empty());
  EXPECT_TRUE(trace.Trace(7).empty());
  std::set<uint64_t> addresses;
  for (const Instruction* inst : trace.Trace(0)) {
    addresses.insert(inst->address);
  }
  EXPECT_EQ(trace.ExecutedAddresses(), addresses);
}

TEST(ExecutedTrace, AddressesOfAllGroups) {
  AddOne device;
  ExecutedTrace none({});
  device.RunWith(none, 512);
  EXPECT_TRUE(none.Trace(0).empty());
  EXPECT_EQ(none.ExecutedAddresses().size(), kAddOne.size());
  ExecutedTrace idle({});
  device.RunWith(idle, 0);
  EXPECT_EQ(idle.ExecutedAddresses().size(), 12u);
}

TEST(ExecutedTrace, Edits) {
  AddOne device;
  ExecutedTrace before({0});
  device.RunWith(before, 512);
  const uint64_t load = before.Trace(0)[0]->address;
  const uint64_t wait = before.Trace(0)[6]->address;
  ExecutedTrace after({0});
  device.RunWith(
      after, 512,
      {{Edit::Kind::kSwapNext, load, 0}, {Edit::Kind::kImmediate, wait, 0}});
  std::vector<std::string> expected = kAddOne;
  std::swap(expected[0], expected[1]);
  expected[6] += " (edited to 0)";
  EXPECT_EQ(Texts(after.Trace(0)), expected);
}

}  // namespace
}  // namespace zyfa::emu
