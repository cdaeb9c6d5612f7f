#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// Bytes of .text where `kernel` has `mnemonic`.
std::vector<uint64_t> Places(const CodeObject& code, const std::string& kernel,
                             const std::string& mnemonic) {
  std::vector<uint64_t> places;
  bool inside = false;
  for (const Instruction& inst : code.instructions()) {
    inside |= inst.address == code.FindKernel(kernel)->entry;
    if (inside && inst.mnemonic == mnemonic) places.push_back(inst.address);
    if (inside && inst.mnemonic == "s_endpgm") break;
  }
  return places;
}

RunOptions Without(uint64_t pc) {
  RunOptions options = StrictOptions();
  options.edits.push_back({Edit::Kind::kDrop, pc, 0});
  return options;
}

class Races : public TestDevice {
 public:
  explicit Races(const std::string& name = "races") : TestDevice(name) {
    std::vector<uint32_t> values(1024);
    std::iota(values.begin(), values.end(), 1u);
    in = Upload(values);
    out = Upload(std::vector<uint32_t>(1024));
  }
  Kernarg Arguments() const {
    return Kernarg().Add(out).Add(in).Add(uint32_t{3});
  }
  // "rule level" of every finding.
  std::set<std::string> Rules(const std::string& kernel,
                              const LaunchShape& shape,
                              const RunOptions& options = StrictOptions(),
                              int arguments = 3) {
    Kernarg kernarg = Kernarg().Add(out).Add(in);
    if (arguments == 3) kernarg.Add(uint32_t{3});
    const auto report = Run(kernel, shape, kernarg, options);
    EXPECT_TRUE(report.ok()) << report.status();
    std::set<std::string> rules;
    for (const Finding& f : report->findings) {
      // Too early a read also finds bytes that nothing has written yet.
      if (f.rule == "undefined-value") continue;
      rules.insert(f.rule +
                   (f.severity == Severity::kError ? " error" : " warning"));
    }
    return rules;
  }
  uint64_t in, out;
};

using Set = std::set<std::string>;

TEST(Races, EveryBarrierOfHandingOnIsNeeded) {
  Races device;
  for (const auto& [kernel, rule] :
       {std::pair{"hand_on_lds", "lds-race error"},
        std::pair{"hand_on_memory", "memory-race error"}}) {
    EXPECT_EQ(device.Rules(kernel, Shape(1, 256)), Set()) << kernel;
    const auto barriers = Places(device.code(), kernel, "s_barrier");
    EXPECT_EQ(barriers.size(), 2u);
    for (const uint64_t pc : barriers) {
      for (RunOptions options : AllSchedules(StrictOptions())) {
        options.edits = Without(pc).edits;
        EXPECT_EQ(device.Rules(kernel, Shape(1, 256), options), Set{rule})
            << kernel << " at " << pc << " " << ScheduleName(options);
      }
    }
    // One wave alone needs none.
    EXPECT_EQ(device.Rules(kernel, Shape(1, 64), Without(barriers[0])), Set());
  }
}

// The write must be over before the barrier that tells of it.
TEST(Races, WaitBeforeTheBarrierIsNeeded) {
  Races device;
  const uint64_t barrier =
      Places(device.code(), "hand_on_lds", "s_barrier").front();
  uint64_t wait = 0;
  for (const uint64_t pc : Places(device.code(), "hand_on_lds", "s_waitcnt")) {
    if (pc < barrier) wait = pc;
  }
  EXPECT_EQ(device.Rules("hand_on_lds", Shape(1, 256), Without(wait)),
            Set{"lds-race error"});
}

TEST(Races, BetweenWorkGroups) {
  Races device;
  EXPECT_EQ(device.Rules("all_write", Shape(1, 64)), Set());
  EXPECT_EQ(device.Rules("all_write", Shape(3, 64)), Set{"memory-race error"});
  EXPECT_EQ(device.Rules("read_other", Shape(1, 64)), Set());
  EXPECT_EQ(device.Rules("read_other", Shape(2, 64)), Set{"memory-race error"});
  EXPECT_EQ(device.Rules("own_bytes", Shape(5, 64)), Set());
}

TEST(Races, TheReportDoesNotDependOnThreads) {
  Races device;
  std::vector<std::string> first;
  for (const int threads : {1, 2, 5}) {
    RunOptions options = StrictOptions();
    options.threads = threads;
    const auto report =
        device.Run("all_write", Shape(40, 64), device.Arguments(), options);
    ASSERT_TRUE(report.ok());
    std::vector<std::string> details;
    for (const Finding& f : report->findings) details.push_back(f.detail);
    if (first.empty()) first = details;
    EXPECT_FALSE(details.empty());
    EXPECT_EQ(details, first);
  }
}

TEST(Races, AtomicsAreNoneAmongThemselves) {
  Races device;
  EXPECT_EQ(device.Rules("count_in_memory", Shape(3, 256)), Set());
  EXPECT_EQ(device.Rules("count_in_lds", Shape(1, 256)), Set());
  EXPECT_EQ(device.Rules("count_and_read", Shape(3, 64)),
            Set{"memory-race warning"});
  // The first barrier parts the plain write from the atomics, the second these
  // from the plain read.
  const auto barriers = Places(device.code(), "count_in_lds", "s_barrier");
  ASSERT_EQ(barriers.size(), 2u);
  EXPECT_EQ(device.Rules("count_in_lds", Shape(1, 256), Without(barriers[0])),
            Set{"lds-race error"});
  EXPECT_EQ(device.Rules("count_in_lds", Shape(1, 256), Without(barriers[1])),
            Set{"lds-race warning"});
}

TEST(Races, OwnLoadsIntoLds) {
  Races device("own_dma");
  EXPECT_EQ(device.Rules("own_dma", Shape(1, 64), StrictOptions(), 2), Set());
  const auto out = device.Download<uint32_t>(device.out, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i + 1 + i + 65);
  const auto waits = Places(device.code(), "own_dma", "s_waitcnt");
  ASSERT_EQ(waits.size(), 6u);
  const auto without = [&](size_t wait) {
    return device.Rules("own_dma", Shape(1, 64), Without(waits[wait]), 2);
  };
  EXPECT_EQ(without(1), Set{"lds-dma-unwaited error"});  // read too early
  EXPECT_EQ(without(2),
            Set{"lds-dma-unwaited error"});  // overwritten too early
  EXPECT_EQ(without(3), Set{"lds-dma-unwaited error"});
  EXPECT_EQ(without(5), Set{"lds-dma-at-end error"});
}

}  // namespace
}  // namespace zyfa::emu
