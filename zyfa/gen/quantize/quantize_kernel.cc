#include "zyfa/gen/quantize/quantize_kernel.h"

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/assembler.h"
#include "zyfa/gen/asm/buffer_address.h"
#include "zyfa/gen/quantize/arguments.h"
#include "zyfa/gen/quantize/int8_kernel.h"
#include "zyfa/gen/quantize/row_buffer.h"
#include "zyfa/gen/quantize/row_walk.h"
#include "zyfa/gen/quantize/scale.h"

namespace zyfa::gen {
namespace {

constexpr int kMostHeadDim = 192;
// Loads in flight of the kernels that gather what others left.
constexpr int kGathered = 8;

void EmitLdsBarrier(Assembler& a) {
  a.WaitLgkmcnt(0);
  a.s_barrier();
}

// Adds the sixteen sums of a channel, in the order of rows of 16.
void EmitSum(Assembler& a, int head_dim) {
  const Arguments args(a);
  RowWalk walk(args, head_dim, {});
  const VReg sum = a.vgprs().Alloc("sum", walk.x().count(), 4);
  for (int i = 0; i < sum.count(); ++i) a.v_mov_b32(sum[i], 0);
  walk.EmitLoop([&](int) {
    for (int i = 0; i < sum.count(); ++i) {
      a.v_add_f32(sum[i], sum[i], walk.x()[i]);
    }
  });

  a.Section("Sums of the chunk");
  const int row_bytes = 4 * head_dim;
  const VReg address = a.vgprs().Alloc("lds_address");
  const VReg row = a.vgprs().Alloc("lds_row");
  a.v_mul_u32_u24(row, row_bytes, walk.row16());
  a.v_lshl_add_u32(address, walk.lane16(), 5, row);
  a.ds_write_b128(address, sum.sub(0, 4));
  a.ds_write_b128(address, sum.sub(4, 4), 16);
  if (sum.count() > 8) {
    a.v_lshl_add_u32(address, walk.lane16(), 4, row);
    a.ds_write_b128(address, sum.sub(8, 4), 4 * 128);
  }
  EmitLdsBarrier(a);
  const Label end = a.NewLabel("end");
  ScopedSReg saved = a.sgprs().Scoped("saved_exec", 2);
  a.v_cmp_gt_u32(vcc, head_dim, args.thread);
  a.s_and_saveexec_b64(saved, vcc);
  a.s_cbranch_execz(end);
  const VReg parts = a.vgprs().Alloc("parts", kPartRows, 1);
  a.v_lshlrev_b32(address, 2, args.thread);
  for (int i = 0; i < kPartRows; ++i) {
    a.ds_read_b32(parts[i], address, row_bytes * i);
  }
  for (int i = 1; i < kPartRows; ++i) {
    a.v_add_f32(parts[0], parts[0], parts[i]);
  }
  // sums[batch][head][chunk]
  const SReg base = args.Get64(offsetof(QuantizeArgs, sums));
  {
    ScopedSReg place = a.sgprs().Scoped("place");
    ScopedSReg bytes = a.sgprs().Scoped("head_bytes", 2);
    const SReg chunks = args.Get(offsetof(QuantizeArgs, chunks));
    a.s_mul_i32(bytes[0], chunks, row_bytes);
    a.s_mul_hi_u32(bytes[1], chunks, row_bytes);
    a.s_mul_i32(place, a.workgroup_id_z(),
                args.Get(offsetof(QuantizeArgs, heads)));
    a.s_add_u32(place, place, a.workgroup_id_x());
    EmitAddProduct(a, base, place, bytes);
    a.s_mov_b32(place, row_bytes);
    EmitAddProduct(a, base, a.workgroup_id_y(), place);
  }
  a.global_store_dword(address, parts[0], base);
  a.Bind(end);
  a.s_endpgm();
}

// One channel a work-item; the chunks in ascending order.
void EmitMean(Assembler& a, int) {
  const Arguments args(a);
  a.Section("Sums of this head");
  const SReg sums = args.Get64(offsetof(QuantizeArgs, sums));
  const SReg mean = args.Get64(offsetof(QuantizeArgs, mean));
  const SReg bytes = a.sgprs().Alloc("head_bytes");
  const SReg row_bytes = a.sgprs().Alloc("row_bytes");
  const SReg begin = a.sgprs().Alloc("begin");
  const SReg desc = a.sgprs().Alloc("sums_desc", 4);
  a.s_lshl_b32(row_bytes, args.Get(offsetof(QuantizeArgs, head_dim)), 2);
  a.s_mul_i32(bytes, args.Get(offsetof(QuantizeArgs, chunks)), row_bytes);
  {
    ScopedSReg place = a.sgprs().Scoped("place");
    a.s_mul_i32(place, a.workgroup_id_z(),
                args.Get(offsetof(QuantizeArgs, heads)));
    a.s_add_u32(place, place, a.workgroup_id_x());
    EmitAddProduct(a, sums, place, bytes);
  }
  args.EmitHeadBase(mean, offsetof(QuantizeArgs, mean_batch_stride),
                    offsetof(QuantizeArgs, mean_head_stride));
  EmitDescriptor(a, desc, sums, bytes);
  const VReg sum = a.vgprs().Alloc("sum");
  const VReg offset = a.vgprs().Alloc("offset");
  const VReg parts = a.vgprs().Alloc("parts", kGathered, 1);
  a.v_mov_b32(sum, 0);
  a.v_lshlrev_b32(offset, 2, args.thread);
  a.s_mov_b32(begin, 0);

  a.Section("Add; chunks that are not there are zeros");
  const Label loop = a.NewLabel("chunks");
  a.Bind(loop);
  for (int i = 0; i < kGathered; ++i) {
    a.buffer_load_dword(parts[i], offset, desc, 0);
    a.v_add_u32(offset, row_bytes, offset);
  }
  for (int i = 0; i < kGathered; ++i) a.v_add_f32(sum, sum, parts[i]);
  a.s_add_u32(begin, begin, kGathered);
  a.s_cmp_lt_u32(begin, args.Get(offsetof(QuantizeArgs, chunks)));
  a.s_cbranch_scc1(loop);
  a.v_mul_f32(sum, args.Get(offsetof(QuantizeArgs, inverse_seqlen)), sum);
  a.v_lshlrev_b32(offset, 2, args.thread);
  a.global_store_dword(offset, sum, mean);
  a.s_endpgm();
}

// x = the largest of the work-group's; in all lanes. Waves meet once.
void EmitMaximumOfGroup(const Arguments& args, VReg x, VReg lane16,
                        VReg row16) {
  Assembler& a = args.a;
  ScopedVReg address = a.vgprs().Scoped("lds_address");
  ScopedSReg saved = a.sgprs().Scoped("saved_exec", 2);
  EmitMaximumOf16(a, x);
  a.v_lshlrev_b32(address, 2, row16);
  a.v_cmp_eq_u32(vcc, 0, lane16);
  a.s_and_saveexec_b64(saved, vcc);
  a.ds_write_b32(address, x);
  a.s_mov_b64(exec, saved);
  EmitLdsBarrier(a);
  a.v_lshlrev_b32(address, 2, lane16);
  a.ds_read_b32(x, address);
  EmitMaximumOf16(a, x);
}

void EmitMax(Assembler& a, int head_dim) {
  const Arguments args(a);
  RowWalk walk(args, head_dim, {});
  const VReg maximum = a.vgprs().Alloc("maximum");
  const VReg bits = a.vgprs().Alloc("bits");
  const VReg zero = a.vgprs().Alloc("zero");
  a.v_mov_b32(maximum, 0);
  a.v_mov_b32(zero, 0);
  walk.EmitLoop([&](int part) {
    walk.EmitSubtractMean();
    walk.EmitRotateRow();
    walk.EmitMagnitude(bits);
    a.Comment("rows that are not there would count with the mean");
    a.v_cndmask_b32(bits, zero, bits, walk.valid(part));
    a.v_max_u32(maximum, maximum, bits);
  });
  a.Section("Maximum of the chunk");
  EmitMaximumOfGroup(args, maximum, walk.lane16(), walk.row16());
  const SReg base = args.Get64(offsetof(QuantizeArgs, maxima));
  args.EmitHeadBase(base, offsetof(QuantizeArgs, maxima_batch_stride),
                    offsetof(QuantizeArgs, maxima_head_stride));
  const VReg offset = a.vgprs().Alloc("offset");
  a.v_mov_b32(offset, a.workgroup_id_y());
  a.v_lshlrev_b32(offset, 2, offset);
  a.v_cmp_eq_u32(vcc, 0, args.thread);
  a.s_mov_b64(exec, vcc);
  a.global_store_dword(offset, maximum, base);
  a.s_endpgm();
}

// The largest magnitude of this work-group's scale.
VReg EmitMaximumOfScale(const Arguments& args) {
  Assembler& a = args.a;
  a.Section("Maxima of this scale");
  const SReg base = args.Get64(offsetof(QuantizeArgs, maxima));
  const SReg count = args.Get(offsetof(QuantizeArgs, maxima_per_scale));
  const SReg bytes = a.sgprs().Alloc("bytes");
  const SReg begin = a.sgprs().Alloc("begin");
  const SReg desc = a.sgprs().Alloc("maxima_desc", 4);
  a.s_lshl_b32(bytes, count, 2);
  EmitAddProduct(a, base, a.workgroup_id_x(), bytes);
  EmitDescriptor(a, desc, base, bytes);
  const VReg maximum = a.vgprs().Alloc("maximum");
  const VReg offset = a.vgprs().Alloc("offset");
  const VReg parts = a.vgprs().Alloc("parts", kGathered, 1);
  a.v_mov_b32(maximum, 0);
  a.v_lshlrev_b32(offset, 2, args.thread);
  a.s_mov_b32(begin, 0);
  const Label loop = a.NewLabel("maxima");
  a.Bind(loop);
  for (int i = 0; i < kGathered; ++i) {
    a.buffer_load_dword(parts[i], offset, desc, 0);
    a.v_add_u32(offset, 4 * kQuantizeThreads, offset);
  }
  for (int i = 0; i < kGathered; ++i) a.v_max_u32(maximum, maximum, parts[i]);
  a.s_add_u32(begin, begin, kGathered * kQuantizeThreads);
  a.s_cmp_lt_u32(begin, count);
  a.s_cbranch_scc1(loop);

  const VReg lane16 = a.vgprs().Alloc("lane_of_16");
  const VReg row16 = a.vgprs().Alloc("row_of_16");
  a.v_and_b32(lane16, 15, args.thread);
  a.v_lshrrev_b32(row16, 4, args.thread);
  EmitMaximumOfGroup(args, maximum, lane16, row16);
  return maximum;
}

// One number for this work-group's scale, and the end.
void EmitStoreOfScale(const Arguments& args,
                      std::initializer_list<std::pair<size_t, VReg>> values) {
  Assembler& a = args.a;
  const VReg offset = a.vgprs().Alloc("scale_offset");
  a.v_mov_b32(offset, a.workgroup_id_x());
  a.v_lshlrev_b32(offset, 2, offset);
  a.v_cmp_eq_u32(vcc, 0, args.thread);
  a.s_mov_b64(exec, vcc);
  for (const auto& [field, value] : values) {
    a.global_store_dword(offset, value, args.Get64(field));
  }
  a.s_endpgm();
}

void EmitScaleKernel(Assembler& a, int) {
  const Arguments args(a);
  const VReg maximum = EmitMaximumOfScale(args);
  a.Section("Scale");
  const VReg descale = a.vgprs().Alloc("descale");
  const VReg multiplier = a.vgprs().Alloc("multiplier");
  EmitScale(args, descale, multiplier, maximum);
  EmitStoreOfScale(args, {{offsetof(QuantizeArgs, descale), descale},
                          {offsetof(QuantizeArgs, multiplier), multiplier}});
}

void EmitScaleInt8(Assembler& a, int) {
  const Arguments args(a);
  const VReg maximum = EmitMaximumOfScale(args);
  a.Section("Scale");
  const VReg descale = a.vgprs().Alloc("descale");
  EmitInt8Descale(a, descale, maximum);
  EmitStoreOfScale(args, {{offsetof(QuantizeArgs, descale), descale}});
}

void EmitHead(Assembler& a, int head_dim) {
  const Arguments args(a);
  const VReg multiplier = a.vgprs().Alloc("multiplier");
  a.Section("Multiplier of this head");
  {
    const Label ready = a.NewLabel("multiplier_is_ready");
    const SReg base = args.Get64(offsetof(QuantizeArgs, multiplier));
    ScopedSReg value = a.sgprs().Scoped("value");
    ScopedVReg descale = a.vgprs().Scoped("descale");
    args.EmitHeadBase(base, offsetof(QuantizeArgs, scale_batch_stride),
                      offsetof(QuantizeArgs, scale_head_stride));
    a.s_load_dword(value, base, 0);
    a.v_mov_b32(multiplier, value);
    args.EmitSkipUnless(kQuantizeCalibrated, ready);
    a.v_mov_b32(descale, multiplier);
    EmitGivenMultiplier(a, multiplier, descale);
    a.Bind(ready);
  }
  RowWalk walk(args, head_dim, {Codes(head_dim), LseCorrection()});
  walk.EmitLoop([&](int part) {
    walk.EmitCorrectLse(part, walk.written(1));
    walk.EmitSubtractMean();
    walk.EmitRotateRow();
    walk.EmitStoreCodes(part, walk.written(0), multiplier);
  });
  a.s_endpgm();
}

void EmitToken(Assembler& a, int head_dim) {
  const Arguments args(a);
  RowWalk walk(args, head_dim,
               {Codes(head_dim), LseCorrection(), TokenDescale()});
  const VReg maximum = a.vgprs().Alloc("maximum");
  const VReg descale = a.vgprs().Alloc("descale");
  const VReg multiplier = a.vgprs().Alloc("multiplier");
  walk.EmitLoop([&](int part) {
    walk.EmitCorrectLse(part, walk.written(1));
    walk.EmitSubtractMean();
    walk.EmitRotateRow();
    walk.EmitMagnitude(maximum);
    EmitMaximumOf16(a, maximum);
    EmitScale(args, descale, multiplier, maximum);
    walk.EmitStoreOfRow(part, walk.written(2), descale);
    walk.EmitStoreCodes(part, walk.written(0), multiplier);
  });
  a.s_endpgm();
}

struct Kind {
  absl::string_view name;
  int head_dim;  // 0: any
  void (*emit)(Assembler&, int head_dim);
  const char* description;
  int lds_bytes;
};

constexpr Kind kKinds[] = {
    {"quantize_sum_d128", 128, EmitSum, "Sums of the tokens of a chunk.",
     kPartRows * 4 * 128},
    {"quantize_sum_d192", 192, EmitSum, "Sums of the tokens of a chunk.",
     kPartRows * 4 * 192},
    {"quantize_mean", 0, EmitMean, "Mean token of a head.", 0},
    {"quantize_max_d128", 128, EmitMax, "Largest magnitude of a chunk.",
     4 * kPartRows},
    {"quantize_max_d192", 192, EmitMax, "Largest magnitude of a chunk.",
     4 * kPartRows},
    {"quantize_scale", 0, EmitScaleKernel, "Scale from its maxima.",
     4 * kPartRows},
    {"quantize_head_d128", 128, EmitHead, "Codes by the multiplier of a head.",
     0},
    {"quantize_head_d192", 192, EmitHead, "Codes by the multiplier of a head.",
     0},
    {"quantize_token_d128", 128, EmitToken, "Codes and descales of tokens.", 0},
    {"quantize_token_d192", 192, EmitToken, "Codes and descales of tokens.", 0},
    {"quantize_scale_int8", 0, EmitScaleInt8, "Descale from its maxima.",
     4 * kPartRows},
    {"quantize_keys_int8_d128", 128, EmitKeysInt8, "Codes of keys.", 0},
    {"quantize_keys_int8_d192", 192, EmitKeysInt8, "Codes of keys.", 0},
    {"quantize_queries_int8_d128", 128, EmitQueriesInt8,
     "Codes and shifts of queries.", 0},
    {"quantize_queries_int8_d192", 192, EmitQueriesInt8,
     "Codes and shifts of queries.", 0},
};

KernelSpec Spec(const Kind& kind) {
  KernelSpec spec;
  spec.name = absl::StrCat("zyfa_", kind.name);
  spec.description = {kind.description};
  // The pointers come first, then by-value fields.
  constexpr int kPointers = offsetof(QuantizeArgs, input_batch_stride);
  const char* const names[] = {"input",   "output",         "mean",
                               "sums",    "maxima",         "multiplier",
                               "descale", "lse_correction", "tokens"};
  int offset = 0;
  for (const char* name : names) {
    spec.args.push_back({name, offset, 8, KernelArg::Kind::kGlobalBuffer});
    offset += 8;
  }
  static_assert(kPointers == 9 * 8);
  constexpr int kEnd = sizeof(QuantizeArgs);
  for (; offset < kEnd; offset += 4) {
    spec.args.push_back(
        {absl::StrCat("value", offset), offset, 4, KernelArg::Kind::kByValue});
  }
  spec.kernarg_bytes = kEnd;
  spec.workgroup_size =
      kind.name == "quantize_mean" ? kMostHeadDim : kQuantizeThreads;
  spec.lds_bytes = kind.lds_bytes;
  spec.workgroup_id_y = true;
  spec.workgroup_id_z = true;
  spec.denorm_mode_32 = 3;
  // Saturates by a descale that is given; of others the largest magnitude times
  // its multiplier rounds to 448.
  spec.fp16_overflow = true;
  // Four waves a SIMD.
  spec.max_vgprs = 128;
  return spec;
}

}  // namespace

absl::StatusOr<std::string> GenerateQuantizeKernel(absl::string_view name) {
  std::string names;
  for (const Kind& kind : kKinds) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", kind.name);
    if (kind.name != name) continue;
    Assembler a(Spec(kind));
    kind.emit(a, kind.head_dim);
    return a.Finish();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("kernel '", name, "'; allowed are ", names));
}

}  // namespace zyfa::gen
