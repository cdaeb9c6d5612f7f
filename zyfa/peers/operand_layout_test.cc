#include "zyfa/peers/operand_layout.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/numerics/e8m0.h"
#include "zyfa/numerics/random.h"
#include "zyfa/peers/quantize.h"

namespace zyfa::peers {
namespace {

QuantizedTensor RandomTensor(Format format, BlockAxis axis, int64_t seq,
                             int64_t heads, int64_t batch) {
  const Extent extent = {.batch = batch, .seq = seq, .heads = heads};
  std::vector<float> x(static_cast<size_t>(extent.elements()));
  numerics::FillGaussian(7, static_cast<uint64_t>(seq), x);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] *= static_cast<float>(1 << (i / 32 % 5));
  }
  return Quantize({format, Scaling::kPerBlock}, axis, extent, x);
}

TEST(PackRows, BitsOfAFp4Row) {
  QuantizedTensor t;
  t.format = {Format::kE2m1, Scaling::kNone};
  t.extent = {.seq = 1, .dim = 32};
  for (uint16_t i = 0; i < 32; ++i) t.codes.push_back(i % 16);
  const PackedOperand packed = PackRows(t);
  ASSERT_EQ(packed.data.size(), 16u);
  EXPECT_EQ(packed.data[0], 0x10);
  EXPECT_EQ(packed.data[7], 0xfe);
}

// v_cvt_scalef32_2xpk16_fp6_f32: fields 0, 1, 2 ... are elements 0, 16, 1 ...
TEST(PackRows, BitsOfAFp6Row) {
  QuantizedTensor t;
  t.format = {Format::kE2m3, Scaling::kNone};
  t.extent = {.seq = 1, .dim = 32};
  for (uint16_t i = 0; i < 32; ++i) t.codes.push_back(i);
  const PackedOperand packed = PackRows(t);
  ASSERT_EQ(packed.data.size(), 24u);
  for (uint32_t field = 0; field < 32; ++field) {
    uint32_t code = 0;
    for (uint32_t b = 0; b < 6; ++b) {
      const uint32_t bit = 6 * field + b;
      code |= (packed.data[bit / 8] >> (bit % 8) & 1u) << b;
    }
    EXPECT_EQ(code, field % 2 * 16 + field / 2);
  }
}

// P in registers (ISA 1.4): byte e of lanes of group g is key
// 32 (e/16) + 8 (e%16/4) + 4 g + e%4; as an FP8 operand it meets (ISA 1.1)
// depth 32 (e/16) + 16 g + e%16. V must have that key at that depth.
TEST(PackValue, PlacesAreTheDepthsOfP) {
  for (int g = 0; g < 2; ++g) {
    for (int e = 0; e < 32; ++e) {
      const int key = 32 * (e / 16) + 8 * (e % 16 / 4) + 4 * g + e % 4;
      const int depth = 32 * (e / 16) + 16 * g + e % 16;
      EXPECT_EQ(Fp4ValuePlace(key), depth);
      // An FP6 operand's element f in lanes of group b is depth 32 b + f.
      EXPECT_EQ(32 * (depth / 32) + Fp6ValueKey(depth % 32), key);
    }
  }
}

// The order of mxfp6_fmha_pack.py (_k_lds_order_gather_index and
// _fill_k_scale_tail_kernel), which says from where a byte of the tile comes.
TEST(PackKey, Fp6TilesAreInLdsOrder) {
  const QuantizedTensor t =
      RandomTensor(Format::kE2m3, BlockAxis::kHeadDim, 200, 2, 2);
  const PackedOperand rows = PackRows(t);
  const PackedOperand packed = PackKey(t);
  EXPECT_EQ(packed.seq_stride, 136);
  EXPECT_EQ(packed.head_stride, 2 * 17408);
  EXPECT_EQ(packed.batch_stride, 4 * 17408);
  ASSERT_EQ(packed.data.size(), 8u * 17408 + 256);
  for (int64_t batch_head = 0; batch_head < 4; ++batch_head) {
    const int64_t batch = batch_head / 2, head = batch_head % 2;
    for (int64_t tile = 0; tile < 2; ++tile) {
      const uint8_t* image =
          &packed.data[static_cast<size_t>((batch_head * 2 + tile) * 17408)];
      for (int64_t i = 0; i < 12288; ++i) {
        int64_t p = i;
        if (i >= 8192) {
          const int64_t j = i - 8192;
          p = 8192 + j / 512 * 1024 + j / 256 % 2 * 512 + j / 8 % 32 * 16 +
              j % 8;
        }
        const int64_t r = p >> 4, lane = r & 63, wave = r >> 6 & 3,
                      step = r >> 8;
        const int64_t block = wave + (step & 1) * 4;
        const int64_t source = (lane & 31) * 96 + (lane >> 5 & 1) * 24 +
                               (block >> 1) * 32 * 96 + (block & 1) * 48 +
                               (step >> 1) * 16 + (p & 15);
        const int64_t token = tile * 128 + source / 96;
        const uint8_t want =
            token < 200
                ? rows.data[static_cast<size_t>(
                      ((batch * 200 + token) * 2 + head) * 96 + source % 96)]
                : 0;
        ASSERT_EQ(image[i], want) << batch_head << " " << tile << " " << i;
      }
      for (int64_t i = 0; i < 1024; ++i) {
        const int64_t shifted = i / 512, place = i % 512;
        const int64_t lane = place % 256 / 4, shift = place % 4 + shifted;
        const int64_t token = tile * 128 + (lane & 3) * 32 + lane / 4 +
                              place / 256 * 16 + shift / 4;
        const uint8_t want =
            token < 200
                ? rows.scales[static_cast<size_t>(
                      ((batch * 200 + token) * 2 + head) * 4 + shift % 4)]
                : 0;
        ASSERT_EQ(image[16384 + i], want) << batch_head << " " << i;
      }
    }
  }
}

