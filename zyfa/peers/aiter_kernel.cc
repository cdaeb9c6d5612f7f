#include "zyfa/peers/aiter_kernel.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace zyfa::peers {
namespace {

using reference::Mask;

constexpr OperandFormat kBf16 = {Format::kBf16, Scaling::kNone};
constexpr OperandFormat kFp8 = {Format::kE4m3, Scaling::kPerTensor};
constexpr OperandFormat kFp8Channel = {Format::kE4m3, Scaling::kPerChannel};
constexpr OperandFormat kInt8 = {Format::kInt8, Scaling::kPerTensor};
constexpr OperandFormat kMxFp8 = {Format::kE4m3, Scaling::kPerBlock};
constexpr OperandFormat kMxFp6 = {Format::kE2m3, Scaling::kPerBlock};
constexpr OperandFormat kMxFp4 = {Format::kE2m1, Scaling::kPerBlock};

AiterKernel V3(const char* file, const char* symbol, OperandFormat format,
               int head_dim_qk, int head_dim_v, Mask mask, bool group) {
  const bool mla = head_dim_qk == 192;
  return {.folder = "fmha_v3_fwd",
          .file = file,
          .symbol = symbol,
          .family = Family::kFmhaV3,
          .query = format,
          .key = format,
          .value = format,
          .head_dim_qk = head_dim_qk,
          .head_dim_v = head_dim_v,
          .mask = mask,
          .group = group,
          .query_tile = mla ? 128 : 256,
          .threads = mla ? 256 : 512};
}

AiterKernel V4(const char* file, const char* symbol, OperandFormat qk,
               OperandFormat value, int key_multiple = 1) {
  return {.folder = "fmha_v4_fwd",
          .file = file,
          .symbol = symbol,
          .family = Family::kFmhaV4,
          .query = qk,
          .key = qk,
          .value = value,
          .head_ratio = 1,
          .key_multiple = key_multiple};
}

AiterKernel MlaPs(const char* file, const char* symbol, Mask mask) {
  return {.folder = "mla",
          .file = file,
          .symbol = symbol,
          .family = Family::kMlaPs,
          .query = kFp8,
          .key = kFp8,
          .value = kFp8,
          .head_dim_qk = 192,
          .mask = mask,
          .group = true,
          .head_ratio = 1};
}

AiterKernel MlaPaged(const char* file, const char* symbol, int head_ratio) {
  return {.folder = "mla",
          .file = file,
          .symbol = symbol,
          .family = Family::kMlaPaged,
          .query = kBf16,
          .key = kBf16,
          .value = kBf16,
          .head_dim_qk = 576,
          .head_dim_v = 512,
          .mask = Mask::kCausal,
          .group = true,
          .query_tile = 128,
          .threads = 256,
          .head_ratio = head_ratio};
}

}  // namespace

