#include "zyfa/reference/fp8_model.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/elementary.h"
#include "zyfa/reference/fp8_arithmetic.h"
#include "zyfa/reference/refuse.h"
#include "zyfa/reference/tiled_attention.h"

namespace zyfa::reference {
namespace {

using numerics::E4m3;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kLog2E = 1.44269504f;
constexpr float kLeastSlope = 0x1p-50f;
constexpr float kLargestSlope = 0x1p60f;
// From here on c m is too coarse to subtract.
constexpr float kCareful = 0x1p12f;
constexpr float kLeastExponent = -110.0f;
// Less than 1/2, so that a maximum that is an integer, but for what float32
// rounds off, is not rounded up.
constexpr float kLeanRoundUp = 0.5f - 1.0f / 32;
constexpr int kScaleExponent = 8;
// Fractions of a code that the lean sum resolves.
constexpr double kCodeParts = 256.0;
// Adding this to a double below 2^51 rounds it to an integer.
constexpr double kRounder = 0x1.8p52;

constexpr float kLeastLeanTop = 64.5f;
constexpr float kLargestLeanTop = 126.875f;
constexpr float kLargestLazyBinades = 64.0f;

class Fp8Softmax {
 public:
  struct Head {
    bool negative = false;
    float slope = 0.0f;          // c
    float inverse_slope = 0.0f;  // 1/c
    float value_descale = 1.0f;
  };

  struct Row {
    const Head* head = nullptr;
    int64_t batch_index = 0;
    int64_t head_index = 0;
    int64_t position = 0;
    int64_t tiles = 0;              // seen so far
    float reference = 0.0f;         // m
    float scaled_reference = 0.0f;  // c m
    bool careful = false;
    float slack = -kInf;  // a maximum this much above m moves it; raw
    float sum = 0.0f;     // l
  };

  static constexpr int64_t kChannelsPerSum = 64;

  Fp8Softmax(const Fp8ModelOptions& options, std::vector<Head> heads,
             int64_t heads_q)
      : options_(options),
        heads_(std::move(heads)),
        heads_q_(heads_q),
        lean_(options.probability == Probability::kLean),
        scale_exponent_(lean_ ? kScaleExponent : options.headroom) {
    const float top = std::floor(options.lean_top);
    unit_ = 1.0f;
    if (lean_ && options.rounded_sum) {
      unit_ = decoded_[static_cast<int>(top)] * PowerOfTwo(-kScaleExponent);
    } else if (lean_) {
      // Before it is rounded to a point of the chord, a code stands for this.
      unit_ = static_cast<float>(numerics::Exp2((top - 56.0) / 8.0)) *
              PowerOfTwo(-kScaleExponent);
    }
  }

  bool NegatesQuery(int64_t batch, int64_t head) const {
    return heads_[batch * heads_q_ + head].negative;
  }

  void Begin(int64_t batch, int64_t head, int64_t position, Row& row) const {
    row.head = &heads_[batch * heads_q_ + head];
    row.batch_index = batch;
    row.head_index = head;
    row.position = position;
  }

  double FirstAddend(const Row& row) const {
    return StartsAtReference(row) ? -row.reference : 0.0f;
  }

  static void RoundSums(double* sums, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<float>(sums[i]);
  }

  double Weigh(Row& row, double* scores, int64_t count) const {
    double largest = scores[0];
    for (int64_t i = 1; i < count; ++i) largest = std::max(largest, scores[i]);
    float max = static_cast<float>(largest);

    const bool relative = StartsAtReference(row);
    const float distance = relative ? max : max - row.reference;
    const float slack = row.slack;
    const bool moved = distance > slack;
    const float factor = moved ? Move(row, distance, max) : 1.0f;
    if (Subtracts() && (moved || !relative)) {
      const float shift = relative ? distance : row.reference;
      for (int64_t i = 0; i < count; ++i) {
        scores[i] = static_cast<float>(scores[i] - shift);
      }
      max -= shift;
    }

    const int exponent = options_.block_maximum ? TileExponent(row, max) : 0;
    std::array<uint8_t, kKeyTile> codes;
    if (lean_) {
      LeanCodes(row, exponent, scores, count, codes.data());
    } else {
      ExactCodes(row, exponent, scores, count, codes.data());
    }
    const float unrounded =
        options_.rounded_sum ? 0.0f : UnroundedSum(row, scores, count);
    const float scale = PowerOfTwo(exponent - scale_exponent_);
    double decoded_sum = 0.0;
    for (int64_t i = 0; i < count; ++i) {
      const float decoded = decoded_[codes[i]];
      decoded_sum += decoded;
      scores[i] = decoded * scale;
    }
    row.sum += options_.rounded_sum ? static_cast<float>(decoded_sum) * scale
                                    : unrounded;
    row.slack = std::max(options_.lazy_binades,
                         Log2(row.sum * (options_.move_share / unit_))) *
                row.head->inverse_slope;
    if (options_.on_tile != nullptr) {
      options_.on_tile({row.batch_index, row.head_index, row.position,
                        row.tiles * kKeyTile, distance, slack, moved,
                        row.reference, exponent,
                        std::span(codes).first(count)});
    }
    ++row.tiles;
    return factor;
  }

