#include "zyfa/gen/attention/kernel_state.h"

namespace zyfa::gen {

KernelState::KernelState(Assembler& assembler, const Geometry& sizes)
    : a(assembler), g(sizes) {
  SgprPool& s = a.sgprs();
  args = s.Alloc("arguments", offsetof(AttentionArgs, query_descale) / 4, 4);
  key_desc = s.Alloc("key_desc", 4);
  value_desc = s.Alloc("value_desc", 4);
  row_desc = s.Alloc("row_desc", 4);
  wave = s.Alloc("wave");
  wave_lds = s.Alloc("wave_lds");
  value_wave_lds = s.Alloc("value_wave_lds");
  key_step = s.Alloc("key_step");
  value_step = s.Alloc("value_step");
  causal_offset = s.Alloc("causal_offset");
  tile = s.Alloc("tile");
  other_tile = s.Alloc("other_tile");
  row0 = s.Alloc("row0");
  valid_rows = s.Alloc("valid_rows");
  group_tiles = s.Alloc("group_tiles");
  wave_tiles = s.Alloc("wave_tiles");
  plain_tiles = s.Alloc("plain_tiles");
  key_tile = s.Alloc("key_tile");
  careful = s.Alloc("careful");
  moved = s.Alloc("moved");
  key_left = s.Alloc("key_left");
  value_left = s.Alloc("value_left");

  VgprPool& v = a.vgprs();
  query = v.Alloc("query", 4 * g.qk_steps, 4);
  scores[0] = v.Alloc("scores_even", 16 * Geometry::kKeyBlocks, 4);
  scores[1] = v.Alloc("scores_odd", 16 * Geometry::kKeyBlocks, 4);
  output = v.Alloc("output", 16 * g.value_blocks, 4);
  fragments = v.Alloc("fragments", 4 * kFragmentSlots, 4);
  key_load = v.Alloc("key_load", g.key_loads, 1);
  value_load = v.Alloc("value_load", g.value_loads, 1);
  key_read = v.Alloc("key_read", g.key_reads, 1);
  value_read = v.Alloc("value_read", g.value_blocks, 1);
  query_lane = v.Alloc("query_lane");
  half = v.Alloc("half");
  tile_max = v.Alloc("tile_max");
  row_max = v.Alloc("row_max");
  scaled_max = v.Alloc("scaled_max");
  threshold = v.Alloc("threshold");
  row_sum = v.Alloc("row_sum");
  tile_sum = v.Alloc("tile_sum");
  factor = v.Alloc("factor");
  key_limit = v.Alloc("key_limit");
}

}  // namespace zyfa::gen
