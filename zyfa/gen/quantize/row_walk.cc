#include "zyfa/gen/quantize/row_walk.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/quantize/rotate.h"

namespace zyfa::gen {
namespace {

constexpr int kHeadChannels = 8;  // of a lane, below channel 128
constexpr int kTailChannels = 4;
constexpr int kTail = 128;
// Beyond every descriptor: rows of a step end below 2^31.
constexpr uint32_t kOutside = 0x80000000;
constexpr uint32_t kMagnitude = 0x7fffffff;
// 1.5 * 2^23: a sum with it has no place for fractions.
constexpr float kRoundToInteger = 12582912.0f;
// v_perm_b32: the low bytes of the second and the first source, and 0; their
// low halves.
constexpr uint32_t kSelectBytes = 0x0c0c0400;
constexpr uint32_t kSelectHalves = 0x05040100;

// All of 16 neighbouring lanes get the sum, which is the same in all of them.
void EmitSumOf16(Assembler& a, VReg x) {
  for (const Dpp& dpp : {Dpp::QuadPerm(1, 0, 3, 2), Dpp::QuadPerm(2, 3, 0, 1),
                         Dpp::RowHalfMirror(), Dpp::RowMirror()}) {
    a.v_add_f32_dpp(x, x, x, dpp);
  }
}

}  // namespace

RowWalk::RowWalk(const Arguments& arguments, int head_dim,
                 std::vector<RowBuffer> written)
    : args_(arguments),
      a(arguments.a),
      has_tail_(head_dim > kTail),
      written_(std::move(written)) {
  a.Section("Rows of this work-group");
  const int values = has_tail_ ? kHeadChannels + kTailChannels : kHeadChannels;
  lane16_ = a.vgprs().Alloc("lane_of_16");
  row16_ = a.vgprs().Alloc("row_of_16");
  outside_ = a.vgprs().Alloc("outside");
  x_ = a.vgprs().Alloc("x", values);
  scratch_ = a.vgprs().Alloc("scratch", kHeadChannels);
  mean_ = a.vgprs().Alloc("mean", values, 4);
  signs_ = a.vgprs().Alloc("signs", kRotateSigns, 1);
  for (int part = 0; part < kParts; ++part) {
    raw_.push_back(a.vgprs().Alloc(absl::StrCat("raw", part), values / 2, 4));
  }
  first_row_ = a.sgprs().Alloc("first_row");
  left_ = a.sgprs().Alloc("rows_left");
  valid_ = a.sgprs().Alloc("valid", 2 * kParts);

  a.v_and_b32(lane16_, 15, args_.thread);
  a.v_lshrrev_b32(row16_, 4, args_.thread);
  a.v_mov_b32(outside_, Bits(kOutside));
  const SReg chunk_rows = args_.Get(offsetof(QuantizeArgs, chunk_rows));
  a.s_mul_i32(first_row_, a.workgroup_id_y(), chunk_rows);
  a.s_sub_u32(left_, args_.Get(offsetof(QuantizeArgs, seqlen)), first_row_);
  a.s_min_u32(left_, left_, chunk_rows);

  input_ = {.name = "input",
            .base = offsetof(QuantizeArgs, input),
            .batch_stride = offsetof(QuantizeArgs, input_batch_stride),
            .head_stride = offsetof(QuantizeArgs, input_head_stride),
            .seq_stride = offsetof(QuantizeArgs, input_seq_stride),
            .row_bytes = 2 * head_dim};
  EmitStart(input_);
  for (RowBuffer& buffer : written_) EmitStart(buffer);
  EmitMean();
  EmitRotateSigns(a, signs_, lane16_);
}

SSrc RowWalk::Stride(const RowBuffer& buffer) const {
  if (buffer.seq_stride == 0) return buffer.row_bytes;
  return args_.Get(buffer.seq_stride);
}

void RowWalk::EmitStart(RowBuffer& buffer) {
  a.Comment(absl::StrCat(buffer.name, ": first row of the chunk"));
  const SReg base = args_.Get64(buffer.base);
  args_.EmitHeadBase(base, buffer.batch_stride, buffer.head_stride);
  ScopedSReg stride = a.sgprs().Scoped("stride");
  a.s_mov_b32(stride, Stride(buffer));
  EmitAddProduct(a, base, first_row_, stride);
  buffer.desc = a.sgprs().Alloc(buffer.name + "_desc", 4);
  EmitDescriptor(a, buffer.desc, base, 0);
  buffer.offsets = a.vgprs().Alloc(buffer.name + "_offsets", kParts, 1);
  ScopedVReg row = a.vgprs().Scoped("row");
  for (int part = 0; part < kParts; ++part) {
    a.v_add_u32(row, kPartRows * part, row16_);
    a.v_mul_lo_u32(buffer.offsets[part], row, stride);
  }
}

void RowWalk::EmitMean() {
  const Label none = a.NewLabel("no_mean");
  a.Section("Mean of the head");
  a.s_cmp_eq_u64(args_.Get64(offsetof(QuantizeArgs, mean)), 0);
  a.s_cbranch_scc1(none);
  {
    const SReg base = args_.Get64(offsetof(QuantizeArgs, mean));
    ScopedSReg head = a.sgprs().Scoped("mean_head");
    ScopedVReg offset = a.vgprs().Scoped("mean_offset");
    args_.EmitKeyHead(head);
    args_.EmitHeadBase(base, offsetof(QuantizeArgs, mean_batch_stride),
                       offsetof(QuantizeArgs, mean_head_stride), head);
    a.v_lshlrev_b32(offset, 5, lane16_);
    a.global_load_dwordx4(mean_.sub(0, 4), offset, base);
    a.global_load_dwordx4(mean_.sub(4, 4), offset, base, 16);
    if (has_tail_) {
      a.v_lshlrev_b32(offset, 4, lane16_);
      a.global_load_dwordx4(mean_.sub(8, 4), offset, base, 4 * kTail);
    }
    a.WaitVmcnt(0);
  }
  a.Bind(none);
}

void RowWalk::EmitBounds(const RowBuffer& buffer, SReg rows) {
  ScopedSReg last = a.sgprs().Scoped("last_row");
  a.s_sub_u32(last, rows, 1);
  a.s_mul_i32(last, last, Stride(buffer));
  a.s_add_u32(buffer.desc[2], last, buffer.row_bytes);
}

void RowWalk::EmitAdvance(const RowBuffer& buffer) {
  ScopedSReg step = a.sgprs().Scoped("step");
  a.s_lshl_b32(step, Stride(buffer), 6);
  static_assert(kQuantizeStepRows == 1 << 6);
  a.s_add_u32(buffer.desc[0], buffer.desc[0], step);
  a.s_addc_u32(buffer.desc[1], buffer.desc[1], 0);
}

void RowWalk::EmitRowOffset(VReg address, const RowBuffer& buffer, int part) {
  a.v_cndmask_b32(address, outside_, buffer.offsets[part], valid(part));
}

void RowWalk::EmitLoads() {
  ScopedVReg row = a.vgprs().Scoped("row");
  ScopedVReg address = a.vgprs().Scoped("address");
  for (int part = 0; part < kParts; ++part) {
    const VReg raw = raw_[static_cast<size_t>(part)];
    EmitRowOffset(row, input_, part);
    a.v_lshl_add_u32(address, lane16_, 4, row);
    a.buffer_load_dwordx4(raw.sub(0, 4), address, input_.desc, 0);
    if (!has_tail_) continue;
    a.v_lshl_add_u32(address, lane16_, 3, row);
    a.buffer_load_dwordx2(raw.sub(4, 2), address, input_.desc, 0, 2 * kTail);
  }
}

void RowWalk::EmitUnpack(int part) {
  const VReg raw = raw_[static_cast<size_t>(part)];
  for (int i = 0; i < raw.count(); ++i) {
    a.v_lshlrev_b32(x_[2 * i], 16, raw[i]);
    a.v_and_b32(x_[2 * i + 1], Bits(0xffff0000), raw[i]);
  }
}

void RowWalk::EmitLoop(const std::function<void(int part)>& body) {
  const Label loop = a.NewLabel("step");
  a.Phase("step");
  a.Bind(loop);
  a.Section("64 rows: bounds and loads");
  {
    ScopedSReg rows = a.sgprs().Scoped("rows");
    ScopedVReg row = a.vgprs().Scoped("row");
    a.s_min_u32(rows, left_, kQuantizeStepRows);
    EmitBounds(input_, rows);
    for (const RowBuffer& buffer : written_) EmitBounds(buffer, rows);
    for (int part = 0; part < kParts; ++part) {
      a.v_add_u32(row, kPartRows * part, row16_);
      a.v_cmp_gt_u32(valid(part), rows, row);
    }
  }
  EmitLoads();
  for (int part = 0; part < kParts; ++part) {
    a.Section(absl::StrCat("Rows ", kPartRows * part, " to ",
                           kPartRows * part + kPartRows - 1));
    EmitUnpack(part);
    body(part);
  }
  a.Section("Next 64 rows");
  EmitAdvance(input_);
  for (const RowBuffer& buffer : written_) EmitAdvance(buffer);
  a.s_sub_i32(left_, left_, kQuantizeStepRows);
  a.s_cmp_gt_i32(left_, 0);
  a.s_cbranch_scc1(loop);
  a.Phase("end");
}

void RowWalk::EmitCorrectLse(int part, const RowBuffer& to) {
  const Label skip = a.NewLabel("no_lse");
  args_.EmitSkipUnless(kQuantizeCorrectLse, skip);
  a.Comment("softmax scale * (row . mean key)");
  {
    ScopedVReg sum = a.vgprs().Scoped("sum");
    a.v_mul_f32(sum, x_[0], mean_[0]);
    for (int i = 1; i < x_.count(); ++i) {
      a.v_fma_f32(sum, x_[i], mean_[i], sum);
    }
    EmitSumOf16(a, sum);
    a.v_mul_f32(sum, args_.Get(offsetof(QuantizeArgs, softmax_scale)), sum);
    EmitStoreOfRow(part, to, sum);
  }
  a.Bind(skip);
}

void RowWalk::EmitSubtractMean() {
  const Label skip = a.NewLabel("no_subtraction");
  args_.EmitSkipUnless(kQuantizeSubtractMean, skip);
  for (int i = 0; i < x_.count(); ++i) a.v_sub_f32(x_[i], x_[i], mean_[i]);
  a.Bind(skip);
}

void RowWalk::EmitRotateRow() {
  const Label skip = a.NewLabel("no_rotation");
  args_.EmitSkipUnless(kQuantizeRotate, skip);
  EmitRotate(a, x_.sub(0, kHeadChannels), scratch_, signs_);
  if (has_tail_) {
    EmitRotate(a, x_.sub(kHeadChannels, kTailChannels),
               scratch_.sub(0, kTailChannels), signs_);
  }
  a.Bind(skip);
}

void RowWalk::EmitStoreCodes(int part, const RowBuffer& to, VSrc multiplier) {
  ScopedVReg codes = a.vgprs().Scoped("codes", x_.count() / 4, 2);
  for (int i = 0; i < x_.count(); ++i) a.v_mul_f32(x_[i], multiplier, x_[i]);
  for (int i = 0; i < codes.count(); ++i) {
    a.v_cvt_pk_fp8_f32(codes[i], x_[4 * i], x_[4 * i + 1]);
    a.v_cvt_pk_fp8_f32(codes[i], x_[4 * i + 2], x_[4 * i + 3]).dst_high();
  }
  EmitStorePacked(part, to, codes);
}

void RowWalk::EmitStoreInt8Codes(int part, const RowBuffer& to, VSrc multiplier,
                                 SReg good) {
  ScopedVReg bytes = a.vgprs().Scoped("select_bytes");
  ScopedVReg halves = a.vgprs().Scoped("select_halves");
  ScopedVReg largest = a.vgprs().Scoped("largest_code");
  ScopedVReg codes = a.vgprs().Scoped("codes", x_.count() / 4, 2);
  a.v_mov_b32(largest, F32(kQuantizeInt8Largest));
  a.v_mov_b32(bytes, Bits(kSelectBytes));
  a.v_mov_b32(halves, Bits(kSelectHalves));
  for (int i = 0; i < x_.count(); ++i) a.v_mul_f32(x_[i], multiplier, x_[i]);
  for (int i = 0; i < x_.count(); ++i) {
    a.v_med3_f32(x_[i], x_[i], largest, -VReg(largest));
  }
  a.Comment("rounded to an integer: two's complement in the low byte");
  for (int i = 0; i < x_.count(); ++i) {
    a.v_add_f32(x_[i], F32(kRoundToInteger), x_[i]);
  }
  for (int i = 0; i < codes.count(); ++i) {
    const VReg x = x_.sub(4 * i, 4);
    a.v_perm_b32(x[0], x[1], x[0], bytes);
    a.v_perm_b32(x[2], x[3], x[2], bytes);
    a.v_perm_b32(codes[i], x[2], x[0], halves);
    a.v_cndmask_b32(codes[i], 0, codes[i], good);
  }
  EmitStorePacked(part, to, codes);
}

void RowWalk::EmitStorePacked(int part, const RowBuffer& to, VReg codes) {
  ScopedVReg row = a.vgprs().Scoped("row");
  ScopedVReg address = a.vgprs().Scoped("address");
  EmitRowOffset(row, to, part);
  a.v_lshl_add_u32(address, lane16_, 3, row);
  a.buffer_store_dwordx2(codes.sub(0, 2), address, to.desc, 0);
  if (!has_tail_) return;
  a.v_lshl_add_u32(address, lane16_, 2, row);
  a.buffer_store_dword(codes[2], address, to.desc, 0, kTail);
}

void RowWalk::EmitStoreOfRow(int part, const RowBuffer& to, VReg value) {
  ScopedVReg address = a.vgprs().Scoped("address");
  a.v_cmp_eq_u32(vcc, 0, lane16_);
  a.s_and_b64(vcc, vcc, valid(part));
  a.v_cndmask_b32(address, outside_, to.offsets[part], vcc);
  if (to.row_bytes == 1) {
    a.buffer_store_byte(value, address, to.desc, 0);
  } else {
    a.buffer_store_dword(value, address, to.desc, 0);
  }
}

void RowWalk::EmitMagnitude(VReg bits) {
  a.v_maximum3_f32(bits, abs(x_[0]), abs(x_[0]), abs(x_[1]));
  for (int i = 2; i < x_.count(); i += 2) {
    a.v_maximum3_f32(bits, bits, abs(x_[i]), abs(x_[i + 1]));
  }
  a.v_and_b32(bits, Bits(kMagnitude), bits);
}

}  // namespace zyfa::gen
