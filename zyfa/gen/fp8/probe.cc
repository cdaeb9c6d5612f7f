#include "zyfa/gen/fp8/probe.h"

#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/fp8/int8_softmax.h"
#include "zyfa/gen/fp8/store.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr int kKeys = Int8Rule().probe_keys;
constexpr int kRowsOfBlock = 32;
constexpr int kKeysBefore = kKeys - kInt8ProbeBlock;
static_assert(kInt8ProbeBlock == kRowsOfBlock &&
              Geometry::kQueriesPerWave == kInt8ProbeBlock);
// Two blocks of products: keys 0 .. 31 of the probe, of which the second half
// counts as the other block's, and its last 32, at the rows' own places.
constexpr int kBlocks = 2;
constexpr int kFirstKey[kBlocks] = {0, kKeysBefore};
// Registers of scores whose keys the other block does not have.
constexpr int kRegisters[kBlocks] = {kKeysBefore / 2, 16};
// So that registers and swizzles have them in one piece.
static_assert(kKeysBefore == 16);
// Of the output and, without one as well, the LSE.
constexpr int kStores =
    OutputStore::kStoresOfHalf[0] + OutputStore::kStoresOfHalf[1];

// Of each block, of the wide parts; 32 channels each.
constexpr int kWideProducts = Geometry::kWideRow / 32;

// K's rows of a block of 32, four registers: the operand of one product. In the
// place of scores and operands of tiles.
VReg KeysOf(const KernelState& s, int block, int product) {
  const int i = 2 * s.g.qk_steps * block + product;
  return i < 8 ? s.scores.sub(4 * i, 4) : s.fragments.sub(16 + 4 * (i - 8), 4);
}
// Sixteen keys' narrow parts, before they are operands.
constexpr int kNarrowLoads = kKeys / 16;
VReg NarrowKeys(const KernelState& s, int load) {
  return KeysOf(s, load / 2, kWideProducts + load % 2);
}
VReg ScoresOf(const KernelState& s, int block) {
  return s.output_sum.sub(16 * block, 16);
}
// Those that count.
VReg OwnScoresOf(const KernelState& s, int block) {
  return ScoresOf(s, block).sub(0, kRegisters[block]);
}
// Key of a block in register r, of lanes with half 0; 4 more with half 1.
int KeyOfRegister(int r) { return 8 * (r / 4) + r % 4; }
// So that each lane mask is a few instructions old when it is used.
constexpr int kMasksAtOnce = 4;

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