  void Finish(const Row& row, const double* accumulated, int64_t count,
              double* output, double* lse) const {
    StoreFp8Row(accumulated, count, row.head->value_descale * (1.0f / row.sum),
                options_.output, options_.output_scale, output);
    *lse = std::fma(row.reference, row.head->slope,
                    Log2(row.sum * (1.0f / unit_))) *
           kLn2;
  }

 private:
  // Scores become differences from the reference before they are scaled.
  bool Subtracts() const {
    return !lean_ && options_.subtract_in_product &&
           !options_.integer_reference;
  }
  bool StartsAtReference(const Row& row) const {
    return Subtracts() && !row.careful;
  }

  // Moves the reference by `distance` to `max`. Returns the factor for what was
  // weighed against the old one.
  float Move(Row& row, float distance, float max) const {
    const float slope = row.head->slope;
    const float before = row.scaled_reference;
    float binades = slope * distance;
    row.reference = StartsAtReference(row) ? row.reference + distance : max;
    row.scaled_reference = slope * row.reference;
    if (options_.integer_reference) {
      row.scaled_reference = std::ceil(row.scaled_reference);
      row.reference = row.scaled_reference * row.head->inverse_slope;
      binades = row.scaled_reference - before;
    }
    const float factor = row.tiles == 0 ? 0.0f : Exp2(-binades);
    row.sum *= factor;
    row.careful = std::abs(row.scaled_reference) >= kCareful;
    return factor;
  }

  // x of a score.
  float Argument(const Row& row, float score) const {
    const float slope = row.head->slope;
    if (Subtracts()) return slope * score;
    if (row.careful) return slope * (score - row.reference);
    return std::fma(slope, score, -row.scaled_reference);
  }

  // Of a tile with that maximum: x rounded to the nearest integer (of two, to
  // the odd one) after 15/32 were added (lean, before they meet c m), or as it
  // is (exact).
  int TileExponent(const Row& row, float max) const {
    float binades = 0.0f;
    if (lean_) {
      const float origin = row.careful ? row.reference : 0.0f;
      const float product = row.careful ? 0.0f : row.scaled_reference;
      binades = std::fma(row.head->slope, max - origin, kLeanRoundUp - product);
    } else {
      binades = Argument(row, max);
    }
    // Sums near it are integers, even ones where two are as near.
    constexpr float kOdd = 0x1.8p23f + 1.0f;
    return static_cast<int>((std::max(binades, kLeastExponent) + kOdd) - kOdd);
  }

  // In units of 1/256 of a code, where the products are exact in double.
  void LeanCodes(const Row& row, int exponent, const double* scores,
                 int64_t count, uint8_t* codes) const {
    const double slope = 8.0 * kCodeParts * row.head->slope;
    double addend = kCodeParts * (options_.lean_top - 8.0 * exponent);
    double origin = row.reference;
    if (!row.careful) {
      addend -= 8.0 * kCodeParts * row.scaled_reference;
      origin = 0.0;
    }
    addend += kRounder;
    for (int64_t i = 0; i < count; ++i) {
      const double step = slope * static_cast<float>(scores[i] - origin);
      // Far below 0 it need not be an integer.
      const double sum = (step + addend) - kRounder;
      const double code = std::floor(sum * (1.0 / kCodeParts));
      codes[i] = static_cast<uint8_t>(std::clamp(code, 0.0, 255.0));
    }
  }

  void ExactCodes(const Row& row, int exponent, const double* scores,
                  int64_t count, uint8_t* codes) const {
    const float scale = PowerOfTwo(scale_exponent_ - exponent);
    for (int64_t i = 0; i < count; ++i) {
      const float p = Exp2(Argument(row, static_cast<float>(scores[i])));
      codes[i] = E4m3::FromFloat(p * scale, numerics::Overflow::kSaturate).code;
    }
  }

