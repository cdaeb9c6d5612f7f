// C += A B^T where A keeps two of every four k: values[row][k / 2] and, lowest
// bits first, two bits for each that say which of the four. A tile a wave; m
// and n may be anything, k is a multiple of the instruction's.
#include "zyfa/emu/testdata/matrix.h"

using Half = _Float16;
using Bf16 = __bf16;

// kChunked: B's share of a lane is two runs, half of the depth apart (the forms
// that gfx950 added), else one. kSets: index sets that fit a lane's dword.
template <class In, class A, class B, class Out, int kRows, int kDepth,
          bool kChunked>
struct Shape {
  using InType = In;
  using AType = A;
  using BType = B;
  using OutType = Out;
  static constexpr int kRowCount = kRows, kDepthCount = kDepth;
  static constexpr int kCompressed = kRows * kDepth / 128;
  static constexpr int kElements = 2 * kCompressed;
  static constexpr bool kTwoRuns = kChunked;
  static constexpr int kIndexSets = 16 / kCompressed;
  using Result = Vec<Out, kRows * kRows / 64>;
};

template <class S, class Multiply>
__device__ inline void Gemm(typename S::OutType* c,
                            const typename S::InType* values,
                            const uint8* indices, const typename S::InType* b,
                            int m, int n, int k, Multiply multiply) {
  using In = typename S::InType;
  constexpr int kRows = S::kRowCount, kDepth = S::kDepthCount;
  const int lane = int(ThreadX());
  const int row0 = int(__builtin_amdgcn_workgroup_id_y()) * kRows;
  const int column0 = int(BlockX()) * kRows;
  const int row = row0 + lane % kRows, column = column0 + lane % kRows;
  const int group = lane / kRows;
  typename S::Result acc;
  for (int r = 0; r < kRows * kRows / 64; ++r) {
    const Place p = ResultPlace<kRows>(lane, r);
    acc[r] = row0 + p.row < m && column0 + p.column < n
                 ? c[(row0 + p.row) * n + column0 + p.column]
                 : 0;
  }
  for (int kk = 0; kk < k; kk += kDepth) {
    Vec<In, S::kCompressed> va;
    uint32 index = 0;
    const int at = kk / 2 + S::kCompressed * group;
    for (int e = 0; e < S::kCompressed; ++e) {
      va[e] = row < m ? values[row * (k / 2) + at + e] : In(0);
    }
    for (int byte = 0; byte < S::kCompressed / 4; ++byte) {
      index |= uint32(row < m ? indices[row * (k / 8) + at / 4 + byte] : 0x44)
               << 8 * byte;
    }
    Vec<In, S::kElements> vb;
    for (int e = 0; e < S::kElements; ++e) {
      const int run = S::kElements / 2;
      const int kb = S::kTwoRuns
                         ? kDepth / 2 * (e / run) + run * group + e % run
                         : S::kElements * group + e;
      vb[e] = column < n ? b[column * k + kk + kb] : In(0);
    }
    acc = multiply(__builtin_bit_cast(typename S::AType, va),
                   __builtin_bit_cast(typename S::BType, vb), acc, index);
  }
  for (int r = 0; r < kRows * kRows / 64; ++r) {
    const Place p = ResultPlace<kRows>(lane, r);
    if (row0 + p.row < m && column0 + p.column < n) {
      c[(row0 + p.row) * n + column0 + p.column] = acc[r];
    }
  }
}

// The indices as part `kSet` of their register; the others hold nonsense.
template <int kSets, int kSet>
__device__ inline uint32 PlaceIndices(uint32 indices) {
  if constexpr (kSets == 1) return indices;
  constexpr int kBits = 32 / kSets;
  constexpr uint32 kMask = uint32((1ull << kBits) - 1);
  return indices << kBits * kSet | (0x4e4e4e4eu & ~(kMask << kBits * kSet));
}

