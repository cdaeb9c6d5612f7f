// Attention three ways: softmax(q k^T scale) v.
#include "zyfa/emu/testdata/matrix.h"

using Bf16 = __bf16;
using Bf16x8 = Vec<Bf16, 8>;
using F32x16 = Vec<float, 16>;
using I32x8 = Vec<int, 8>;

template <class T>
using InLds = __attribute__((address_space(3))) T;

// One query a lane; head dim 32, softmax in one pass.
KERNEL attention(float* out, const float* q, const float* k, const float* v,
                 int keys, float scale) {
  constexpr int kDim = 32;
  const uint32 row = BlockX() * BlockDimX() + ThreadX();
  float query[kDim], acc[kDim];
  for (int d = 0; d < kDim; ++d) {
    query[d] = q[row * kDim + d] * scale;
    acc[d] = 0;
  }
  float top = -1e30f, sum = 0;
  for (int key = 0; key < keys; ++key) {
    float s = 0;
    for (int d = 0; d < kDim; ++d) s += query[d] * k[key * kDim + d];
    const float new_top = s > top ? s : top;
    const float rescale = __builtin_amdgcn_exp2f((top - new_top) * 1.44269504f);
    const float p = __builtin_amdgcn_exp2f((s - new_top) * 1.44269504f);
    sum = sum * rescale + p;
    for (int d = 0; d < kDim; ++d) {
      acc[d] = acc[d] * rescale + p * v[key * kDim + d];
    }
    top = new_top;
  }
  const float inverse = __builtin_amdgcn_rcpf(sum);
  for (int d = 0; d < kDim; ++d) out[row * kDim + d] = acc[d] * inverse;
}

constexpr float kLowest = -1e30f;

// Over the 32 lanes that share a row of a 32 x 32 result.
template <class F>
__device__ inline float OverColumns(float x, F f) {
  const int lane = int(ThreadX() % 64);
  for (int step = 1; step < 32; step *= 2) {
    x = f(x, __builtin_bit_cast(
                 float, __builtin_amdgcn_ds_bpermute(
                            4 * (lane ^ step), __builtin_bit_cast(int, x))));
  }
  return x;
}
__device__ inline float Add(float a, float b) { return a + b; }
__device__ inline float Max(float a, float b) { return __builtin_fmaxf(a, b); }
__device__ inline int RowOf(int r) {
  return ResultPlace<32>(int(ThreadX() % 64), r).row;
}

// Running maximum and sum of each row that the lane holds.
struct Softmax {
  float top[16], sum[16];
  __device__ void Start() {
    for (int r = 0; r < 16; ++r) top[r] = kLowest, sum[r] = 0;
  }
  // Turns scores, already in powers of two, into weights; gives the factors
  // for what was added up before.
  template <int kTiles>
  __device__ void Next(F32x16 (&s)[kTiles], float (&factor)[16]) {
    for (int r = 0; r < 16; ++r) {
      float highest = top[r];
      for (int t = 0; t < kTiles; ++t) highest = Max(highest, s[t][r]);
      highest = OverColumns(highest, Max);
      factor[r] = __builtin_amdgcn_exp2f(top[r] - highest);
      float part = 0;
      for (int t = 0; t < kTiles; ++t) {
        s[t][r] = __builtin_amdgcn_exp2f(s[t][r] - highest);
        part += s[t][r];
      }
      sum[r] = sum[r] * factor[r] + OverColumns(part, Add);
      top[r] = highest;
    }
  }
};

