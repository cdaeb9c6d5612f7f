#include "zyfa/emu/emulator.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// Buffers of 256 floats for kernels of control.s.
struct Control : TestDevice {
  Control() : TestDevice("control") {
    std::vector<float> values(256);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(i) / 4;
    }
    in = Upload(values);
    out = Upload(std::vector<float>(256));
  }
  Kernarg Arguments(uint32_t n) const {
    return Kernarg().Add(out).Add(in).Add(n).Add(uint32_t{0});
  }
  // The only finding of a run of one group.
  Finding OnlyFinding(const std::string& kernel, uint32_t n = 0,
                      uint32_t items = 64, const RunOptions& options = {}) {
    auto report = Run(kernel, Shape(1, items), Arguments(n), options);
    if (!report.ok() || report->findings.size() != 1) {
      ADD_FAILURE() << kernel << ": " << report.status();
      return Finding();
    }
    return report->findings[0];
  }
  uint64_t in, out;
};

TEST(Emulator, MinimalKernel) {
  Control device;
  const RunReport report =
      device.RunClean("add_one", Shape(1, 256), device.Arguments(250));
  const auto got = device.Download<float>(device.out, 256);
  for (size_t i = 0; i < 256; ++i) {
    EXPECT_EQ(got[i], i < 250 ? static_cast<float>(i) / 4 + 1 : 0);
  }
  EXPECT_EQ(report.waves, 4u);
  EXPECT_EQ(report.global_bytes_read, 4u * 250 + 4 * 20);
  EXPECT_EQ(report.instructions_by_class.at("smem"), 8u);
  EXPECT_EQ(report.instructions_by_class.at("vmem"), 8u);
  uint64_t sum = 0;
  for (const auto& [name, count] : report.instructions_by_class) sum += count;
  EXPECT_EQ(report.instructions, sum);
}

TEST(Emulator, MissingWaitsAreFound) {
  Control device;
  const Finding vm = device.OnlyFinding("vmcnt_missing");
  EXPECT_EQ(vm.rule, "waitcnt");
  EXPECT_EQ(vm.severity, Severity::kError);
  EXPECT_EQ(vm.disassembly, "v_add_f32_e32 v3, 1.0, v3");
  EXPECT_NE(vm.detail.find("reads v3"), std::string::npos) << vm.detail;
  device.RunClean("vmcnt_enough", Shape(1, 64), device.Arguments(0));
  EXPECT_NE(device.OnlyFinding("vmcnt_one_short").detail.find("v4"),
            std::string::npos);
  const Finding smem = device.OnlyFinding("smem_counted");
  EXPECT_EQ(smem.rule, "waitcnt");
  EXPECT_EQ(smem.disassembly, "s_add_u32 s4, s4, 4");
  const Finding lds = device.OnlyFinding("lds_overwritten");
  EXPECT_EQ(lds.rule, "waitcnt");
  EXPECT_NE(lds.detail.find("overwrites v5"), std::string::npos) << lds.detail;
  device.RunClean("lds_counted", Shape(1, 64), device.Arguments(0));
}

// Nothing in hardware stops there either. What comes out then depends on time;
// the emulator takes the load's value.
TEST(Emulator, MissingWaitsDoNotStopTheRun) {
  Control device;
  auto report = device.Run("vmcnt_missing", Shape(1, 64), device.Arguments(0));
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->has_errors());
  const std::vector<float> out = device.Download<float>(device.out, 64);
  for (size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], static_cast<float>(i) / 4 + 1) << i;
  }
}

// LLVM AMDGPU Usage, .amdhsa_accum_offset: AGPRs are a part of one file of
// registers, so VGPRs may go on where a kernel uses none.
TEST(Emulator, VgprsReachBeyondAccumOffset) {
  TestDevice device("unified_registers");
  const uint64_t out = device.Upload(std::vector<uint32_t>(64));
  device.RunClean("beyond_accum_offset", Shape(1, 64), Kernarg().Add(out));
  const std::vector<uint32_t> values = device.Download<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(values[i], i + 7);

  auto report =
      device.Run("beyond_allocation", Shape(1, 64), Kernarg().Add(out));
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].rule, "register-out-of-range");
}

TEST(Emulator, EndedWavesCountAsArrived) {
  Control device;
  for (const RunOptions& options : AllSchedules(StrictOptions())) {
    const uint64_t out = device.Upload(std::vector<uint32_t>(512));
    const auto report = device.Run(
        "barriers", Shape(1, 512),
        Kernarg().Add(out).Add(device.in).Add(uint32_t{5}).Add(uint32_t{0}),
        options);
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_FALSE(report->findings.empty());
    for (const Finding& finding : report->findings) {
      EXPECT_EQ(finding.rule, "partial-barrier");
      EXPECT_EQ(finding.severity, Severity::kWarning);
    }
    uint32_t value[4] = {0, 2, 4, 6};  // of the even waves
    for (int round = 0; round < 5; ++round) {
      const uint32_t first = value[0];
      for (int w = 0; w < 4; ++w) {
        value[w] = 3 * (w < 3 ? value[w + 1] : first) + 1;
      }
    }
    const auto got = device.Download<uint32_t>(out, 512);
    for (size_t i = 0; i < 512; ++i) {
      ASSERT_EQ(got[i], i / 64 % 2 == 0 ? value[i / 128] : 0)
          << ScheduleName(options) << " item " << i;
    }
  }
}

