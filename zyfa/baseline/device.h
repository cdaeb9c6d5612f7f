// What the baseline kernel needs of HIP's headers, as compiler built-ins.
#ifndef ZYFA_BASELINE_DEVICE_H_
#define ZYFA_BASELINE_DEVICE_H_

#define DEVICE __attribute__((device)) inline __attribute__((always_inline))
#define SHARED __attribute__((shared)) __attribute__((aligned(1024)))
// Eight waves, two a SIMD: 256 registers for each.
#define KERNEL                                       \
  extern "C" __attribute__((global)) __attribute__(( \
      amdgpu_flat_work_group_size(512, 512), amdgpu_waves_per_eu(2, 2))) void

template <class T, int kCount>
using Vec = T __attribute__((ext_vector_type(kCount)));
using I32x2 = Vec<int, 2>;
using I32x4 = Vec<int, 4>;
using I32x8 = Vec<int, 8>;
using F32x4 = Vec<float, 4>;
using F32x16 = Vec<float, 16>;

template <class T>
using InLds = __attribute__((address_space(3))) T;
template <class T>
using InMemory = __attribute__((address_space(1))) T;

DEVICE int Min(int a, int b) { return a < b ? a : b; }
DEVICE int Max(int a, int b) { return a > b ? a : b; }
DEVICE float Max(float a, float b) { return __builtin_fmaxf(a, b); }
DEVICE int Bits(float x) { return __builtin_bit_cast(int, x); }
DEVICE float Float(int bits) { return __builtin_bit_cast(float, bits); }
// Of a value that is the same in all lanes.
DEVICE int Scalar(int x) { return __builtin_amdgcn_readfirstlane(x); }
DEVICE float Scalar(float x) { return Float(Scalar(Bits(x))); }

#endif  // ZYFA_BASELINE_DEVICE_H_
