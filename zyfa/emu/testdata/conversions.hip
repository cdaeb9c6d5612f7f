// Every conversion of gfx950 that has a built-in. Results go to consecutive
// words of the lane's part of `out`.
#include "zyfa/emu/testdata/matrix.h"

using Half = _Float16;
using Bf16 = __bf16;
template <class T>
using V2 = Vec<T, 2>;
template <class T>
using V16 = Vec<T, 16>;
template <class T>
using V32 = Vec<T, 32>;
using Packed6 = Vec<uint32, 6>;  // 32 elements of 6 bits

template <int kCount>
__device__ inline void PutWords(uint32*& out, Vec<uint32, kCount> words) {
  for (int i = 0; i < kCount; ++i) *out++ = words[i];
}
// As words, whatever the type.
#define PUT(...)                       \
  PutWords<sizeof((__VA_ARGS__)) / 4>( \
      out,                             \
      __builtin_bit_cast(Vec<uint32, sizeof((__VA_ARGS__)) / 4>, __VA_ARGS__))

__device__ inline uint32 Index() { return BlockX() * BlockDimX() + ThreadX(); }
#define CVT(rest) __builtin_amdgcn_cvt_##rest

// 8-bit floats out of a word and back into one, without scales: 22 words.
KERNEL bytes(uint32* out, const uint32* words, const float* a, const float* b) {
  const uint32 i = Index();
  const int w = int(words[i]);
  out += 24 * i;
  PUT(CVT(f32_fp8)(w, 0));
  PUT(CVT(f32_fp8)(w, 1));
  PUT(CVT(f32_fp8)(w, 2));
  PUT(CVT(f32_fp8)(w, 3));
  PUT(CVT(f32_bf8)(w, 0));
  PUT(CVT(f32_bf8)(w, 1));
  PUT(CVT(f32_bf8)(w, 2));
  PUT(CVT(f32_bf8)(w, 3));
  PUT(CVT(pk_f32_fp8)(w, false));
  PUT(CVT(pk_f32_fp8)(w, true));
  PUT(CVT(pk_f32_bf8)(w, false));
  PUT(CVT(pk_f32_bf8)(w, true));  // 16 so far
  PUT(CVT(pk_fp8_f32)(a[i], b[i], w, false));
  PUT(CVT(pk_fp8_f32)(a[i], b[i], w, true));
  PUT(CVT(pk_bf8_f32)(a[i], b[i], w, false));
  PUT(CVT(pk_bf8_f32)(a[i], b[i], w, true));
  // A word of four.
  int four = CVT(pk_fp8_f32)(a[i], b[i], 0, false);
  four = CVT(pk_fp8_f32)(-b[i], a[i], four, true);
  PUT(four);
  // Nearest by a random word of 0, and with random bits.
  PUT(CVT(sr_fp8_f32)(a[i], 0, w, 1));
  PUT(CVT(sr_bf8_f32)(a[i], 0, w, 2));
  PUT(CVT(sr_fp8_f32)(a[i], w, 0, 3));
}

// Halves, bfloat16 and integers: 12 words.
KERNEL words(uint32* out, const uint32* random, const float* a,
             const float* b) {
  const uint32 i = Index();
  out += 16 * i;
  PUT(V2<Bf16>{Bf16(a[i]), Bf16(b[i])});
  PUT(V2<Half>{Half(a[i]), Half(b[i])});
  PUT(CVT(pkrtz)(a[i], b[i]));
  PUT(CVT(pknorm_i16)(a[i], b[i]));
  PUT(CVT(pknorm_u16)(a[i], b[i]));
  PUT(CVT(pk_i16)(int(a[i] * 1e4f), int(b[i] * 1e5f)));
  PUT(CVT(pk_u16)(uint32(a[i] * a[i] * 1e4f), 77777));
  PUT(CVT(pk_u8_f32)(a[i] * a[i], 2, random[i]));
  PUT(CVT(sr_bf16_f32)(V2<Bf16>{}, a[i], 0, false));
  PUT(CVT(sr_bf16_f32)(V2<Bf16>{}, a[i], random[i], true));
  PUT(CVT(sr_f16_f32)(V2<Half>{}, a[i], random[i], false));
  PUT(int(float(Half(a[i])) * 100));
  PUT(float(Bf16(b[i])));
  PUT(CVT(off_f32_i4)(int(random[i])));
  PUT(__builtin_amdgcn_ashr_pk_i8_i32(random[i], uint32(int(a[i] * 50)), 3) &
      0xffffu);
  PUT(__builtin_amdgcn_prng_b32(random[i]));
}

