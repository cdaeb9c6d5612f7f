// Attention by three kernels of ordinary making.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// softmax(q k^T scale) v in double, row by row. Causal: query i sees keys up to
// i + keys - queries.
std::vector<double> Attention(const Matrix& q, const Matrix& k, const Matrix& v,
                              double scale, bool causal) {
  std::vector<double> out(static_cast<size_t>(q.rows * v.columns));
  for (int i = 0; i < q.rows; ++i) {
    const int seen =
        causal ? std::min(k.rows, i + k.rows - q.rows + 1) : k.rows;
    std::vector<double> p(static_cast<size_t>(seen));
    double top = -1e300, sum = 0;
    for (int j = 0; j < seen; ++j) {
      const double s = RowTimesRow(q, i, k, j).value * scale;
      p[static_cast<size_t>(j)] = s;
      top = std::max(top, s);
    }
    for (double& x : p) sum += x = std::exp(x - top);
    for (int j = 0; j < seen; ++j) {
      for (int d = 0; d < v.columns; ++d) {
        out[static_cast<size_t>(i * v.columns + d)] +=
            p[static_cast<size_t>(j)] / sum * v.at(j, d);
      }
    }
  }
  return out;
}

struct Problem {
  int queries, keys;
  bool causal;
};

class AttentionTest : public testing::TestWithParam<std::string> {
 protected:
  // Inputs of [-2, 2), scale of 0.2: weights that differ a lot.
  void Check(const std::string& kernel, Format format, int dim,
             int queries_of_group, int items, const Problem& problem,
             double error) {
    const auto [queries, keys, causal] = problem;
    const Matrix q = RandomMatrix(format, queries, dim, 51);
    const Matrix k = RandomMatrix(format, keys, dim, 52);
    const Matrix v = RandomMatrix(format, keys, dim, 53);
    const float scale = 0.2f;
    const uint64_t addresses[3] = {
        device.Upload(q.bytes), device.Upload(k.bytes), device.Upload(v.bytes)};
    const std::vector<double> want = Attention(q, k, v, scale, causal);
    std::vector<float> first;
    for (const RunOptions& options : AllSchedules(StrictOptions())) {
      const uint64_t out = device.Upload(std::vector<float>(want.size()));
      Kernarg kernarg;
      kernarg.Add(out);
      for (uint64_t address : addresses) kernarg.Add(address);
      if (kernel == "attention") {
        kernarg.Add(keys).Add(scale);
      } else {
        kernarg.Add(queries).Add(keys).Add(scale * 1.44269504f);
        if (kernel == "flash_bf16") kernarg.Add(causal ? 1 : 0);
      }
      device.RunClean(
          kernel,
          Shape(static_cast<uint32_t>((queries + queries_of_group - 1) /
                                      queries_of_group),
                static_cast<uint32_t>(items)),
          kernarg, options);
      const auto got = device.Download<float>(out, want.size());
      if (!first.empty()) {
        EXPECT_EQ(got, first) << kernel << " " << ScheduleName(options);
        continue;
      }
      first = got;
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(got[i], want[i], error)
            << kernel << " " << queries << " queries, " << keys
            << " keys: " << i / static_cast<size_t>(dim) << " "
            << i % static_cast<size_t>(dim);
      }
    }
  }

  TestDevice device{GetParam()};
};

TEST_P(AttentionTest, OneQueryALane) {
  for (int keys : {1, 75}) {
    Check("attention", Format::kF32, 32, 64, 64, {128, keys, false}, 3e-6);
  }
}

// Weights of bfloat16: 2^-9 of values up to 2.
TEST_P(AttentionTest, TiledBfloat16) {
  for (const Problem& p :
       {Problem{128, 64, false}, Problem{130, 77, false},
        Problem{150, 150, true}, Problem{40, 100, true}, Problem{1, 1, true}}) {
    Check("flash_bf16", Format::kBf16, 64, 128, 256, p, 0.01);
  }
}

// Weights of E4M3: 2^-4 of each.
TEST_P(AttentionTest, TiledFloat8) {
  for (const Problem& p :
       {Problem{64, 64, true}, Problem{70, 130, true}, Problem{1, 1, true}}) {
    Check("flash_fp8", Format::kFp8, 64, 64, 128, p, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, AttentionTest,
                         testing::ValuesIn(BothLevels("attention")));

}  // namespace
}  // namespace zyfa::emu
