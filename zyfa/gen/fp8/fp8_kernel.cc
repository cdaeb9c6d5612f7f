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
#include "zyfa/gen/fp8/probe.h"
#include "zyfa/gen/fp8/query.h"
#include "zyfa/gen/fp8/score_scale.h"
#include "zyfa/gen/fp8/tile_loader.h"

namespace zyfa::gen {
namespace fp8 {
namespace {

// Before the first item: the first meeting of waves 4..7, the loads that they
// are ahead by, and their Q, which they did not need before. INT8: then all
// waves look for their probe.
void EmitFirstMeeting(KernelState& s) {
  Assembler& a = s.a;
  const Label met = a.NewLabel("met");
  const Label probe = a.NewLabel("first_probe");
  a.Phase("first_meeting");
  a.s_cmp_lg_u32(s.round, 2);
  a.s_cbranch_scc1(met);
  a.s_cmp_eq_u32(s.group, 0);
  a.s_cbranch_scc1(probe);
  EmitTileLoads(s);
  a.WaitVmcnt(QueryLoads(s.g) + TileLoads(s.g));
  a.s_barrier();
  a.WaitVmcnt(TileLoads(s.g));
  EmitQueryRead(s);
  a.Bind(probe);
  if (s.g.int8) EmitProbeLoads(s, /*rounds_back=*/2);
  a.Bind(met);
}

// Up to the first tile of K in LDS: behind it comes code that takes an item.
// For items beyond a table, goes on at `prepared` with the next one. Label
// `refill` is for those that are not in the table.
void EmitStart(KernelState& s, Label refill, Label prepared) {
  Assembler& a = s.a;
  const Label fill = a.NewLabel("fill_item_table");
  const Label later = a.NewLabel("later_round");
  const Label first = a.NewLabel("first_round");
  ItemTableFill table(s);
  a.Phase("entry");
  a.s_setprio(3);
  EmitEntry(s);
  table.EmitArgumentLoads();
  {
    a.Comment("while the arguments are on their way");
    // No operand is on its way.
    const VReg tile_rows = s.fragments.sub(0, 2);
    const VReg query_rows = s.fragments.sub(2, 2);
    EmitLoadPlaces(s, tile_rows);
    EmitQueryPlaces(s, query_rows);
    EmitReadAddresses(s);
    EmitOnes(s);
    EmitLoaderStart(s);
    EmitLoadRows(s, tile_rows);
    EmitQueryRows(s, query_rows);
  }

  a.Phase("item_table");
  a.Bind(fill);
  table.EmitForLoads();
  EmitPrepareItem(s);
  table.EmitMoreArgumentLoads();
  a.s_cmp_lg_u32(s.round, 1);
  a.s_cbranch_scc1(later);
  {
    const Label loaded = a.NewLabel("query_of_0_loaded");
    a.s_cmp_lg_u32(s.group, 0);
    a.s_cbranch_scc1(loaded);
    a.Comment("no item is taken yet: the output's descriptor is free");
    EmitQueryLoad(s, s.output);
    a.Bind(loaded);
  }
  EmitKeyTileLoad(s);
  a.s_setprio(0);
  EmitScaleConstants(s);
  a.Bind(later);
  a.Phase("rest_of_item_table");
  table.EmitForTake();
  a.s_cmp_eq_u32(s.round, 1);
  a.s_cbranch_scc1(first);
  a.s_branch(prepared);

  a.Phase("refill_item_table");
  a.Section("A further 64 rounds");
  a.Bind(refill);
  table.EmitArgumentLoads();
  a.s_branch(fill);

  a.Phase("first_loads");
  a.Bind(first);
  const Label of_1 = a.NewLabel("first_loads_of_1");
  const Label loaded = a.NewLabel("first_tiles_loaded");
  a.Comment("the first tile of K has arrived, and Q of waves 0..3");
  a.WaitVmcnt(0);
  a.s_cmp_lg_u32(s.group, 0);
  a.s_cbranch_scc1(of_1);
  EmitTileLoads(s);
  a.s_barrier();
  EmitQueryRead(s);
  a.s_branch(loaded);
  a.Bind(of_1);
  a.s_barrier();
  EmitTileLoads(s);
  EmitQueryLoad(s, s.output);
  a.Bind(loaded);
}

void EmitKernel(KernelState& s) {
  Assembler& a = s.a;
  const Label refill = a.NewLabel("refill_item_table");
  const Label take = a.NewLabel("take_item");
  const Label prepared = a.NewLabel("item_prepared");
  EmitStart(s, refill, prepared);
  a.Phase("take_item");
  a.Bind(take);
  EmitTakeItem(s);
  {
    ScopedSReg lane = a.sgprs().Scoped("lane_of_next_round");
    a.s_and_b32(lane, s.round, 63);
    a.s_cbranch_scc0(refill);
  }
  EmitPrepareItem(s);
  a.Bind(prepared);
  EmitFirstMeeting(s);
  EmitQuerySign(s);
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
