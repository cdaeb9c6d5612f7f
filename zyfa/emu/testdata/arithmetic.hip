// Arithmetic that a user writes without thinking of instructions.
#include "zyfa/emu/testdata/matrix.h"

using F32x2 = Vec<float, 2>;
using Half = _Float16;
using Half2 = Vec<Half, 2>;
using Short2 = Vec<short, 2>;
using Ushort2 = Vec<uint16, 2>;

// Integer division has no instruction: a long sequence of vector code.
KERNEL divide(int* out, const int* a, const int* b, int64* wide, int64 d) {
  const uint32 i = BlockX() * BlockDimX() + ThreadX();
  out[2 * i] = a[i] / b[i];
  out[2 * i + 1] = a[i] % b[i];
  wide[i] = (int64(a[i]) << 20) / d;
}

__device__ inline uint32 Index() { return BlockX() * BlockDimX() + ThreadX(); }

// Two floats at a time.
KERNEL packed_floats(F32x2* out, const F32x2* a, const F32x2* b,
                     const F32x2* c) {
  const uint32 i = Index();
  const F32x2 x = a[i], y = b[i], z = c[i];
  out[5 * i] = x + y;
  out[5 * i + 1] = x * y - z;
  out[5 * i + 2] = __builtin_elementwise_fma(x, y, z);
  out[5 * i + 3] = __builtin_elementwise_fma(x, F32x2(y[1]), -z);
  out[5 * i + 4] = F32x2{x[1], x[0]} * F32x2{y[0], -y[0]};
}
KERNEL packed_halves(Half2* out, const Half2* a, const Half2* b,
                     const Half2* c) {
  const uint32 i = Index();
  const Half2 x = a[i], y = b[i], z = c[i];
  out[6 * i] = x + y;
  out[6 * i + 1] = x * y;
  out[6 * i + 2] = __builtin_elementwise_fma(x, y, z);
  out[6 * i + 3] = __builtin_elementwise_max(x, y);
  out[6 * i + 4] = __builtin_elementwise_min(x, y);
  out[6 * i + 5] = Half2{x[1], x[0]} - Half2{y[1], y[1]};
}
KERNEL packed_shorts(Short2* out, const Short2* a, const Short2* b) {
  const uint32 i = Index();
  const Short2 x = a[i], y = b[i];
  out[8 * i] = x + y;
  out[8 * i + 1] = x - y;
  out[8 * i + 2] = x * y;
  out[8 * i + 3] = __builtin_elementwise_max(x, y);
  out[8 * i + 4] = Short2(__builtin_elementwise_min(Ushort2(x), Ushort2(y)));
  out[8 * i + 5] = x << (y & 15);
  out[8 * i + 6] = x >> (y & 15);
  out[8 * i + 7] = __builtin_elementwise_add_sat(x, y);
}

// Sums of products of small numbers.
KERNEL dots(int* out, float* floats, const int* a, const int* b,
            const Half2* ha, const Half2* hb, const Vec<__bf16, 2>* ba,
            const Vec<__bf16, 2>* bb) {
  const uint32 i = Index();
  out[6 * i] = __builtin_amdgcn_sdot4(a[i], b[i], 100, false);
  out[6 * i + 1] =
      int(__builtin_amdgcn_udot4(uint32(a[i]), uint32(b[i]), 100, false));
  out[6 * i + 2] = __builtin_amdgcn_sdot8(a[i], b[i], -7, false);
  out[6 * i + 3] =
      int(__builtin_amdgcn_udot8(uint32(a[i]), uint32(b[i]), 7, false));
  out[6 * i + 4] =
      __builtin_amdgcn_sdot2(__builtin_bit_cast(Short2, a[i]),
                             __builtin_bit_cast(Short2, b[i]), 3, false);
  out[6 * i + 5] =
      int(__builtin_amdgcn_udot2(__builtin_bit_cast(Ushort2, a[i]),
                                 __builtin_bit_cast(Ushort2, b[i]), 3, false));
  floats[2 * i] = __builtin_amdgcn_fdot2(ha[i], hb[i], 0.5f, false);
  floats[2 * i + 1] =
      __builtin_amdgcn_fdot2_f32_bf16(ba[i], bb[i], -0.5f, false);
}

