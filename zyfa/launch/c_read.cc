#include "zyfa/launch/c_read.h"

namespace zyfa {
namespace {

// Sizes of the structs' versions up to today's; they never change.
constexpr size_t kTensorSizes[] = {72}, kLseSizes[] = {56},
                 kTokensSizes[] = {56};
static_assert(sizeof(zyfa_tensor) == 72 && sizeof(zyfa_lse) == 56 &&
              sizeof(zyfa_tokens) == 56);

std::optional<DataType> TypeOf(uint32_t data_type) {
  switch (data_type) {
    case ZYFA_BF16:
      return DataType::kBf16;
    case ZYFA_FP8:
      return DataType::kFp8;
    case ZYFA_INT8:
      return DataType::kInt8;
    default:
      return std::nullopt;
  }
}

// Of zyfa_lse or zyfa_tokens.
template <typename Struct, size_t n>
absl::Status ReadView(const std::string& argument, const Struct* from,
                      const size_t (&versions)[n],
                      std::optional<TokenView>& to) {
  if (from == nullptr) return absl::OkStatus();
  Struct tokens;
  const absl::Status status = ReadStruct(argument, from, versions, tokens);
  if (!status.ok()) return status;
  if (tokens.reserved != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        argument, ".reserved is ", tokens.reserved, "; allowed: 0"));
  }
  to = {tokens.address, tokens.batch,        tokens.heads,
        tokens.seqlen,  tokens.batch_stride, tokens.head_stride};
  return absl::OkStatus();
}

}  // namespace

absl::Status NullArgument(absl::string_view argument) {
  return absl::InvalidArgumentError(
      absl::StrCat(argument, " is NULL; allowed: a valid pointer"));
}

absl::Status ReadTensor(const std::string& argument, const zyfa_tensor* from,
                        TensorView& to) {
  zyfa_tensor tensor;
  const absl::Status status = ReadStruct(argument, from, kTensorSizes, tensor);
  if (!status.ok()) return status;
  const std::optional<DataType> type = TypeOf(tensor.data_type);
  if (!type.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        argument, ".data_type is ", tensor.data_type, "; allowed: ", ZYFA_BF16,
        " (bf16), ", ZYFA_FP8, " (fp8), ", ZYFA_INT8, " (int8)"));
  }
  to = {*type,
        tensor.address,
        tensor.batch,
        tensor.seqlen,
        tensor.heads,
        tensor.head_dim,
        tensor.batch_stride,
        tensor.seq_stride,
        tensor.head_stride};
  return absl::OkStatus();
}

absl::Status ReadLse(const std::string& argument, const zyfa_lse* from,
                     std::optional<LseView>& to) {
  return ReadView(argument, from, kLseSizes, to);
}

absl::Status ReadTokens(const std::string& argument, const zyfa_tokens* from,
                        std::optional<TokenView>& to) {
  return ReadView(argument, from, kTokensSizes, to);
}

absl::Status ReadMask(uint32_t from, Mask& to) {
  if (from != ZYFA_CAUSAL && from != ZYFA_FULL) {
    return absl::InvalidArgumentError(
        absl::StrCat("mask is ", from, "; allowed: ", ZYFA_CAUSAL,
                     " (causal), ", ZYFA_FULL, " (full)"));
  }
  to = from == ZYFA_CAUSAL ? Mask::kCausal : Mask::kFull;
  return absl::OkStatus();
}

}  // namespace zyfa
