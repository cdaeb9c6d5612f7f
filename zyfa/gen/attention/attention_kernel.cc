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

namespace zyfa::gen {
namespace {

KernelSpec SpecOf(const Variant& variant, const Geometry& g) {
  KernelSpec spec;
  spec.name = absl::StrCat("zyfa_", VariantName(variant));
  spec.description = {
      absl::StrCat("BF16 attention forward, head dim ", g.head_dim_qk, "/",
                   g.head_dim_v, g.causal ? ", causal" : ", all keys"),
      absl::StrCat(kQueryTile, " query rows a work-group (", kWavesPerGroup,
                   " waves of 32), ", kKeyTile, " keys a trip"),
  };
  spec.kernarg_bytes = sizeof(AttentionArgs);
  const auto field = [&](const char* name, size_t offset, int size,
                         bool buffer = false) {
    spec.args.push_back(
        {name, static_cast<int>(offset), size,
         buffer ? KernelArg::Kind::kGlobalBuffer : KernelArg::Kind::kByValue});
  };
#define ZYFA_BUFFER(name) field(#name, offsetof(AttentionArgs, name), 8, true)
#define ZYFA_VALUE(name) \
  field(#name, offsetof(AttentionArgs, name), sizeof(AttentionArgs::name))
  ZYFA_BUFFER(query);
  ZYFA_BUFFER(key);
  ZYFA_BUFFER(value);
  ZYFA_BUFFER(output);
  ZYFA_BUFFER(lse);
  ZYFA_VALUE(query_batch_stride);
  ZYFA_VALUE(query_head_stride);
  ZYFA_VALUE(key_batch_stride);
  ZYFA_VALUE(key_head_stride);
  ZYFA_VALUE(value_batch_stride);
  ZYFA_VALUE(value_head_stride);
  ZYFA_VALUE(output_batch_stride);
  ZYFA_VALUE(output_head_stride);
  ZYFA_VALUE(lse_batch_stride);
  ZYFA_VALUE(lse_head_stride);
  ZYFA_VALUE(query_seq_stride);
  ZYFA_VALUE(key_seq_stride);
  ZYFA_VALUE(value_seq_stride);
  ZYFA_VALUE(output_seq_stride);
  ZYFA_VALUE(seqlen_q);
  ZYFA_VALUE(seqlen_kv);
  ZYFA_VALUE(query_tiles);
  ZYFA_VALUE(kv_head_multiplier);
  ZYFA_VALUE(negate_query);
  ZYFA_VALUE(scale_log2e);
  ZYFA_VALUE(scale);
  ZYFA_VALUE(rescale_threshold);
#undef ZYFA_VALUE
#undef ZYFA_BUFFER
  spec.lds_bytes = g.lds_bytes;
  spec.workgroup_size = kThreadsPerGroup;
  spec.workgroup_id_x = true;
  spec.workgroup_id_y = true;
  spec.workgroup_id_z = true;
  spec.denorm_mode_32 = 3;
  spec.max_vgprs = 256;  // two waves a SIMD
  return spec;
}

}  // namespace

absl::StatusOr<std::string> GenerateAttentionKernel(const Variant& variant) {
  if ((variant.head_dim_qk != 128 && variant.head_dim_qk != 192) ||
      variant.head_dim_v != 128) {
    return absl::InvalidArgumentError(
        absl::StrCat("head dims ", variant.head_dim_qk, "/", variant.head_dim_v,
                     ": the kernels are laid out for 128/128 and 192/128"));
  }
  const Geometry geometry(variant);
  Assembler a(SpecOf(variant, geometry));
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