// Also the set of rules that were broken.
std::vector<uint32_t> DmaSum(const std::string& kernel,
                             const RunOptions& options,
                             std::set<std::string>& rules) {
  TestDevice device("control");
  std::vector<uint32_t> in(6 * 1024);
  for (uint32_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761u;
  const uint64_t out = device.Upload(std::vector<uint32_t>(256));
  const auto report = device.Run(kernel, Shape(1, 256),
                                 Kernarg()
                                     .Add(out)
                                     .Add(device.Upload(in))
                                     .Add(uint32_t{6})
                                     .Add(uint32_t{0}),
                                 options);
  EXPECT_TRUE(report.ok()) << report.status();
  for (const Finding& f : report->findings) rules.insert(f.rule);
  return device.Download<uint32_t>(out, 256);
}

TEST(Emulator, SynchronisedDmaIsTheSameUnderAllOptions) {
  std::vector<uint32_t> want(256);
  for (uint32_t i = 0; i < 256; ++i) {
    for (uint32_t round = 0; round < 6; ++round) {
      want[i] *= 2;
      for (uint32_t d = 0; d < 4; ++d) {
        const uint32_t wave = (i / 64 + 1) % 4;
        want[i] += (round * 1024 + wave * 256 + i % 64 * 4 + d) * 2654435761u;
      }
    }
  }
  for (const RunOptions& options : AllSchedules(StrictOptions())) {
    std::set<std::string> rules;
    EXPECT_EQ(DmaSum("dma_synchronised", options, rules), want)
        << ScheduleName(options);
    EXPECT_TRUE(rules.empty()) << *rules.begin();
  }
}

// That the options are there to tell: the same code less one barrier. The
// strict checks find it under every one of them.
TEST(Emulator, RacingDmaIsNot) {
  std::set<std::vector<uint32_t>> results;
  for (const RunOptions& options : AllSchedules(StrictOptions())) {
    std::set<std::string> rules;
    results.insert(DmaSum("dma_racing", options, rules));
    // Too early a read may also find bytes that nothing has written yet.
    rules.erase("undefined-value");
    EXPECT_EQ(rules, std::set<std::string>{"lds-race"})
        << ScheduleName(options);
  }
  EXPECT_GT(results.size(), 1u);
}

TEST(Emulator, EndlessWavesAreStopped) {
  Control device;
  RunOptions options;
  options.instruction_budget = 10000;
  for (WaveOrder order : {WaveOrder::kRotate, WaveOrder::kAlone}) {
    options.wave_order = order;
    EXPECT_EQ(device.OnlyFinding("endless", 0, 128, options).rule,
              "instruction-budget");
  }
}

TEST(Emulator, UnsupportedInstructionsStopTheRunWhenReached) {
  Control device;
  device.RunClean("unsupported", Shape(4, 64), device.Arguments(4));
  auto report = device.Run("unsupported", Shape(4, 64), device.Arguments(2));
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].rule, "unsupported-instruction");
  EXPECT_EQ(report->findings[0].disassembly, "s_sethalt 1");
  EXPECT_EQ(report->findings[0].kernel, "unsupported");
  EXPECT_EQ(report->findings[0].workgroup[0], 2u);
  EXPECT_EQ(report->waves, 3u);  // the groups before it, and its own
}

TEST(Emulator, OtherFaults) {
  Control device;
  EXPECT_EQ(device.OnlyFinding("jump_away").rule, "program-counter");
  EXPECT_EQ(device.OnlyFinding("trapping").rule, "trap");
  const Finding beyond = device.OnlyFinding("beyond_registers");
  EXPECT_EQ(beyond.rule, "register-out-of-range");
  EXPECT_EQ(beyond.disassembly, "v_mov_b32_e32 v32, 0");
}

TEST(Emulator, InitialState) {
  Control device;
  LaunchShape shape;
  shape.grid[1] = 3;
  shape.workgroup[0] = 32;
  shape.workgroup[1] = 3;  // 96 items: the second wave is half full
  RunOptions options;
  options.threads = 1;  // all groups store to the same place
  const uint64_t out = device.Upload(std::vector<uint32_t>(8 * 128));
  device.RunClean(
      "initial_state", shape,
      Kernarg().Add(out).Add(device.in).Add(uint32_t{0}).Add(uint32_t{0}),
      options);
  const auto got = device.Download<uint32_t>(out, 8 * 128);
  for (uint32_t i = 0; i < 96; ++i) {
    const uint32_t* state = &got[8 * i];
    EXPECT_EQ(state[0], i % 32 | i / 32 << 10);
    EXPECT_EQ(state[1], 0xfff1fff1u) << "a VGPR nobody has written";
    // Round to nearest, F32 denormals flushed, others kept, DX10_CLAMP,
    // FP16_OVFL.
    EXPECT_EQ(state[2], 0x8001c0u);
    EXPECT_EQ(state[3], 2u) << "group id y of the group that came last";
    EXPECT_EQ(state[4], 0xfff1fff1u);
    EXPECT_EQ(state[5], 0xfff3fff3u);
    EXPECT_EQ(state[6], 0xfff2fff2u);
  }
  for (size_t i = 8 * 96; i < got.size(); ++i) ASSERT_EQ(got[i], 0u);
}