// bfloat16, head dim 64: four waves of 32 queries, 32 keys a step. Causal:
// query i sees keys up to i + keys - queries.
constexpr int kDim = 64, kPitch = kDim + 8;
KERNEL __launch_bounds__(256)
    flash_bf16(float* out, const Bf16* q, const Bf16* k, const Bf16* v,
               int queries, int keys, float scale_log2e, int causal) {
  __shared__ __attribute__((aligned(16))) Bf16 tile_k[32 * kPitch];
  __shared__ __attribute__((aligned(16))) Bf16 tile_v[32 * kPitch];
  __shared__ __attribute__((aligned(16))) Bf16 weights[4][32 * 40];
  const int wave = int(ThreadX()) / 64, lane = int(ThreadX()) % 64;
  const int half = lane / 32;
  const int query0 = int(BlockX()) * 128 + 32 * wave;
  Bf16x8 vq[4];
  for (int d = 0; d < 4; ++d) {
    const int query = query0 + lane % 32;
    vq[d] = query < queries
                ? *(const Bf16x8*)(q + query * kDim + 16 * d + 8 * half)
                : Bf16x8{};
  }
  F32x16 acc[2] = {};
  Softmax softmax;
  softmax.Start();
  const int shift = keys - queries;
  const int group_end = int(BlockX()) * 128 + 128 + shift;
  const int end = causal && group_end < keys ? group_end : keys;
  for (int key0 = 0; key0 < end; key0 += 32) {
    Barrier();
    const int row = int(ThreadX()) / 8, at = int(ThreadX()) % 8 * 8;
    const bool inside = key0 + row < keys;
    *(Bf16x8*)(tile_k + row * kPitch + at) =
        inside ? *(const Bf16x8*)(k + (key0 + row) * kDim + at) : Bf16x8{};
    *(Bf16x8*)(tile_v + row * kPitch + at) =
        inside ? *(const Bf16x8*)(v + (key0 + row) * kDim + at) : Bf16x8{};
    Barrier();
    F32x16 s[1] = {};
    for (int d = 0; d < 4; ++d) {
      const auto vk =
          *(const Bf16x8*)(tile_k + lane % 32 * kPitch + 16 * d + 8 * half);
      s[0] = __builtin_amdgcn_mfma_f32_32x32x16_bf16(vq[d], vk, s[0], 0, 0, 0);
    }
    const int key = key0 + lane % 32;
    for (int r = 0; r < 16; ++r) {
      const bool seen =
          key < keys && (!causal || key <= query0 + RowOf(r) + shift);
      s[0][r] = seen ? s[0][r] * scale_log2e : kLowest;
    }
    float factor[16];
    softmax.Next(s, factor);
    for (int r = 0; r < 16; ++r) {
      acc[0][r] *= factor[r];
      acc[1][r] *= factor[r];
      weights[wave][RowOf(r) * 40 + lane % 32] = Bf16(s[0][r]);
    }
    Barrier();
    for (int step = 0; step < 2; ++step) {
      const int first = 16 * step + 8 * half;
      const auto vp = *(const Bf16x8*)(weights[wave] + lane % 32 * 40 + first);
      for (int n = 0; n < 2; ++n) {
        Bf16x8 vv;
        for (int e = 0; e < 8; ++e) {
          vv[e] = tile_v[(first + e) * kPitch + 32 * n + lane % 32];
        }
        acc[n] =
            __builtin_amdgcn_mfma_f32_32x32x16_bf16(vp, vv, acc[n], 0, 0, 0);
      }
    }
  }
  for (int r = 0; r < 16; ++r) {
    const int query = query0 + RowOf(r);
    if (query >= queries) continue;
    for (int n = 0; n < 2; ++n) {
      out[query * kDim + 32 * n + lane % 32] = acc[n][r] / softmax.sum[r];
    }
  }
}