// The wide parts to LDS, as Q's lie there: whole rows at a time.
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
  ScopedSReg distance = a.sgprs().Scoped("probe_distance");
  a.s_mul_i32(distance, s.wave, s.g.own_stride);
  a.s_add_u32(distance, distance, s.g.own_lds - s.g.key_lds);
  for (int i = 0; i < kWideProducts; ++i) {
    const VReg address = s.fragments[i];
    a.v_add_u32(address, distance, s.key_read[i]);
    for (int block = 0; block < kBlocks; ++block) {
      a.ds_read_b128(KeysOf(s, block, i), address,
                     kFirstKey[block] * Geometry::kWideRow);
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

// The narrow parts, for which LDS has no room yet, to registers: 16 rows at a
// time, each lane's bytes where those of Q lie in LDS.
void EmitNarrowLoads(KernelState& s, SReg descriptor, SReg missing) {
  Assembler& a = s.a;
  const SReg stride = s.Shape(offsetof(AttentionArgs, key_seq_stride));
  const VReg lane = s.fragments[12], place = s.fragments[13],
             offset = s.fragments[14];
  ScopedSReg rows = a.sgprs().Scoped("sixteen_rows");
  a.Comment("row lane / 4 of each sixteen, place lane % 4, swizzled");
  a.v_lshl_or_b32(lane, s.half, 5, s.query_lane);
  a.v_lshrrev_b32(offset, 2, lane);
  a.v_add_u32(offset, missing, offset);
  a.v_mul_lo_u32(offset, offset, stride);
  a.v_lshrrev_b32(place, 4, lane);
  a.v_and_b32(lane, 3, lane);
  a.v_xor_b32(place, place, lane);
  a.v_lshl_add_u32(offset, place, 4, offset);
  a.s_lshl_b32(rows, stride, 4);
  for (int i = 0; i < kNarrowLoads; ++i) {
    a.buffer_load_dwordx4(NarrowKeys(s, i), offset, descriptor, 0,
                          Geometry::kWideRow);
    if (i + 1 < kNarrowLoads) a.v_add_u32(offset, rows, offset);
  }
}

// Through LDS, where the wide parts were, to be operands.
void EmitNarrowKeys(KernelState& s) {
  Assembler& a = s.a;
  const VReg address = s.fragments.sub(kWideProducts, 2);
  ScopedSReg own = a.sgprs().Scoped("own_lds");
  a.s_mul_i32(own, s.wave, s.g.own_stride);
  a.s_add_u32(own, own, s.g.own_lds);
  a.v_lshl_or_b32(address[0], s.half, 5, s.query_lane);
  a.v_lshl_add_u32(address[0], address[0], 4, own);
  for (int i = 0; i < kNarrowLoads; ++i) {
    a.ds_write_b128(address[0], NarrowKeys(s, i), 1024 * i);
  }
  a.s_sub_u32(own, own, s.g.narrow_lds);
  for (int i = 0; i < address.count(); ++i) {
    a.v_add_u32(address[i], own, s.narrow_read[i]);
    for (int block = 0; block < kBlocks; ++block) {
      a.ds_read_b128(KeysOf(s, block, kWideProducts + i), address[i],
                     kFirstKey[block] * Geometry::kNarrowRow);
    }
  }
}

// x = masked where the row does not see a key of the block at its own place, 0
// where it does, as the products begin with.
void EmitTriangle(KernelState& s, VReg x, VReg masked) {
  Assembler& a = s.a;
  const VReg row = s.fragments[1];
  ScopedSReg hidden = a.sgprs().Scoped("hidden", 2 * kMasksAtOnce, 2);
  a.v_lshlrev_b32(row, 2, s.half);
  a.v_sub_u32(row, s.query_lane, row);
  for (int r = 0; r < x.count(); r += kMasksAtOnce) {
    for (int i = 0; i < kMasksAtOnce; ++i) {
      a.v_cmp_gt_i32(hidden.sub(2 * i, 2), KeyOfRegister(r + i), row);
    }
    for (int i = 0; i < kMasksAtOnce; ++i) {
      a.v_cndmask_b32(x[r + i], 0, masked, hidden.sub(2 * i, 2));
    }
  }
}

// Scores of keys that the row does not see, or that do not exist.
void EmitHidden(KernelState& s, VReg masked) {
  Assembler& a = s.a;
  const VReg place = s.fragments[1], span = s.fragments[2],
             key = s.fragments.sub(4, kMasksAtOnce);
  ScopedSReg end = a.sgprs().Scoped("end_of_block");
  ScopedSReg hidden = a.sgprs().Scoped("hidden", 2 * kMasksAtOnce, 2);
  a.Comment("as unsigned numbers keys before 0 are beyond");
  a.v_lshlrev_b32(place, 2, s.half);
  a.v_add_u32(span, place, s.key_limit);
  a.v_add_u32(span, 1, span);
  a.v_max_i32(span, 0, span);
  a.v_add_u32(place, s.probe_key, place);
  for (int block = kBlocks - 1; block >= 0; --block) {
    const VReg x = OwnScoresOf(s, block);
    const Label hides = a.NewLabel("probe_hides_keys");
    const Label visible = a.NewLabel("probe_sees_block");
    a.s_cmp_lt_i32(s.probe_key, 0);
    a.s_cbranch_scc1(hides);
    a.s_add_u32(end, s.probe_key, kFirstKey[block] + 2 * x.count());
    a.s_cmp_le_i32(end, s.full_keys);
    a.s_cbranch_scc1(visible);
    a.Bind(hides);
    for (int r = 0; r < x.count(); r += kMasksAtOnce) {
      for (int i = 0; i < kMasksAtOnce; ++i) {
        a.v_add_u32(key[i], kFirstKey[block] + KeyOfRegister(r + i), place);
      }
      for (int i = 0; i < kMasksAtOnce; ++i) {
        a.v_cmp_le_u32(hidden.sub(2 * i, 2), span, key[i]);
      }
      for (int i = 0; i < kMasksAtOnce; ++i) {
        a.v_cndmask_b32(x[r + i], x[r + i], masked, hidden.sub(2 * i, 2));
      }
    }
    a.Bind(visible);
  }
}

}  // namespace

int ProbeLoads(const Geometry& g) {
  if (!g.int8) return 0;
  return kKeys / 8 + (g.narrow_part ? kNarrowLoads : 0) + (g.multiply ? 1 : 0);
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
  if (s.g.narrow_part) EmitNarrowLoads(s, descriptor, missing);
  EmitLdsLoads(s, descriptor, missing);
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
  const VReg largest = s.base_reference;
  const VReg masked = s.fragments[8];
  const bool triangle = s.g.causal && !s.g.multiply;
  a.v_mov_b32(masked, Int8MaskedScore());
  a.v_mov_b32(largest, Int8MaskedScore());
  if (triangle) EmitTriangle(s, ScoresOf(s, kBlocks - 1), masked);
  EmitWaitForLds(s);
  EmitKeyReads(s);
  if (s.g.narrow_part) EmitNarrowKeys(s);
  if (s.g.multiply) EmitMultiplierReads(s);
  // The block that has more to do with its scores goes first.
  for (int block = kBlocks - 1; block >= 0; --block) {
    const VReg x = ScoresOf(s, block);
    const bool begun = triangle && block == kBlocks - 1;
    for (int i = 0; i < 2 * s.g.qk_steps; ++i) {
      a.v_mfma_i32_32x32x32_i8(
          x, KeysOf(s, block, i), s.query.sub(4 * i, 4),
          i == 0 && !begun ? MfmaAddend(0) : MfmaAddend(x));
    }
  }
  for (int block = kBlocks - 1; s.g.multiply && block >= 0; --block) {
    const VReg x = OwnScoresOf(s, block);
    for (int i = 0; i < x.count(); ++i) {
      a.v_mul_i32_i24(x[i], x[i], s.multipliers[kFirstKey[block] / 2 + i]);
    }
  }
  const Label visible = a.NewLabel("probe_sees_all");
  if (triangle) {
    a.s_cmp_ge_i32(s.probe_key, 0);
    a.s_cbranch_scc1(visible);
  }
  EmitHidden(s, masked);
  a.Bind(visible);
  for (int block = kBlocks - 1; block >= 0; --block) {
    const VReg x = OwnScoresOf(s, block);
    for (int i = 0; i < x.count(); i += 2) {
      a.v_max3_i32(largest, largest, x[i], x[i + 1]);
    }
  }
  EmitOverBothLanes(s, largest);
}

}  // namespace zyfa::gen::fp8
