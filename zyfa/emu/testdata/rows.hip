// Softmax, normalisation and reductions over the rows of a matrix, a
// work-group of four waves a row.
#include "zyfa/emu/testdata/matrix.h"

// All lanes get the result of the wave, through lane exchanges.
template <class F>
__device__ inline float OverWave(float x, F f) {
  const int lane = int(ThreadX() % 64);
  for (int step = 1; step < 64; step *= 2) {
    x = f(x, __builtin_bit_cast(
                 float, __builtin_amdgcn_ds_bpermute(
                            4 * (lane ^ step), __builtin_bit_cast(int, x))));
  }
  return x;
}
// The same over the work-group; `part` has a place for each wave.
template <class F>
__device__ inline float OverGroup(float x, float* part, F f) {
  x = OverWave(x, f);
  Barrier();
  if (ThreadX() % 64 == 0) part[ThreadX() / 64] = x;
  Barrier();
  x = part[0];
  for (int i = 1; i < 4; ++i) x = f(x, part[i]);
  return x;
}
__device__ inline float Add(float a, float b) { return a + b; }
__device__ inline float Max(float a, float b) { return __builtin_fmaxf(a, b); }

KERNEL __launch_bounds__(256) softmax(float* out, const float* in, int n) {
  __shared__ float part[4];
  const float* row = in + BlockX() * uint32(n);
  float top = -__builtin_inff();
  for (int i = int(ThreadX()); i < n; i += 256) top = Max(top, row[i]);
  top = OverGroup(top, part, Max);
  float sum = 0;
  for (int i = int(ThreadX()); i < n; i += 256) {
    sum += __builtin_expf(row[i] - top);
  }
  sum = OverGroup(sum, part, Add);
  for (int i = int(ThreadX()); i < n; i += 256) {
    out[BlockX() * uint32(n) + uint32(i)] = __builtin_expf(row[i] - top) / sum;
  }
}

// bfloat16 in and out.
KERNEL __launch_bounds__(256)
    layernorm(__bf16* out, const __bf16* in, const float* gain,
              const float* bias, int n, float epsilon) {
  __shared__ float part[4];
  const __bf16* row = in + BlockX() * uint32(n);
  float sum = 0;
  for (int i = int(ThreadX()); i < n; i += 256) sum += float(row[i]);
  const float mean = OverGroup(sum, part, Add) / float(n);
  float squares = 0;
  for (int i = int(ThreadX()); i < n; i += 256) {
    const float d = float(row[i]) - mean;
    squares += d * d;
  }
  const float variance = OverGroup(squares, part, Add) / float(n);
  const float inverse = 1.0f / __builtin_sqrtf(variance + epsilon);
  for (int i = int(ThreadX()); i < n; i += 256) {
    out[BlockX() * uint32(n) + uint32(i)] =
        __bf16((float(row[i]) - mean) * inverse * gain[i] + bias[i]);
  }
}

// Index of the largest of each row, the first of equals; 64-bit keys.
KERNEL __launch_bounds__(256) argmax(int* out, const float* in, int n) {
  __shared__ int64 best[256];
  const float* row = in + BlockX() * uint32(n);
  int64 mine = -0x7fffffffffffffff;
  for (int i = int(ThreadX()); i < n; i += 256) {
    const int bits = __builtin_bit_cast(int, row[i]);
    const int ordered = bits ^ (bits >> 31 & 0x7fffffff);
    const int64 key = (int64(ordered) << 32) - i;
    mine = key > mine ? key : mine;
  }
  best[ThreadX()] = mine;
  for (uint32 step = 128; step > 0; step /= 2) {
    Barrier();
    if (ThreadX() < step) {
      const int64 other = best[ThreadX() + step];
      if (other > best[ThreadX()]) best[ThreadX()] = other;
    }
  }
  if (ThreadX() == 0) {
    const int64 key = best[0];
    out[BlockX()] = int(-(key & 0xffffffff) & 0xffffffff);
  }
}