// Halves and floats in one product.
KERNEL mixed(float* out, Half* halves, const Half* a, const Half* b,
             const float* c) {
  const uint32 i = Index();
  out[i] = __builtin_fmaf(float(a[i]), float(b[i]), c[i]);
  halves[3 * i] = Half(__builtin_fmaf(float(a[i]), c[i], float(b[i])));
  halves[3 * i + 1] = a[i] / b[i];
  halves[3 * i + 2] =
      __builtin_elementwise_sqrt(__builtin_elementwise_abs(a[i]));
}

// Bytes and halves inside of words.
KERNEL bytes(uint32* out, const uint32* in, const uint32* with) {
  const uint32 i = Index();
  const auto a = __builtin_bit_cast(Vec<uint8, 4>, in[i]);
  const auto b = __builtin_bit_cast(Vec<uint8, 4>, with[i]);
  out[8 * i] = __builtin_bit_cast(uint32, Vec<uint8, 4>(a + b));
  out[8 * i + 1] = __builtin_bit_cast(uint32, Vec<uint8, 4>(a * b));
  out[8 * i + 2] = __builtin_bit_cast(uint32, __builtin_elementwise_max(a, b));
  out[8 * i + 3] = uint32(a[0]) * b[3] + uint32(a[2]) * b[1];
  const auto s = __builtin_bit_cast(Vec<signed char, 4>, in[i]);
  out[8 * i + 4] = uint32(int(s[1]) * int(s[3]) - int(s[2]));
  out[8 * i + 5] =
      uint32(float(a[0]) + 2 * float(a[1]) + 3 * float(a[2]) + 4 * float(a[3]));
  out[8 * i + 6] = (in[i] >> 16) * (with[i] & 0xffff);
  out[8 * i + 7] = __builtin_bitreverse32(in[i]) ^ __builtin_bswap32(with[i]);
}

KERNEL bits(uint32* out, const uint32* a, const uint32* b) {
  const uint32 i = Index();
  const uint32 x = a[i], y = b[i];
  uint32* o = out + 16 * i;
  o[0] = uint32(__builtin_popcount(x));
  o[1] = uint32(x ? __builtin_clz(x) : 32);
  o[2] = uint32(x ? __builtin_ctz(x) : 32);
  o[3] = x << (y & 31) | x >> (-y & 31);
  o[4] = __builtin_amdgcn_ubfe(x, y & 31, 7);
  o[5] = uint32(__builtin_amdgcn_sbfe(int(x), y & 31, 5));
  o[6] = __builtin_amdgcn_alignbit(x, y, 11);
  o[7] = __builtin_amdgcn_alignbyte(x, y, 3);
  o[8] = __builtin_amdgcn_perm(x, y, 0x0c070401);
  o[9] = (x & y) | (~x & 0x12345678);
  o[10] = __builtin_amdgcn_sad_u8(x, y, 5);
  o[11] = uint32((uint64(x) * y) >> 32);
  o[12] = uint32((int64(int(x)) * int(y)) >> 32);
  o[13] = __builtin_amdgcn_bitop3_b32(x, y, 0x0f0f1234, 0x6a);
  o[14] = __builtin_elementwise_add_sat(x, y);
  o[15] = uint32(__builtin_elementwise_sub_sat(int(x), int(y)));
}

KERNEL wide_integers(int64* out, const int64* a, const int64* b) {
  const uint32 i = Index();
  const int64 x = a[i], y = b[i];
  int64* o = out + 12 * i;
  o[0] = x + y;
  o[1] = x - y;
  o[2] = x * y;
  o[3] = x << (y & 63);
  o[4] = x >> (y & 63);
  o[5] = int64(uint64(x) >> (y & 63));
  o[6] = x < y ? x : y;
  o[7] = uint64(x) > uint64(y) ? x : y;
  o[8] = x / (y | 1);
  o[9] = int64(uint64(x) % uint64(y | 1));
  o[10] = (x << 3) + y;
  o[11] =
      __builtin_popcountll(uint64(x)) + (y ? __builtin_clzll(uint64(y)) : 64);
}

