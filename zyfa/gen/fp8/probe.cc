#include "zyfa/gen/fp8/probe.h"

#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/fp8/int8_softmax.h"
#include "zyfa/gen/fp8/store.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr int kBlocks = Int8Rule().probe_blocks;
constexpr int kKeys = kBlocks * kInt8ProbeBlock;
constexpr int kKeysBefore = kKeys - kInt8ProbeBlock;
static_assert(kBlocks >= 1 && kBlocks <= 2 &&
              Geometry::kQueriesPerWave == kInt8ProbeBlock);
constexpr int kRowsOfBlock = 32;
// Of the output and, without one as well, the LSE.
constexpr int kStores =
    OutputStore::kStoresOfHalf[0] + OutputStore::kStoresOfHalf[1];

// K's rows of a block of 32, four registers for 32 channels: `i` counts those
// of both blocks. In the place of scores and operands of tiles.
VReg KeysOf(const KernelState& s, int i) {
  return i < 8 ? s.scores.sub(4 * i, 4) : s.fragments.sub(16 + 4 * (i - 8), 4);
}
VReg ScoresOf(const KernelState& s) { return s.output_sum.sub(0, 16); }

// descriptor = the `count` keys from the probe's first one that exists on, of
// the tensor at `address`, whose keys are `stride` bytes apart and `bytes`
// long. Then lanes' offsets, from the probe's first one on, lie outside of it
// for keys that do not exist.
void EmitDescriptor(KernelState& s, SReg descriptor, SReg address,
                    SReg first_key, SReg stride, int bytes) {
  Assembler& a = s.a;
  ScopedSReg keys = a.sgprs().Scoped("keys_of_probe");
  ScopedSReg product = a.sgprs().Scoped("bytes_before", 2);
  a.s_max_i32(keys, first_key, 0);
  a.s_mul_i32(product[0], keys, stride);
  a.s_mul_hi_u32(product[1], keys, stride);
  a.s_add_u32(descriptor[0], address[0], product[0]);
  a.s_addc_u32(descriptor[1], address[1], product[1]);
  a.s_sub_i32(keys, s.Shape(offsetof(AttentionArgs, seqlen_kv)), keys);
  a.s_min_i32(keys, keys, kKeys);
  a.s_sub_i32(product[0], keys, 1);
  a.s_mul_i32(product[0], product[0], stride);
  a.s_add_u32(product[0], product[0], bytes);
  a.s_cmp_gt_i32(keys, 0);
  a.s_cselect_b32(descriptor[2], product[0], 0);
  a.s_mov_b32(descriptor[3], kBufferFormat);
}

// To LDS, as Q lies there: whole rows at a time.
void EmitLdsLoads(KernelState& s, SReg descriptor, SReg missing) {
  Assembler& a = s.a;
  const SReg stride = s.Shape(offsetof(AttentionArgs, key_seq_stride));
  const VReg lane = s.fragments[12], place = s.fragments[13],
             offset = s.fragments.sub(14, 2);
  ScopedSReg rows = a.sgprs().Scoped("bytes_of_rows");
  ScopedSReg lds = a.sgprs().Scoped("probe_lds");
  a.Comment("row lane / 8 of each eight, place lane % 8, swizzled");
  a.v_lshl_or_b32(lane, s.half, 5, s.query_lane);
  a.v_and_b32(offset[0], 7, lane);
  a.v_lshrrev_b32(place, 4, lane);
  a.v_xor_b32(place, place, offset[0]);
  a.v_lshlrev_b32(place, 4, place);
  a.v_lshrrev_b32(lane, 3, lane);
  a.v_add_u32(lane, missing, lane);
  a.v_mul_lo_u32(lane, lane, stride);
  a.s_lshl_b32(rows, stride, 3);
  a.v_add_u32(offset[0], place, lane);
  a.v_xor_b32(place, 4 << 4, place);
  a.v_add_u32(lane, rows, lane);
  a.v_add_u32(offset[1], place, lane);
  a.s_lshl_b32(rows, stride, 4);
  a.s_mul_i32(lds, s.wave, s.g.own_stride);
  a.s_add_u32(lds, lds, s.g.own_lds);
  a.Comment("Q has been read from there");
  a.WaitLgkmcnt(0);
  for (int i = 0; i < kKeys / 8; ++i) {
    a.s_add_u32(m0, lds, 1024 * i);
    a.buffer_load_dwordx4_lds(offset[i % 2], descriptor, 0);
    if (i + 2 < kKeys / 8) a.v_add_u32(offset[i % 2], rows, offset[i % 2]);
  }
}

