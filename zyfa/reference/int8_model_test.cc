#include "zyfa/reference/int8_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/random.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/expect_rows_alone.h"
#include "zyfa/reference/problem.h"
#include "zyfa/reference/tensor_view.h"
#include "zyfa/reference/test_tensors.h"
#include "zyfa/variant/int8_rule.h"

namespace zyfa::reference {
namespace {

using numerics::Bf16;
using numerics::E4m3;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsNan;

constexpr double kInf = std::numeric_limits<double>::infinity();

E4m3 ToE4m3(float x) {
  return E4m3::FromFloat(x, numerics::Overflow::kSaturate);
}

AttentionProblem Problem(int64_t seqlen_q, int64_t seqlen_kv,
                         Mask mask = Mask::kCausal, int64_t head_dim_qk = 128) {
  AttentionProblem p;
  p.seqlen_q = seqlen_q;
  p.seqlen_kv = seqlen_kv;
  p.head_dim_qk = head_dim_qk;
  p.mask = mask;
  return p;
}

// Q and K of Gaussian integers and V of Gaussian e4m3; one multiplier a key or
// none, one shift for all rows or one a row.
struct Tensors : DenseTensors<int8_t, E4m3> {
  explicit Tensors(const AttentionProblem& problem, double query_size = 40.0,
                   double key_size = 40.0, uint64_t seed = 1)
      : DenseTensors(problem) {
    FillGaussian(seed, 0, q, ToInt8, query_size);
    FillGaussian(seed, 1, k, ToInt8, key_size);
    FillGaussian(seed, 2, v, ToE4m3);
  }

  static int8_t ToInt8(float x) {
    return static_cast<int8_t>(std::clamp(std::rint(x), -127.0f, 127.0f));
  }

  void AddMultipliers(uint64_t seed = 1) {
    numerics::RandomSequence random(seed, 3);
    multipliers.resize(p.batch * p.heads_kv * p.seqlen_kv);
    for (uint32_t& m : multipliers) {
      m = static_cast<uint32_t>(1 + random.Index(255));
    }
  }

  uint8_t ShiftOf(int64_t batch, int64_t head, int64_t position) const {
    return shifts.empty()
               ? shift
               : shifts[(batch * p.heads_q + head) * p.seqlen_q + position];
  }
  int64_t MultiplierOf(int64_t batch, int64_t kv_head, int64_t k_index) const {
    return multipliers.empty()
               ? 1
               : multipliers[(batch * p.heads_kv + kv_head) * p.seqlen_kv +
                             k_index];
  }
  // y of a row and a key, as the definition says.
  int64_t Score(int64_t batch, int64_t head, int64_t position,
                int64_t j) const {
    const int64_t kv_head = head / (p.heads_q / p.heads_kv);
    const int8_t* row =
        &q[((batch * p.seqlen_q + position) * p.heads_q + head) *
           p.head_dim_qk];
    const int8_t* column =
        &k[((batch * p.seqlen_kv + j) * p.heads_kv + kv_head) * p.head_dim_qk];
    int64_t sum = 0;
    for (int64_t d = 0; d < p.head_dim_qk; ++d) sum += row[d] * column[d];
    return sum * MultiplierOf(batch, kv_head, j);
  }

  std::vector<uint32_t> multipliers;  // [batch][heads_kv][seqlen_kv], or none
  std::vector<uint8_t> shifts;        // [batch][heads_q][seqlen_q], or none
  uint8_t shift = 8;
};

Int8ModelOptions OptionsOf(const Tensors& t, Int8ModelOptions options = {}) {
  options.shift = [&t](int64_t batch, int64_t head, int64_t position) {
    return t.ShiftOf(batch, head, position);
  };
  if (!t.multipliers.empty()) {
    options.multiplier = [&t](int64_t batch, int64_t head, int64_t key) {
      return static_cast<uint32_t>(t.MultiplierOf(batch, head, key));
    };
  }
  return options;
}

AttentionResult Compute(const Tensors& t,
                        const Int8ModelOptions& options = {}) {
  const auto result =
      Int8Attention(t.p, t.query(), t.key(), t.value(), OptionsOf(t, options));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : AttentionResult();
}

// float64 attention of what the integers stand for, for one shift.
AttentionResult RunFloat64(const Tensors& t,
                           const AttentionOptions& options = {}) {
  const AttentionProblem& p = t.p;
  std::vector<double> keys(t.k.begin(), t.k.end());
  for (int64_t batch = 0; batch < p.batch; ++batch) {
    for (int64_t j = 0; j < p.seqlen_kv; ++j) {
      for (int64_t head = 0; head < p.heads_kv; ++head) {
        double* row = &keys[((batch * p.seqlen_kv + j) * p.heads_kv + head) *
                            p.head_dim_qk];
        const auto m = static_cast<double>(t.MultiplierOf(batch, head, j));
        for (int64_t d = 0; d < p.head_dim_qk; ++d) row[d] *= m;
      }
    }
  }
  AttentionProblem binades = p;
  binades.softmax_scale = std::log(2.0) * std::exp2(-t.shift - 3);
  return Attention(binades, t.query(),
                   TensorView::Dense(keys.data(), p.seqlen_kv, p.heads_kv,
                                     p.head_dim_qk),
                   t.value(), options)
      .value();
}

double RelativeRmse(const AttentionResult& actual,
                    const AttentionResult& expected) {
  return numerics::CompareToReference(actual.output, expected.output, 1)
      ->relative_rmse;
}

// What a row did with a tile.
struct Step {
  bool moved;
  int64_t rise;
  int64_t exponent;
  int64_t addend;
  int64_t fall;
  std::vector<uint8_t> codes;

