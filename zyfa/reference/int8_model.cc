#include "zyfa/reference/int8_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "zyfa/reference/fp8_arithmetic.h"
#include "zyfa/reference/refuse.h"
#include "zyfa/reference/tiled_attention.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::reference {
namespace {

constexpr int64_t kLargestHeadDimQk = 192;
constexpr uint32_t kLargestMultiplier = 255;
constexpr int kLargestOvershoot = 8;
constexpr int kLargestSlack = 64;
constexpr int kLargestStart = 16;
constexpr int kLargestProbe = 2048;
constexpr float kLargestMoveShare = 0x1p40f;
constexpr int kFractionBits = 3;  // of a binade in a code
constexpr int kScaleExponent = 8;
// What the code of the row's first maximum adds to l.
constexpr float kUnit = 1.75f;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Nothing below overflows, so that the kernels' sums do not wrap. Of all scores
// of a row, the base and the probe's maximum too, the magnitude is at most
constexpr int64_t kLargestScore =
    128 * 128 * kLargestHeadDimQk * kLargestMultiplier;
constexpr int64_t kLargestTop = int64_t{127} << kInt8LargestShift;
constexpr int kLargestBinade = kInt8LargestShift + kFractionBits;
// Wherever e comes from, some score y' of the row has been where z is at most
// top by now: the tile's maximum behind a rise, the largest one since then
// behind a fall, the probe's behind tile 0, the new base behind a move. So z is
// at most y - y' + top, and C less. In the other direction a rise, the start
// or a move leave y' this many binades below top at most. Falls subtract such a
// z from top.
constexpr int64_t kLargestDrop =
    int64_t{std::max({2 + kLargestOvershoot, 2 + kLargestStart})}
    << kLargestBinade;
static_assert(2 * kLargestScore + kLargestTop + kLargestDrop <
              std::numeric_limits<int32_t>::max());
// The limit before it is bounded by top: distance - (e << b) + C0.
static_assert((int64_t{kInt8LargestDistance - kInt8LeastExponent}
               << kLargestBinade) +
                  kLargestTop <
              std::numeric_limits<int32_t>::max());

class Int8Softmax {
 public:
  struct Row {
    int64_t batch_index = 0;
    int64_t head_index = 0;
    int64_t position = 0;
    const int32_t* multipliers = nullptr;  // of the head's keys
    float value_descale = 1.0f;
    int shift = 0;
    int64_t tiles = 0;  // seen so far
    int32_t addend = 0;
    std::optional<int32_t> probe;  // Md
    int32_t base = 0;
    int exponent = 0;
    int lowest = 0;
    int32_t limit = 0;  // of z, beyond which the reference moves
    std::optional<int32_t> recent;
    float sum = 0.0f;  // l

    bool is_valid() const { return shift <= kInt8LargestShift; }
    int binade() const { return shift + kFractionBits; }
    int32_t top() const { return 127 << shift; }
    int32_t code_of_base() const { return (253 << shift) >> 1; }  // C0
  };

  // The integer sums of whole rows of Q and K are below 2^24, so that
  // RoundSums leaves them alone.
  static constexpr int64_t kChannelsPerSum = kLargestHeadDimQk;
  static_assert(128 * 128 * kLargestHeadDimQk <= 1 << 24);

  // `multipliers` is empty or [batch][heads_kv][seqlen_kv], `value_descales`
  // [batch][heads_kv].
  Int8Softmax(const AttentionProblem& problem, const TensorView& query,
              const TensorView& key, const Int8ModelOptions& options,
              std::vector<int32_t> multipliers,
              std::vector<float> value_descales)
      : problem_(problem),
        query_(query),
        key_(key),
        options_(options),
        multipliers_(std::move(multipliers)),
        value_descales_(std::move(value_descales)) {}

  bool NegatesQuery(int64_t, int64_t) const { return false; }

  void Begin(int64_t batch, int64_t head, int64_t position, Row& row) const {
    row.batch_index = batch;
    row.head_index = head;
    row.position = position;
    row.shift = options_.shift(batch, head, position);
    const int64_t kv_head = batch * problem_.heads_kv +
                            head / (problem_.heads_q / problem_.heads_kv);
    row.value_descale = value_descales_[kv_head];
    if (!multipliers_.empty()) {
      row.multipliers = multipliers_.data() + kv_head * problem_.seqlen_kv;
    }
  }