// test_mha_v4_mxfp4_k_coalesced_layout.
TEST(PackKey, Fp4TilesHoldSixteenBytesOfEachKey) {
  const QuantizedTensor t =
      RandomTensor(Format::kE2m1, BlockAxis::kHeadDim, 130, 3, 2);
  const PackedOperand rows = PackRows(t);
  const PackedOperand packed = PackKey(t);
  EXPECT_EQ(packed.seq_stride, 64);
  EXPECT_EQ(packed.head_stride, 2 * 8192);
  EXPECT_EQ(packed.batch_stride, 6 * 8192);
  ASSERT_EQ(packed.data.size(), 12u * 8192);
  for (int64_t row = 0; row < t.extent.rows(); ++row) {
    const int64_t head = row % 3, token = row / 3 % 130, batch = row / 390;
    for (int64_t byte = 0; byte < 64; ++byte) {
      const int64_t at = (batch * 3 + head) * 2 * 8192 + token / 128 * 8192 +
                         byte / 16 * 2048 + token % 128 * 16 + byte % 16;
      ASSERT_EQ(packed.data[static_cast<size_t>(at)],
                rows.data[static_cast<size_t>(row * 64 + byte)]);
    }
  }
}

// Every element and scale of V in the way that a lane of the MFMA meets them.
TEST(PackValue, Fp6ColumnsAndScales) {
  const QuantizedTensor t =
      RandomTensor(Format::kE2m3, BlockAxis::kSequence, 256, 1, 1);
  const PackedOperand packed = PackValue(t);
  EXPECT_EQ(packed.seq_stride, 96);
  for (int64_t key = 0; key < 256; ++key) {
    for (int64_t d = 0; d < 128; ++d) {
      const int64_t depth = Fp4ValuePlace(static_cast<int>(key % 64));
      const int64_t lane = depth / 32 * 32 + d % 32;
      const int64_t bit = key / 128 * 12288 * 8 +
                          (d / 32 * 2 + key / 64 % 2) * 1536 * 8 + lane * 192 +
                          depth % 32 * 6;
      uint32_t code = 0;
      for (int64_t b = 0; b < 6; ++b) {
        const auto byte = static_cast<size_t>((bit + b) / 8);
        code |= (packed.data[byte] >> ((bit + b) % 8) & 1u) << b;
      }
      ASSERT_EQ(code, t.codes[static_cast<size_t>(key * 128 + d)]);
      const int64_t scale =
          key / 128 * 512 + key / 64 % 2 * 256 + lane * 4 + d / 32;
      ASSERT_EQ(packed.scales[static_cast<size_t>(scale)],
                t.block_scales[static_cast<size_t>(key / 32 * 128 + d)].code);
    }
  }
}

// _reference_mxfp4_v of test_mha_v4.py: column c of the tile's half holds token
// kperm[c], and pairs of channels share a byte.
TEST(PackValue, Fp4TilesArePermuted) {
  const QuantizedTensor t =
      RandomTensor(Format::kE2m1, BlockAxis::kSequence, 200, 2, 1);
  const PackedOperand packed = PackValue(t);
  EXPECT_EQ(packed.seq_stride, 64);
  ASSERT_EQ(packed.data.size(), 4u * 8192 + 64);
  int64_t kperm[64];
  for (int64_t column = 0; column < 64; ++column) {
    const int64_t lane = column % 32;
    kperm[32 * (column / 32) + 4 * (lane / 8) + 16 * (lane / 4 % 2) +
          lane % 4] = column;
  }
  for (int64_t head = 0; head < 2; ++head) {
    for (int64_t tile = 0; tile < 2; ++tile) {
      for (int64_t unit = 0; unit < 8; ++unit) {
        for (int64_t column = 0; column < 64; ++column) {
          const int64_t token = tile * 128 + unit % 2 * 64 + kperm[column];
          for (int64_t c = 0; c < 32; ++c) {
            const int64_t at =
                (head * 2 + tile) * 8192 + unit * 1024 + column * 16 + c / 2;
            const int code =
                packed.data[static_cast<size_t>(at)] >> (4 * (c % 2)) & 15;
            const int64_t channel = unit / 2 * 32 + c;
            const int want = token < 200
                                 ? t.codes[static_cast<size_t>(
                                       (token * 2 + head) * 128 + channel)]
                                 : 0;
            ASSERT_EQ(code, want) << head << " " << token << " " << channel;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace zyfa::peers
