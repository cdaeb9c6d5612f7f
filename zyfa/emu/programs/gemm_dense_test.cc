// Dense matrix products by every shape that has an instruction.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/programs/matrix_data.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

struct Shape4 {
  int m, n, k, batches;
};

class GemmDense : public testing::TestWithParam<std::string> {};

// Out: the result's type.
template <class Out>
void Check(TestDevice& device, const std::string& kernel, Format format_a,
           Format format_b, int rows, int blocks, const Shape4& shape) {
  const auto [m, n, k, batches] = shape;
  const Matrix a = RandomMatrix(format_a, batches * m, k, 11);
  const Matrix b = RandomMatrix(format_b, batches * n, k, 12);
  const auto count = static_cast<size_t>(batches * m * n);
  const uint64_t c = device.Upload(std::vector<Out>(count + 1, Out{77}));
  LaunchShape launch = Shape(static_cast<uint32_t>((n + rows - 1) / rows), 64);
  launch.grid[1] = static_cast<uint32_t>((m + rows - 1) / rows);
  launch.grid[2] = static_cast<uint32_t>((batches + blocks - 1) / blocks);
  device.RunClean(kernel, launch,
                  Kernarg()
                      .Add(c)
                      .Add(device.Upload(a.bytes))
                      .Add(device.Upload(b.bytes))
                      .Add(m)
                      .Add(n)
                      .Add(k)
                      .Add(batches));
  const std::vector<Out> got = device.Download<Out>(c, count + 1);
  EXPECT_EQ(got[count], Out{77}) << kernel;
  const double error = sizeof(Out) == 8 ? 1e-15 : 1e-6;
  for (int t = 0; t < batches; ++t) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const Product want = RowTimesRow(a, t * m + i, b, t * n + j);
        const auto at = static_cast<size_t>((t * m + i) * n + j);
        ASSERT_NEAR(static_cast<double>(got[at]), want.value,
                    format_a == Format::kI8 ? 0 : error * want.magnitude)
            << kernel << " " << m << "x" << n << "x" << k << " product " << t
            << " row " << i << " column " << j;
      }
    }
  }
}

template <class Out>
void CheckShapes(TestDevice& device, const std::string& kernel, Format a,
                 Format b, int rows, int depth, int blocks) {
  for (const Shape4& shape :
       {Shape4{rows, rows, depth, blocks},
        Shape4{rows + 3, 2 * rows + 1, 2 * depth + 1, blocks + 1},
        Shape4{1, 2, 3, 1}}) {
    Check<Out>(device, kernel, a, b, rows, blocks, shape);
  }
}

struct Name {
  int rows, depth, blocks;
  std::string Of(const std::string& formats) const {
    const std::string r = std::to_string(rows);
    return formats + "_" + r + "x" + r + "x" + std::to_string(depth) +
           (blocks > 1 ? "_" + std::to_string(blocks) + "b" : "");
  }
};

TEST_P(GemmDense, Float16AndBfloat16) {
  TestDevice device(GetParam());
  for (const Name& n :
       {Name{32, 16, 1}, Name{16, 32, 1}, Name{32, 8, 1}, Name{16, 16, 1},
        Name{32, 4, 2}, Name{16, 4, 4}, Name{4, 4, 16}}) {
    for (Format f : {Format::kF16, Format::kBf16}) {
      CheckShapes<float>(device, n.Of(NameOf(f)), f, f, n.rows, n.depth,
                         n.blocks);
    }
  }
}
TEST_P(GemmDense, Float32) {
  TestDevice device(GetParam());
  for (const Name& n : {Name{32, 2, 1}, Name{16, 4, 1}, Name{32, 1, 2},
                        Name{16, 1, 4}, Name{4, 1, 16}}) {
    CheckShapes<float>(device, n.Of("f32"), Format::kF32, Format::kF32, n.rows,
                       n.depth, n.blocks);
  }
}
TEST_P(GemmDense, Float64) {
  TestDevice device(GetParam());
  for (const Name& n : {Name{16, 4, 1}, Name{4, 4, 4}}) {
    CheckShapes<double>(device, n.Of("f64"), Format::kF64, Format::kF64, n.rows,
                        n.depth, n.blocks);
  }
}
TEST_P(GemmDense, Int8) {
  TestDevice device(GetParam());
  for (const Name& n :
       {Name{32, 32, 1}, Name{16, 64, 1}, Name{32, 16, 1}, Name{16, 32, 1},
        Name{32, 4, 2}, Name{16, 4, 4}, Name{4, 4, 16}}) {
    CheckShapes<int32_t>(device, n.Of("i8"), Format::kI8, Format::kI8, n.rows,
                         n.depth, n.blocks);
  }
}
TEST_P(GemmDense, Float8) {
  TestDevice device(GetParam());
  for (const Name& n : {Name{32, 16, 1}, Name{16, 32, 1}}) {
    for (Format a : {Format::kFp8, Format::kBf8}) {
      for (Format b : {Format::kFp8, Format::kBf8}) {
        CheckShapes<float>(device, n.Of(NameOf(a) + "_" + NameOf(b)), a, b,
                           n.rows, n.depth, n.blocks);
      }
    }
  }
}

// cbsz 4, abid 5: A's block 5 in all sixteen products; C starts at r + 1.
TEST_P(GemmDense, OneBlockOfAForAll) {
  TestDevice device(GetParam());
  Noise noise(3);
  const std::vector<float> a = noise.Floats(64), b = noise.Floats(64);
  const uint64_t c = device.Upload(std::vector<float>(256));
  device.RunClean("f32_4x4x1_one_a", Shape(1, 64),
                  Kernarg().Add(c).Add(device.Upload(a)).Add(device.Upload(b)));
  const auto got = device.Download<float>(c, 256);
  for (size_t lane = 0; lane < 64; ++lane) {
    for (size_t r = 0; r < 4; ++r) {
      ASSERT_NEAR(got[4 * lane + r],
                  static_cast<float>(r + 1) + a[4 * 5 + r] * b[lane], 1e-6)
          << lane << " " << r;
    }
  }
}

// blgp (ISA 7.1): lanes 0..31 twice, 32..63 twice, rotated by 16, one group of
// 16 four times.
TEST_P(GemmDense, LanesOfBPermuted) {
  TestDevice device(GetParam());
  Noise noise(4);
  const std::vector<float> a = noise.Floats(64), b = noise.Floats(64);
  const uint64_t c = device.Upload(std::vector<float>(8 * 256));
  device.RunClean("f32_16x16x4_blgp", Shape(1, 64),
                  Kernarg().Add(c).Add(device.Upload(a)).Add(device.Upload(b)));
  const auto got = device.Download<float>(c, 8 * 256);
  for (size_t blgp = 0; blgp < 8; ++blgp) {
    const auto source = [&](size_t lane) {
      if (blgp == 0) return lane;
      if (blgp == 1) return lane % 32;
      if (blgp == 2) return lane % 32 + 32;
      if (blgp == 3) return (lane + 16) % 64;
      return lane % 16 + 16 * (blgp - 4);
    };
    for (size_t lane = 0; lane < 64; ++lane) {
      for (size_t r = 0; r < 4; ++r) {
        double want = 0;
        for (size_t k = 0; k < 4; ++k) {
          want += double{a[16 * k + 4 * (lane / 16) + r]} *
                  b[source(16 * k + lane % 16)];
        }
        ASSERT_NEAR(got[256 * blgp + 4 * lane + r], want, 1e-6)
            << blgp << " " << lane << " " << r;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, GemmDense,
                         testing::ValuesIn(BothLevels("gemm_dense")));

}  // namespace
}  // namespace zyfa::emu
