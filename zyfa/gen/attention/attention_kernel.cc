#include "zyfa/gen/attention/attention_kernel.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/assembler.h"
#include "zyfa/gen/attention/entry.h"
#include "zyfa/gen/attention/kernel_state.h"
#include "zyfa/gen/attention/main_loop.h"
#include "zyfa/gen/attention/query_tile.h"
#include "zyfa/gen/attention/store.h"
#include "zyfa/gen/attention/tile_loader.h"
#include "zyfa/gen/common/attention_spec.h"

namespace zyfa::gen {

absl::StatusOr<std::string> GenerateAttentionKernel(const Variant& variant) {
  if ((variant.head_dim_qk != 128 && variant.head_dim_qk != 192) ||
      variant.head_dim_v != 128) {
    return absl::InvalidArgumentError(
        absl::StrCat("head dims ", variant.head_dim_qk, "/", variant.head_dim_v,
                     ": the kernels are laid out for 128/128 and 192/128"));
  }
  const Geometry geometry(variant);
  Assembler a(AttentionSpec(variant, geometry.lds_bytes));
  KernelState s(a, geometry);

  a.Phase("entry");
  EmitEntry(s);
  a.Phase("lane_constants");
  EmitLoadOffsets(s);
  EmitReadAddresses(s);

  const Label query_tile = a.NewLabel("query_tile");
  const Label end = a.NewLabel("end");
  a.Bind(query_tile);
  a.Phase("tile_bounds");
  EmitTileBounds(s);
  a.Phase("query_load");
  EmitQueryLoad(s);
  a.Phase("tile_start");
  EmitTileStart(s);
  EmitMainLoop(s);
  a.Phase("store");
  EmitStore(s);

  a.Phase("next_tile");
  a.Section("Next query tile, or end");
  // Loads still on their way write LDS: they must land before its reuse, by the
  // next query tile here or by another work-group.
  a.WaitVmcnt(0);
  if (geometry.causal) {
    a.s_cmp_lt_i32(s.other_tile, 0);
    a.s_cbranch_scc1(end);
    a.s_mov_b32(s.tile, s.other_tile);
    a.s_mov_b32(s.other_tile, -1);
    a.Comment("no wave still reads the last tiles of this query tile");
    a.s_barrier();
    a.s_branch(query_tile);
    a.Bind(end);
  }
  a.s_endpgm();
  return a.Finish();
}

}  // namespace zyfa::gen
