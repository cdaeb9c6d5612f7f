#include "zyfa/launch/int8_arguments.h"

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "zyfa/launch/refusal.h"

namespace zyfa {
namespace {

constexpr int64_t kShiftBytes = 1;
constexpr int64_t kMultiplierBytes = 4;

absl::Status CheckSizes(const std::string& name, const TokenView& view,
                        const std::string& tensor, const TensorView& of) {
  absl::Status status =
      MustEqual(name + ".batch", view.batch, tensor + ".batch", of.batch);
  status.Update(
      MustEqual(name + ".heads", view.heads, tensor + ".heads", of.heads));
  status.Update(
      MustEqual(name + ".seqlen", view.seqlen, tensor + ".seqlen", of.seqlen));
  return status;
}

absl::Status RefuseView(const std::string& name,
                        const std::optional<TokenView>& view) {
  if (!view.has_value()) return absl::OkStatus();
  return Refuse(name, absl::StrCat("a tensor at 0x", absl::Hex(view->address)),
                "none, but for INT8 queries and keys");
}

}  // namespace

absl::Status CheckInt8(const AttentionParams& params) {
  if (params.query.data_type != DataType::kInt8) {
    absl::Status status = RefuseView("query_shift", params.query_shift);
    status.Update(RefuseView("key_multiplier", params.key_multiplier));
    return status;
  }
  if (params.softmax_scale.has_value()) {
    return Refuse("softmax_scale", absl::StrCat(*params.softmax_scale),
                  "none with INT8 queries, which contain it");
  }
  if (!params.query_shift.has_value()) {
    return Refuse("query_shift", "not given", "a shift for each row of query");
  }
  absl::Status status =
      CheckSizes("query_shift", *params.query_shift, "query", params.query);
  if (status.ok() && params.key_multiplier.has_value()) {
    status =
        CheckSizes("key_multiplier", *params.key_multiplier, "key", params.key);
  }
  return status;
}

absl::Status FillInt8(const AttentionParams& params,
                      std::vector<ByteRange>& read, AttentionArgs& args) {
  TokenView shift = *params.query_shift;
  auto range =
      CheckRows(RowsOf("query_shift", shift, kShiftBytes, /*written=*/false));
  if (!range.ok()) return range.status();
  read.push_back(*range);
  args.query_shift = shift.address;
  args.query_shift_batch_stride = static_cast<uint64_t>(shift.batch_stride);
  args.query_shift_head_stride = static_cast<uint64_t>(shift.head_stride);
  if (!params.key_multiplier.has_value() || params.key.seqlen == 0) {
    return absl::OkStatus();
  }
  TokenView multiplier = *params.key_multiplier;
  range = CheckRows(RowsOf("key_multiplier", multiplier, kMultiplierBytes,
                           /*written=*/false));
  if (!range.ok()) return range.status();
  read.push_back(*range);
  args.key_multiplier = multiplier.address;
  args.key_multiplier_batch_stride =
      static_cast<uint64_t>(multiplier.batch_stride);
  args.key_multiplier_head_stride =
      static_cast<uint64_t>(multiplier.head_stride);
  return absl::OkStatus();
}

}  // namespace zyfa
