#include "zyfa/peers/calibration/calibration_row.h"

namespace zyfa::peers {
namespace {

constexpr double kAssumedGhz = 1.7;

// Passes a second of a SIMD's two waves that a figure in TFLOP/s means, from
// cdna4-timing 7.4: all at once make 3050 TFLOP/s at 355.1 thousand passes of
// 128 keys.
double ClocksAt(double tflops, int keys_per_pass) {
  const double passes = tflops / 3050.0 * 355.1e3 * 128 / keys_per_pass;
  return kAssumedGhz * 1e9 / passes;
}

CalibrationRow Loop(const char* kernel, double clocks, const char* source) {
  CalibrationRow row;
  row.kernel = kernel;
  row.published = clocks;
  row.source = source;
  return row;
}

CalibrationRow Aiter(const char* file, double tflops, int keys_per_pass,
                     const char* source) {
  return Loop(file, ClocksAt(tflops, keys_per_pass), source);
}

// A GEMM loop: matrix clocks of a trip over the published efficiency.
CalibrationRow Gemm(const char* kernel, double matrix_clocks, double efficiency,
                    const char* source) {
  return Loop(kernel, matrix_clocks / efficiency, source);
}

CalibrationRow Reads(const char* kernel, double clocks) {
  CalibrationRow row = Loop(
      kernel, clocks, "experiments/lds_throughput_validation README @a447df3f");
  row.quantity = Quantity::kReadClocks;
  return row;
}

CalibrationRow Launch(const char* kernel, double tflops, int seqlen, int batch,
                      int heads, int heads_kv, const char* source) {
  CalibrationRow row = Loop(kernel, tflops, source);
  row.quantity = Quantity::kTflops;
  row.seqlen = seqlen;
  row.batch = batch;
  row.heads = heads;
  row.heads_kv = heads_kv;
  return row;
}

CalibrationRow Causal(double ratio, int seqlen, const char* reason) {
  CalibrationRow row =
      Launch("fmha_v3_fwd/fwd_hd128_bf16_causal", ratio, seqlen, 16, 16, 16,
             "HipKittens' JSON, AITER asm MHA B16 H16");
  row.quantity = Quantity::kCausalRatio;
  row.reason = reason;
  return row;
}

std::vector<CalibrationRow> MakeRows() {
  std::vector<CalibrationRow> rows = {
      Aiter("fmha_v3_fwd/fwd_hd128_fp8", 2028, 128, "AITER-3495, 2028 TFLOP/s"),
      Aiter("fmha_v4_fwd/fwd_hd128_fp8", 3050, 128, "AITER-v4, 3050"),
      Aiter("fmha_v4_fwd/fwd_hd128_i8fp8", 2315, 128, "AITER-v4, 2315"),
      Aiter("fmha_v4_fwd/fwd_hd128_mxfp6", 3450, 128, "AITER-v4, 3450"),
      Aiter("fmha_v4_fwd/fwd_hd128_mxfp4", 3695, 128, "AITER-v4, 3695"),
      Aiter("fmha_v4_fwd/fwd_hd128_f6f4", 3700, 128, "AITER-v4, 3700"),
      Aiter("fmha_v4_fwd/fwd_hd128_f4f4", 4000, 256, "AITER-v4, 4000"),
  };
  CalibrationRow idle = Loop("fmha_v3_fwd/fwd_hd128_fp8", 0.683,
                             "thread trace: matrix pipe idle 31.7 %");
  idle.quantity = Quantity::kLoopBusy;
  idle.reason =
      "contradicts the first row, which is the same loop: 2028 TFLOP/s would "
      "need 1.42 GHz with 68 % busy";
  rows.push_back(idle);

  rows.push_back(
      Launch("fmha_v3_fwd/fwd_hd128_bf16", 1396, 8192, 1, 32, 8, "AITER-cpp"));
  rows.push_back(
      Launch("fmha_v3_fwd/fwd_hd128_bf16", 1438, 16384, 1, 64, 8, "AITER-cpp"));
  rows.push_back(Launch("fmha_v3_fwd/fwd_hd128_bf16_causal", 1248, 8192, 1, 32,
                        8, "AITER-cpp"));
  rows.push_back(Launch("fmha_v3_fwd/fwd_hd192_hd128_bf16", 1378, 8192, 1, 16,
                        16, "AITER-3390"));
  rows.push_back(Launch("fmha_v3_fwd/fwd_hd192_hd128_bf16", 1348, 16384, 1, 16,
                        16, "AITER-3390"));
  rows.push_back(Launch("fmha_v3_fwd/fwd_hd192_hd128_bf16_causal", 1238, 16384,
                        1, 16, 16, "AITER-3390"));

  rows.push_back(Gemm("v2_async_copy", 2048, 0.36, "a16w16 README @6136ad23"));
  rows.push_back(
      Gemm("v3_lds_padding", 2048, 0.418,
           "a16w16 README 42 %, intra_wave v3 README 41.66 %: their mean"));
  rows.push_back(Gemm("v5_local_prefetch_base", 2048, 0.587,
                      "58.41, 58.63 and 59 % for this build: their mean"));
  rows.push_back(
      Gemm("v6_loop_unroll_llir", 4096, 0.88, "v6 README @26a1b82d"));
  rows.push_back(Gemm("v7_slice_llir_RA", 4096, 0.96, "v7 README @7329b837"));
  rows.push_back(
      Gemm("v7_slice_llir_amdgcnas_K8192", 4096, 0.98, "v7 README @7329b837"));

  CalibrationRow blind =
      Gemm("v4_global_prefetch", 2048, 0.57,
           "v4 README @b775d7e6, docs/mfma_efficiency.md @2dfccb97: 3593 clk");
  blind.blind = true;
  rows.push_back(blind);
  blind = Gemm("v5_local_prefetch_llir", 2048, 0.7992, "v5 README @0e06f0ff");
  blind.blind = true;
  rows.push_back(blind);

  rows.push_back(Reads("lds_nW1_1024-16", 8));
  rows.push_back(Reads("lds_nW4_1024-16", 32));
  rows.push_back(Reads("lds_nW4_1024-16_2048-32", 16));

  rows.push_back(Causal(555.0 / 828, 1024, ""));
  rows.push_back(Causal(876.0 / 1085, 2048, ""));
  rows.push_back(Causal(1069.0 / 1211, 4096, ""));
  rows.push_back(Causal(1173.0 / 1259, 8192, ""));
  rows.push_back(Causal(1247.0 / 1283, 16384, ""));
  return rows;
}

}  // namespace

const char* QuantityName(Quantity quantity) {
  switch (quantity) {
    case Quantity::kLoopClocks:
      return "clk per pass";
    case Quantity::kLoopBusy:
      return "matrix busy";
    case Quantity::kReadClocks:
      return "clk per ds_read_b128";
    case Quantity::kTflops:
      return "TFLOP/s";
    case Quantity::kCausalRatio:
      return "causal / full TFLOP/s";
  }
  return "";
}

const std::vector<CalibrationRow>& CalibrationRows() {
  static const std::vector<CalibrationRow> rows = MakeRows();
  return rows;
}

}  // namespace zyfa::peers