#define GEMM(name, In, A, B, Out, rows, depth, chunked, set, builtin)          \
  KERNEL __launch_bounds__(64)                                                 \
      name(Out* c, const In* values, const uint8* indices, const In* b, int m, \
           int n, int k) {                                                     \
    using S = Shape<In, A, B, Out, rows, depth, chunked>;                      \
    static_assert(set < S::kIndexSets);                                        \
    Gemm<S>(c, values, indices, b, m, n, k,                                    \
            [](A x, B y, S::Result z, uint32 index) {                          \
              index = PlaceIndices<S::kIndexSets, set>(index);                 \
              return builtin(x, y, z, int(index), 0, set);                     \
            });                                                                \
  }
#define SMFMAC(rest) __builtin_amdgcn_smfmac_##rest

using I2 = Vec<int, 2>;
using I4 = Vec<int, 4>;
using I8 = Vec<int, 8>;
template <class T>
using V4 = Vec<T, 4>;
template <class T>
using V8 = Vec<T, 8>;
template <class T>
using V16 = Vec<T, 16>;
using H4 = Vec<Half, 4>;
using H8 = Vec<Half, 8>;
using H16 = Vec<Half, 16>;
using B8 = Vec<Bf16, 8>;
using B16 = Vec<Bf16, 16>;
using S4 = Vec<short, 4>;
using S8 = Vec<short, 8>;

GEMM(f16_16x16x32, Half, H4, H8, float, 16, 32, false, 3,
     SMFMAC(f32_16x16x32_f16))
GEMM(f16_32x32x16, Half, H4, H8, float, 32, 16, false, 1,
     SMFMAC(f32_32x32x16_f16))
GEMM(bf16_16x16x32, Bf16, S4, S8, float, 16, 32, false, 2,
     SMFMAC(f32_16x16x32_bf16))
GEMM(bf16_32x32x16, Bf16, S4, S8, float, 32, 16, false, 0,
     SMFMAC(f32_32x32x16_bf16))
GEMM(f16_16x16x64, Half, H8, H16, float, 16, 64, true, 1,
     SMFMAC(f32_16x16x64_f16))
GEMM(f16_32x32x32, Half, H8, H16, float, 32, 32, true, 0,
     SMFMAC(f32_32x32x32_f16))
GEMM(bf16_16x16x64, Bf16, B8, B16, float, 16, 64, true, 0,
     SMFMAC(f32_16x16x64_bf16))
GEMM(bf16_32x32x32, Bf16, B8, B16, float, 32, 32, true, 1,
     SMFMAC(f32_32x32x32_bf16))
GEMM(i8_16x16x64, signed char, I2, I4, int, 16, 64, false, 1,
     SMFMAC(i32_16x16x64_i8))
GEMM(i8_32x32x32, signed char, I2, I4, int, 32, 32, false, 0,
     SMFMAC(i32_32x32x32_i8))
GEMM(i8_16x16x128, signed char, I4, I8, int, 16, 128, true, 0,
     SMFMAC(i32_16x16x128_i8))
GEMM(i8_32x32x64, signed char, I4, I8, int, 32, 64, true, 0,
     SMFMAC(i32_32x32x64_i8))
#define BYTES(names)                                              \
  GEMM(names##_16x16x64, uint8, I2, I4, float, 16, 64, false, 0,  \
       SMFMAC(f32_16x16x64_##names))                              \
  GEMM(names##_32x32x32, uint8, I2, I4, float, 32, 32, false, 1,  \
       SMFMAC(f32_32x32x32_##names))                              \
  GEMM(names##_16x16x128, uint8, I4, I8, float, 16, 128, true, 0, \
       SMFMAC(f32_16x16x128_##names))                             \
  GEMM(names##_32x32x64, uint8, I4, I8, float, 32, 64, true, 0,   \
       SMFMAC(f32_32x32x64_##names))
BYTES(fp8_fp8)
BYTES(fp8_bf8)
BYTES(bf8_fp8)
BYTES(bf8_bf8)
