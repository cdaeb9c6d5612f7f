// Calls of lean kernels on devices that convert otherwise than the emulator, or
// cannot run them.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/fp8_forward.h"
#include "zyfa/probe/altered_device.h"
#include "zyfa/reference/fp8_model.h"

namespace zyfa {
namespace {

using probe::AlteredDevice;
using probe::VectorResult;
using testing::Fp8Forward;
using testing::RunFp8Forward;

constexpr char kProbe[] = "zyfa_probe_vector";
constexpr char kLean[] = "zyfa_fp8_lean_d128_causal";

Fp8Forward Lean() {
  Fp8Forward c;
  c.variant = "fp8_lean_d128_causal";
  c.seqlen_q = c.seqlen_kv = 130;
  return c;
}

Fp8Forward Exact() {
  Fp8Forward c = Lean();
  c.variant = "fp8_exact_d128_causal";
  return c;
}

void Nothing(VectorResult&) {}
void NoCodes(VectorResult& r) { r.code = 0; }
// To nearest even.
void Nearest(VectorResult& r) {
  const double argument = double{std::bit_cast<float>(r.fma)} * 0x1p141;
  r.code = 0x101 * static_cast<uint32_t>(
                       std::clamp(std::nearbyint(argument), 0.0, 255.0));
}

TEST(AttentionProbeTest, OnceForManyCalls) {
  AlteredDevice device(Nothing);
  for (int i = 1; i <= 3; ++i) {
    const auto result = RunFp8Forward(Lean(), device);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(device.launches(kLean), i);
    EXPECT_EQ(device.launches(kProbe), 1);
  }
}

TEST(AttentionProbeTest, OnceForManyThreads) {
  AlteredDevice device(Nothing);
  std::vector<std::thread> threads;
  std::vector<float> tops(4);
  for (float& top : tops) {
    threads.emplace_back([&] {
      const auto answer = device.ProbeOnce(+[](Device& d) {
        static std::atomic<int> calls = 0;
        EXPECT_TRUE(d.Synchronize().ok());
        return absl::StatusOr<float>(static_cast<float>(++calls));
      });
      top = answer.value_or(0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tops, std::vector<float>(4, 1.0f));
}

TEST(AttentionProbeTest, NoneWithoutLeanKernelsOrRows) {
  AlteredDevice device(NoCodes);
  // Codes of integer scores come from no conversion.
  Fp8Forward int8 = Lean();
  int8.variant.clear();
  int8.scores = testing::ScoreForm::kInt8Shift;
  const auto shifted = RunFp8Forward(int8, device);
  ASSERT_TRUE(shifted.ok()) << shifted.status();
  EXPECT_LE(shifted->worst_head, 0.042);
  const auto exact = RunFp8Forward(Exact(), device);
  ASSERT_TRUE(exact.ok()) << exact.status();
  EXPECT_LE(exact->worst_head, 0.042);
  Fp8Forward empty = Lean();
  empty.seqlen_q = 0;
  EXPECT_TRUE(RunFp8Forward(empty, device).ok());
  EXPECT_EQ(device.launches(kProbe), 0);
}

TEST(AttentionProbeTest, UnfitDevicesAreRefusedAndNothingIsLaunched) {
  AlteredDevice device(NoCodes);
  for (int i = 0; i < 2; ++i) {
    const auto result = RunFp8Forward(Lean(), device);
    EXPECT_EQ(result.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(result.status().message().find("lean kernels: no argument"),
              std::string::npos)
        << result.status();
    EXPECT_EQ(device.launches(), 1);
    EXPECT_EQ(device.launches(kProbe), 1);
  }
}

TEST(AttentionProbeTest, OtherErrorsAreNoAnswer) {
  AlteredDevice device(Nothing);
  device.set_launch_status(absl::UnavailableError("busy"));
  EXPECT_EQ(RunFp8Forward(Lean(), device).status(),
            absl::UnavailableError("busy"));
  device.set_launch_status(absl::OkStatus());
  EXPECT_TRUE(RunFp8Forward(Lean(), device).ok());
  EXPECT_EQ(device.launches(kProbe), 1);
}

// A device that rounds to nearest is told 126. The kernel then runs on the
// emulator, which rounds down, so its codes are those of the numeric model with
// that addend; half a code less for all keys costs little.
TEST(AttentionProbeTest, TheKernelGetsTheDevicesAddend) {
  AlteredDevice device(Nearest);
  AlteredDevice plain(Nothing);
  const auto nearest = RunFp8Forward(Lean(), device);
  const auto down = RunFp8Forward(Lean(), plain);
  ASSERT_TRUE(nearest.ok()) << nearest.status();
  ASSERT_TRUE(down.ok()) << down.status();
  EXPECT_LE(nearest->worst_head, 0.05);
  EXPECT_NE(nearest->output, down->output);
  const auto difference = [&](const testing::Fp8ForwardResult& got,
                              float lean_top) {
    reference::Fp8ModelOptions options;
    options.lean_top = lean_top;
    const auto model = testing::ModelFp8Forward(Lean(), options);
    EXPECT_TRUE(model.ok()) << model.status();
    double error = 0, norm = 0;
    for (size_t i = 0; model.ok() && i < got.output.size(); ++i) {
      const double d = got.output[i] - model->output[i];
      error += d * d;
      norm += got.output[i] * got.output[i];
    }
    return std::sqrt(error / norm);
  };
  EXPECT_LE(difference(*nearest, 126.0f), 1e-4);
  EXPECT_LE(difference(*down, 126.5f), 1e-4);
  EXPECT_GE(difference(*nearest, 126.5f), 1e-3);
}

}  // namespace
}  // namespace zyfa
