#include "zyfa/bench/rung_errors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/bench/rung.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;
using numerics::E4m3;
using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Lt;

CapturedLayer Layer(const std::string& set, int64_t seqlen, int heads) {
  auto layer = MadeLayer(set, seqlen, heads, 100);
  EXPECT_TRUE(layer.ok()) << layer.status();
  return *layer;
}

// Records by the name of their rung.
std::map<std::string, proto::Record> Measure(const CapturedLayer& layer,
                                             int64_t rows_per_head) {
  const auto records = MeasureRungs(layer, {.rows_per_head = rows_per_head});
  EXPECT_TRUE(records.ok()) << records.status();
  EXPECT_EQ(records->size(), std::size(kRungs));
  std::map<std::string, proto::Record> by_name;
  for (size_t i = 0; i < records->size(); ++i) {
    by_name[std::string(kRungs[i].name)] = (*records)[i];
  }
  return by_name;
}

// int8-qk 8, for 16K tokens.
TEST(RungErrorsTest, TotalsAreThoseOfTheStudy) {
  const struct {
    const char* set;
    double as_is, lean, shift, value;
  } kSets[] = {{"G", .056, .056, .043, .027}, {"M", .069, .033, .024, .022}};
  for (const auto& want : kSets) {
    auto got = Measure(Layer(want.set, 2048, 2), 512);
    const auto near = [](double x) { return AllOf(Gt(0.8 * x), Lt(1.2 * x)); };
    EXPECT_THAT(got["FP8 lean, as is"].total_rel_rmse(), near(want.as_is));
    EXPECT_THAT(got["FP8 lean"].total_rel_rmse(), near(want.lean));
    EXPECT_THAT(got["FP8 exact"].total_rel_rmse(), near(want.lean));
    EXPECT_THAT(got["INT8 shift"].total_rel_rmse(), near(want.shift));
    EXPECT_THAT(got["INT8 shift"].value_rel_rmse(), near(want.value));
    EXPECT_LT(got["INT8 multiplier"].total_rel_rmse(),
              got["INT8 shift"].total_rel_rmse());
    // bf16 keeps 8 bits of P, V and the output.
    EXPECT_THAT(got["BF16"].total_rel_rmse(), AllOf(Gt(.001), Lt(.004)));
    for (const auto& [name, record] : got) {
      EXPECT_EQ(record.rows_checked(), 1024);
      if (!record.has_exact_p_rel_rmse()) continue;
      const double ratio = record.rel_rmse() / record.exact_p_rel_rmse();
      // Lean P costs a fifth (numerics 5).
      EXPECT_THAT(ratio, name == "FP8 exact" ? AllOf(Gt(.999), Lt(1.001))
                                             : AllOf(Gt(1.1), Lt(1.5)))
          << name;
    }
    EXPECT_TRUE(got["INT8 shift"].has_exact_p_rel_rmse());
    EXPECT_TRUE(got["INT8 shift"].has_slow_paths());
    EXPECT_FALSE(got["FP8 lean"].has_slow_paths());
  }
}

// Without the rounding of V, which all share.
TEST(RungErrorsTest, OrderWhereE4m3HasAllValues) {
  CapturedLayer layer = Layer("M", 2048, 2);
  for (size_t i = 0; i < layer.value.size(); ++i) {
    // The largest of a head, so that its scale is 2^-6.
    const float x =
        i / 128 < 2 && i % 128 == 0
            ? 448.0f
            : std::clamp(layer.value[i].ToFloat() * 64, -447.0f, 447.0f);
    layer.value[i] = Bf16::FromFloat(
        E4m3::FromFloat(x, numerics::Overflow::kSaturate).ToFloat() / 64);
  }
  auto got = Measure(layer, 512);
  EXPECT_LT(got["FP8 lean"].value_rel_rmse(), 1e-6);
  EXPECT_THAT(got["INT8 shift"].total_rel_rmse(),
              AllOf(Gt(.005), Le(.65 * got["FP8 lean"].total_rel_rmse())));
  EXPECT_LT(got["INT8 multiplier"].total_rel_rmse(),
            .9 * got["INT8 shift"].total_rel_rmse());
  EXPECT_LT(got["BF16"].total_rel_rmse(),
            got["INT8 multiplier"].total_rel_rmse());
}

// Heads of a layer differ; each must meet its own keys, values and scales.
TEST(RungErrorsTest, GroupedHeadsOfHeadDim192) {
  const CapturedLayer made = Layer("M", 512, 4);
  CapturedLayer layer{.seqlen = 512,
                      .heads_q = 4,
                      .heads_kv = 2,
                      .head_dim_qk = 192,
                      .head_dim_v = 128};
  for (int64_t s = 0; s < 512; ++s) {
    for (int64_t h = 0; h < 4; ++h) {
      for (int64_t c = 0; c < 192; ++c) {
        const auto from = static_cast<size_t>((s * 4 + h) * 128 + c % 128);
        layer.query.push_back(made.query[from]);
        if (h < 2) layer.key.push_back(made.key[from]);
        if (h < 2 && c < 128) {
          layer.value.push_back(
              Bf16::FromFloat(made.value[from].ToFloat() * (h == 0 ? 1 : 9)));
        }
      }
    }
  }
  for (const auto& [name, record] : Measure(layer, 256)) {
    EXPECT_EQ(record.variant().find("_d192x128_causal") != std::string::npos,
              true)
        << record.variant();
    EXPECT_EQ(record.heads_kv(), 2);
    EXPECT_LT(record.total_rel_rmse(), name == "FP8 lean, as is" ? .15 : .06)
        << name;
    EXPECT_LT(record.rel_rmse(), .01) << name;
  }
}

TEST(RungErrorsTest, RefusalsNameTheArgument) {
  const auto message = [](const auto& result) {
    return std::string(result.status().message());
  };
  CapturedLayer layer = Layer("G", 512, 1);
  for (int rows : {0, 100, 768}) {
    EXPECT_THAT(message(MeasureRungs(layer, {.rows_per_head = rows})),
                HasSubstr("rows_per_head is " + std::to_string(rows) +
                          " of 512; allowed: multiples of 256"));
  }
  layer.head_dim_qk = 64;
  EXPECT_THAT(message(MeasureRungs(layer, {})),
              HasSubstr("head dims are 64 and 128; allowed: 128 or 192"));
  EXPECT_THAT(message(MadeLayer("Q", 512, 1, 1)), HasSubstr("Q"));
}

}  // namespace
}  // namespace zyfa::bench