  bool operator==(const Step&) const = default;
};
void PrintTo(const Step& step, std::ostream* os) {
  *os << "moved " << step.moved << " rise " << step.rise << " e "
      << step.exponent << " C " << step.addend << " fall " << step.fall
      << " codes " << ::testing::PrintToString(step.codes);
}
// By batch entry, head and position.
using Steps =
    std::map<std::tuple<int64_t, int64_t, int64_t>, std::vector<Step>>;

Steps Trace(const Tensors& t, Int8ModelOptions options,
            AttentionResult* result = nullptr) {
  Steps steps;
  std::mutex mutex;
  options.on_tile = [&](const Int8Tile& tile) {
    const std::lock_guard<std::mutex> lock(mutex);
    auto& row = steps[{tile.batch, tile.head, tile.position}];
    EXPECT_EQ(tile.first_key, static_cast<int64_t>(row.size()) * 64);
    row.push_back({tile.moved,
                   tile.rise,
                   tile.exponent,
                   tile.addend,
                   tile.fall,
                   {tile.codes.begin(), tile.codes.end()}});
  };
  AttentionResult computed = Compute(t, options);
  if (result != nullptr) *result = std::move(computed);
  return steps;
}

// The definition in real arithmetic, one row at a time: scores are binades in
// long double, where all are exact. Only what is float32 by definition is
// rounded.
struct Expected {
  std::vector<Step> steps;
  std::vector<double> output;  // float32
  double lse;
};

// Of a score that much above the reference.
double Code(long double binades) {
  return static_cast<double>(
      std::max(0.0L, std::floor(8.0L * binades + 126.5L)));
}
// From here on it exceeds 126.
constexpr long double kTooHigh = 1.0L / 16.0L;

float Log2(float x) {
  return static_cast<float>(std::log2(static_cast<long double>(x)));
}

// Whether the probe of a row looks at a key: by their distance from the end of
// the row's block of 32, where key j has the place of a row.
bool IsProbed(const Tensors& t, const Int8Rule& rule, int64_t position,
              int64_t j) {
  const int64_t place =
      t.p.mask == Mask::kCausal ? j - (t.p.seqlen_kv - t.p.seqlen_q) : j;
  const int64_t from_end = (position | 31) - place;
  return from_end >= 0 && from_end < rule.probe_keys;
}

class RealRow {
 public:
  RealRow(const Tensors& t, const Int8Rule& rule, int64_t batch, int64_t head,
          int64_t position)
      : t_(t),
        rule_(rule),
        batch_(batch),
        kv_head_(head / (t.p.heads_q / t.p.heads_kv)),
        shift_(t.ShiftOf(batch, head, position)),
        unit_(std::ldexp(1.0L, -shift_ - 3)),
        o_(t.p.head_dim_v) {
    std::optional<long double> probe;
    for (int64_t j = 0; j < VisibleKeys(t.p, position); ++j) {
      x_.push_back(unit_ *
                   static_cast<long double>(t.Score(batch, head, position, j)));
      if (IsProbed(t, rule, position, j)) {
        probe = std::max(probe.value_or(x_.back()), x_.back());
      }
    }
    const long double first = *std::max_element(
        x_.begin(), x_.begin() + std::min<int64_t>(64, Visible()));
    probe_ = probe.value_or(first);
    base_ = reference_ = std::max(probe_, first);
  }

  Expected Run(float value_descale) {
    Expected expected;
    for (int64_t first = 0; first < Visible(); first += 64) {
      expected.steps.push_back(Tile(first));
    }
    const float factor = value_descale * (1.0f / l_);
    for (long double x : o_) {
      expected.output.push_back(static_cast<float>(x) * factor);
    }
    const float binades = static_cast<float>(base_) + Log2(l_ * (1.0f / 1.75f));
    expected.lse = binades * static_cast<float>(std::log(2.0));
    return expected;
  }

 private:
  int64_t Visible() const { return static_cast<int64_t>(x_.size()); }

  Step Tile(int64_t first) {
    Step step = {};
    const int64_t count = std::min<int64_t>(64, Visible() - first);
    const long double max =
        *std::max_element(x_.begin() + first, x_.begin() + first + count);
    CheckRange(first, count);
    if (first > 0 && (max - reference_ >= kTooHigh || max - base_ > far_)) {
      Trigger(max, step);
    }
    CheckRange(first, count);
    step.exponent = static_cast<int64_t>(reference_ - base_);
    step.addend = static_cast<int64_t>(std::floor(std::ldexp(126.5L, shift_)) -
                                       reference_ / unit_);
    const float sum = AddWeights(first, count, step);
    const float sum_before = l_;
    l_ = static_cast<float>(l_ +
                            std::ldexp(static_cast<long double>(sum),
                                       static_cast<int>(step.exponent - 8)));
    if (first == 0) {
      // The first reference of whole binades below the base that is at least
      // the probe's maximum.
      const long double level = base_ - std::floor(base_ - probe_);
      lowest_ = std::max(level - rule_.floor, base_ - 100.0L);
      LowerTo(std::max(level + rule_.start, base_ - 100.0L), step);
      far_ = rule_.least_distance;
      return step;
    }
    recent_ = std::max(recent_, max);
    const int64_t tile = first / 64;
    if ((tile < 32 && (rule_.early_falls & (1u << tile)) != 0) ||
        (rule_.period > 0 && tile % rule_.period == rule_.period - 1)) {
      // The lowest reference that keeps slack above what was seen.
      const long double room = std::ceil(kTooHigh - (recent_ - reference_)) - 1;
      LowerTo(std::min(reference_,
                       std::max(reference_ - std::max(0.0L, room - rule_.slack),
                                lowest_)),
              step);
      far_ = WeighsMuch(sum_before);
    }
    return step;
  }

  // How many binades above the base the sum's share is, whole units of score.
  long double WeighsMuch(float sum) const {
    const float share = sum * (rule_.move_share / 1.75f);
    const long double least = rule_.least_distance;
    if (!(share > 1.0f)) return least;
    return std::clamp(std::floor(Log2(share) / unit_) * unit_, least, 60.0L);
  }

  void Trigger(long double max, Step& step) {
    const long double far = WeighsMuch(l_);
    if (max - base_ > far) {
      const long double above =
          unit_ * static_cast<float>((max - base_) / unit_);
      const float factor =
          above > 126.0L ? 0.0f : static_cast<float>(std::exp2(-above));
      for (long double& sum : o_) {
        sum = static_cast<float>(sum * static_cast<long double>(factor));
      }
      l_ *= factor;
      // The first one of whole binades below the new base that is at least the
      // old one.
      lowest_ = std::max(max - std::floor(max - lowest_), max - 100.0L);
      base_ = max;
      reference_ = base_ + rule_.start_of_move;
      far_ = rule_.least_distance;
      recent_ = -HUGE_VALL;
      step.moved = true;
      return;
    }
    if (max - reference_ >= kTooHigh) {
      step.rise =
          static_cast<int64_t>(std::floor(max - reference_ - kTooHigh)) + 1 +
          rule_.overshoot;
      reference_ += static_cast<long double>(step.rise);
      recent_ = -HUGE_VALL;
    }
    far_ = far;
  }