// With scales, 8 bits.
KERNEL scaled_bytes(uint32* out, const uint32* words, const float* a,
                    const float* b, const float* scales) {
  const uint32 i = Index();
  const uint32 w = words[i];
  const float s = scales[i];
  const V2<Half> h = {Half(a[i]), Half(b[i])};
  const V2<Bf16> f = {Bf16(a[i]), Bf16(b[i])};
  const auto old = __builtin_bit_cast(V2<short>, w);
  out += 48 * i;
  PUT(CVT(scalef32_pk_fp8_f32)(old, a[i], b[i], s, false));
  PUT(CVT(scalef32_pk_fp8_f32)(old, a[i], b[i], s, true));
  PUT(CVT(scalef32_pk_bf8_f32)(old, a[i], b[i], s, true));
  PUT(CVT(scalef32_pk_fp8_f16)(old, h, s, false));
  PUT(CVT(scalef32_pk_bf8_f16)(old, h, s, true));
  PUT(CVT(scalef32_pk_fp8_bf16)(old, f, s, true));
  PUT(CVT(scalef32_pk_bf8_bf16)(old, f, s, false));  // 7
  PUT(CVT(scalef32_f32_fp8)(int(w), s, 0));
  PUT(CVT(scalef32_f32_fp8)(int(w), s, 3));
  PUT(CVT(scalef32_f32_bf8)(int(w), s, 1));
  PUT(CVT(scalef32_f16_fp8)(h, int(w), s, 2, false));
  PUT(CVT(scalef32_f16_bf8)(h, int(w), s, 0, true));
  PUT(CVT(scalef32_pk_f32_fp8)(w, s, false));
  PUT(CVT(scalef32_pk_f32_bf8)(w, s, true));
  PUT(CVT(scalef32_pk_f16_fp8)(w, s, true));
  PUT(CVT(scalef32_pk_f16_bf8)(w, s, false));
  PUT(CVT(scalef32_pk_bf16_fp8)(w, s, false));
  PUT(CVT(scalef32_pk_bf16_bf8)(w, s, true));  // 20
  PUT(CVT(scalef32_sr_fp8_f32)(int(w), a[i], 0, s, 0));
  PUT(CVT(scalef32_sr_bf8_f32)(int(w), a[i], 0, s, 1));
  PUT(CVT(scalef32_sr_fp8_f16)(int(w), h[1], 0, s, 2));
  PUT(CVT(scalef32_sr_bf8_f16)(int(w), h[1], 0, s, 3));
  PUT(CVT(scalef32_sr_fp8_bf16)(int(w), f[0], 0, s, 3));
  PUT(CVT(scalef32_sr_bf8_bf16)(int(w), f[0], 0, s, 0));  // 26
  PUT(CVT(scalef32_sr_fp8_f32)(int(w), a[i], w, s, 0));
}

// With scales, 4 bits.
KERNEL scaled_nibbles(uint32* out, const uint32* words, const float* a,
                      const float* b, const float* scales) {
  const uint32 i = Index();
  const uint32 w = words[i];
  const float s = scales[i];
  const V2<float> p = {a[i], b[i]};
  const V2<Half> h = {Half(a[i]), Half(b[i])};
  const V2<Bf16> f = {Bf16(a[i]), Bf16(b[i])};
  out += 24 * i;
  PUT(CVT(scalef32_pk_fp4_f32)(w, a[i], b[i], s, 0));
  PUT(CVT(scalef32_pk_fp4_f32)(w, a[i], b[i], s, 3));
  PUT(CVT(scalef32_pk_fp4_f16)(w, h, s, 1));
  PUT(CVT(scalef32_pk_fp4_bf16)(w, f, s, 2));
  PUT(CVT(scalef32_pk_f32_fp4)(w, s, 0));
  PUT(CVT(scalef32_pk_f32_fp4)(w, s, 3));
  PUT(CVT(scalef32_pk_f16_fp4)(w, s, 1));
  PUT(CVT(scalef32_pk_bf16_fp4)(w, s, 2));
  PUT(CVT(scalef32_sr_pk_fp4_f32)(w, p, 0, s, 1));
  PUT(CVT(scalef32_sr_pk_fp4_f16)(w, h, 0, s, 2));
  PUT(CVT(scalef32_sr_pk_fp4_bf16)(w, f, 0, s, 3));
}

// With scales, 32 elements of 6 bits: 32 floats in, packed and unpacked out.
template <class T>
__device__ inline V32<T> Load32(const float* in) {
  V32<T> v;
  for (int e = 0; e < 32; ++e) v[e] = T(in[e]);
  return v;
}
template <class T>
__device__ inline void Put6(uint32*& out, T packed) {
  for (int i = 0; i < 6; ++i) *out++ = uint32(packed[i]);
}
#define SIX(name)                                                           \
  KERNEL __launch_bounds__(64)                                              \
      narrow_##name(uint32* out, const float* in, const float* scales) {    \
    const uint32 i = Index();                                               \
    const float s = scales[i];                                              \
    in += 32 * i;                                                           \
    out += 36 * i;                                                          \
    V16<float> low, high;                                                   \
    for (int e = 0; e < 16; ++e) low[e] = in[e], high[e] = in[16 + e];      \
    Put6(out, CVT(scalef32_2xpk16_##name##_f32)(low, high, s));             \
    Put6(out, CVT(scalef32_pk32_##name##_f16)(Load32<Half>(in), s));        \
    Put6(out, CVT(scalef32_pk32_##name##_bf16)(Load32<Bf16>(in), s));       \
    Put6(out, CVT(scalef32_sr_pk32_##name##_f32)(Load32<float>(in), 0, s)); \
    Put6(out, CVT(scalef32_sr_pk32_##name##_f16)(Load32<Half>(in), 0, s));  \
    Put6(out, CVT(scalef32_sr_pk32_##name##_bf16)(Load32<Bf16>(in), 0, s)); \
  }
SIX(fp6)
SIX(bf6)

#define WIDE(name)                                                      \
  KERNEL __launch_bounds__(64)                                          \
      wide_##name(uint32* out, const uint32* in, const float* scales) { \
    const uint32 i = Index();                                           \
    Packed6 w;                                                          \
    for (int d = 0; d < 6; ++d) w[d] = in[6 * i + uint32(d)];           \
    out += 64 * i;                                                      \
    PUT(CVT(scalef32_pk32_f32_##name)(w, scales[i]));                   \
    PUT(CVT(scalef32_pk32_f16_##name)(w, scales[i]));                   \
    PUT(CVT(scalef32_pk32_bf16_##name)(w, scales[i]));                  \
  }
WIDE(fp6)
WIDE(bf6)