KERNEL doubles(double* out, const double* a, const double* b, const double* c) {
  const uint32 i = Index();
  const double x = a[i], y = b[i], z = c[i];
  double* o = out + 16 * i;
  o[0] = x + y;
  o[1] = x * y;
  o[2] = __builtin_fma(x, y, z);
  o[3] = x / y;
  o[4] = __builtin_sqrt(__builtin_fabs(x));
  o[5] = __builtin_floor(x);
  o[6] = __builtin_trunc(y);
  o[7] = __builtin_rint(z);
  o[8] = __builtin_ceil(x);
  o[9] = __builtin_fmin(x, y);
  o[10] = __builtin_fmax(-y, z);
  o[11] = double(float(x));
  o[12] = double(int(y)) + double(uint32(__builtin_fabs(z)));
  o[13] = double(int64(x * 1e10));
  o[14] = __builtin_ldexp(x, int(i % 40) - 20);
  o[15] = __builtin_amdgcn_fract(x);
}

KERNEL floats(float* out, const float* a, const float* b, const float* c) {
  const uint32 i = Index();
  const float x = a[i], y = b[i], z = c[i];
  float* o = out + 16 * i;
  o[0] = x / y;
  o[1] = __builtin_sqrtf(__builtin_fabsf(x));
  o[2] = __builtin_floorf(x);
  o[3] = __builtin_truncf(y);
  o[4] = __builtin_rintf(z);
  o[5] = __builtin_ceilf(x);
  o[6] = __builtin_fmaxf(__builtin_fmaxf(x, y), z);
  o[7] = __builtin_fminf(__builtin_fminf(x, y), -z);
  o[8] = __builtin_amdgcn_fmed3f(x, y, z);
  o[9] = __builtin_ldexpf(x, int(i % 20) - 10);
  o[10] = float(int(y * 100)) + float(uint32(__builtin_fabsf(z * 100)));
  o[11] = float(int64(x * 1e6f));
  o[12] = x < y ? z : x > z ? y : -x;
  o[13] = __builtin_roundf(x);
  o[14] =
      __builtin_amdgcn_frexp_mantf(x) + float(__builtin_amdgcn_frexp_expf(x));
  o[15] = __builtin_copysignf(x, y);
}

// The instructions themselves, 1 ulp or so.
KERNEL transcendentals(float* out, Half* halves, double* wide, const float* in,
                       const Half* half_in) {
  const uint32 i = Index();
  const float x = in[i];
  float* o = out + 12 * i;
  o[0] = __builtin_amdgcn_exp2f(x);
  o[1] = __builtin_amdgcn_logf(x);
  o[2] = __builtin_amdgcn_rcpf(x);
  o[3] = __builtin_amdgcn_rsqf(x);
  o[4] = __builtin_amdgcn_sqrtf(x);
  o[5] = __builtin_amdgcn_sinf(x);  // of turns
  o[6] = __builtin_amdgcn_cosf(x);
  // And what is made of them.
  o[7] = __builtin_expf(x);
  o[8] = __builtin_logf(x);
  o[9] = __builtin_log10f(x);
  o[10] = __builtin_exp2f(-x * 10);
  o[11] = __builtin_log2f(x * 1e-40f);
  const Half h = half_in[i];
  halves[6 * i] = __builtin_amdgcn_rcph(h);
  halves[6 * i + 1] = __builtin_amdgcn_rsqh(h);
  halves[6 * i + 2] = __builtin_amdgcn_sqrth(h);
  halves[6 * i + 3] = __builtin_amdgcn_sinh(h);
  halves[6 * i + 4] = __builtin_elementwise_exp2(h);
  halves[6 * i + 5] = __builtin_elementwise_log2(h);
  wide[3 * i] = __builtin_amdgcn_rcp(double(x));
  wide[3 * i + 1] = __builtin_amdgcn_rsq(double(x));
  wide[3 * i + 2] = __builtin_amdgcn_sqrt(double(x));
}