  void LowerTo(long double reference, Step& step) {
    step.fall = static_cast<int64_t>(reference_ - reference);
    reference_ = reference;
    recent_ = -HUGE_VALL;
  }

  // Returns the sum of the codes of a tile and adds their products with V.
  float AddWeights(int64_t first, int64_t count, Step& step) {
    float sum = 0.0f;
    for (int64_t j = first; j < first + count; ++j) {
      const double code = Code(x_[j] - reference_);
      EXPECT_LE(code, 126.0);
      step.codes.push_back(static_cast<uint8_t>(code));
      const float weight = E4m3{step.codes.back()}.ToFloat();
      sum += weight;
      const E4m3* value =
          &t_.v[((batch_ * t_.p.seqlen_kv + j) * t_.p.heads_kv + kv_head_) *
                t_.p.head_dim_v];
      for (int64_t d = 0; d < t_.p.head_dim_v; ++d) {
        o_[d] += std::ldexp(static_cast<long double>(weight) *
                                static_cast<long double>(value[d].ToFloat()),
                            static_cast<int>(step.exponent - 8));
      }
    }
    for (long double& x : o_) x = static_cast<float>(x);
    return sum;
  }

  // That z and C fit int32, and what a fall subtracts z from.
  void CheckRange(int64_t first, int64_t count) const {
    const long double c = 126.5L - 8.0L * reference_;
    EXPECT_LT(std::ldexp(std::abs(c), shift_), 0x1p31L);
    for (int64_t j = first; j < first + count; ++j) {
      const long double z = 8.0L * x_[j] + c;
      EXPECT_LT(std::ldexp(std::max(z, 127.0L - z), shift_), 0x1p31L);
    }
  }

