#include "zyfa/gen/fp8/query.h"

#include "zyfa/gen/asm/buffer_address.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr int kWideBytes = Geometry::kQueriesPerWave * Geometry::kWideRow;

}  // namespace

void EmitQueryPlaces(KernelState& s, VReg rows) {
  Assembler& a = s.a;
  a.Section("Lane constants: places in the rows of the loads of Q");
  ScopedVReg lane = a.vgprs().Scoped("lane");
  ScopedVReg place = a.vgprs().Scoped("place");
  a.Comment("row lane / 8 of each eight, place lane % 8");
  a.v_lshl_or_b32(lane, s.half, 5, s.query_lane);
  a.v_lshrrev_b32(rows[0], 3, lane);
  a.v_lshrrev_b32(place, 4, lane);
  a.v_and_b32(s.query_load[0], 7, lane);
  a.v_xor_b32(place, place, s.query_load[0]);
  a.v_lshlrev_b32(s.query_load[0], 4, place);
  a.v_xor_b32(s.query_load[1], 4 << 4, s.query_load[0]);
  if (!s.g.narrow_part) return;
  a.Comment("row lane / 4 of each sixteen, place lane % 4");
  a.v_lshrrev_b32(rows[1], 2, lane);
  a.v_lshrrev_b32(place, 4, lane);
  a.v_and_b32(lane, 3, lane);
  a.v_xor_b32(place, place, lane);
  a.v_add_u32(place, Geometry::kWideRow / 16, place);
  a.v_lshlrev_b32(s.query_load[2], 4, place);
}

void EmitQueryRows(KernelState& s, VReg rows) {
  Assembler& a = s.a;
  a.Section("Lane constants: memory offsets of the loads of Q");
  const SReg stride = s.Shape(offsetof(AttentionArgs, query_seq_stride));
  ScopedVReg offset = a.vgprs().Scoped("row_offset");
  ScopedSReg eight = a.sgprs().Scoped("eight_rows");
  a.v_mul_lo_u32(offset, rows[0], stride);
  a.v_add_u32(s.query_load[0], offset, s.query_load[0]);
  a.s_lshl_b32(eight, stride, 3);
  a.v_add_u32(offset, eight, offset);
  a.v_add_u32(s.query_load[1], offset, s.query_load[1]);
  if (!s.g.narrow_part) return;
  a.v_mul_lo_u32(offset, rows[1], stride);
  a.v_add_u32(s.query_load[2], offset, s.query_load[2]);
}

int QueryLoads(const Geometry& g) {
  return g.own_bytes / 1024 + (g.int8 ? 1 : 0);
}

void EmitQueryLoad(KernelState& s) {
  ScopedSReg descriptor = s.a.sgprs().Scoped("query_descriptor", 4);
  EmitQueryLoad(s, descriptor);
}

void EmitQueryLoad(KernelState& s, SReg descriptor) {
  Assembler& a = s.a;
  const SReg stride = s.Shape(offsetof(AttentionArgs, query_seq_stride));
  ScopedSReg t = a.sgprs().Scoped("query_place");
  a.Comment("rows of Q of the prepared item into the wave's own LDS");
  a.s_sub_u32(t, s.round, 1);
  a.s_and_b32(t, t, 63);
  const auto describe = [&](VReg words) {
    for (int i = 0; i < 3; ++i) a.v_readlane_b32(descriptor[i], words[i], t);
  };
  a.s_mov_b32(descriptor[3], kBufferFormat);
  if (s.g.int8) {
    describe(s.table.shift);
    a.buffer_load_ubyte(s.next_shift, s.query_lane, descriptor, 0);
  }
  describe(s.table.query);
  ScopedSReg rows = a.sgprs().Scoped("sixteen_rows");
  a.s_lshl_b32(rows, stride, 4);
  a.s_mul_i32(t, s.wave, s.g.own_stride);
  a.s_add_u32(t, t, s.g.own_lds);
  // Two loads, sixteen rows apart.
  const auto load = [&](VReg offset, int place, int step, int index) {
    ScopedVReg further = a.vgprs().Scoped("further_rows");
    a.v_add_u32(further, rows, offset);
    for (int i = 0; i < 2; ++i) {
      a.s_add_u32(m0, t, place + 1024 * (index + step * i));
      a.buffer_load_dwordx4_lds(i == 0 ? offset : further, descriptor, 0);
    }
  };
  load(s.query_load[0], 0, 2, 0);
  load(s.query_load[1], 0, 2, 1);
  if (s.g.narrow_part) load(s.query_load[2], kWideBytes, 1, 0);
}

void EmitQueryRead(KernelState& s) {
  Assembler& a = s.a;
  ScopedSReg distance = a.sgprs().Scoped("query_distance");
  // No operand of a product is on its way.
  const VReg address = s.fragments;
  a.Section("Read Q");
  int used = 0;
  const auto read = [&](VReg key_address, int first) {
    for (int i = 0; i < key_address.count(); ++i) {
      const VReg own = address[used++];
      a.v_add_u32(own, distance, key_address[i]);
      a.ds_read_b128(s.query.sub(4 * (first + i), 4), own, 0);
    }
  };
  a.s_mul_i32(distance, s.wave, s.g.own_stride);
  a.s_add_u32(distance, distance, s.g.own_lds - s.g.key_lds);
  read(s.key_read, 0);
  if (s.g.narrow_part) {
    a.s_add_u32(distance, distance, kWideBytes + s.g.key_lds - s.g.narrow_lds);
    read(s.narrow_read, s.key_read.count());
  }
}

void EmitQuerySign(KernelState& s) {
  Assembler& a = s.a;
  a.WaitLgkmcnt(0);
  if (s.g.int8) return;
  const Label positive = a.NewLabel("positive_scale");
  a.s_cmp_eq_u32(s.negate, 0);
  a.s_cbranch_scc1(positive);
  for (int i = 0; i < s.query.count(); ++i) {
    a.v_xor_b32(s.query[i], s.negate, s.query[i]);
  }
  a.Bind(positive);
}

}  // namespace zyfa::gen::fp8