  double FirstAddend(const Row&) const { return 0.0; }

  static void RoundSums(double* sums, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sums[i] = static_cast<float>(sums[i]);
  }

  double Weigh(Row& row, double* scores, int64_t count) const {
    if (!row.is_valid()) {
      std::fill_n(scores, count, 0.0);
      return 1.0;
    }
    std::array<int32_t, kKeyTile> z;
    for (int64_t i = 0; i < count; ++i) z[i] = static_cast<int32_t>(scores[i]);
    if (row.multipliers != nullptr) {
      const int32_t* const m = row.multipliers + row.tiles * kKeyTile;
      for (int64_t i = 0; i < count; ++i) z[i] *= m[i];
    }
    int32_t largest = *std::max_element(z.begin(), z.begin() + count);
    if (row.tiles == 0) {
      if (options_.rule.probe_keys > 0) row.probe = Probe(row);
      SetBase(row, largest);
    }
    largest += row.addend;
    Int8Tile tile = {};
    double factor = 1.0;
    if (row.tiles > 0 && largest > row.limit) {
      const int32_t before = row.addend;
      const int exponent = row.exponent;
      tile.moved = Move(row, largest, factor);
      tile.rise = tile.moved ? 0 : row.exponent - exponent;
      largest += row.addend - before;
    }

    std::array<uint8_t, kKeyTile> codes;
    for (int64_t i = 0; i < count; ++i) {
      codes[i] = static_cast<uint8_t>(
          std::clamp((z[i] + row.addend) >> row.shift, 0, 255));
    }
    const float scale = PowerOfTwo(row.exponent - kScaleExponent);
    float sum = 0.0f;
    for (int64_t i = 0; i < count; ++i) {
      const float decoded = decoded_[codes[i]];
      sum += decoded;  // exact
      scores[i] = double{decoded} * scale;
    }

    tile.batch = row.batch_index;
    tile.head = row.head_index;
    tile.position = row.position;
    tile.first_key = row.tiles * kKeyTile;
    tile.exponent = row.exponent;
    tile.addend = row.addend;
    tile.codes = std::span(codes).first(count);
    if (row.tiles == 0) {
      tile.fall = Start(row);
    } else {
      row.recent = std::max(row.recent.value_or(largest), largest);
      // By the sum before this tile, as the kernels have it there.
      if (options_.rule.FallsBehind(row.tiles)) tile.fall = Fall(row);
    }
    row.sum = std::fma(sum, scale, row.sum);
    ++row.tiles;
    if (options_.on_tile != nullptr) options_.on_tile(tile);
    return factor;
  }

  void Finish(const Row& row, const double* accumulated, int64_t count,
              double* output, double* lse) const {
    if (!row.is_valid()) {
      std::fill_n(output, count, kNaN);
      *lse = kNaN;
      return;
    }
    StoreFp8Row(accumulated, count, row.value_descale * (1.0f / row.sum),
                options_.output, options_.output_scale, output);
    *lse = std::fma(static_cast<float>(row.base), PowerOfTwo(-row.binade()),
                    Log2(row.sum * (1.0f / kUnit))) *
           kLn2;
  }

 private:
  // The largest score of the rule's probe, if the row sees any key of it.
  std::optional<int32_t> Probe(const Row& row) const {
    const int64_t depth = problem_.head_dim_qk;
    const int64_t kv_head =
        row.head_index / (problem_.heads_q / problem_.heads_kv);
    const int64_t block =
        row.position / kInt8ProbeBlock * kInt8ProbeBlock +
        (problem_.mask == Mask::kCausal ? problem_.seqlen_kv - problem_.seqlen_q
                                        : 0);
    const int64_t end =
        std::min(block + kInt8ProbeBlock, VisibleKeys(problem_, row.position));
    const int64_t begin = std::max<int64_t>(
        0, block + kInt8ProbeBlock - options_.rule.probe_keys);
    std::array<double, kLargestHeadDimQk> q;
    std::array<double, kLargestHeadDimQk> k;
    query_.LoadRow(row.batch_index, row.position, row.head_index, depth,
                   q.data());
    std::optional<int32_t> largest;
    for (int64_t i = begin; i < end; ++i) {
      key_.LoadRow(row.batch_index, i, kv_head, depth, k.data());
      const double score =
          std::inner_product(q.begin(), q.begin() + depth, k.begin(), 0.0);
      const int32_t m = row.multipliers != nullptr ? row.multipliers[i] : 1;
      const int32_t y = static_cast<int32_t>(score) * m;
      largest = std::max(largest.value_or(y), y);
    }
    return largest;
  }

