// Kernels of damaged code, run from start to end: a report, whatever they do.
#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/fuzz/hostile.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// Where .text stands in the file.
size_t TextInFile(const std::vector<uint8_t>& file, const CodeObject& code) {
  const auto at = std::search(file.begin(), file.end(), code.text().begin(),
                              code.text().end());
  return static_cast<size_t>(at - file.begin());
}

TEST(ProgramFuzz, DamagedKernels) {
  Random random(31);
  std::set<std::string> rules;
  int ended = 0, runs = 0;
  for (const char* name : {"control", "programs", "memory", "atomics",
                           "gemm_tiled", "cross_lane", "attention"}) {
    const std::vector<uint8_t> file =
        ReadData("zyfa/emu/testdata/" + std::string(name) + ".co");
    auto whole = CodeObject::Load(file);
    ASSERT_TRUE(whole.ok()) << whole.status();
    const size_t text = TextInFile(file, **whole);
    for (int round = 0; round < 25; ++round) {
      std::vector<uint8_t> damaged = file;
      const uint64_t every = 4 + random() % 60;
      for (size_t at = 0; at + 4 <= (*whole)->text().size();
           at += 4 * (1 + random() % (2 * every))) {
        uint32_t word;
        std::memcpy(&word, &damaged[text + at], 4);
        word = random() % 8 ? FlipBits(random, word)
                            : static_cast<uint32_t>(random());
        std::memcpy(&damaged[text + at], &word, 4);
      }
      auto code = CodeObject::Load(damaged);
      ASSERT_TRUE(code.ok()) << code.status();
      for (const KernelInfo& kernel : (*code)->kernels()) {
        DeviceMemory memory;
        const uint64_t block = *memory.Allocate(4096);
        // Pointers to the block where pointers go, small numbers elsewhere.
        std::vector<uint8_t> kernarg(kernel.kernarg_bytes, 0);
        for (const KernelArgument& argument : kernel.arguments) {
          const uint64_t value =
              argument.value_kind == "global_buffer" ? block : random() % 100;
          std::memcpy(kernarg.data() + argument.offset, &value,
                      std::min<size_t>(8, argument.size));
        }
        RunOptions options = AllSchedules(
            StrictOptions())[random() % AllSchedules(StrictOptions()).size()];
        options.instruction_budget = 2000;
        options.threads = 1;
        auto report = emu::Run(**code, kernel.name, Shape(1, 128), kernarg,
                               memory, options);
        if (!report.ok()) continue;
        ++runs;
        if (!report->has_errors()) ++ended;
        for (const Finding& finding : report->findings) {
          rules.insert(finding.rule);
          EXPECT_TRUE(IsPrintable(finding.disassembly)) << finding.rule;
        }
      }
    }
  }
  EXPECT_GT(runs, 1000);
  EXPECT_GT(ended, 20);
  for (const char* rule :
       {"out-of-range", "lds-out-of-range", "program-counter",
        "register-out-of-range", "unsupported-instruction", "waitcnt",
        "instruction-budget"}) {
    EXPECT_TRUE(rules.count(rule)) << rule;
  }
}

}  // namespace
}  // namespace zyfa::emu
