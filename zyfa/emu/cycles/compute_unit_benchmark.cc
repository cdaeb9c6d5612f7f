// Simulated wave instructions a second of the cycle model, with eight waves of
// a loop as attention kernels have them.

#include <cstdint>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"

namespace zyfa::emu {
namespace {

Lines LoopBody() {
  const std::string matrix =
      "v_mfma_f32_32x32x16_bf16 v[32:47], v[0:3], v[16:19], v[32:47]";
  Lines body;
  for (int i = 0; i < 16; ++i) {
    body.insert(
        body.end(),
        {matrix, "v_exp_f32 v100, v101", "v_fma_f32 v102, v103, v104, v105",
         "v_add_f32 v106, v107, v108", "v_max3_f32 v109, v110, v111, v112",
         "ds_read_b128 v[120:123], v124", "s_nop 0"});
    if (i % 4 == 0) {
      body.insert(body.end(), {"s_mov_b32 m0, 0",
                               "buffer_load_dwordx4 v4, s[0:3], 0 offen lds",
                               "s_waitcnt lgkmcnt(4)"});
    }
  }
  body.insert(body.end(), {"s_waitcnt vmcnt(4) lgkmcnt(0)", "s_barrier",
                           "s_cbranch_scc1 0"});
  return body;
}

void BM_EightWaves(benchmark::State& state) {
  const TimedCode code(LoopBody());
  WaveTrace wave;
  for (int pass = 0; pass < 200; ++pass) {
    const auto one = code.Events(0, code.loads.size());
    wave.events.insert(wave.events.end(), one.events.begin(), one.events.end());
    wave.lines.insert(wave.lines.end(), one.lines.begin(), one.lines.end());
  }
  GroupTrace trace;
  trace.waves.assign(8, wave);
  const GroupTrace* const traces[] = {&trace};
  const ComputeUnitOptions options;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        RunComputeUnit(code.instructions, traces, options).clocks);
  }
  state.SetItemsProcessed(static_cast<int64_t>(trace.instructions()) *
                          static_cast<int64_t>(state.iterations()));
}
BENCHMARK(BM_EightWaves)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace zyfa::emu
