#include "zyfa/launch/c_forward.h"

#include <optional>
#include <variant>

namespace zyfa::testing {
namespace {

zyfa_tensor ToC(const TensorView& view) {
  zyfa_tensor t = ZYFA_TENSOR_INIT;
  switch (view.data_type) {
    case DataType::kBf16:
      t.data_type = ZYFA_BF16;
      break;
    case DataType::kFp8:
      t.data_type = ZYFA_FP8;
      break;
    case DataType::kInt8:
      t.data_type = ZYFA_INT8;
      break;
  }
  t.address = view.address;
  t.batch = view.batch;
  t.seqlen = view.seqlen;
  t.heads = view.heads;
  t.head_dim = view.head_dim;
  t.batch_stride = view.batch_stride;
  t.seq_stride = view.seq_stride;
  t.head_stride = view.head_stride;
  return t;
}

// A struct of the interface that may be left out.
template <typename Struct>
class Optional {
 public:
  explicit Optional(Struct empty) : value_(empty) {}

  Struct& Set() {
    is_set_ = true;
    return value_;
  }
  const Struct* pointer() const { return is_set_ ? &value_ : nullptr; }

 private:
  Struct value_;
  bool is_set_ = false;
};

Optional<zyfa_scale> ToC(const std::optional<Scale>& from) {
  Optional<zyfa_scale> to(ZYFA_SCALE_INIT);
  if (!from.has_value()) return to;
  zyfa_scale& s = to.Set();
  if (const float* value = std::get_if<float>(&*from)) {
    s.value = *value;
    return to;
  }
  const auto& view = std::get<ScaleView>(*from);
  s.address = view.address;
  s.batch = view.batch;
  s.heads = view.heads;
  s.batch_stride = view.batch_stride;
  s.head_stride = view.head_stride;
  return to;
}

// To zyfa_lse or zyfa_tokens.
template <typename Struct>
Optional<Struct> TokensToC(const std::optional<TokenView>& from, Struct empty) {
  Optional<Struct> to(empty);
  if (!from.has_value()) return to;
  Struct& t = to.Set();
  t.address = from->address;
  t.batch = from->batch;
  t.heads = from->heads;
  t.seqlen = from->seqlen;
  t.batch_stride = from->batch_stride;
  t.head_stride = from->head_stride;
  return to;
}

}  // namespace

absl::Status ForwardInC(const AttentionParams& params, zyfa_device* device) {
  const zyfa_tensor query = ToC(params.query), key = ToC(params.key),
                    value = ToC(params.value), output = ToC(params.output);
  const auto lse = TokensToC<zyfa_lse>(params.lse, ZYFA_LSE_INIT);
  const auto query_descale = ToC(params.query_descale);
  const auto key_descale = ToC(params.key_descale);
  const auto value_descale = ToC(params.value_descale);
  const auto output_scale = ToC(params.output_scale);
  const auto shift =
      TokensToC<zyfa_tokens>(params.query_shift, ZYFA_TOKENS_INIT);
  const auto multiplier =
      TokensToC<zyfa_tokens>(params.key_multiplier, ZYFA_TOKENS_INIT);
  zyfa_attention call = ZYFA_ATTENTION_INIT;
  call.mask = params.mask == Mask::kCausal ? ZYFA_CAUSAL : ZYFA_FULL;
  call.query = &query;
  call.key = &key;
  call.value = &value;
  call.output = &output;
  call.lse = lse.pointer();
  if (params.softmax_scale.has_value()) {
    call.softmax_scale = &*params.softmax_scale;
  }
  call.query_descale = query_descale.pointer();
  call.key_descale = key_descale.pointer();
  call.value_descale = value_descale.pointer();
  call.output_scale = output_scale.pointer();
  call.query_shift = shift.pointer();
  call.key_multiplier = multiplier.pointer();
  if (zyfa_supports(&call) != ZYFA_OK ||
      zyfa_attention_forward(device, &call, nullptr) != ZYFA_OK) {
    return absl::InternalError(zyfa_last_error());
  }
  return absl::OkStatus();
}

}  // namespace zyfa::testing