TEST(Emulator, EditsAreCheckedAndApplied) {
  Control device;
  uint64_t nop = 0, add = 0, end = 0;
  for (const Instruction& inst : device.code().instructions()) {
    if (nop == 0 && inst.mnemonic == "s_nop") nop = inst.address;
    if (add == 0 && inst.text == "v_add_f32_e32 v3, 1.0, v3")
      add = inst.address;
    end = inst.address;
  }
  const auto run = [&](Edit edit) {
    RunOptions options;
    options.edits.push_back(edit);
    return device.Run("add_one", Shape(1, 256), device.Arguments(250), options);
  };
  for (const Edit& edit :
       {Edit{Edit::Kind::kDrop, add + 1, 0},
        Edit{Edit::Kind::kDrop, 1u << 30, 0}, Edit{Edit::Kind::kDrop, end, 0},
        Edit{Edit::Kind::kImmediate, add, 0},
        Edit{Edit::Kind::kSwapNext, end, 0}}) {
    EXPECT_EQ(run(edit).status().code(), absl::StatusCode::kInvalidArgument);
  }
  // Without its addition the kernel copies.
  ASSERT_TRUE(run({Edit::Kind::kDrop, add, 0}).ok());
  EXPECT_EQ(device.Download<float>(device.out, 256)[7], 7.0f / 4);
  // Stored before it is added.
  ASSERT_TRUE(run({Edit::Kind::kSwapNext, add, 0}).ok());
  EXPECT_EQ(device.Download<float>(device.out, 256)[7], 7.0f / 4);
  ASSERT_TRUE(run({Edit::Kind::kImmediate, nop, 3}).ok());
  EXPECT_EQ(device.Download<float>(device.out, 256)[7], 7.0f / 4 + 1);
}

TEST(Emulator, AllSchedulesAreCompared) {
  for (const auto& [kernel, differs] :
       {std::pair{"dma_synchronised", false}, {"dma_racing", true}}) {
    TestDevice device("control");
    std::vector<uint32_t> in(6 * 1024);
    for (uint32_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761u;
    const uint64_t out = device.Upload(std::vector<uint32_t>(256));
    const Kernarg kernarg = Kernarg()
                                .Add(out)
                                .Add(device.Upload(in))
                                .Add(uint32_t{6})
                                .Add(uint32_t{0});
    RunOptions base;
    base.wave_order = WaveOrder::kRotate;
    const auto report =
        RunUnderAllSchedules(device.code(), kernel, Shape(1, 256),
                             kernarg.bytes(), device.memory(), base);
    ASSERT_TRUE(report.ok()) << report.status();
    const bool found =
        std::any_of(report->findings.begin(), report->findings.end(),
                    [](const Finding& f) { return f.rule == "schedule"; });
    EXPECT_EQ(found, differs) << kernel;
    EXPECT_EQ(report->has_errors(), differs) << kernel;
  }
}

TEST(Emulator, RefusesLaunchesThatTheKernelDoesNotAllow) {
  Control device;
  const auto code = [&device](const std::string& kernel,
                              const LaunchShape& shape, const Kernarg& args) {
    return device.Run(kernel, shape, args).status().code();
  };
  const Kernarg args = device.Arguments(0);
  EXPECT_EQ(code("nothing", Shape(1, 64), args), absl::StatusCode::kNotFound);
  EXPECT_EQ(code("add_one", Shape(0, 64), args),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("add_one", Shape(1, 0), args),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("add_one", Shape(1, 513), args),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("add_one", Shape(1, 64), Kernarg().Add(uint64_t{0})),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("add_one", Shape(1, 64), device.Arguments(0).Add(1)),
            absl::StatusCode::kInvalidArgument);
  LaunchShape shape = Shape(1, 64);
  shape.dynamic_lds_bytes = 163840;
  EXPECT_EQ(code("add_one", shape, args), absl::StatusCode::kOk);
  shape.dynamic_lds_bytes = 163841;
  EXPECT_EQ(code("add_one", shape, args), absl::StatusCode::kInvalidArgument);
  shape = Shape(1u << 16, 64);
  shape.grid[1] = 1u << 16;
  EXPECT_EQ(code("add_one", shape, args), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace zyfa::emu
