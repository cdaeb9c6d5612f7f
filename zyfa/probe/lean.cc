#include "zyfa/probe/lean.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "zyfa/probe/probe_run.h"

namespace zyfa::probe {
namespace {

// A code is 256 units of the last place of float32 denormals.
constexpr double kCode = 0x1p-141;
constexpr double kStep = 1.0 / 256;
constexpr uint32_t kOld = 0xa5c3963c;

// The argument `y` in codes by way of a sum, as the kernels have it: the addend
// is itself a denormal.
VectorInput InputOf(double y) {
  constexpr double kAddend = 100;
  return {std::bit_cast<uint32_t>(static_cast<float>((y - kAddend) * 0x1p-40)),
          std::bit_cast<uint32_t>(0x1p-101f),
          std::bit_cast<uint32_t>(static_cast<float>(kAddend * kCode)), kOld};
}

absl::Status Wrong(const char* what, double y, uint32_t seen, uint32_t needed) {
  return absl::FailedPreconditionError(
      absl::StrFormat("lean kernels: %s of argument %g is 0x%x; needed: 0x%x",
                      what, y, seen, needed));
}

// Arguments in steps of 1/256 around 126, in coarser ones over all codes and
// beyond, and those of masked keys.
std::vector<double> Ramp() {
  std::vector<double> ramp;
  for (double y = -3; y < 260; y += 1.0 / 16) ramp.push_back(y);
  for (double y = 124; y < 129; y += kStep) ramp.push_back(y);
  std::sort(ramp.begin(), ramp.end());
  ramp.erase(std::unique(ramp.begin(), ramp.end()), ramp.end());
  return ramp;
}

// A code, saturated, in both bytes.
uint32_t Pair(double code) {
  return 0x101 * static_cast<uint32_t>(std::clamp(code, 0.0, 255.0));
}

absl::Status CheckHalves(const VectorInput& in, const VectorResult& out) {
  const uint32_t pair = out.ashr_low & 0xffff;
  const uint32_t swapped = (pair << 8 & 0xff00) | pair >> 8;
  const struct {
    const char* what;
    uint32_t seen, needed;
  } checks[] = {
      {"v_ashr_pk_u8_i32, low half", out.ashr_low, (kOld & 0xffff0000) | pair},
      {"v_ashr_pk_u8_i32, high half", out.ashr_high,
       pair << 16 | (kOld & 0xffff)},
      {"v_ashr_pk_u8_i32, low half, then high half", out.ashr_both,
       swapped << 16 | pair},
  };
  for (const auto& check : checks) {
    if (check.seen != check.needed) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "lean kernels: %s of 0x%x and 0x%x is 0x%08x on 0x%08x; needed: "
          "0x%08x",
          check.what, in.a, in.b, check.seen, kOld, check.needed));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<float> ProbeLean(Device& device) {
  const std::vector<double> ramp = Ramp();
  std::vector<VectorInput> inputs;
  for (const double y : ramp) inputs.push_back(InputOf(y));
  // Masked keys, and halves of a register.
  constexpr float kMasked[] = {-1e30f, -std::numeric_limits<float>::infinity()};
  for (const float x : kMasked) {
    inputs.push_back({std::bit_cast<uint32_t>(x),
                      std::bit_cast<uint32_t>(0x1p-20f), 0, kOld});
  }
  inputs.push_back({0x3412, 0x5678, 0, kOld});
  const auto results = RunVector(device, inputs);
  if (!results.ok()) return results.status();

  for (size_t i = 0; i < ramp.size(); ++i) {
    const auto needed = static_cast<uint32_t>(std::abs(ramp[i]) * 256) |
                        (ramp[i] < 0 ? 0x80000000u : 0u);
    if ((*results)[i].fma != needed) {
      return Wrong("v_fma_f32, in units of 2^-149,", ramp[i], (*results)[i].fma,
                   needed);
    }
  }
  if (absl::Status status = CheckHalves(inputs.back(), results->back());
      !status.ok()) {
    return status;
  }
  std::optional<double> first;  // argument that becomes 126
  for (size_t i = 0; i < ramp.size() && !first.has_value(); ++i) {
    if (((*results)[i].code & 0xff) == 126) first = ramp[i];
  }
  if (!first.has_value()) {
    return absl::FailedPreconditionError(
        "lean kernels: no argument from 124 to 129 becomes code 126");
  }
  for (size_t i = 0; i < ramp.size(); ++i) {
    // Where the code changes, a tie may go either way.
    const double code = std::floor(ramp[i] - *first) + 126;
    const bool tie = ramp[i] - *first == code - 126;
    const uint32_t seen = (*results)[i].code;
    if (seen != Pair(code) && !(tie && seen == Pair(code - 1))) {
      return Wrong("the pair of codes", ramp[i], seen, Pair(code));
    }
  }
  for (size_t i = 0; i < std::size(kMasked); ++i) {
    const uint32_t code = (*results)[ramp.size() + i].code;
    if (code != 0) return Wrong("the pair of codes", kMasked[i], code, 0);
  }
  return static_cast<float>(*first + 0.5);
}

}  // namespace zyfa::probe
