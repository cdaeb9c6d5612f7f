#include "zyfa/bench/sweep.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace zyfa::bench {
namespace {

// Far beyond what fits in time or memory, and so small that a case is one
// launch.
constexpr int64_t kMaxSeqlen = int64_t{1} << 20;
constexpr int64_t kMaxHeads = 65535;
constexpr int64_t kMaxBatch = 65535;

absl::Status BadFlag(const std::string& flag, const std::string& value,
                     const std::string& allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, "=", value, ": ", allowed));
}

absl::StatusOr<std::vector<Variant>> ParseVariants(
    const std::string& flag, const std::string& value,
    const std::vector<std::string>& available) {
  const std::vector<std::string> names =
      value.empty() ? available
                    : std::vector<std::string>(absl::StrSplit(value, ','));
  std::vector<Variant> variants;
  for (const std::string& name : names) {
    absl::StatusOr<Variant> variant = ParseVariant(name);
    if (!variant.ok() || std::find(available.begin(), available.end(), name) ==
                             available.end()) {
      return BadFlag(flag, value,
                     absl::StrCat("'", name, "' is none of ",
                                  absl::StrJoin(available, ", ")));
    }
    variants.push_back(*variant);
  }
  return variants;
}

absl::StatusOr<std::vector<int32_t>> ParseSeqlens(const std::string& flag,
                                                  const std::string& value) {
  std::vector<int32_t> seqlens;
  for (const std::string& item :
       std::vector<std::string>(absl::StrSplit(value, ','))) {
    int32_t seqlen;
    if (!absl::SimpleAtoi(item, &seqlen) || seqlen < 1 || seqlen > kMaxSeqlen) {
      return BadFlag(
          flag, value,
          absl::StrCat("'", item, "' is not a length from 1 to ", kMaxSeqlen));
    }
    seqlens.push_back(seqlen);
  }
  return seqlens;
}

// Sets the two head counts of `c`.
absl::Status ParseHeads(const std::string& value, Case& c) {
  const std::vector<std::string> parts = absl::StrSplit(value, '/');
  const auto valid = [](const std::string& text, int32_t& heads) {
    return absl::SimpleAtoi(text, &heads) && heads >= 1 && heads <= kMaxHeads;
  };
  if (parts.size() > 2 || !valid(parts.front(), c.heads_q) ||
      !valid(parts.back(), c.heads_kv)) {
    return BadFlag("heads", value,
                   absl::StrCat("allowed is Q/KV or one number for both, each "
                                "from 1 to ",
                                kMaxHeads));
  }
  if (c.heads_q % c.heads_kv != 0) {
    return BadFlag("heads", value,
                   "the number of query heads must be a multiple of the number "
                   "of KV heads");
  }
  return absl::OkStatus();
}

}  // namespace

std::string CaseLabel(const Case& c) {
  return absl::StrCat(VariantName(c.variant), " ", c.seqlen_q);
}

absl::StatusOr<int64_t> ParseNumber(const std::string& flag,
                                    const std::string& value, int64_t low,
                                    int64_t high) {
  int64_t number;
  if (!absl::SimpleAtoi(value, &number) || number < low || number > high) {
    return BadFlag(
        flag, value,
        absl::StrCat("allowed is a whole number from ", low, " to ", high));
  }
  return number;
}

absl::StatusOr<std::vector<Case>> ParseSweep(
    const SweepFlags& flags, const std::vector<std::string>& available) {
  Case c;
  const absl::StatusOr<int64_t> batch =
      ParseNumber("batch", flags.batch, 1, kMaxBatch);
  if (!batch.ok()) return batch.status();
  c.batch = static_cast<int32_t>(*batch);
  if (absl::Status status = ParseHeads(flags.heads, c); !status.ok()) {
    return status;
  }
  const absl::StatusOr<std::vector<Variant>> variants =
      ParseVariants(flags.variants_flag, flags.variants, available);
  if (!variants.ok()) return variants.status();
  const absl::StatusOr<std::vector<int32_t>> seqlens =
      ParseSeqlens(flags.seqlens_flag, flags.seqlens);
  if (!seqlens.ok()) return seqlens.status();

  std::vector<Case> cases;
  for (const Variant& variant : *variants) {
    for (int32_t seqlen : *seqlens) {
      c.variant = variant;
      c.seqlen_q = c.seqlen_kv = seqlen;
      cases.push_back(c);
    }
  }
  return cases;
}

}  // namespace zyfa::bench
