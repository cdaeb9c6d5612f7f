#include "zyfa/gen/fp8/kernel_state.h"

namespace zyfa::gen::fp8 {

KernelState::KernelState(Assembler& assembler, const Geometry& sizes)
    : a(assembler), g(sizes), kernarg(assembler.kernarg()) {
  SgprPool& s = a.sgprs();
  shape = s.Alloc("shape", 8);
  control = s.Alloc("control", 8);
  key.desc = s.Alloc("key_desc", 4);
  value.desc = s.Alloc("value_desc", 4);
  if (g.narrow_part) narrow_desc = s.Alloc("narrow_desc", 4);
  next_key = s.Alloc("next_key", 2);
  next_value = s.Alloc("next_value", 2);
  output = s.Alloc("output_desc", 4);
  lse = s.Alloc("lse_desc", 4);
  const struct {
    SReg* reg;
    const char* name;
  } kScalars[] = {
      {&wave, "wave"},
      {&group, "group"},
      {&key_step, "key_step"},
      {&value_step, "value_step"},
      {&round, "round"},
      {&next_keys, "next_keys"},
      {&next_tiles, "next_tiles"},
      {&meetings_left, "meetings_left"},
      {&wave_tiles, "wave_tiles"},
      {&full_keys, "full_keys"},
      {&plain_tiles, "plain_tiles"},
      {&key_tile, "key_tile"},
      {&first_stage, "first_stage"},
      {&value_descale, "value_descale"},
      {&key.left, "key_left"},
      {&key.tiles, "key_tiles"},
      {&value.left, "value_left"},
      {&value.tiles, "value_tiles"},
      {&key_slot, "key_slot"},
      {&value_slot, "value_slot"},
  };
  for (const auto& scalar : kScalars) *scalar.reg = s.Alloc(scalar.name);
  if (g.int8) {
    fall_tile = s.Alloc("fall_tile");
    plain_until = s.Alloc("plain_until");
    probe_key = s.Alloc("probe_key");
  } else {
    unit_scale = s.Alloc("unit_scale");
    inverse_unit = s.Alloc("inverse_unit");
    negate = s.Alloc("negate");
  }
  if (g.lean) {
    code_scale = s.Alloc("code_scale");
    lean_top = s.Alloc("lean_top");
    minus_eight = s.Alloc("minus_eight");
  }
  if (g.exact) least_max = s.Alloc("least_max");
  if (g.multiply) {
    multiplier_desc = s.Alloc("multiplier_desc", 4);
    next_multiplier = s.Alloc("next_multiplier", 2);
  }

  VgprPool& v = a.vgprs();
  query = v.Alloc("query", 8 * g.qk_steps);
  scores = v.Alloc("scores", 16 * Geometry::kKeyBlocks);
  codes = g.int8 && !(g.multiply && g.narrow_part) ? v.Alloc("codes", 8)
                                                   : scores.sub(0, 8);
  output_sum = v.Alloc("output_sum", 16 * Geometry::kValueBlocks);
  fragments = v.Alloc("fragments", kFragmentRegisters * kFragmentSlots);
  ones = v.Alloc("ones", 4);
  code_sum = v.Alloc("code_sum", 4);
  if (g.multiply) {
    multipliers = v.Alloc("multipliers", 32);
  } else if (!g.lean) {
    addend = v.Alloc("addend", 16);
  }
  key_read = v.Alloc("key_read", 4, 1);
  value_read = v.Alloc("value_read", Geometry::kValueBlocks, 1);
  key_load = v.Alloc("key_load");
  value_load = v.Alloc("value_load");
  query_load = v.Alloc("query_load", g.narrow_part ? 3 : 2, 1);
  if (g.narrow_part) {
    narrow_read = v.Alloc("narrow_read", 2, 1);
    narrow_load = v.Alloc("narrow_load", 2, 1);
  }
  const struct {
    VReg* reg;
    const char* name;
  } kVectors[] = {
      {&query_lane, "query_lane"},     {&half, "half"},
      {&score_scales, "score_scales"}, {&tile_max, "tile_max"},
      {&row_sum, "row_sum"},           {&block_scale, "block_scale"},
      {&key_limit, "key_limit"},
  };
  for (const auto& vector : kVectors) *vector.reg = v.Alloc(vector.name);
  if (g.int8) {
    ones_places = v.Alloc("ones_places");
    next_shift = v.Alloc("next_shift");
    shift = v.Alloc("shift");
    binade_shift = v.Alloc("binade_shift");
    limit = v.Alloc("limit");
    base_reference = v.Alloc("base_reference");
    next_scale = v.Alloc("next_scale");
    lowest_scale = v.Alloc("lowest_scale");
  } else {
    other_max = v.Alloc("other_max");
    factor = v.Alloc("factor");
    exponent = v.Alloc("exponent");
    row_max = v.Alloc("row_max");
    threshold = v.Alloc("threshold");
    late = v.Alloc("late");
  }
  if (g.lean) {
    reference = v.Alloc("reference");
    exponent_bias = v.Alloc("exponent_bias");
    code_bias = v.Alloc("code_bias");
    tile_bias = v.Alloc("tile_bias");
  }
  if (g.exact) next_late = v.Alloc("next_late");
  if (g.multiply) {
    bias = v.Alloc("bias");
    multiplier_load = v.Alloc("multiplier_load");
    multiplier_read = v.Alloc("multiplier_read");
  }

  table.key = v.Alloc("item_key", 2);
  table.value = v.Alloc("item_value", 2);
  table.query = v.Alloc("item_query", 3, 2);
  table.output = v.Alloc("item_output", 3, 2);
  table.lse = v.Alloc("item_lse", 3, 2);
  const struct {
    VReg* reg;
    const char* name;
  } kFields[] = {
      {&table.keys, "item_keys"},
      {&table.tiles, "item_tiles"},
      {&table.full_keys, "item_full_keys"},
      {&table.wave_tiles, "item_wave_tiles"},
      {&table.plain_tiles, "item_plain_tiles"},
      {&table.value_descale, "item_value_descale"},
  };
  for (const auto& field : kFields) *field.reg = v.Alloc(field.name);
  if (g.causal || g.int8) table.diagonal = v.Alloc("item_diagonal");
  if (g.int8) {
    table.shift = v.Alloc("item_shift", 3, 2);
  } else {
    table.unit_scale = v.Alloc("item_unit_scale");
    table.inverse_unit = v.Alloc("item_inverse_unit");
    table.negate = v.Alloc("item_negate");
  }
  if (g.lean) table.code_scale = v.Alloc("item_code_scale");
  if (g.exact) {
    table.least_max = v.Alloc("item_least_max");
    table.score_scales = v.Alloc("item_score_scales");
  }
  if (g.multiply) table.multiplier = v.Alloc("item_multiplier", 2);
}

}  // namespace zyfa::gen::fp8