// What has come behind the loads at least: stores of the output.
void EmitWaitForLds(KernelState& s) {
  Assembler& a = s.a;
  const Label first = a.NewLabel("probe_of_first_item");
  const Label arrived = a.NewLabel("probe_arrived");
  a.s_cmp_eq_u32(s.round, 2);
  a.s_cbranch_scc1(first);
  a.WaitVmcnt(kStores);
  a.s_branch(arrived);
  a.Bind(first);
  a.WaitVmcnt(0);
  a.Bind(arrived);
}

void EmitKeyReads(KernelState& s) {
  Assembler& a = s.a;
  const int products = 2 * s.g.qk_steps;
  ScopedSReg distance = a.sgprs().Scoped("probe_distance");
  a.s_mul_i32(distance, s.wave, s.g.own_stride);
  a.s_add_u32(distance, distance, s.g.own_lds - s.g.key_lds);
  for (int i = 0; i < products; ++i) {
    const VReg address = s.fragments[i];
    a.v_add_u32(address, distance, s.key_read[i]);
    for (int block = 0; block < kBlocks; ++block) {
      a.ds_read_b128(KeysOf(s, products * block + i), address,
                     s.g.own_bytes * block);
    }
  }
}

void EmitMultiplierReads(KernelState& s) {
  Assembler& a = s.a;
  const VReg address = s.fragments[12];
  ScopedSReg base = a.sgprs().Scoped("probe_multipliers");
  a.s_lshl_b32(base, s.wave, 8);
  a.s_add_u32(base, base, s.g.probe_multiplier_lds);
  a.v_lshlrev_b32(address, 4, s.half);
  a.v_add_u32(address, base, address);
  for (int q = 0; q < kKeys / 8; ++q) {
    a.ds_read_b128(s.multipliers.sub(4 * q, 4), address, 32 * q);
  }
}

// To registers: a lane has 16 bytes of 32 rows.
void EmitRegisterLoads(KernelState& s, SReg descriptor, SReg missing) {
  Assembler& a = s.a;
  const SReg stride = s.Shape(offsetof(AttentionArgs, key_seq_stride));
  const VReg offset = s.fragments[12], half = s.fragments[13];
  const int products = 2 * s.g.qk_steps;
  a.v_lshlrev_b32(half, 5, s.half);
  for (int block = 0; block < kBlocks; ++block) {
    a.v_add_u32(offset, missing, s.query_lane);
    if (block > 0) a.v_add_u32(offset, kRowsOfBlock * block, offset);
    a.v_mul_lo_u32(offset, offset, stride);
    a.v_add_u32(offset, half, offset);
    for (int i = 0; i < products; ++i) {
      a.buffer_load_dwordx4(KeysOf(s, products * block + i), offset, descriptor,
                            0, 64 * (i / 2) + 16 * (i % 2));
    }
  }
}

}  // namespace

int ProbeLoads(const Geometry& g) {
  if (!g.int8) return 0;
  return (g.probe_in_lds ? kKeys / 8 : 2 * kBlocks * g.qk_steps) +
         (g.multiply ? 1 : 0);
}

