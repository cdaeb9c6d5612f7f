#include "zyfa/gen/fp8/query.h"

#include "zyfa/gen/fp8/item.h"

namespace zyfa::gen::fp8 {
namespace {

constexpr int kWideBytes = Geometry::kQueriesPerWave * Geometry::kWideRow;

// Offsets of the lane's row and 16-byte chunk for loads of 1024 bytes:
// 2^row_shift lanes a row, and K's swizzle.
void EmitWideLoads(KernelState& s, SReg descriptor, SReg stride, SReg place) {
  Assembler& a = s.a;
  ScopedVReg lane = a.vgprs().Scoped("lane");
  ScopedVReg row = a.vgprs().Scoped("row");
  ScopedVReg even = a.vgprs().Scoped("offset_even");
  ScopedVReg odd = a.vgprs().Scoped("offset_odd");
  ScopedSReg step = a.sgprs().Scoped("row_step");
  a.Comment("row lane / 8 of each eight, place lane % 8");
  a.v_lshl_or_b32(lane, s.half, 5, s.query_lane);
  a.v_lshrrev_b32(row, 3, lane);
  a.v_mul_lo_u32(odd, row, stride);
  a.v_lshrrev_b32(row, 4, lane);
  a.v_and_b32(lane, 7, lane);
  a.v_xor_b32(lane, row, lane);
  a.v_lshl_add_u32(even, lane, 4, odd);
  a.v_xor_b32(lane, 4, lane);
  a.v_lshl_add_u32(odd, lane, 4, odd);
  a.s_lshl_b32(step, stride, 3);
  a.v_add_u32(odd, step, odd);
  a.s_lshl_b32(step, stride, 4);
  for (int i = 0; i < 4; ++i) {
    const VReg offset = i % 2 == 0 ? even : odd;
    if (i >= 2) a.v_add_u32(offset, step, offset);
    a.s_add_u32(m0, place, s.g.own_lds + 1024 * i);
    a.buffer_load_dwordx4_lds(offset, descriptor, 0);
  }
}

void EmitNarrowLoads(KernelState& s, SReg descriptor, SReg stride, SReg place) {
  Assembler& a = s.a;
  ScopedVReg lane = a.vgprs().Scoped("lane");
  ScopedVReg row = a.vgprs().Scoped("row");
  ScopedVReg offset = a.vgprs().Scoped("offset");
  ScopedSReg step = a.sgprs().Scoped("row_step");
  a.Comment("row lane / 4 of each sixteen, place lane % 4");
  a.v_lshl_or_b32(lane, s.half, 5, s.query_lane);
  a.v_lshrrev_b32(row, 2, lane);
  a.v_mul_lo_u32(offset, row, stride);
  a.v_lshrrev_b32(row, 4, lane);
  a.v_and_b32(lane, 3, lane);
  a.v_xor_b32(lane, row, lane);
  a.v_add_u32(lane, Geometry::kWideRow / 16, lane);
  a.v_lshl_add_u32(offset, lane, 4, offset);
  a.s_lshl_b32(step, stride, 4);
  for (int i = 0; i < 2; ++i) {
    if (i > 0) a.v_add_u32(offset, step, offset);
    a.s_add_u32(m0, place, s.g.own_lds + kWideBytes + 1024 * i);
    a.buffer_load_dwordx4_lds(offset, descriptor, 0);
  }
}

}  // namespace

int QueryLoads(const Geometry& g) { return g.own_bytes / 1024; }

void EmitQueryLoad(KernelState& s, SReg address, SReg row0, SReg valid_rows) {
  Assembler& a = s.a;
  const SReg stride = s.Shape(offsetof(AttentionArgs, query_seq_stride));
  ScopedSReg descriptor = a.sgprs().Scoped("query_descriptor", 4);
  ScopedSReg place = a.sgprs().Scoped("query_place");
  a.Comment("rows of Q into the wave's own LDS");
  EmitRowDescriptor(s, descriptor, address, stride, s.g.row_bytes, row0,
                    valid_rows);
  a.s_mul_i32(place, s.wave, s.g.own_bytes);
  EmitWideLoads(s, descriptor, stride, place);
  if (s.g.narrow_part) EmitNarrowLoads(s, descriptor, stride, place);
}

void EmitQueryRead(KernelState& s) {
  Assembler& a = s.a;
  ScopedSReg distance = a.sgprs().Scoped("query_distance");
  ScopedVReg address = a.vgprs().Scoped("query_address", 1);
  a.Section("Read Q");
  const auto read = [&](VReg key_address, int first) {
    for (int i = 0; i < key_address.count(); ++i) {
      a.v_add_u32(address, distance, key_address[i]);
      a.ds_read_b128(s.query.sub(4 * (first + i), 4), address, 0);
    }
  };
  a.s_mul_i32(distance, s.wave, s.g.own_bytes);
  a.s_add_u32(distance, distance, s.g.own_lds - s.g.key_lds);
  read(s.key_read, 0);
  if (s.g.narrow_part) {
    a.s_add_u32(distance, distance, kWideBytes + s.g.key_lds - s.g.narrow_lds);
    read(s.narrow_read, s.key_read.count());
  }
  a.WaitLgkmcnt(0);
  const Label positive = a.NewLabel("positive_scale");
  a.s_cmp_eq_u32(s.negate, 0);
  a.s_cbranch_scc1(positive);
  for (int i = 0; i < s.query.count(); ++i) {
    a.v_xor_b32(s.query[i], s.negate, s.query[i]);
  }
  a.Bind(positive);
}

}  // namespace zyfa::gen::fp8