  // Before tile 0, `largest` is its largest score.
  static void SetBase(Row& row, int32_t largest) {
    if (!row.probe.has_value()) row.probe = largest;
    row.base = std::max(*row.probe, largest);
    row.addend = row.code_of_base() - row.base;
  }

  // How far above the base a score begins to weigh more than the rule's share.
  int32_t MoveDistance(const Row& row) const {
    const float binades =
        std::clamp(Log2(row.sum * (options_.rule.move_share / kUnit)),
                   static_cast<float>(options_.rule.least_distance),
                   static_cast<float>(kInt8LargestDistance));
    return static_cast<int32_t>(std::ldexp(binades, row.binade()));
  }

  static void SetLimit(Row& row, int32_t distance) {
    const int64_t weighs_much = int64_t{row.code_of_base()} -
                                (int64_t{row.exponent} << row.binade()) +
                                distance;
    row.limit =
        static_cast<int32_t>(std::min<int64_t>(row.top() - 1, weighs_much));
  }

  // `largest`, with the addend, is beyond the limit. Returns whether it becomes
  // the base, and then the factor for the output accumulated so far.
  bool Move(Row& row, int32_t largest, double& factor) const {
    const int32_t above =
        largest - row.code_of_base() + (row.exponent << row.binade());
    const int32_t distance = MoveDistance(row);
    if (above > distance) {
      const float moved =
          Exp2(-std::ldexp(static_cast<float>(above), -row.binade()));
      factor = moved;
      row.sum *= moved;
      row.base += above;
      row.lowest =
          std::max(row.lowest - (above >> row.binade()), kInt8LeastExponent);
      row.exponent = options_.rule.start_of_move;
      row.addend =
          row.code_of_base() - row.base - (row.exponent << row.binade());
      row.recent.reset();
      SetLimit(row, options_.rule.least_distance << row.binade());
      return true;
    }
    if (largest >= row.top()) {
      const int32_t rise =
          ((largest - row.top()) >> row.binade()) + 1 + options_.rule.overshoot;
      row.addend -= rise << row.binade();
      row.exponent += rise;
      row.recent.reset();
    }
    SetLimit(row, distance);
    return false;
  }

  // Returns F.
  static int32_t Lower(Row& row, int32_t fall) {
    row.addend += fall << row.binade();
    row.exponent -= fall;
    return fall;
  }

  // Behind tile 0. Returns F, which may be negative.
  int32_t Start(Row& row) const {
    const int32_t level = -((row.base - *row.probe) >> row.binade());
    row.lowest = std::max(level - options_.rule.floor, kInt8LeastExponent);
    const int exponent =
        std::max(level + options_.rule.start, kInt8LeastExponent);
    const int32_t fall = Lower(row, row.exponent - exponent);
    SetLimit(row, options_.rule.least_distance << row.binade());
    return fall;
  }

  // Returns F.
  int32_t Fall(Row& row) const {
    const int32_t room = (row.top() - 1 - *row.recent) >> row.binade();
    const int32_t fall = std::clamp(room - options_.rule.slack, 0,
                                    std::max(0, row.exponent - row.lowest));
    row.recent.reset();
    Lower(row, fall);
    SetLimit(row, MoveDistance(row));
    return fall;
  }