void EmitProbeLoads(KernelState& s, int rounds_back) {
  Assembler& a = s.a;
  a.Section("Probe: keys at the rows' own places");
  const SReg stride = s.Shape(offsetof(AttentionArgs, key_seq_stride));
  ScopedSReg descriptor = a.sgprs().Scoped("probe_descriptor", 4);
  ScopedSReg missing = a.sgprs().Scoped("missing_keys");
  // The last products are through, the first ones are not there yet.
  const VReg offset = s.fragments[12];
  ScopedSReg lane = a.sgprs().Scoped("lane_of_round");
  ScopedSReg address = a.sgprs().Scoped("address_in_table", 2);
  const auto read = [&](SReg d, VReg field) {
    for (int i = 0; i < field.count(); ++i) {
      a.v_readlane_b32(d[i], field[i], lane);
    }
  };
  a.s_sub_u32(lane, s.round, rounds_back);
  a.s_and_b32(lane, lane, 63);
  read(s.probe_key, s.table.diagonal);
  read(address, s.table.key);
  a.s_sub_i32(s.probe_key, s.probe_key, kKeysBefore);
  EmitDescriptor(s, descriptor, address, s.probe_key, stride, s.g.row_bytes);
  a.s_min_i32(missing, s.probe_key, 0);
  if (s.g.probe_in_lds) {
    EmitLdsLoads(s, descriptor, missing);
  } else {
    EmitRegisterLoads(s, descriptor, missing);
  }
  if (!s.g.multiply) return;
  a.Comment("and their multipliers");
  ScopedSReg four = a.sgprs().Scoped("bytes_of_multiplier");
  a.s_mov_b32(four, 4);
  read(address, s.table.multiplier);
  EmitDescriptor(s, descriptor, address, s.probe_key, four, 4);
  a.v_lshl_or_b32(offset, s.half, 5, s.query_lane);
  a.v_add_u32(offset, missing, offset);
  a.v_lshlrev_b32(offset, 2, offset);
  a.s_lshl_b32(four, s.wave, 8);
  a.s_add_u32(m0, four, s.g.probe_multiplier_lds);
  a.buffer_load_dword_lds(offset, descriptor, 0);
}

void EmitProbe(KernelState& s) {
  Assembler& a = s.a;
  a.Section("Probe: the rows' maxima");
  const int products = 2 * s.g.qk_steps;
  const VReg x = ScoresOf(s);
  const VReg largest = s.base_reference;
  constexpr int kGroup = 4;
  // No operand of a tile is on its way. Fragments 16 onwards hold keys.
  const VReg place = s.fragments[0], span = s.fragments[1],
             masked = s.fragments[2], key = s.fragments.sub(4, kGroup);
  ScopedSReg end = a.sgprs().Scoped("end_of_block");
  ScopedSReg hidden = a.sgprs().Scoped("hidden", 2 * kGroup, 2);
  if (s.g.probe_in_lds || s.g.multiply) EmitWaitForLds(s);
  if (s.g.probe_in_lds) EmitKeyReads(s);
  if (s.g.multiply) EmitMultiplierReads(s);
  a.v_mov_b32(masked, Int8MaskedScore());
  a.v_mov_b32(largest, Int8MaskedScore());
  a.Comment("keys that the row sees; as unsigned numbers keys before 0 are");
  a.Comment("beyond");
  a.v_lshlrev_b32(place, 2, s.half);
  a.v_add_u32(span, place, s.key_limit);
  a.v_add_u32(span, 1, span);
  a.v_max_i32(span, 0, span);
  a.v_add_u32(place, s.probe_key, place);
  for (int block = 0; block < kKeys / kRowsOfBlock; ++block) {
    for (int i = 0; i < products; ++i) {
      a.v_mfma_i32_32x32x32_i8(x, KeysOf(s, products * block + i),
                               s.query.sub(4 * i, 4),
                               i == 0 ? MfmaAddend(0) : MfmaAddend(x));
    }
    if (s.g.multiply) {
      for (int i = 0; i < x.count(); ++i) {
        a.v_mul_i32_i24(x[i], x[i], s.multipliers[16 * block + i]);
      }
    }
    const Label hides = a.NewLabel("probe_hides_keys");
    const Label visible = a.NewLabel("probe_sees_all");
    a.s_cmp_lt_i32(s.probe_key, 0);
    a.s_cbranch_scc1(hides);
    a.s_add_u32(end, s.probe_key, kRowsOfBlock * (block + 1));
    a.s_cmp_le_i32(end, s.full_keys);
    a.s_cbranch_scc1(visible);
    a.Bind(hides);
    for (int r = 0; r < x.count(); r += kGroup) {
      for (int i = 0; i < kGroup; ++i) {
        a.v_add_u32(key[i], kRowsOfBlock * block + 8 * (r / 4) + i, place);
      }
      for (int i = 0; i < kGroup; ++i) {
        a.v_cmp_le_u32(hidden.sub(2 * i, 2), span, key[i]);
      }
      for (int i = 0; i < kGroup; ++i) {
        a.v_cndmask_b32(x[r + i], x[r + i], masked, hidden.sub(2 * i, 2));
      }
    }
    a.Bind(visible);
    for (int i = 0; i < x.count(); i += 2) {
      a.v_max3_i32(largest, largest, x[i], x[i + 1]);
    }
  }
  EmitOverBothLanes(s, largest);
}

}  // namespace zyfa::gen::fp8