// FP8, head dim 64: two waves of 32 queries, 64 keys a step, causal. Weights
// are FP8 too; V comes out of LDS through the transposing read.
KERNEL __launch_bounds__(128)
    flash_fp8(float* out, const uint8* q, const uint8* k, const uint8* v,
              int queries, int keys, float scale_log2e) {
  __shared__ __attribute__((aligned(16))) uint8 tile_k[64 * 80];
  __shared__ __attribute__((aligned(16))) uint8 tile_v[64 * 64];
  __shared__ __attribute__((aligned(16))) uint8 weights[2][32 * 64];
  const int wave = int(ThreadX()) / 64, lane = int(ThreadX()) % 64;
  const int half = lane / 32;
  const int query0 = int(BlockX()) * 64 + 32 * wave;
  // Two runs of 16 bytes, 32 apart.
  const auto load = [&](const uint8* line) {
    I32x8 x;
    for (int run = 0; run < 2; ++run) {
      const auto part = *(const Vec<int, 4>*)(line + 32 * run + 16 * half);
      for (int i = 0; i < 4; ++i) x[4 * run + i] = part[i];
    }
    return x;
  };
  const int query = query0 + lane % 32;
  const I32x8 vq = query < queries ? load(q + query * 64) : I32x8{};
  F32x16 acc[2] = {};
  Softmax softmax;
  softmax.Start();
  const int shift = keys - queries;
  const int group_end = int(BlockX()) * 64 + 64 + shift;
  const int end = group_end < keys ? group_end : keys;
  for (int key0 = 0; key0 < end; key0 += 64) {
    Barrier();
    for (int i = 0; i < 2; ++i) {
      const int part = int(ThreadX()) + 128 * i;
      const int row = part / 4, at = part % 4 * 16;
      using I32x4 = Vec<int, 4>;
      const bool inside = key0 + row < keys;
      *(I32x4*)(tile_k + row * 80 + at) =
          inside ? *(const I32x4*)(k + (key0 + row) * 64 + at) : I32x4{};
      *(I32x4*)(tile_v + row * 64 + at) =
          inside ? *(const I32x4*)(v + (key0 + row) * 64 + at) : I32x4{};
    }
    Barrier();
    F32x16 s[2];
    for (int t = 0; t < 2; ++t) {
      s[t] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
          vq, load(tile_k + (32 * t + lane % 32) * 80), F32x16{}, 0, 0, 0, 0, 0,
          0);
      const int key = key0 + 32 * t + lane % 32;
      for (int r = 0; r < 16; ++r) {
        const bool seen = key < keys && key <= query0 + RowOf(r) + shift;
        s[t][r] = seen ? s[t][r] * scale_log2e : kLowest;
      }
    }
    float factor[16];
    softmax.Next(s, factor);
    for (int r = 0; r < 16; ++r) {
      acc[0][r] *= factor[r];
      acc[1][r] *= factor[r];
      const int pair =
          __builtin_amdgcn_cvt_pk_fp8_f32(s[0][r], s[1][r], 0, false);
      weights[wave][RowOf(r) * 64 + lane % 32] = uint8(pair);
      weights[wave][RowOf(r) * 64 + 32 + lane % 32] = uint8(pair >> 8);
    }
    Barrier();
    const I32x8 vp = load(weights[wave] + lane % 32 * 64);
    for (int n = 0; n < 2; ++n) {
      I32x8 vv;
      for (int read = 0; read < 4; ++read) {
        const int source = lane % 16;
        const int row =
            32 * (read / 2) + 16 * half + 8 * (read % 2) + source / 2;
        const int column = 32 * n + 16 * (lane / 16 % 2) + 8 * (source % 2);
        const Vec<int, 2> part = __builtin_amdgcn_ds_read_tr8_b64_v2i32(
            (InLds<Vec<int, 2>>*)(InLds<uint8>*)(tile_v + row * 64 + column));
        vv[2 * read] = part[0];
        vv[2 * read + 1] = part[1];
      }
      acc[n] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
          vp, vv, acc[n], 0, 0, 0, 0, 0, 0);
    }
  }
  for (int r = 0; r < 16; ++r) {
    const int row = query0 + RowOf(r);
    if (row >= queries) continue;
    for (int n = 0; n < 2; ++n) {
      out[row * 64 + 32 * n + lane % 32] = acc[n][r] / softmax.sum[r];
    }
  }
}
