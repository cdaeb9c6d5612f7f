#include "zyfa/gen/common/attention_spec.h"

#include "absl/strings/str_cat.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::gen {
namespace {

const char* TypeText(const Variant& variant) {
  switch (variant.data_type) {
    case DataType::kBf16:
      return "BF16";
    case DataType::kFp8:
      return "FP8";
    case DataType::kInt8:
      return "INT8/FP8";
  }
  return "";
}

const char* ProbabilityText(const Variant& variant) {
  if (variant.data_type == DataType::kBf16) return "";
  switch (variant.probability) {
    case Probability::kExact:
      return ", exact P";
    case Probability::kLean:
      return ", lean P";
    case Probability::kShift:
      return ", P shifted from the scores";
    case Probability::kMultiply:
      return ", P shifted from multiplied scores";
  }
  return "";
}

}  // namespace

KernelSpec AttentionSpec(const Variant& variant, int lds_bytes) {
  KernelSpec spec;
  spec.name = absl::StrCat("zyfa_", VariantName(variant));
  const bool persistent = IsPersistent(variant);
  spec.description = {
      absl::StrCat(TypeText(variant), " attention forward, head dim ",
                   variant.head_dim_qk, "/", variant.head_dim_v,
                   variant.mask == Mask::kCausal ? ", causal" : ", all keys",
                   ProbabilityText(variant)),
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
  ZYFA_BUFFER(query_descale);
  ZYFA_BUFFER(key_descale);
  ZYFA_BUFFER(value_descale);
  ZYFA_BUFFER(output_scale);
  ZYFA_VALUE(query_descale_batch_stride);
  ZYFA_VALUE(query_descale_head_stride);
  ZYFA_VALUE(key_descale_batch_stride);
  ZYFA_VALUE(key_descale_head_stride);
  ZYFA_VALUE(value_descale_batch_stride);
  ZYFA_VALUE(value_descale_head_stride);
  ZYFA_VALUE(query_descale_value);
  ZYFA_VALUE(key_descale_value);
  ZYFA_VALUE(value_descale_value);
  ZYFA_VALUE(output_scale_value);
  ZYFA_VALUE(softmax_scale);
  ZYFA_VALUE(lean_top);
  ZYFA_VALUE(flags);
  ZYFA_VALUE(heads_q);
  ZYFA_VALUE(columns);
  ZYFA_VALUE(items);
  ZYFA_VALUE(groups);
  ZYFA_VALUE(columns_multiplier);
  ZYFA_VALUE(columns_shift);
  ZYFA_VALUE(heads_multiplier);
  ZYFA_VALUE(heads_shift);
  ZYFA_VALUE(reserved);
  ZYFA_BUFFER(query_shift);
  ZYFA_VALUE(query_shift_batch_stride);
  ZYFA_VALUE(query_shift_head_stride);
  ZYFA_BUFFER(key_multiplier);
  ZYFA_VALUE(key_multiplier_batch_stride);
  ZYFA_VALUE(key_multiplier_head_stride);
#undef ZYFA_VALUE
#undef ZYFA_BUFFER
  spec.lds_bytes = lds_bytes;
  spec.workgroup_size = kThreadsPerGroup;
  spec.workgroup_id_x = true;
  spec.workgroup_id_y = !persistent;
  spec.workgroup_id_z = !persistent;
  spec.denorm_mode_32 = 3;
  // FP8 conversions saturate; integer sums cannot overflow.
  spec.fp16_overflow = persistent;
  spec.max_vgprs = 256;  // two waves a SIMD
  return spec;
}

}  // namespace zyfa::gen
