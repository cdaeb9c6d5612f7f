// Wave instructions a second of the hottest handlers.

#include <memory>
#include <string>

#include "benchmark/benchmark.h"
#include "zyfa/emu/disassembly_text.h"
#include "zyfa/emu/vector/handlers.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

void RunInstruction(benchmark::State& state, const std::string& text) {
  Instruction inst;
  inst.text = text;
  if (!ParseDisassembly(0, inst) ||
      (inst.handler = FindVectorHandler(inst)) == nullptr) {
    state.SkipWithError(("not executable: " + text).c_str());
    return;
  }
  auto wave = std::make_unique<Wave>();
  wave->exec = ~uint64_t{0};
  wave->mode.bits = 0xf0;  // denormals kept
  for (auto& row : wave->vgpr) {
    for (int l = 0; l < kLanes; ++l) row[l] = 0x3f803f80 + 977 * l;
  }
  for (auto _ : state) {
    inst.handler(inst, *wave);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations());
}

#define ZYFA_BENCHMARK(name, text) BENCHMARK_CAPTURE(RunInstruction, name, text)
ZYFA_BENCHMARK(mfma_bf16_32x32x16,
               "v_mfma_f32_32x32x16_bf16 v[16:31], v[0:3], v[4:7], 0");
ZYFA_BENCHMARK(mfma_bf16_16x16x32,
               "v_mfma_f32_16x16x32_bf16 v[16:19], v[0:3], v[4:7], 0");
ZYFA_BENCHMARK(mfma_fp8_32x32x64,
               "v_mfma_f32_32x32x64_f8f6f4 v[16:31], v[0:7], v[8:15], 0");
ZYFA_BENCHMARK(mfma_i8_32x32x32,
               "v_mfma_i32_32x32x32_i8 v[16:31], v[0:3], v[4:7], 0");
ZYFA_BENCHMARK(exp, "v_exp_f32_e32 v20, v1");
ZYFA_BENCHMARK(fma, "v_fma_f32 v20, v1, v2, v3");
ZYFA_BENCHMARK(fma_negated, "v_fma_f32 v20, v1, v2, -v3");
ZYFA_BENCHMARK(add, "v_add_f32_e32 v20, v1, v2");
ZYFA_BENCHMARK(max3, "v_max3_f32 v20, v1, v2, v3");
ZYFA_BENCHMARK(pk_mul, "v_pk_mul_f32 v[20:21], v[2:3], v[4:5]");
ZYFA_BENCHMARK(cvt_pk_bf16, "v_cvt_pk_bf16_f32 v20, v1, v2");
ZYFA_BENCHMARK(cvt_pk_fp8, "v_cvt_pk_fp8_f32 v20, v1, v2");
ZYFA_BENCHMARK(cmp, "v_cmp_lt_f32_e32 vcc, v1, v2");
ZYFA_BENCHMARK(lshl_add, "v_lshl_add_u32 v20, v1, 2, v3");
#undef ZYFA_BENCHMARK

}  // namespace
}  // namespace zyfa::emu
