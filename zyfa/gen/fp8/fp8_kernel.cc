#include "zyfa/gen/fp8/fp8_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/assembler.h"
#include "zyfa/gen/common/attention_spec.h"
#include "zyfa/gen/fp8/item.h"
#include "zyfa/gen/fp8/item_table.h"
#include "zyfa/gen/fp8/kernel_state.h"
#include "zyfa/gen/fp8/main_loop.h"
#include "zyfa/gen/fp8/matrix_stream.h"
#include "zyfa/gen/fp8/query.h"
#include "zyfa/gen/fp8/score_scale.h"
#include "zyfa/gen/fp8/tile_loader.h"

namespace zyfa::gen {
namespace fp8 {
namespace {

void EmitLaneConstants(KernelState& s) {
  s.a.Phase("lane_constants");
  // Those that need no arguments first, which are on their way.
  EmitReadAddresses(s);
  EmitOnes(s);
  EmitScaleConstants(s);
  EmitLoadOffsets(s);
  EmitQueryOffsets(s);
  EmitLoaderStart(s);
}

// The streams of loads before the first item.
void EmitFirstLoads(KernelState& s) {
  Assembler& a = s.a;
  a.Phase("first_loads");
  a.Section("First loads");
  EmitFirstTileLoads(s);
  a.Comment("Q and the first tile of K have arrived");
  a.WaitVmcnt(TileLoads(s.g));
  a.s_barrier();
}

void EmitKernel(KernelState& s) {
  Assembler& a = s.a;
  const Label fill = a.NewLabel("fill_item_table");
  const Label prepare = a.NewLabel("prepare_item");
  const Label take = a.NewLabel("take_item");
  const Label running = a.NewLabel("running");
  a.Phase("entry");
  EmitEntry(s);
  EmitLaneConstants(s);

  a.Phase("fill_item_table");
  a.Bind(fill);
  EmitFillItemTable(s);
  a.Phase("prepare_item");
  a.Bind(prepare);
  EmitPrepareItem(s);
  a.s_cmp_lg_u32(s.round, 1);
  a.s_cbranch_scc1(running);
  EmitFirstLoads(s);

  a.Phase("take_item");
  a.Bind(take);
  EmitQueryRead(s);
  EmitTakeItem(s);
  EmitQuerySign(s);
  a.Comment("a further round of 64");
  {
    ScopedSReg lane = a.sgprs().Scoped("lane_of_round");
    a.s_and_b32(lane, s.round, 63);
    a.s_cbranch_scc1(prepare);
  }
  a.s_branch(fill);

  a.Bind(running);
  EmitMainLoop(s);
  a.Phase("next_item");
  a.Section("Next item, or end");
  a.s_cmp_lg_u32(s.next_tiles, kEndless);
  a.s_cbranch_scc1(take);

  a.Phase("end");
  a.Comment(
      "loads on their way write LDS: they must land before others use it");
  a.WaitVmcnt(0);
  a.s_endpgm();
}

}  // namespace
}  // namespace fp8

absl::StatusOr<std::string> GenerateFp8Kernel(const Variant& variant) {
  if ((variant.head_dim_qk != 128 && variant.head_dim_qk != 192) ||
      variant.head_dim_v != 128) {
    return absl::InvalidArgumentError(
        absl::StrCat("head dims ", variant.head_dim_qk, "/", variant.head_dim_v,
                     ": the kernels are laid out for 128/128 and 192/128"));
  }
  const fp8::Geometry geometry(variant);
  Assembler a(AttentionSpec(variant, geometry.lds_bytes));
  fp8::KernelState s(a, geometry);
  fp8::EmitKernel(s);
  return a.Finish();
}

}  // namespace zyfa::gen
