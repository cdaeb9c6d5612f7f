#include "zyfa/emu/cycles/residency.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace zyfa::emu {
namespace {

constexpr int64_t kWaveItems = 64;
// Units in which registers and LDS are given out (ISA: VGPRs by 8 a lane; LDS
// of gfx950 by 1280 bytes, of which 128 fill a compute unit).
constexpr int64_t kVgprUnit = 8;
constexpr int64_t kLdsUnit = 1280;

int64_t RoundUp(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

absl::Status TooLarge(const KernelInfo& kernel, const char* what, int64_t takes,
                      int64_t there) {
  return absl::InvalidArgumentError(
      absl::StrCat("a work-group of kernel ", kernel.name, " takes ", takes,
                   " ", what, "; allowed: up to ", there));
}

}  // namespace

absl::StatusOr<int> ResidentGroups(const KernelInfo& kernel,
                                   const LaunchShape& shape,
                                   const Machine& machine) {
  int64_t items = 1;
  for (const uint32_t size : shape.workgroup) items *= size;
  if (items <= 0 || items > 1024) {
    return absl::InvalidArgumentError(absl::StrCat(
        "workgroup has ", items, " work-items; allowed: 1 to 1024"));
  }
  const int64_t waves = RoundUp(items, kWaveItems) / kWaveItems;
  // Wave w of a group runs on SIMD w mod 4, as RunComputeUnit has it.
  const int64_t waves_of_simd = RoundUp(waves, machine.simds) / machine.simds;
  const int64_t vgprs_of_wave =
      RoundUp(std::max<int64_t>(kernel.vgprs, 1), kVgprUnit);
  const int64_t vgprs = vgprs_of_wave * waves_of_simd;
  const int64_t lds =
      RoundUp(int64_t{kernel.lds_bytes} + shape.dynamic_lds_bytes, kLdsUnit);
  if (vgprs > machine.vgprs) {
    return TooLarge(kernel, "VGPRs a lane and SIMD", vgprs, machine.vgprs);
  }
  if (lds > machine.lds_bytes) {
    return TooLarge(kernel, "bytes of LDS", lds, machine.lds_bytes);
  }
  const int64_t waves_there =
      std::min<int64_t>(machine.waves, machine.vgprs / vgprs_of_wave);
  int64_t groups = waves_there / waves_of_simd;
  if (lds > 0) groups = std::min(groups, machine.lds_bytes / lds);
  return static_cast<int>(groups);
}

}  // namespace zyfa::emu
