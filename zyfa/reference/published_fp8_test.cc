#include "zyfa/reference/published_fp8.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/reference/fp8_tensors.h"
#include "zyfa/reference/problem.h"

namespace zyfa::reference {
namespace {

using numerics::E4m3;

constexpr int64_t kTile = 64;

// What the description says, straight from numerics 1, in float64.
struct Description {
  bool integer_maximum;
  bool block_scale;
  bool rounded_sum;
  int headroom;
};

std::vector<double> Row(const Fp8Tensors& t, int64_t row,
                        const Description& d) {
  const int64_t dim = t.problem.head_dim_qk, dim_v = t.problem.head_dim_v;
  const double scale = t.problem.softmax_scale * 1.4426950408889634 *
                       double{t.query.descale} * double{t.key.descale};
  std::vector<double> output(dim_v, 0.0);
  double sum = 0.0, reference = -INFINITY;
  for (int64_t first = 0; first <= row; first += kTile) {
    std::vector<double> x;
    for (int64_t j = first; j <= std::min(row, first + kTile - 1); ++j) {
      double score = 0.0;
      for (int64_t c = 0; c < dim; ++c) {
        score += double{t.query.codes[row * dim + c].ToFloat()} *
                 double{t.key.codes[j * dim + c].ToFloat()};
      }
      x.push_back(score * scale);
    }
    const double largest = *std::max_element(x.begin(), x.end());
    const double maximum = d.integer_maximum ? std::ceil(largest) : largest;
    if (maximum > reference) {
      const double factor = std::exp2(reference - maximum);
      sum *= factor;
      for (double& o : output) o *= factor;
      reference = maximum;
    }
    const double e = d.block_scale ? std::ceil(largest - reference) : 0.0;
    for (size_t j = 0; j < x.size(); ++j) {
      const double p = std::exp2(x[j] - reference - e + d.headroom);
      const double w = double{
          E4m3::FromFloat(static_cast<float>(p), numerics::Overflow::kSaturate)
              .ToFloat()};
      const double unit = std::exp2(e - d.headroom);
      sum += (d.rounded_sum ? w : p) * unit;
      for (int64_t c = 0; c < dim_v; ++c) {
        output[c] +=
            w * unit *
            double{t.value.codes[(first + static_cast<int64_t>(j)) * dim_v + c]
                       .ToFloat()};
      }
    }
  }
  for (double& o : output) o *= double{t.value.descale} / sum;
  return output;
}

// Codes of float32 and float64 probabilities differ for one in 10^5 or so.
TEST(PublishedFp8Test, AreWhatTheDescriptionsSay) {
  const struct {
    const char* name;
    Fp8ModelOptions options;
    Description description;
  } kCases[] = {{"AITER-like", AiterLikeFp8(), {false, false, false, 0}},
                {"CK-like", CkLikeFp8(), {false, false, false, 8}},
                {"integer maximum",
                 IntegerMaximumFp8(Probability::kExact),
                 {true, true, true, 8}}};
  for (const char* set : {"G", "M", "D"}) {
    for (const int dim : {128, 192}) {
      const auto tensors = MakeFp8Tensors(set, 1024, dim, 128, 100);
      ASSERT_TRUE(tensors.ok()) << tensors.status();
      const std::vector<int64_t> rows = {0, 63, 64, 500, 777, 1000, 1023};
      for (const auto& c : kCases) {
        Fp8ModelOptions options = c.options;
        options.output = Fp8Output::kFloat32;
        options.attention.rows = rows;
        const auto model = tensors->Model(options);
        ASSERT_TRUE(model.ok()) << model.status();
        std::vector<double> expected;
        for (const int64_t row : rows) {
          const auto output = Row(*tensors, row, c.description);
          expected.insert(expected.end(), output.begin(), output.end());
        }
        const auto errors =
            numerics::CompareToReference(model->output, expected, 128);
        ASSERT_TRUE(errors.ok());
        // What they round P to costs 100 times as much.
        EXPECT_LE(errors->relative_rmse, 2e-5)
            << c.name << ", set " << set << ", head dim " << dim;
      }
    }
  }
}

// The lean form moves by whole codes only: a row's codes are those of scores
// relative to whole binades.
TEST(PublishedFp8Test, LeanCodesOfAnIntegerMaximumKnowNoPhase) {
  const auto tensors = MakeFp8Tensors("M", 512, 128, 128, 100);
  ASSERT_TRUE(tensors.ok()) << tensors.status();
  Fp8ModelOptions options = IntegerMaximumFp8(Probability::kLean);
  options.attention.rows = {{300, 511}};
  options.attention.threads = 1;
  const double slope = tensors->problem.softmax_scale * 1.4426950408889634 *
                       double{tensors->query.descale} *
                       double{tensors->key.descale};
  int tiles = 0;
  options.on_tile = [&](const Fp8Tile& tile) {
    const double binades = slope * double{tile.reference};
    EXPECT_NEAR(binades, std::nearbyint(binades), 1e-4);
    ++tiles;
  };
  ASSERT_TRUE(tensors->Model(options).ok());
  EXPECT_EQ(tiles, 5 + 8);
}

}  // namespace
}  // namespace zyfa::reference