  const AttentionProblem& problem_;
  const TensorView& query_;
  const TensorView& key_;
  const Int8ModelOptions& options_;
  const std::vector<int32_t> multipliers_;
  const std::vector<float> value_descales_;
  const std::array<float, 256> decoded_ = DecodedE4m3();
};

absl::Status ValidateInputs(const AttentionProblem& problem,
                            const TensorView& query, const TensorView& key,
                            const TensorView& value) {
  if (problem.head_dim_qk > kLargestHeadDimQk) {
    return Refuse("head_dim_qk", problem.head_dim_qk,
                  absl::StrCat("1 .. ", kLargestHeadDimQk));
  }
  for (const auto& [name, is_right, type] :
       {std::tuple<absl::string_view, bool, absl::string_view>(
            "query", query.is_int8(), "int8"),
        {"key", key.is_int8(), "int8"},
        {"value", value.is_e4m3(), "E4m3"}}) {
    if (!is_right) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " has another element type; allowed: ", type));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateOptions(const Int8ModelOptions& options) {
  const Int8Rule& rule = options.rule;
  if (options.shift == nullptr) return Refuse("shift", "unset", "a function");
  for (const auto& [name, value, largest] :
       {std::tuple<absl::string_view, int, int>("probe_keys", rule.probe_keys,
                                                kLargestProbe),
        {"start", rule.start, kLargestStart},
        {"floor", rule.floor, -kInt8LeastExponent},
        {"overshoot", rule.overshoot, kLargestOvershoot},
        {"slack", rule.slack, kLargestSlack},
        {"least_distance", rule.least_distance, kLargestStart},
        {"start_of_move", rule.start_of_move, kLargestStart}}) {
    if (value < 0 || value > largest) {
      return Refuse(absl::StrCat("rule.", name), value,
                    absl::StrCat("0 .. ", largest));
    }
  }
  if (!(rule.move_share >= 0.0f && rule.move_share <= kLargestMoveShare)) {
    return Refuse("rule.move_share", rule.move_share, "0 .. 2^40");
  }
  if (rule.period < 0) {
    return Refuse("rule.period", rule.period, "0 and more");
  }
  return ValidateFp8Output(options.output, options.output_scale);
}

absl::StatusOr<std::vector<int32_t>> Multipliers(
    const AttentionProblem& problem, const Int8Multiplier& multiplier) {
  std::vector<int32_t> result;
  if (multiplier == nullptr) return result;
  result.reserve(problem.batch * problem.heads_kv * problem.seqlen_kv);
  for (int64_t batch = 0; batch < problem.batch; ++batch) {
    for (int64_t head = 0; head < problem.heads_kv; ++head) {
      for (int64_t key = 0; key < problem.seqlen_kv; ++key) {
        const uint32_t m = multiplier(batch, head, key);
        if (m < 1 || m > kLargestMultiplier) {
          return Refuse(absl::StrCat("multiplier of batch entry ", batch,
                                     ", head ", head, ", key ", key),
                        m, absl::StrCat("1 .. ", kLargestMultiplier));
        }
        result.push_back(static_cast<int32_t>(m));
      }
    }
  }
  return result;
}

}  // namespace

absl::StatusOr<AttentionResult> Int8Attention(const AttentionProblem& problem,
                                              const TensorView& query,
                                              const TensorView& key,
                                              const TensorView& value,
                                              const Int8ModelOptions& options) {
  for (const absl::Status& status :
       {Validate(problem, query, key, value, options.attention),
        ValidateInputs(problem, query, key, value), ValidateOptions(options)}) {
    if (!status.ok()) return status;
  }
  auto multipliers = Multipliers(problem, options.multiplier);
  if (!multipliers.ok()) return multipliers.status();
  std::vector<float> value_descales;
  for (int64_t batch = 0; batch < problem.batch; ++batch) {
    for (int64_t head = 0; head < problem.heads_kv; ++head) {
      const auto descale =
          CallDescale(options.value_descale, "value_descale", batch, head);
      if (!descale.ok()) return descale.status();
      value_descales.push_back(*descale);
    }
  }
  return TiledAttention<double>(
      problem, query, key, value, options.attention, kKeyTile,
      Int8Softmax(problem, query, key, options, *std::move(multipliers),
                  std::move(value_descales)));
}

}  // namespace zyfa::reference