const std::vector<AiterKernel>& AiterKernels() {
  static const auto& kernels = *new std::vector<AiterKernel>{
      V3("fwd_hd128_bf16.co", "_ZN5aiter19fmha_fwd_hd128_bf16E", kBf16, 128,
         128, Mask::kFull, false),
      V3("fwd_hd128_bf16_causal.co", "_ZN5aiter26fmha_fwd_hd128_bf16_causalE",
         kBf16, 128, 128, Mask::kCausal, false),
      V3("fwd_hd128_bf16_group.co", "_ZN5aiter25fmha_fwd_hd128_bf16_groupE",
         kBf16, 128, 128, Mask::kFull, true),
      V3("fwd_hd128_bf16_causal_group.co",
         "_ZN5aiter32fmha_fwd_hd128_bf16_causal_groupE", kBf16, 128, 128,
         Mask::kCausal, true),
      V3("fwd_hd192_hd128_bf16.co", "_ZN5aiter25fmha_fwd_hd192_hd128_bf16E",
         kBf16, 192, 128, Mask::kFull, false),
      V3("fwd_hd192_hd128_bf16_causal.co",
         "_ZN5aiter32fmha_fwd_hd192_hd128_bf16_causalE", kBf16, 192, 128,
         Mask::kCausal, false),
      V3("fwd_hd192_hd128_bf16_group.co",
         "_ZN5aiter31fmha_fwd_hd192_hd128_bf16_groupE", kBf16, 192, 128,
         Mask::kFull, true),
      V3("fwd_hd192_hd128_bf16_causal_group.co",
         "_ZN5aiter38fmha_fwd_hd192_hd128_bf16_causal_groupE", kBf16, 192, 128,
         Mask::kCausal, true),
      V3("fwd_hd128_fp8.co", "_ZN5aiter24fmha_fwd_hd128_fp8_gfx950E", kFp8, 128,
         128, Mask::kFull, false),
      V3("fwd_hd128_fp8_causal.co",
         "_ZN5aiter31fmha_fwd_hd128_fp8_causal_gfx950E", kFp8, 128, 128,
         Mask::kCausal, false),
      V3("fwd_hd128_fp8_group.co",
         "_ZN5aiter30fmha_fwd_hd128_fp8_group_gfx950E", kFp8, 128, 128,
         Mask::kFull, true),
      V3("fwd_hd128_fp8_causal_group.co",
         "_ZN5aiter37fmha_fwd_hd128_fp8_causal_group_gfx950E", kFp8, 128, 128,
         Mask::kCausal, true),
      V3("fwd_hd256_fp8.co", "_ZN5aiter25fmha_fwd_hd256_fp8_gfx950E", kFp8, 256,
         256, Mask::kFull, false),
      V3("fwd_hd256_fp8_causal.co",
         "_ZN5aiter32fmha_fwd_hd256_fp8_causal_gfx950E", kFp8, 256, 256,
         Mask::kCausal, false),
      V3("fwd_hd256_fp8_group.co",
         "_ZN5aiter31fmha_fwd_hd256_fp8_group_gfx950E", kFp8, 256, 256,
         Mask::kFull, true),
      V3("fwd_hd256_fp8_causal_group.co",
         "_ZN5aiter38fmha_fwd_hd256_fp8_causal_group_gfx950E", kFp8, 256, 256,
         Mask::kCausal, true),
      V4("fwd_hd128_fp8.co", "_ZN5aiter24fmha_fwd_hd128_fp8_gfx950E", kFp8,
         kFp8),
      V4("fwd_hd128_mxfp8.co", "_ZN5aiter28fmha_fwd_hd128_mxfp8_gfx950E",
         kMxFp8, kFp8),
      V4("fwd_hd128_i8fp8.co", "_ZN5aiter28fmha_fwd_hd128_i8fp8_gfx950E", kInt8,
         kFp8),
      V4("fwd_hd128_f8f6.co", "_ZN5aiter28fmha_fwd_hd128_f8f6_gfx950E", kFp8,
         kMxFp6, 128),
      V4("fwd_hd128_mxfp6.co", "_ZN5aiter28fmha_fwd_hd128_mxfp6_gfx950E",
         kMxFp6, kFp8Channel),
      V4("fwd_hd128_mxfp4.co", "_ZN5aiter28fmha_fwd_hd128_mxfp4_gfx950E",
         kMxFp4, kFp8Channel),
      V4("fwd_hd128_f6f4.co", "_ZN5aiter28fmha_fwd_hd128_f6f4_gfx950E", kMxFp6,
         kMxFp4, 128),
      V4("fwd_hd128_f4f4.co", "_ZN5aiter28fmha_fwd_hd128_f4f4_gfx950E", kMxFp4,
         kMxFp4, 128),
      MlaPs("mla_pfl_qh192_vh128_m32x8_n128x1_causal0.co",
            "_ZN5aiter40mla_pfl_qh192_vh128_m32x8_n128x1_causal0E",
            Mask::kFull),
      MlaPs("mla_pfl_qh192_vh128_m32x8_n128x1_causal1.co",
            "_ZN5aiter40mla_pfl_qh192_vh128_m32x8_n128x1_causal1E",
            Mask::kCausal),
      MlaPaged("mla_pfl_bf16_a16w16_causal_subQ16_mqa16.co",
               "_ZN5aiter39mla_pfl_bf16_a16w16_causal_subQ16_mqa16E", 16),
      MlaPaged("mla_pfl_bf16_a16w16_causal_subQ128_mqa128.co",
               "_ZN5aiter41mla_pfl_bf16_a16w16_causal_subQ128_mqa128E", 128),
  };
  return kernels;
}

std::string Name(const AiterKernel& kernel) {
  std::string stem = kernel.file;
  stem.resize(stem.size() - 3);  // ".co"
  return absl::StrCat(kernel.folder, "/", stem);
}

std::string FlatFileName(const AiterKernel& kernel) {
  return absl::StrCat(kernel.folder, "__", kernel.file);
}

const AiterKernel* FindByFlatFileName(const std::string& file_name) {
  for (const AiterKernel& kernel : AiterKernels()) {
    if (FlatFileName(kernel) == file_name) return &kernel;
  }
  return nullptr;
}

const char* ToString(Format format) {
  switch (format) {
    case Format::kBf16:
      return "bf16";
    case Format::kE4m3:
      return "e4m3";
    case Format::kInt8:
      return "int8";
    case Format::kE2m3:
      return "e2m3";
    case Format::kE2m1:
      return "e2m1";
  }
  return "?";
}

std::string FormatsName(const AiterKernel& kernel) {
  if (kernel.query == kernel.key && kernel.key == kernel.value) {
    return ToString(kernel.query.format);
  }
  return absl::StrCat(ToString(kernel.query.format), "/",
                      ToString(kernel.key.format), "/",
                      ToString(kernel.value.format));
}

}  // namespace zyfa::peers
