// Compiled kernels, broken in every small way: what can fail on hardware, by
// the wait-state tables, by late loads or by another order of the waves, must
// be reported by the strict checks.
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zyfa/emu/mutation/suite.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

struct Program {
  const char* name;
  const char* code_object;
  // Uploads inputs; gives shape, arguments and the output's place and size.
  struct Launch {
    LaunchShape shape;
    Kernarg kernarg;
    uint64_t output = 0;
    size_t bytes = 0;
  };
  std::function<Launch(TestDevice&)> prepare;
};

// C[m][n] = A[m][k] B[n][k]^T in tiles.
std::function<Program::Launch(TestDevice&)> Gemm(Format format, int tile, int m,
                                                 int n, int k) {
  return [=](TestDevice& device) {
    Program::Launch launch;
    launch.shape = Shape(static_cast<uint32_t>((n + tile - 1) / tile), 256);
    launch.shape.grid[1] = static_cast<uint32_t>((m + tile - 1) / tile);
    launch.bytes = static_cast<size_t>(4 * m * n);
    launch.output = device.Upload(std::vector<uint8_t>(launch.bytes));
    launch.kernarg.Add(launch.output)
        .Add(device.Upload(RandomMatrix(format, m, k, 1).bytes))
        .Add(device.Upload(RandomMatrix(format, n, k, 2).bytes))
        .Add(m)
        .Add(n)
        .Add(k);
    return launch;
  };
}

std::function<Program::Launch(TestDevice&)> Attention(Format format,
                                                      int queries_of_group,
                                                      uint32_t items,
                                                      int queries, int keys,
                                                      bool causal_argument) {
  return [=](TestDevice& device) {
    constexpr int kDim = 64;
    Program::Launch launch;
    launch.shape =
        Shape(static_cast<uint32_t>((queries + queries_of_group - 1) /
                                    queries_of_group),
              items);
    launch.bytes = static_cast<size_t>(4 * queries * kDim);
    launch.output = device.Upload(std::vector<uint8_t>(launch.bytes));
    launch.kernarg.Add(launch.output)
        .Add(device.Upload(RandomMatrix(format, queries, kDim, 1).bytes))
        .Add(device.Upload(RandomMatrix(format, keys, kDim, 2).bytes))
        .Add(device.Upload(RandomMatrix(format, keys, kDim, 3).bytes))
        .Add(queries)
        .Add(keys)
        .Add(0.3f);
    if (causal_argument) launch.kernarg.Add(1);
    return launch;
  };
}

Program::Launch Softmax(TestDevice& device) {
  Program::Launch launch;
  constexpr int kLength = 700;
  launch.shape = Shape(2, 256);
  launch.bytes = 4 * 2 * kLength;
  launch.output = device.Upload(std::vector<uint8_t>(launch.bytes));
  launch.kernarg.Add(launch.output)
      .Add(device.Upload(Noise(1).Floats(2 * kLength)))
      .Add(kLength);
  return launch;
}

Program::Launch HandOn(TestDevice& device) {
  Program::Launch launch;
  launch.shape = Shape(1, 256);
  launch.bytes = 4 * 256;
  launch.output = device.Upload(std::vector<uint8_t>(launch.bytes));
  launch.kernarg.Add(launch.output)
      .Add(device.Upload(std::vector<uint32_t>(256, 7)))
      .Add(5);
  return launch;
}

const std::vector<Program>& Programs() {
  static const auto* const programs = new std::vector<Program>{
      {"tiled_bf16", "gemm_tiled", Gemm(Format::kBf16, 128, 130, 67, 96)},
      {"global_to_lds_f16", "gemm_tiled", Gemm(Format::kF16, 64, 70, 30, 96)},
      {"buffer_to_lds_fp8", "gemm_tiled", Gemm(Format::kFp8, 64, 70, 30, 192)},
      {"flash_bf16", "attention",
       Attention(Format::kBf16, 128, 256, 130, 150, true)},
      {"flash_fp8", "attention",
       Attention(Format::kFp8, 64, 128, 70, 130, false)},
      {"softmax", "rows", Softmax},
      {"hand_on_lds", "races", HandOn},
      {"hand_on_memory", "races", HandOn},
  };
  return *programs;
}

class ProgramMutants : public testing::TestWithParam<size_t> {};

TEST_P(ProgramMutants, WhatCanFailIsReported) {
  const Program& program = Programs()[GetParam()];
  TestDevice device(program.code_object);
  const Program::Launch launch = program.prepare(device);
  const DeviceMemory::Content before = device.memory().Save();
  const Specimen specimen{
      program.name,
      [&](const RunOptions& options) -> absl::StatusOr<Specimen::Outcome> {
        device.memory().Restore(before);
        auto report =
            device.Run(program.name, launch.shape, launch.kernarg, options);
        if (!report.ok()) return report.status();
        return Specimen::Outcome{
            device.Download<uint8_t>(launch.output, launch.bytes),
            *std::move(report)};
      }};
  const SuiteResult result =
      RunMutants(device.code(), {specimen}, MutantSample(60), GetParam());
  std::printf(
      "%s: %d mutants, %d can fail, %d reported (%d runs "
      "that no oracle objects to)\n",
      program.name, result.mutants, result.can_fail, result.reported,
      static_cast<int>(result.only_reported.size()));
  for (const std::string& missed : result.missed) ADD_FAILURE() << missed;
  EXPECT_GT(result.mutants, 3);
  EXPECT_GT(result.can_fail, 0);
}

INSTANTIATE_TEST_SUITE_P(Programs, ProgramMutants,
                         testing::Range(size_t{0}, Programs().size()),
                         [](const auto& index) {
                           return std::string(Programs()[index.param].name);
                         });

}  // namespace
}  // namespace zyfa::emu
