#include "zyfa/bench/loss_options.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "zyfa/bench/sweep.h"
#include "zyfa/models/text_segment.h"

namespace zyfa::bench {
namespace {

std::vector<std::string> ByComma(const std::string& text) {
  if (text.empty()) return {};
  return absl::StrSplit(text, ',');
}

absl::Status Refuse(absl::string_view flag, absl::string_view value,
                    absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": ", allowed));
}

absl::Status ParseNumbers(const LossFlags& flags, LossOptions& options) {
  int64_t batch = 0, clock_tokens = 0, threads = 0;
  const struct {
    const char* name;
    const std::string& value;
    int64_t low, high;
    int64_t* target;
  } numbers[] = {
      {"segments", flags.segments, 1, 1048576, &options.segments},
      {"tokens", flags.tokens, 1, models::kSegmentBytes, &options.tokens},
      {"ranking_tokens", flags.ranking_tokens, 1, models::kSegmentBytes,
       &options.ranking_tokens},
      {"clock_batch", flags.clock_batch, 0, 65536, &batch},
      {"clock_tokens", flags.clock_tokens, 1, 1048576, &clock_tokens},
      {"threads", flags.threads, 0, 1024, &threads}};
  for (const auto& number : numbers) {
    const absl::StatusOr<int64_t> parsed =
        ParseNumber(number.name, number.value, number.low, number.high);
    if (!parsed.ok()) return parsed.status();
    *number.target = *parsed;
  }
  for (const std::string& text : ByComma(flags.ranking_segments)) {
    const absl::StatusOr<int64_t> parsed =
        ParseNumber("ranking_segments", text, 0, 1048575);
    if (!parsed.ok()) return parsed.status();
    options.ranking_segments.push_back(*parsed);
  }
  options.clock_batch = static_cast<int32_t>(batch);
  options.clock_tokens = static_cast<int32_t>(clock_tokens);
  options.threads = static_cast<int>(threads);
  return absl::OkStatus();
}

std::optional<size_t> Find(const std::vector<LossAttention>& attentions,
                           absl::string_view name) {
  for (size_t i = 0; i < attentions.size(); ++i) {
    if (attentions[i].name == name) return i;
  }
  return std::nullopt;
}

// Once, if it is there already. Errors name `flag` and its `value`.
absl::Status Add(absl::string_view name, absl::string_view flag,
                 absl::string_view value, LossOptions& options) {
  const auto attention = ParseLossAttention(name);
  if (!attention.ok()) {
    return Refuse(flag, value, attention.status().message());
  }
  if (!Find(options.attentions, name).has_value()) {
    options.attentions.push_back(*attention);
  }
  return absl::OkStatus();
}

absl::Status ParseShares(const LossFlags& flags, LossOptions& options) {
  for (const std::string& text : ByComma(flags.bf16_shares)) {
    double share;
    if (!absl::SimpleAtod(text, &share) || !(share >= 0 && share < 1)) {
      return Refuse(
          "bf16_shares", flags.bf16_shares,
          absl::StrCat("has '", text, "'; allowed: 0 and more, below 1"));
    }
    if (share > 0) options.bf16_shares.push_back(share);
  }
  if (flags.bf16_shares.empty()) return absl::OkStatus();
  std::sort(options.bf16_shares.begin(), options.bf16_shares.end());
  absl::Status status = Add(flags.mixed, "mixed", flags.mixed, options);
  if (!status.ok()) return status;
  options.mixed = Find(options.attentions, flags.mixed);
  if (!KernelOf(options.attentions[*options.mixed], 128).has_value()) {
    return Refuse("mixed", flags.mixed,
                  "allowed: what a kernel of this library computes");
  }
  if (!options.bf16_shares.empty() && options.ranking_segments.empty()) {
    return Refuse("ranking_segments", flags.ranking_segments,
                  "is needed with --bf16_shares");
  }
  return absl::OkStatus();
}

absl::Status ParseComparisons(const LossFlags& flags, LossOptions& options) {
  for (const std::string& text : ByComma(flags.comparisons)) {
    const std::vector<std::string> sides = absl::StrSplit(text, '-');
    if (sides.size() != 2) {
      return Refuse("comparisons", flags.comparisons,
                    absl::StrCat("has '", text, "'; allowed: A-B"));
    }
    for (const std::string& side : sides) {
      const auto attention = ParseLossAttention(side);
      if (!attention.ok()) {
        return Refuse("comparisons", flags.comparisons,
                      attention.status().message());
      }
    }
    const auto a = Find(options.attentions, sides[0]);
    const auto b = Find(options.attentions, sides[1]);
    if (a.has_value() && b.has_value()) options.comparisons.push_back({*a, *b});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LossOptions> ParseLossFlags(const LossFlags& flags) {
  LossOptions options;
  options.models = ByComma(flags.models);
  if (options.models.empty()) {
    return absl::InvalidArgumentError("--models is missing");
  }
  options.text = flags.text;
  absl::Status status = ParseNumbers(flags, options);
  for (const char* reference : {"float32", "bf16"}) {
    if (status.ok()) status = Add(reference, "attentions", "", options);
  }
  for (const std::string& name : ByComma(flags.attentions)) {
    if (!status.ok()) break;
    status = Add(name, "attentions", flags.attentions, options);
  }
  if (status.ok()) status = ParseShares(flags, options);
  if (status.ok()) status = ParseComparisons(flags, options);
  if (!status.ok()) return status;
  return options;
}

}  // namespace zyfa::bench