  const Tensors& t_;
  const Int8Rule& rule_;
  const int64_t batch_;
  const int64_t kv_head_;
  const int shift_;
  const long double unit_;      // of a score
  std::vector<long double> x_;  // of the visible keys
  std::vector<long double> o_;  // float32 between tiles
  float l_ = 0.0f;
  long double probe_ = 0.0L;
  long double base_ = 0.0L;
  long double reference_ = 0.0L;
  long double lowest_ = 0.0L;  // of the reference
  long double far_ = 0.0L;     // above the base; the row looks again from there
  long double recent_ = -HUGE_VALL;
};

Expected InRealArithmetic(const Tensors& t, const Int8Rule& rule, int64_t batch,
                          int64_t head, int64_t position,
                          float value_descale = 1.0f) {
  return RealRow(t, rule, batch, head, position).Run(value_descale);
}

// All rows of a result in float32, and what led to it, are those.
void ExpectRealArithmetic(const Tensors& t, const Int8Rule& rule) {
  Int8ModelOptions options;
  options.rule = rule;
  options.output = Fp8Output::kFloat32;
  AttentionResult result;
  const Steps steps = Trace(t, options, &result);
  for (int64_t batch = 0; batch < t.p.batch; ++batch) {
    for (int64_t head = 0; head < t.p.heads_q; ++head) {
      for (int64_t i = 0; i < t.p.seqlen_q; ++i) {
        const Expected expected = InRealArithmetic(t, rule, batch, head, i);
        SCOPED_TRACE(testing::Message()
                     << "batch " << batch << " head " << head << " row " << i);
        ASSERT_EQ(steps.at({batch, head, i}), expected.steps);
        const auto output =
            result.output.begin() +
            ((batch * t.p.seqlen_q + i) * t.p.heads_q + head) * t.p.head_dim_v;
        ASSERT_EQ(std::vector<double>(output, output + t.p.head_dim_v),
                  expected.output);
        ASSERT_EQ(result.lse[(batch * t.p.heads_q + head) * t.p.seqlen_q + i],
                  expected.lse);
      }
    }
  }
}

// A share that is larger than any weight in the tests of rises and falls.
constexpr float kNoMoves = 0x1p40f;

constexpr Int8Rule kRules[] = {
    {},
    {.probe_keys = 0,
     .start = 0,
     .floor = 100,
     .overshoot = 0,
     .slack = 0,
     .move_share = 0x1p12f,
     .period = 1},
    {.probe_keys = 32,
     .start = 0,
     .floor = 2,
     .overshoot = 1,
     .slack = 2,
     .move_share = 0.0f,
     .least_distance = 0,
     .start_of_move = 0,
     .period = 3,
     .early_falls = 3},
    {.probe_keys = 160,
     .start = 7,
     .floor = 0,
     .overshoot = 8,
     .slack = 0,
     .move_share = 1.0f,
     .least_distance = 1,
     .start_of_move = 6,
     .period = 0,
     .early_falls = 0x1c},
};
// Tile 0 alone decides where a row starts, and nothing where it falls to; e
// rises, the base stays.
constexpr Int8Rule kNoProbe = {.probe_keys = 0,
                               .start = 0,
                               .floor = 100,
                               .overshoot = 0,
                               .slack = 0,
                               .move_share = kNoMoves,
                               .period = 0,
                               .early_falls = 0};
Int8Rule NoProbe(int overshoot, int slack, int64_t period, uint32_t early = 0) {
  Int8Rule rule = kNoProbe;
  rule.overshoot = overshoot;
  rule.slack = slack;
  rule.period = period;
  rule.early_falls = early;
  return rule;
}

struct Counts {
  int64_t moves = 0, rises = 0, falls = 0, negative = 0, top = 0;
};
Counts CountSteps(const Tensors& t, const Int8Rule& rule) {
  Int8ModelOptions options;
  options.rule = rule;
  Counts counts;
  for (const auto& [where, steps] : Trace(t, options)) {
    for (const Step& step : steps) {
      counts.moves += step.moved;
      counts.rises += step.rise > 0;
      counts.falls += step.fall > 0;
      counts.negative += step.exponent < 0;
      counts.top += std::count(step.codes.begin(), step.codes.end(), 126);
    }
  }
  return counts;
}

// Spreads of .03 to 300 binades and more.
TEST(Int8ModelTest, EveryBitIsThatOfRealArithmetic) {
  for (const auto& [shift, query_size] : {std::pair(0, 1.0f),
                                          {1, 30.0f},
                                          {6, 3.0f},
                                          {8, 10.0f},
                                          {9, 40.0f},
                                          {13, 40.0f},
                                          {20, 40.0f}}) {
    for (bool multiplies : {false, true}) {
      AttentionProblem p = Problem(8, 700);
      p.batch = 2;
      p.heads_q = 4;
      p.heads_kv = 2;
      p.head_dim_qk = multiplies ? 192 : 64;
      p.head_dim_v = 16;
      Tensors t(p, query_size);
      t.shift = static_cast<uint8_t>(shift);
      if (multiplies) t.AddMultipliers();
      for (const Int8Rule& rule : kRules) {
        SCOPED_TRACE(testing::Message()
                     << "shift " << shift << (multiplies ? ", multipliers" : "")
                     << ", period " << rule.period);
        ExpectRealArithmetic(t, rule);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// With the full mask a row's own block counts as a whole; more queries than
// keys, where the first ones have the first key.
TEST(Int8ModelTest, EveryBitOfOtherShapesToo) {
  for (const auto& [seqlen_q, seqlen_kv] :
       {std::pair(70, 200), {200, 70}, {130, 130}, {3, 33}, {40, 1}}) {
    Tensors t(Problem(seqlen_q, seqlen_kv, Mask::kFull, 64));
    t.p.head_dim_v = 16;
    t = Tensors(t.p);
    for (const Int8Rule& rule : kRules) {
      SCOPED_TRACE(testing::Message() << seqlen_q << " x " << seqlen_kv
                                      << ", period " << rule.period);
      ExpectRealArithmetic(t, rule);
      if (HasFatalFailure()) return;
    }
  }
}

// The inputs above hold what they shall test.
TEST(Int8ModelTest, MovesRisesAndFallsOccur) {
  Tensors t(Problem(8, 700, Mask::kCausal, 64), 30.0f);
  t.shift = 1;
  const Counts wide = CountSteps(t, kRules[1]);
  EXPECT_GT(wide.rises, 3);
  EXPECT_GT(wide.moves, 10);
  EXPECT_GT(wide.falls, 10);
  EXPECT_GT(CountSteps(t, {}).moves, 10);
  t.shift = 9;
  const Counts usual = CountSteps(t, kRules[1]);
  EXPECT_GT(usual.rises, 5);
  EXPECT_GT(usual.falls, 5);
  EXPECT_GT(usual.negative, 2);
  EXPECT_EQ(usual.moves, 0);
  EXPECT_GT(usual.top, 0);
  t.shift = 6;
  const Counts some = CountSteps(t, kRules[3]);
  EXPECT_GT(some.moves, 3);
  EXPECT_GT(some.falls, 3);
}

// Scores at both ends of their range: 1.6e9 apart with multipliers. Bits t of
// `high`: tile t of a row. The last tiles are the probe's with a causal mask,
// tile 0 is with the full one.
TEST(Int8ModelTest, TheLargestScoresDoNotOverflow) {
  for (bool multiplies : {false, true}) {
    for (int shift : {0, 1, 19, 20}) {
      for (Mask mask : {Mask::kCausal, Mask::kFull}) {
        for (uint32_t high : {0x0421u, 0x0020u, 0x0420u, 0x0001u}) {
          Tensors t(Problem(2, 64 * 11, mask, 192));
          t.p.head_dim_v = 16;
          t = Tensors(t.p);
          t.shift = static_cast<uint8_t>(shift);
          if (multiplies) t.multipliers.assign(t.p.seqlen_kv, 255);
          std::fill(t.q.begin(), t.q.begin() + 192, int8_t{-128});
          std::fill(t.q.begin() + 192, t.q.end(), int8_t{127});
          for (int64_t j = 0; j < t.p.seqlen_kv; ++j) {
            const bool is_high = (high >> (j / 64) & 1) != 0;
            std::fill_n(t.k.begin() + j * 192, 192,
                        is_high ? int8_t{127} : int8_t{-128});
          }
          SCOPED_TRACE(testing::Message()
                       << shift << " " << high << " " << multiplies);
          for (const Int8Rule& rule : kRules) ExpectRealArithmetic(t, rule);
        }
      }
    }
  }
}

// Scores of one row in units of 1/8 binade.
Tensors OneRow(const std::vector<int>& scores) {
  Tensors t(Problem(1, static_cast<int64_t>(scores.size()), Mask::kFull, 32),
            0.0f, 0.0f);
  t.shift = 0;
  std::fill(t.q.begin(), t.q.end(), int8_t{1});
  for (size_t j = 0; j < scores.size(); ++j) {
    int left = scores[j];
    for (int64_t d = 0; d < 32; ++d) {
      const int part = std::clamp(left, -127, 127);
      t.k[static_cast<int64_t>(j) * 32 + d] = static_cast<int8_t>(part);
      left -= part;
    }
    EXPECT_EQ(left, 0);
  }
  return t;
}

// Tiles whose scores are all the same.
Tensors Tiles(const std::vector<int>& scores) {
  std::vector<int> all;
  for (int score : scores) all.insert(all.end(), 64, score);
  return OneRow(all);
}

// 0, 1/8, 1, 15.6, 15.75 and 200 binades below the largest one.
TEST(Int8ModelTest, CodeTable) {
  const Steps steps = Trace(OneRow({0, -1, -8, -125, -126, -1600}), {});
  EXPECT_THAT(steps.at({0, 0, 0})[0].codes,
              ElementsAre(126, 125, 118, 1, 0, 0));
}

// rise, e, fall and code of each tile.
using Path = std::vector<std::tuple<int, int, int, int>>;
Path PathOf(const Tensors& t, const Int8Rule& rule) {
  Int8ModelOptions options;
  options.rule = rule;
  Path path;
  const Steps steps = Trace(t, options);
  for (const Step& step : steps.at({0, 0, 0})) {
    EXPECT_THAT(step.codes, Each(step.codes[0]));
    path.emplace_back(step.rise, step.exponent, step.fall, step.codes[0]);
  }
  return path;
}

TEST(Int8ModelTest, ReferenceRisesByRule) {
  const Tensors t = Tiles({0, 1, 8, 9, 41});
  // To whole binades, the least that holds the code at 126 or below.
  EXPECT_EQ(PathOf(t, NoProbe(0, 0, 0)), (Path{{0, 0, 0, 126},
                                               {1, 1, 0, 119},
                                               {0, 1, 0, 126},
                                               {1, 2, 0, 119},
                                               {4, 6, 0, 119}}));
  EXPECT_EQ(PathOf(t, NoProbe(2, 0, 0)), (Path{{0, 0, 0, 126},
                                               {3, 3, 0, 103},
                                               {0, 3, 0, 110},
                                               {0, 3, 0, 111},
                                               {5, 8, 0, 103}}));
}

TEST(Int8ModelTest, ReferenceFallsBySchedule) {
  const Tensors t = Tiles({0, -80, -88, -90, -80, -800, -2000});
  // Behind tiles 1, 3 and 5: to the largest since the last time, behind tile 0.
  EXPECT_EQ(PathOf(t, NoProbe(0, 0, 2)), (Path{{0, 0, 0, 126},
                                               {0, 0, 10, 46},
                                               {0, -10, 0, 118},
                                               {0, -10, 1, 116},
                                               {1, -10, 0, 126},
                                               {0, -10, 0, 0},
                                               {0, -10, 0, 0}}));
  // Slack leaves room: 3 binades above.
  EXPECT_EQ(PathOf(t, NoProbe(0, 3, 2)), (Path{{0, 0, 0, 126},
                                               {0, 0, 7, 46},
                                               {0, -7, 0, 94},
                                               {0, -7, 1, 92},
                                               {0, -8, 0, 110},
                                               {0, -8, 0, 0},
                                               {0, -8, 0, 0}}));
  // Early falls besides; never below -100.
  EXPECT_EQ(PathOf(t, NoProbe(0, 0, 0, 1u << 1 | 1u << 4 | 1u << 5)),
            (Path{{0, 0, 0, 126},
                  {0, 0, 10, 46},
                  {0, -10, 0, 118},
                  {0, -10, 0, 116},
                  {0, -10, 0, 126},
                  {0, -10, 90, 0},
                  {0, -100, 0, 0}}));
}

// What a row saw in front of a rise does not count.
TEST(Int8ModelTest, FallsForgetWhatWasBeforeARise) {
  EXPECT_EQ(
      PathOf(Tiles({0, 0, 8, 8}), NoProbe(3, 0, 0, 1u << 2)),
      (Path{{0, 0, 0, 126}, {0, 0, 0, 126}, {4, 4, 3, 102}, {0, 1, 0, 126}}));
}

// The row's own key is 5 binades below tile 0, the block of 32 keys before it 3
// above that, the ones before much higher or lower.
TEST(Int8ModelTest, ReferenceStartsAtTheProbe) {
  std::vector<int> scores(64, 0);
  for (int score : {-200, 9, -16, -40}) {
    scores.insert(scores.end(), score == -40 ? 1 : 32, score);
  }
  Tensors t = OneRow(scores);
  t.p.mask = Mask::kCausal;
  const auto starts = [&](Int8Rule rule) {
    Int8ModelOptions options;
    options.rule = rule;
    const Steps steps = Trace(t, options);
    std::vector<std::pair<int, int>> result;
    for (const Step& step : steps.at({0, 0, 0})) {
      result.emplace_back(step.exponent, step.codes.back());
    }
    result.emplace_back(
        steps.at({0, 0, 0}).back().exponent - steps.at({0, 0, 0}).back().fall,
        0);
    return result;
  };
  Int8Rule rule = NoProbe(1, 0, 1);
  rule.start = 4;
  rule.floor = 1;
  // The probe's maximum, 0, 5 or 2 binades below the base or 9/8 above, stands
  // at the same phase of a binade; a fall behind tile 1 goes to 9/8, one behind
  // tile 2 to the floor.
  using Starts = std::vector<std::pair<int, int>>;
  EXPECT_EQ(starts(rule), (Starts{{0, 126}, {4, 103}, {2, 70}, {-1, 0}}));
  // Too low for tile 1, which makes it rise.
  rule.probe_keys = 32;
  EXPECT_EQ(starts(rule), (Starts{{0, 126}, {3, 111}, {2, 70}, {-2, 0}}));
  rule.probe_keys = 64;
  EXPECT_EQ(starts(rule), (Starts{{0, 126}, {2, 119}, {2, 70}, {-2, 0}}));
  rule.probe_keys = 96;
  EXPECT_EQ(starts(rule), (Starts{{0, 117}, {4, 94}, {0, 77}, {-1, 0}}));
  rule.probe_keys = 2048;
  EXPECT_EQ(starts(rule), (Starts{{0, 117}, {4, 94}, {0, 77}, {-1, 0}}));
}

// Whether it moved, e and code of each tile, of the last key there.
using Moves = std::vector<std::tuple<bool, int, int>>;
Moves MovesOf(const Tensors& t, const Int8Rule& rule) {
  Int8ModelOptions options;
  options.rule = rule;
  const Steps steps = Trace(t, options);
  Moves moves;
  for (const Step& step : steps.at({0, 0, 0})) {
    moves.emplace_back(step.moved, step.exponent, step.codes.back());
  }
  return moves;
}
Int8Rule MovesAt(float share, int start = 0) {
  Int8Rule rule = kNoProbe;
  rule.move_share = share;
  rule.least_distance = 2;
  rule.start = start;
  return rule;
}

// The sum of tile 0 is 64 * 1.75: a quarter of it is 4 binades above the base.
TEST(Int8ModelTest, MaximaOfMuchWeightBecomeTheBase) {
  EXPECT_EQ(MovesOf(Tiles({0, 32}), MovesAt(0.25f)),
            (Moves{{false, 0, 126}, {false, 4, 126}}));
  EXPECT_EQ(MovesOf(Tiles({0, 33}), MovesAt(0.25f)),
            (Moves{{false, 0, 126}, {true, 1, 118}}));
  // A higher e makes no difference to that, but to rises.
  EXPECT_EQ(MovesOf(Tiles({0, 32}), MovesAt(0.25f, 4)),
            (Moves{{false, 0, 126}, {false, 4, 126}}));
  EXPECT_EQ(MovesOf(Tiles({0, 33}), MovesAt(0.25f, 4)),
            (Moves{{false, 0, 126}, {true, 1, 118}}));
  EXPECT_EQ(MovesOf(Tiles({0, 33}), MovesAt(0.5f, 4)),
            (Moves{{false, 0, 126}, {false, 5, 119}}));
  Int8Rule rule = MovesAt(0.25f, 4);
  rule.start_of_move = 3;
  EXPECT_EQ(MovesOf(Tiles({0, 33}), rule),
            (Moves{{false, 0, 126}, {true, 3, 102}}));
}

// All but the last key of each tile without weight, so that any maximum above
// the base weighs more than a quarter; whether it does is looked at beyond a
// limit only.
TEST(Int8ModelTest, RowsLookForMovesBeyondALimit) {
  const auto last_keys = [](const std::vector<int>& scores) {
    std::vector<int> all;
    for (int score : scores) {
      all.insert(all.end(), 63, -2000);
      all.push_back(score);
    }
    return OneRow(all);
  };
  // That is least_distance, or e where it is less.
  EXPECT_EQ(MovesOf(last_keys({0, 16, 17}), MovesAt(0.25f, 4)),
            (Moves{{false, 0, 126}, {false, 4, 110}, {true, 1, 118}}));
  Int8Rule rule = MovesAt(0.25f, 4);
  rule.least_distance = 1;
  EXPECT_EQ(MovesOf(last_keys({0, 8, 9}), rule),
            (Moves{{false, 0, 126}, {false, 4, 102}, {true, 1, 118}}));
  EXPECT_EQ(MovesOf(last_keys({0, 8}), MovesAt(0.25f, 0)),
            (Moves{{false, 0, 126}, {false, 1, 126}}));
  // The same behind a move.
  EXPECT_EQ(MovesOf(last_keys({0, 40, 48}), MovesAt(0.25f, 4)),
            (Moves{{false, 0, 126}, {true, 1, 118}, {false, 1, 126}}));
  EXPECT_EQ(MovesOf(last_keys({0, 40, 57}), MovesAt(0.25f, 4)),
            (Moves{{false, 0, 126}, {true, 1, 118}, {true, 1, 118}}));
  std::vector<int> fewer(64, 0);
  for (int score : {40, 57}) {
    fewer.insert(fewer.end(), 63, -2000);
    fewer.push_back(score);
  }
  EXPECT_EQ(MovesOf(OneRow(fewer), MovesAt(0.25f, 4)),
            (Moves{{false, 0, 126}, {true, 1, 118}, {true, 1, 118}}));
}

// 2 1/2 binades a tile, which is never too much for e: 64 times the weight of
// what a tile has, and a share of 16. From 60 binades on it is.
TEST(Int8ModelTest, RampsMoveTheBaseAtLast) {
  std::vector<int> scores;
  for (int i = 0; i < 100; ++i) scores.push_back(20 * i);
  Tensors t = Tiles(scores);
  std::fill(t.v.begin(), t.v.end(), ToE4m3(448.0f));
  for (float share : {0.25f, 0x1p40f}) {
    const Int8Rule rule = MovesAt(share);
    const Moves moves = MovesOf(t, rule);
    for (int i = 0; i < 100; ++i) {
      // After 24 tiles; from a base in between it is the same.
      EXPECT_EQ(std::get<0>(moves[i]), i > 0 && i % 25 == 0) << i;
      EXPECT_LE(std::get<1>(moves[i]), 62) << i;
    }
    ExpectRealArithmetic(t, rule);
    const AttentionResult result = Compute(t, {.rule = rule});
    EXPECT_EQ(result.output[0], 448.0);
    EXPECT_NEAR(
        result.lse[0],
        99 * 2.5 * std::log(2.0) + std::log(64.0 / (1.0 - std::exp2(-2.5))),
        0.06);
  }
}

TEST(Int8ModelTest, SixtyBinadesAreTheMost) {
  EXPECT_FALSE(
      std::get<0>(MovesOf(Tiles({0, 300, 480}), MovesAt(kNoMoves))[2]));
  EXPECT_TRUE(std::get<0>(MovesOf(Tiles({0, 300, 481}), MovesAt(kNoMoves))[2]));
}

// By a power of two that is no whole number of binades.
TEST(Int8ModelTest, MovesScaleOutputAndSum) {
  Tensors t = Tiles({0, 33, 73});
  std::fill_n(t.v.begin(), 64 * 128, ToE4m3(448.0f));
  std::fill_n(t.v.begin() + 64 * 128, 64 * 128, ToE4m3(4.0f));
  std::fill_n(t.v.begin() + 2 * 64 * 128, 64 * 128, ToE4m3(1.0f));
  Int8ModelOptions options;
  options.rule = MovesAt(0.25f);
  options.output = Fp8Output::kFloat32;
  const AttentionResult result = Compute(t, options);
  EXPECT_EQ(MovesOf(t, options.rule),
            (Moves{{false, 0, 126}, {true, 1, 118}, {true, 1, 118}}));
  const double first = std::exp2(-73.0 / 8.0), second = std::exp2(-5.0);
  const double sum = first + second + 1.0;
  EXPECT_NEAR(result.output[0], (448 * first + 4 * second + 1) / sum, 2e-6);
  EXPECT_NEAR(result.lse[0], std::log(64 * sum) + 73.0 / 8.0 * std::log(2.0),
              2e-6);
}

// What a row saw in front of a move does not count.
TEST(Int8ModelTest, FallsForgetWhatWasBeforeAMove) {
  Int8Rule rule = MovesAt(0.25f);
  rule.early_falls = 1u << 2;
  EXPECT_EQ(
      MovesOf(Tiles({0, 0, 100, 92}), rule),
      (Moves{
          {false, 0, 126}, {false, 0, 126}, {true, 1, 118}, {false, 0, 118}}));
}

// The lowest reference stays where it was, but for less than a binade: 12 1/2
// below a new base of 12 1/2, 14 are left of 2 + 12 1/2.
TEST(Int8ModelTest, MovesKeepTheLowestReference) {
  Int8Rule rule = MovesAt(0.25f);
  rule.floor = 2;
  rule.period = 1;
  EXPECT_EQ(
      MovesOf(Tiles({0, 100, -200, -20}), rule),
      (Moves{
          {false, 0, 126}, {true, 1, 118}, {false, 0, 0}, {false, -14, 118}}));
  // Never more than 100 below.
  EXPECT_EQ(
      MovesOf(Tiles({0, 900, -200, 92}), rule),
      (Moves{
          {false, 0, 126}, {true, 1, 118}, {false, 0, 0}, {false, -100, 118}}));
}

// Numerics 2: rounding of lean codes is .030 on Gaussian inputs whatever the
// form; less where few keys weigh much.
TEST(Int8ModelTest, NearFloat64OfTheIntegers) {
  for (int64_t dim : {128, 192}) {
    for (bool multiplies : {false, true}) {
      Tensors t(Problem(300, 700, Mask::kCausal, dim));
      t.p.heads_q = 2;
      t = Tensors(t.p);
      // One standard deviation is 1600 sqrt(dim) (128 with multipliers):
      // somewhat more than a binade.
      t.shift = multiplies ? 18 : 11;
      if (multiplies) t.AddMultipliers();
      Int8ModelOptions options;
      options.output = Fp8Output::kFloat32;
      for (const Int8Rule& rule : kRules) {
        if (rule.overshoot > 3) continue;  // codes lack bits
        options.rule = rule;
        const AttentionResult model = Compute(t, options);
        const AttentionResult exact = RunFloat64(t);
        EXPECT_THAT(RelativeRmse(model, exact),
                    AllOf(Gt(0.01), ::testing::Lt(0.035)));
        for (size_t i = 0; i < exact.lse.size(); ++i) {
          ASSERT_NEAR(model.lse[i], exact.lse[i], 0.06);
        }
      }
    }
  }
}

TEST(Int8ModelTest, OnesGiveOne) {
  for (int shift : {5, 8, 10}) {
    Tensors t(Problem(200, 700));
    t.shift = static_cast<uint8_t>(shift);
    std::fill(t.v.begin(), t.v.end(), ToE4m3(1.0f));
    for (const Int8Rule& rule : kRules) {
      Int8ModelOptions options;
      options.rule = rule;
      for (double x : Compute(t, options).output) {
        ASSERT_NEAR(x, 1.0, 2 * 0x1p-8);
      }
      options.output = Fp8Output::kFloat32;
      for (double x : Compute(t, options).output) ASSERT_NEAR(x, 1.0, 1e-5);
    }
  }
}

// Longer rows of the same keys start with the same steps, and what a row does
// not see does not matter.
TEST(Int8ModelTest, ARowDependsOnItsOwnKeysOnly) {
  AttentionProblem p = Problem(500, 500);
  Tensors t(p);
  t.shift = 7;
  t.AddMultipliers();
  Int8ModelOptions options;
  options.rule = kRules[2];
  const AttentionResult all = Compute(t, options);
  const Int8ModelOptions without_probe = {.rule = NoProbe(1, 2, 3)};
  const Steps steps = Trace(t, without_probe);
  const auto& longest = steps.at({0, 0, 499});
  for (int64_t seen : {1, 63, 64, 65, 192, 300, 499}) {
    // The last row's query where it sees `seen` keys, others and the rest of
    // the keys replaced.
    Tensors other(p, 90.0f, 90.0f, 2);
    other.shift = 7;
    other.AddMultipliers(2);
    std::copy_n(t.k.begin(), seen * 128, other.k.begin());
    std::copy_n(t.v.begin(), seen * 128, other.v.begin());
    std::copy_n(t.multipliers.begin(), seen, other.multipliers.begin());
    std::copy_n(t.q.begin() + (seen - 1) * 128, 128,
                other.q.begin() + (seen - 1) * 128);
    const AttentionResult result = Compute(other, options);
    const auto row = [&](const AttentionResult& r) {
      const auto begin = r.output.begin() + (seen - 1) * 128;
      return std::vector<double>(begin, begin + 128);
    };
    EXPECT_EQ(row(result), row(all)) << seen;
    EXPECT_EQ(result.lse[seen - 1], all.lse[seen - 1]);

    // The last row sees more keys there, and so another probe.
    std::copy_n(t.q.begin() + 499 * 128, 128,
                other.q.begin() + (seen - 1) * 128);
    const Steps of_other = Trace(other, without_probe);
    const auto& prefix = of_other.at({0, 0, seen - 1});
    ASSERT_EQ(static_cast<int64_t>(prefix.size()), (seen + 63) / 64);
    for (int64_t i = 0; i < seen / 64; ++i) EXPECT_EQ(prefix[i], longest[i]);
  }
}

TEST(Int8ModelTest, RowsOfInvalidShiftsAreNaN) {
  AttentionProblem p = Problem(40, 70);
  p.heads_q = 2;
  Tensors t(p);
  const AttentionResult valid = Compute(t);
  t.shifts.assign(2 * 40, 8);
  t.shifts[3] = 21;
  t.shifts[40 + 7] = 255;
  t.shifts[40 + 8] = 20;
  AttentionResult result;
  const Steps steps = Trace(t, {}, &result);
  EXPECT_EQ(steps.size(), 78u);
  for (int64_t i = 0; i < 40; ++i) {
    for (int64_t head = 0; head < 2; ++head) {
      const auto row = [&](const AttentionResult& r) {
        const auto begin = r.output.begin() + (i * 2 + head) * 128;
        return std::vector<double>(begin, begin + 128);
      };
      const int shift = t.shifts[head * 40 + i];
      if (shift > 20) {
        EXPECT_THAT(row(result), Each(IsNan()));
        EXPECT_THAT(result.lse[head * 40 + i], IsNan());
      } else {
        EXPECT_EQ(row(result) == row(valid), shift == 8);
        EXPECT_EQ(steps.count({0, head, i}), 1u);
      }
    }
  }
  for (Fp8Output format : {Fp8Output::kFloat32, Fp8Output::kE4m3}) {
    EXPECT_THAT(Compute(t, {.output = format}).output[3 * 2 * 128], IsNan());
  }
}

TEST(Int8ModelTest, RowsWithoutKeys) {
  Tensors t(Problem(10, 3));
  t.shifts.assign(10, 8);
  t.shifts[2] = 255;
  const AttentionResult result = Compute(t);
  for (int64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(result.lse[i] == -kInf, i < 7);
    EXPECT_EQ(result.output[i * 128] == 0.0, i < 7);
  }
  const Tensors none(Problem(4, 0));
  EXPECT_THAT(Compute(none).output, Each(0.0));
}

// Heads, batch entries and rows each have shifts, keys multipliers; as one
// problem a head.
TEST(Int8ModelTest, EveryHeadHasItsOwn) {
  AttentionProblem p = Problem(30, 100);
  p.batch = 2;
  p.heads_q = 4;
  p.heads_kv = 2;
  Tensors t(p);
  t.AddMultipliers();
  t.shifts.resize(2 * 4 * 30);
  for (size_t i = 0; i < t.shifts.size(); ++i) t.shifts[i] = 14 + i % 7;
  Int8ModelOptions options;
  options.output = Fp8Output::kFloat32;
  options.value_descale = [](int64_t batch, int64_t head) {
    return 0.3f + static_cast<float>(2 * batch + head);
  };
  const AttentionResult all = Compute(t, options);
  for (int64_t batch = 0; batch < 2; ++batch) {
    for (int64_t head = 0; head < 4; ++head) {
      for (int64_t i = 0; i < 30; ++i) {
        const Expected expected =
            InRealArithmetic(t, options.rule, batch, head, i,
                             options.value_descale(batch, head / 2));
        const auto begin =
            all.output.begin() + ((batch * 30 + i) * 4 + head) * 128;
        ASSERT_EQ(std::vector<double>(begin, begin + 128), expected.output);
      }
    }
  }
}

TEST(Int8ModelTest, OutputFormats) {
  const Tensors t(Problem(60, 200));
  Int8ModelOptions options;
  options.output = Fp8Output::kFloat32;
  const std::vector<double> fine = Compute(t, options).output;
  options.output = Fp8Output::kBf16;
  const std::vector<double> bf16 = Compute(t, options).output;
  options.output = Fp8Output::kE4m3;
  options.output_scale = 128.0f;
  const std::vector<double> fp8 = Compute(t, options).output;
  for (size_t i = 0; i < fine.size(); ++i) {
    const float x = static_cast<float>(fine[i]);
    EXPECT_EQ(x, fine[i]);
    EXPECT_EQ(bf16[i], Bf16::FromFloat(x).ToFloat());
    EXPECT_EQ(fp8[i], ToE4m3(128.0f * x).ToFloat());
  }
  EXPECT_NE(bf16, fine);
}

TEST(Int8ModelTest, ThreadsAndSelectedRowsDoNotMatter) {
  AttentionProblem p = Problem(100, 150, Mask::kCausal, 192);
  p.heads_q = 4;
  p.heads_kv = 2;
  Tensors t(p);
  t.AddMultipliers();
  t.shift = 15;
  ExpectRowsAlone([&](const AttentionOptions& attention) {
    Int8ModelOptions options;
    options.attention = attention;
    return Compute(t, options);
  });
}

TEST(Int8ModelTest, RefusalsNameTheArgument) {
  const Tensors t(Problem(4, 4));
  const auto message = [&](const Int8ModelOptions& options) {
    return std::string(
        Int8Attention(t.p, t.query(), t.key(), t.value(), options)
            .status()
            .message());
  };
  const auto of_rule = [&](const Int8Rule& rule) {
    return message(OptionsOf(t, {.rule = rule}));
  };
  EXPECT_EQ(message(OptionsOf(t)), "");
  EXPECT_THAT(message({}), HasSubstr("shift is unset; allowed: a function"));
  EXPECT_THAT(of_rule({.probe_keys = 2049}),
              HasSubstr("rule.probe_keys is 2049; allowed: 0 .. 2048"));
  EXPECT_THAT(of_rule({.start = 17}),
              HasSubstr("rule.start is 17; allowed: 0 .. 16"));
  EXPECT_THAT(of_rule({.floor = 101}),
              HasSubstr("rule.floor is 101; allowed: 0 .. 100"));
  EXPECT_THAT(of_rule({.overshoot = -1}),
              HasSubstr("rule.overshoot is -1; allowed: 0 .. 8"));
  EXPECT_THAT(of_rule({.overshoot = 9}), HasSubstr("rule.overshoot is 9"));
  EXPECT_THAT(of_rule({.slack = -1}),
              HasSubstr("rule.slack is -1; allowed: 0 .. 64"));
  EXPECT_THAT(of_rule({.slack = 65}), HasSubstr("rule.slack is 65"));
  EXPECT_THAT(of_rule({.least_distance = 17}),
              HasSubstr("rule.least_distance is 17; allowed: 0 .. 16"));
  EXPECT_THAT(of_rule({.start_of_move = -1}),
              HasSubstr("rule.start_of_move is -1; allowed: 0 .. 16"));
  EXPECT_THAT(of_rule({.move_share = std::nanf("")}),
              HasSubstr("rule.move_share is nan; allowed: 0 .. 2^40"));
  EXPECT_THAT(of_rule({.move_share = 0x1p41f}),
              HasSubstr("rule.move_share is 2.19902e+12"));
  EXPECT_THAT(of_rule({.period = -1}),
              HasSubstr("rule.period is -1; allowed: 0 and more"));
  EXPECT_THAT(message(OptionsOf(t, {.output = static_cast<Fp8Output>(3)})),
              HasSubstr("output is 3; allowed: 0"));
  EXPECT_THAT(message(OptionsOf(t, {.output_scale = std::nanf("")})),
              HasSubstr("output_scale is nan; allowed: finite"));
  EXPECT_THAT(
      message(OptionsOf(
          t, {.value_descale = [](int64_t, int64_t) { return HUGE_VALF; }})),
      HasSubstr("value_descale of batch entry 0, head 0 is inf"));
  Tensors multiplied = t;
  for (uint32_t m : {0u, 256u}) {
    multiplied.multipliers = {1, 255, m, 7};
    EXPECT_THAT(message(OptionsOf(multiplied)),
                HasSubstr("multiplier of batch entry 0, head 0, key 2 is " +
                          std::to_string(m) + "; allowed: 1 .. 255"));
  }
  const auto of_views = [&](const TensorView& query, const TensorView& key,
                            const TensorView& value) {
    return std::string(
        Int8Attention(t.p, query, key, value, OptionsOf(t)).status().message());
  };
  EXPECT_THAT(of_views(t.value(), t.key(), t.value()),
              HasSubstr("query has another element type; allowed: int8"));
  EXPECT_THAT(of_views(t.query(), t.value(), t.value()),
              HasSubstr("key has another element type; allowed: int8"));
  EXPECT_THAT(of_views(t.query(), t.key(), t.key()),
              HasSubstr("value has another element type; allowed: E4m3"));
  const Tensors wide(Problem(1, 1, Mask::kFull, 193));
  EXPECT_THAT(Int8Attention(wide.p, wide.query(), wide.key(), wide.value(),
                            OptionsOf(wide))
                  .status()
                  .message(),
              HasSubstr("head_dim_qk is 193; allowed: 1 .. 192"));
  AttentionProblem p = t.p;
  p.seqlen_q = -1;
  EXPECT_THAT(Int8Attention(p, t.query(), t.key(), t.value(), OptionsOf(t))
                  .status()
                  .message(),
              HasSubstr("seqlen_q is -1"));
}

}  // namespace
}  // namespace zyfa::reference