  float UnroundedSum(const Row& row, const double* scores,
                     int64_t count) const {
    float sum = 0.0f;
    for (int64_t i = 0; i < count; ++i) {
      sum += Exp2(Argument(row, static_cast<float>(scores[i])));
    }
    return sum * unit_;
  }

  const Fp8ModelOptions& options_;
  const std::vector<Head> heads_;  // [batch][heads_q]
  const int64_t heads_q_;
  const bool lean_;
  // Weights are 2^(e - this) * decoded code.
  const int scale_exponent_;
  const std::array<float, 256> decoded_ = DecodedE4m3();
  float unit_;
};

absl::Status ValidateOptions(const Fp8ModelOptions& options) {
  if (options.probability != Probability::kExact &&
      options.probability != Probability::kLean) {
    return Refuse("probability", static_cast<int>(options.probability),
                  "0 (exact) and 1 (lean)");
  }
  if (!(options.lean_top >= kLeastLeanTop &&
        options.lean_top <= kLargestLeanTop)) {
    return Refuse("lean_top", options.lean_top,
                  absl::StrCat(kLeastLeanTop, " .. ", kLargestLeanTop));
  }
  const absl::Status output =
      ValidateFp8Output(options.output, options.output_scale);
  if (!output.ok()) return output;
  if (!(options.move_share >= 0.0f && options.move_share <= 1.0f)) {
    return Refuse("move_share", options.move_share, "0 .. 1");
  }
  if (!(options.lazy_binades >= 0.0f &&
        options.lazy_binades <= kLargestLazyBinades)) {
    return Refuse("lazy_binades", options.lazy_binades,
                  absl::StrCat("0 .. ", kLargestLazyBinades));
  }
  if (options.headroom < 0 || options.headroom > kScaleExponent) {
    return Refuse("headroom", options.headroom,
                  absl::StrCat("0 .. ", kScaleExponent));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Fp8Softmax::Head>> MakeHeads(
    const AttentionProblem& problem, const Fp8ModelOptions& options) {
  constexpr double kMax = std::numeric_limits<float>::max();
  const float softmax_scale =
      static_cast<float>(std::clamp(problem.softmax_scale, -kMax, kMax));
  const int64_t ratio = problem.heads_q / problem.heads_kv;
  std::vector<Fp8Softmax::Head> heads;
  for (int64_t batch = 0; batch < problem.batch; ++batch) {
    for (int64_t head = 0; head < problem.heads_q; ++head) {
      const auto query =
          CallDescale(options.query_descale, "query_descale", batch, head);
      if (!query.ok()) return query.status();
      const auto key =
          CallDescale(options.key_descale, "key_descale", batch, head / ratio);
      if (!key.ok()) return key.status();
      const auto value = CallDescale(options.value_descale, "value_descale",
                                     batch, head / ratio);
      if (!value.ok()) return value.status();
      // As kernels do: no part of the product overflows.
      float s = kLog2E;
      int exponents = 0;
      for (const float factor : {softmax_scale, *query, *key}) {
        int exponent = 0;
        s *= std::frexp(factor, &exponent);
        exponents += exponent;
      }
      s = std::ldexp(s, exponents);
      Fp8Softmax::Head& h = heads.emplace_back();
      h.negative = std::signbit(s);
      h.slope = std::fmin(std::fmax(std::abs(s), kLeastSlope), kLargestSlope);
      h.inverse_slope = 1.0f / h.slope;
      h.value_descale = *value;
    }
  }
  return heads;
}

}  // namespace

absl::StatusOr<AttentionResult> Fp8Attention(const AttentionProblem& problem,
                                             const TensorView& query,
                                             const TensorView& key,
                                             const TensorView& value,
                                             const Fp8ModelOptions& options) {
  for (const absl::Status& status :
       {Validate(problem, query, key, value, options.attention),
        ValidateOptions(options)}) {
    if (!status.ok()) return status;
  }
  for (const auto& [name, view] :
       {std::pair<absl::string_view, const TensorView*>("query", &query),
        {"key", &key},
        {"value", &value}}) {
    if (!view->is_e4m3()) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has another element type; allowed: E4m3"));
    }
  }
  auto heads = MakeHeads(problem, options);
  if (!heads.ok()) return heads.status();
  return TiledAttention<double>(
      problem, query, key, value, options.attention, kKeyTile,
      Fp8Softmax(options, *std::move(heads), problem.heads_q));
}

}  // namespace zyfa::reference
