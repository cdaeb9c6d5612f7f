#include "zyfa/gen/fp8/item_table.h"

#include <initializer_list>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/fp8/score_scale.h"

namespace zyfa::gen::fp8 {
namespace {

SReg SeqlenQ(const KernelState& s) {
  return s.Shape(offsetof(AttentionArgs, seqlen_q));
}
SReg SeqlenKv(const KernelState& s) {
  return s.Shape(offsetof(AttentionArgs, seqlen_kv));
}

// quotient, rest = number / divisor: `inverse` has the multiplier and the shift
// of SetItems().
void EmitDivide(Assembler& a, VReg quotient, VReg rest, VReg number,
                SReg divisor, SReg inverse) {
  ScopedVReg t = a.vgprs().Scoped("division_part");
  a.v_lshlrev_b32(t, 1, number);
  a.v_mul_hi_u32(t, t, inverse[0]);
  a.v_lshrrev_b32(quotient, inverse[1], t);
  a.v_mul_lo_u32(t, quotient, divisor);
  a.v_sub_u32(rest, number, t);
}

// Items' numbers in rounds s.round + lane (zyfa/variant/item_order.h), and
// which rounds have one; the others get the last item's number.
void EmitNumbers(KernelState& s, VReg number, SReg exists) {
  Assembler& a = s.a;
  const SReg group = a.workgroup_id_x();
  const SReg groups = s.Control(offsetof(AttentionArgs, groups));
  const SReg items = s.Control(offsetof(AttentionArgs, items));
  ScopedSReg back = a.sgprs().Scoped("place_in_odd_rounds");
  ScopedSReg part = a.sgprs().Scoped("part_of_group");
  ScopedVReg start = a.vgprs().Scoped("start_of_round");
  ScopedVReg place = a.vgprs().Scoped("place");
  a.Comment("odd rounds go through the groups backwards, in eights");
  a.s_sub_u32(back, groups, 8);
  a.s_and_b32(part, group, -8);
  a.s_sub_u32(back, back, part);
  a.s_and_b32(part, group, 7);
  a.s_add_u32(back, back, part);
  a.v_lshl_or_b32(start, s.half, 5, s.query_lane);
  a.v_and_b32(place, 1, start);
  a.v_cmp_eq_u32(vcc, 1, place);
  a.v_mov_b32(number, group);
  a.v_mov_b32(place, back);
  a.v_cndmask_b32(place, number, place, vcc);
  a.v_add_u32(start, s.round, start);
  a.v_mul_lo_u32(start, start, groups);
  a.v_add_u32(number, start, place);
  a.Comment("no further round, or not as many items left");
  a.v_cmp_gt_u32(exists, items, start);
  a.v_cmp_gt_u32(vcc, items, number);
  a.s_and_b64(exists, exists, vcc);
  a.s_sub_u32(part, items, 1);
  a.v_min_u32(number, part, number);
}

// keys = number of keys that row `row` + `ahead` sees, 0 .. seqlen_kv.
void EmitVisibleKeys(KernelState& s, VReg keys, VReg row, int ahead) {
  Assembler& a = s.a;
  if (!s.g.causal) {
    a.v_mov_b32(keys, SeqlenKv(s));
    return;
  }
  ScopedSReg offset = a.sgprs().Scoped("causal_offset");
  a.s_sub_i32(offset, SeqlenKv(s), SeqlenQ(s));
  a.s_add_i32(offset, offset, ahead + 1);
  a.v_add_u32(keys, offset, row);
  a.v_med3_i32(keys, keys, 0, SeqlenKv(s));
}

// descriptor = the wave's rows row0 .. row0 + valid_rows - 1 of the tensor that
// begins at its first two words. No bytes for no rows.
void EmitRowDescriptor(KernelState& s, VReg descriptor, SReg row_stride,
                       SReg row_bytes, VReg row0, VReg valid_rows) {
  Assembler& a = s.a;
  const VReg records = descriptor[2];
  EmitAddProduct(a, descriptor.sub(0, 2), row0, row_stride);
  a.v_and_b32(descriptor[1], 0xffff, descriptor[1]);
  a.v_add_u32(records, -1, valid_rows);
  a.v_mul_lo_u32(records, records, row_stride);
  a.v_add_u32(records, row_bytes, records);
  a.v_cmp_lt_i32(vcc, 0, valid_rows);
  a.v_cndmask_b32(records, 0, records, vcc);
}

// The wave's rows in query tile `tile`. Waves w and w + 4 share a SIMD: their
// rows are chosen so that every SIMD meets as many key tiles along a causal
// diagonal as the others.
void EmitRowsOfWave(KernelState& s, VReg row0, VReg valid_rows, VReg tile) {
  Assembler& a = s.a;
  ScopedSReg place = a.sgprs().Scoped("place_of_wave");
  a.s_sub_u32(place, 11, s.wave);
  a.s_cmp_lt_u32(s.wave, 4);
  a.s_cselect_b32(place, s.wave, place);
  a.s_lshl_b32(place, place, 5);
  static_assert(kQueryTile == 1 << 8 && Geometry::kQueriesPerWave == 1 << 5);
  a.v_lshlrev_b32(row0, 8, tile);
  a.v_add_u32(row0, place, row0);
  a.v_sub_u32(valid_rows, SeqlenQ(s), row0);
  a.v_med3_i32(valid_rows, valid_rows, 0, Geometry::kQueriesPerWave);
}

// base = address + head * head_stride + batch * batch_stride; the arguments are
// the address and the two strides, batch's first.
void EmitHeadAddress(KernelState& s, const char* name, VReg base, SReg address,
                     SReg strides, VReg head) {
  Assembler& a = s.a;
  a.Comment(absl::StrCat(name, " of its head"));
  a.v_mov_b32(base[0], address[0]);
  a.v_mov_b32(base[1], address[1]);
  EmitAddProduct(a, base, head, strides.sub(2, 2));
}

constexpr size_t kDescaleNumber = offsetof(AttentionArgs, query_descale_value);

struct TensorArguments {
  const char* name;
  size_t address, strides;  // offsets
};
constexpr TensorArguments kQuery = {
    "Q", offsetof(AttentionArgs, query),
    offsetof(AttentionArgs, query_batch_stride)};
constexpr TensorArguments kKey = {"K", offsetof(AttentionArgs, key),
                                  offsetof(AttentionArgs, key_batch_stride)};
constexpr TensorArguments kValue = {
    "V", offsetof(AttentionArgs, value),
    offsetof(AttentionArgs, value_batch_stride)};
constexpr TensorArguments kOutput = {
    "O", offsetof(AttentionArgs, output),
    offsetof(AttentionArgs, output_batch_stride)};
constexpr TensorArguments kShift = {
    "shifts of Q", offsetof(AttentionArgs, query_shift),
    offsetof(AttentionArgs, query_shift_batch_stride)};
constexpr TensorArguments kMultiplier = {
    "multipliers of K", offsetof(AttentionArgs, key_multiplier),
    offsetof(AttentionArgs, key_multiplier_batch_stride)};
constexpr TensorArguments kLse = {"LSE", offsetof(AttentionArgs, lse),
                                  offsetof(AttentionArgs, lse_batch_stride)};

// Places in the block of scalar registers: strides of tensor i, its address.
constexpr int kMostTensors = 3;
SReg Strides(SReg block, int i) { return block.sub(4 * i, 4); }
SReg Address(SReg block, int i) {
  return block.sub(4 * kMostTensors + 2 * i, 2);
}

void EmitTensorLoads(KernelState& s, SReg block,
                     std::initializer_list<TensorArguments> tensors) {
  int i = 0;
  for (const TensorArguments& t : tensors) {
    s.a.s_load_dwordx4(Strides(block, i), s.kernarg,
                       static_cast<int>(t.strides));
    s.a.s_load_dwordx2(Address(block, i), s.kernarg,
                       static_cast<int>(t.address));
    ++i;
  }
}

}  // namespace

ItemTableFill::ItemTableFill(KernelState& state)
    : s(state),
      a(state.a),
      tensors_(a.sgprs().Scoped("tensor_arguments", 6 * kMostTensors, 4)),
      numbers_(a.sgprs().Scoped("number_arguments", 4, 4)),
      tile_(s.fragments[0]),
      batch_(s.fragments[1]),
      head_(s.fragments[2]),
      kv_head_(s.fragments[3]),
      row0_(s.fragments[4]),
      valid_rows_(s.fragments[5]),
      descales_of_items_(s.fragments.sub(6, 3)) {}

void ItemTableFill::EmitArgumentLoads() {
  EmitTensorLoads(s, tensors_, {kQuery, kKey, kValue});
  a.s_load_dwordx4(
      numbers_, s.kernarg,
      static_cast<int>(offsetof(AttentionArgs, columns_multiplier)));
}

void ItemTableFill::EmitBatchAddresses(std::initializer_list<VReg> bases) {
  const Label one_entry = a.NewLabel("one_batch_entry");
  a.s_cmp_eq_u32(s.Control(offsetof(AttentionArgs, columns)),
                 s.Control(offsetof(AttentionArgs, heads_q)));
  a.s_cbranch_scc1(one_entry);
  a.Comment("of their batch entry");
  int i = 0;
  for (const VReg base : bases) {
    EmitAddProduct(a, base, batch_, Strides(tensors_, i++).sub(0, 2));
  }
  a.Bind(one_entry);
}

void ItemTableFill::EmitForLoads() {
  const ItemTable& t = s.table;
  a.Section("Items of 64 rounds, one a lane: what loads need");
  ScopedSReg exists = a.sgprs().Scoped("items_exist", 2);
  EmitNumbers(s, kv_head_, exists);
  a.Comment("item = (query_tiles - 1 - tile) * columns + batch * heads + head");
  EmitDivide(a, tile_, head_, kv_head_,
             s.Control(offsetof(AttentionArgs, columns)), numbers_.sub(0, 2));
  a.v_sub_u32(tile_, s.Shape(offsetof(AttentionArgs, query_tiles)), tile_);
  a.v_add_u32(tile_, -1, tile_);
  EmitDivide(a, batch_, head_, head_,
             s.Control(offsetof(AttentionArgs, heads_q)), numbers_.sub(2, 2));
  a.Comment("KV head = query head / (heads_q / heads_kv)");
  const SReg multiplier = s.Shape(offsetof(AttentionArgs, kv_head_multiplier));
  a.v_mul_hi_u32(kv_head_, head_, multiplier);
  a.s_cmp_eq_u32(multiplier, 0);
  a.s_cselect_b64(vcc, -1, 0);
  a.v_cndmask_b32(kv_head_, kv_head_, head_, vcc);

  const VReg query = t.query.sub(0, 2);
  EmitHeadAddress(s, "Q", query, Address(tensors_, 0), Strides(tensors_, 0),
                  head_);
  EmitHeadAddress(s, "K", t.key, Address(tensors_, 1), Strides(tensors_, 1),
                  kv_head_);
  EmitHeadAddress(s, "V", t.value, Address(tensors_, 2), Strides(tensors_, 2),
                  kv_head_);
  EmitBatchAddresses({query, t.key, t.value});
  a.v_and_b32(t.key[1], 0xffff, t.key[1]);
  a.v_and_b32(t.value[1], 0xffff, t.value[1]);
  if (s.g.int8) EmitTensorLoads(s, tensors_, {kShift, kMultiplier});
  EmitRowsOfWave(s, row0_, valid_rows_, tile_);
  {
    ScopedSReg bytes = a.sgprs().Scoped("row_bytes");
    a.s_mov_b32(bytes, s.g.row_bytes);
    EmitRowDescriptor(s, t.query,
                      s.Shape(offsetof(AttentionArgs, query_seq_stride)), bytes,
                      row0_, valid_rows_);
  }
  a.v_cndmask_b32(t.query[2], 0, t.query[2], exists);
  EmitGroupBounds(exists);
  if (s.g.int8) EmitForInt8Loads(exists);
}

void ItemTableFill::EmitForInt8Loads(SReg exists) {
  const ItemTable& t = s.table;
  const VReg shift = t.shift.sub(0, 2);
  EmitHeadAddress(s, kShift.name, shift, Address(tensors_, 0),
                  Strides(tensors_, 0), head_);
  if (s.g.multiply) {
    EmitHeadAddress(s, kMultiplier.name, t.multiplier, Address(tensors_, 1),
                    Strides(tensors_, 1), kv_head_);
    EmitBatchAddresses({shift, t.multiplier});
    a.v_and_b32(t.multiplier[1], 0xffff, t.multiplier[1]);
  } else {
    EmitBatchAddresses({shift});
  }
  ScopedSReg one = a.sgprs().Scoped("bytes_of_shift");
  a.s_mov_b32(one, 1);
  EmitRowDescriptor(s, t.shift, one, one, row0_, valid_rows_);
  a.v_cndmask_b32(t.shift[2], 0, t.shift[2], exists);
}

void ItemTableFill::EmitMoreArgumentLoads() {
  descales_.emplace(a.sgprs().Scoped("descale_addresses", 6, 4));
  EmitTensorLoads(s, tensors_, {kOutput, kLse});
  constexpr size_t kAddress = offsetof(AttentionArgs, query_descale);
  constexpr size_t kStrides =
      offsetof(AttentionArgs, query_descale_batch_stride);
  static_assert(offsetof(AttentionArgs, key_descale) == kAddress + 8 &&
                offsetof(AttentionArgs, value_descale) == kAddress + 16);
  static_assert(
      offsetof(AttentionArgs, key_descale_batch_stride) == kStrides + 8 &&
      offsetof(AttentionArgs, value_descale_batch_stride) == kStrides + 16);
  static_assert(
      offsetof(AttentionArgs, key_descale_value) == kDescaleNumber + 4 &&
      offsetof(AttentionArgs, value_descale_value) == kDescaleNumber + 8);
  a.s_load_dwordx4(descales_->sub(0, 4), s.kernarg, static_cast<int>(kAddress));
  a.s_load_dwordx2(descales_->sub(4, 2), s.kernarg,
                   static_cast<int>(kAddress + 16));
  // The third tensor's registers are free: strides of Q and K, of V.
  a.s_load_dwordx4(Strides(tensors_, 2), s.kernarg, static_cast<int>(kStrides));
  a.s_load_dwordx2(Address(tensors_, 2), s.kernarg,
                   static_cast<int>(kStrides + 16));
  for (int i = 0; i < 3; ++i) {
    a.s_load_dword(numbers_[i], s.kernarg,
                   static_cast<int>(kDescaleNumber) + 4 * i);
  }
}

void ItemTableFill::EmitGroupBounds(SReg exists) {
  const ItemTable& t = s.table;
  ScopedVReg row = a.vgprs().Scoped("last_row");
  ScopedSReg last = a.sgprs().Scoped("last_row_of_all");
  a.Comment("keys and tiles of the group: what its last row sees");
  a.v_lshlrev_b32(row, 8, tile_);
  static_assert(kQueryTile == 1 << 8);
  a.v_add_u32(row, kQueryTile - 1, row);
  a.s_sub_u32(last, SeqlenQ(s), 1);
  a.v_min_i32(row, last, row);
  EmitVisibleKeys(s, t.keys, row, 0);
  a.v_add_u32(t.tiles, kKeyTile - 1, t.keys);
  a.v_lshrrev_b32(t.tiles, 6, t.tiles);
  static_assert(kKeyTile == 1 << 6);
  a.v_max_u32(t.tiles, kLeastTiles, t.tiles);
  a.Comment("rounds without an item");
  a.v_cndmask_b32(t.keys, 0, t.keys, exists);
  a.v_mov_b32(row, kEndless);
  a.v_cndmask_b32(t.tiles, row, t.tiles, exists);
}

void ItemTableFill::EmitForTake() {
  const ItemTable& t = s.table;
  a.Section("Items of 64 rounds: the rest");
  EmitDescales(descales_of_items_);
  EmitWaveBounds();
  const VReg output = t.output.sub(0, 2);
  const VReg lse = t.lse.sub(0, 2);
  EmitHeadAddress(s, "O", output, Address(tensors_, 0), Strides(tensors_, 0),
                  head_);
  EmitHeadAddress(s, "LSE", lse, Address(tensors_, 1), Strides(tensors_, 1),
                  head_);
  EmitBatchAddresses({output, lse});
  ScopedSReg bytes = a.sgprs().Scoped("row_bytes");
  ScopedSReg stride = a.sgprs().Scoped("lse_stride");
  a.s_mov_b32(bytes, 2 * Geometry::kHeadDimV);
  a.s_bitcmp1_b32(s.Control(offsetof(AttentionArgs, flags)), 0);
  static_assert(kOutputFp8 == 1 << 0);
  a.s_cselect_b32(bytes, Geometry::kHeadDimV, bytes);
  EmitRowDescriptor(s, t.output,
                    s.Shape(offsetof(AttentionArgs, output_seq_stride)), bytes,
                    row0_, valid_rows_);
  a.s_mov_b32(stride, 4);
  a.s_mov_b32(bytes, 4);
  EmitRowDescriptor(s, t.lse, stride, bytes, row0_, valid_rows_);
  a.Comment("a null pointer drops all stores of the LSE");
  a.s_cmp_lg_u64(Address(tensors_, 1), 0);
  a.s_cselect_b64(vcc, -1, 0);
  a.v_cndmask_b32(t.lse[2], 0, t.lse[2], vcc);
  EmitItemScales(s, descales_of_items_);
  descales_.reset();
}

void ItemTableFill::EmitDescales(VReg descales) {
  const Label from_memory = a.NewLabel("descales_from_memory");
  const Label done = a.NewLabel("descales_on_their_way");
  ScopedSReg number = a.sgprs().Scoped("descale_number", 2);
  a.Comment("descales: any from memory?");
  a.s_or_b64(number, descales_->sub(0, 2), descales_->sub(2, 2));
  a.s_or_b64(number, number, descales_->sub(4, 2));
  a.s_cmp_lg_u64(number, 0);
  a.s_cbranch_scc1(from_memory);
  for (int i = 0; i < 3; ++i) a.v_mov_b32(descales[i], numbers_[i]);
  a.s_branch(done);

  a.Bind(from_memory);
  ScopedVReg address = a.vgprs().Scoped("descale_address", 2);
  ScopedVReg query_head = a.vgprs().Scoped("descale_head");
  a.Comment("Q's goes by query heads or by KV heads");
  a.s_bitcmp1_b32(s.Control(offsetof(AttentionArgs, flags)), 1);
  static_assert(kQueryDescaleByKvHead == 1 << 1);
  a.s_cselect_b64(vcc, -1, 0);
  a.v_cndmask_b32(query_head, head_, kv_head_, vcc);
  for (int i = 0; i < 3; ++i) {
    const SReg pointer = descales_->sub(2 * i, 2);
    const SReg strides =
        i < 2 ? Strides(tensors_, 2).sub(2 * i, 2) : Address(tensors_, 2);
    a.s_add_u32(number[0], s.kernarg[0],
                static_cast<int>(kDescaleNumber) + 4 * i);
    a.s_addc_u32(number[1], s.kernarg[1], 0);
    a.s_cmp_lg_u64(pointer, 0);
    a.s_cselect_b32(pointer[0], pointer[0], number[0]);
    a.s_cselect_b32(pointer[1], pointer[1], number[1]);
    a.v_mov_b32(address[0], pointer[0]);
    a.v_mov_b32(address[1], pointer[1]);
    EmitAddProduct(a, address, batch_, strides[0]);
    EmitAddProduct(a, address, i == 0 ? query_head : kv_head_, strides[1]);
    a.global_load_dword(descales[i], address, off);
  }
  a.Bind(done);
}

void ItemTableFill::EmitWaveBounds() {
  const ItemTable& t = s.table;
  ScopedVReg tiles = a.vgprs().Scoped("tiles_but_one");
  a.Comment("key tiles of the wave: what its last row sees");
  EmitVisibleKeys(s, t.wave_tiles, row0_, Geometry::kQueriesPerWave - 1);
  a.v_min_i32(t.wave_tiles, t.keys, t.wave_tiles);
  a.v_add_u32(t.wave_tiles, kKeyTile - 1, t.wave_tiles);
  a.v_lshrrev_b32(t.wave_tiles, 6, t.wave_tiles);
  a.v_cmp_lt_i32(vcc, 0, valid_rows_);
  a.v_cndmask_b32(t.wave_tiles, 0, t.wave_tiles, vcc);
  a.Comment("unmasked: what its first row sees in full, without the last tile");
  EmitVisibleKeys(s, t.full_keys, row0_, 0);
  a.v_lshrrev_b32(t.plain_tiles, 6, t.full_keys);
  a.v_add_u32(tiles, -1, t.wave_tiles);
  a.v_min_i32(t.plain_tiles, t.plain_tiles, tiles);
  if (s.g.causal) {
    ScopedSReg offset = a.sgprs().Scoped("causal_offset");
    a.s_sub_i32(offset, SeqlenKv(s), SeqlenQ(s));
    a.v_add_u32(t.diagonal, offset, row0_);
  } else if (s.g.int8) {
    a.v_mov_b32(t.diagonal, row0_);
  }
}

}  // namespace zyfa::gen::fp8
