// Values that move between the lanes of a wave.
#include "zyfa/emu/testdata/matrix.h"

using U32x2 = Vec<uint32, 2>;

// out[case][lane] = update_dpp(old[lane], in[lane], ...), case by case.
template <int kControl, int kRowMask, int kBankMask, bool kBoundControl>
__device__ inline void Dpp(uint32*& out, uint32 old, uint32 in) {
  out[ThreadX()] = uint32(__builtin_amdgcn_update_dpp(
      int(old), int(in), kControl, kRowMask, kBankMask, kBoundControl));
  out += 64;
}
KERNEL __launch_bounds__(64)
    dpp(uint32* out, const uint32* olds, const uint32* ins) {
  const uint32 old = olds[ThreadX()], in = ins[ThreadX()];
  Dpp<0x1b, 15, 15, false>(out, old, in);   // quad_perm:[3,2,1,0]
  Dpp<0x93, 5, 15, false>(out, old, in);    // quad_perm:[3,0,1,2], rows 0, 2
  Dpp<0x101, 15, 15, false>(out, old, in);  // row_shl:1
  Dpp<0x10f, 15, 15, true>(out, old, in);   // row_shl:15
  Dpp<0x111, 15, 15, false>(out, old, in);  // row_shr:1
  Dpp<0x118, 15, 15, true>(out, old, in);   // row_shr:8
  Dpp<0x114, 15, 6, false>(out, old, in);   // row_shr:4, banks 1, 2
  Dpp<0x123, 15, 15, false>(out, old, in);  // row_ror:3
  Dpp<0x130, 15, 15, false>(out, old, in);  // wave_shl:1
  Dpp<0x134, 15, 15, false>(out, old, in);  // wave_rol:1
  Dpp<0x138, 15, 15, true>(out, old, in);   // wave_shr:1
  Dpp<0x13c, 15, 15, false>(out, old, in);  // wave_ror:1
  Dpp<0x140, 15, 15, false>(out, old, in);  // row_mirror
  Dpp<0x141, 15, 15, false>(out, old, in);  // row_half_mirror
  Dpp<0x142, 10, 15, false>(out, old, in);  // row_bcast:15, rows 1, 3
  Dpp<0x143, 12, 15, false>(out, old, in);  // row_bcast:31, rows 2, 3
  Dpp<0x15b, 15, 15, false>(out, old, in);  // row_newbcast:11
  out[ThreadX()] = uint32(
      __builtin_amdgcn_mov_dpp(int(in), 0x4e, 15, 15, true));  // quad swap
}

// One step of a reduction; lanes without a partner add `neutral`.
template <int kControl, int kRowMask>
__device__ inline int Partner(int x, int neutral) {
  return __builtin_amdgcn_update_dpp(neutral, x, kControl, kRowMask, 15, false);
}
template <class F>
__device__ inline int Scan(int x, int neutral, F f) {
  x = f(x, Partner<0x111, 15>(x, neutral));
  x = f(x, Partner<0x112, 15>(x, neutral));
  x = f(x, Partner<0x114, 15>(x, neutral));
  x = f(x, Partner<0x118, 15>(x, neutral));
  x = f(x, Partner<0x142, 10>(x, neutral));
  x = f(x, Partner<0x143, 12>(x, neutral));
  return x;
}

// Running sums of 64 integers, and the maximum of 64 floats.
KERNEL __launch_bounds__(256)
    scan(int* sums, float* maxima, const int* in, const float* floats) {
  const uint32 i = BlockX() * 256 + ThreadX();
  sums[i] = Scan(in[i], 0, [](int a, int b) { return a + b; });
  const auto max = [](int a, int b) {
    return __builtin_bit_cast(int,
                              __builtin_fmaxf(__builtin_bit_cast(float, a),
                                              __builtin_bit_cast(float, b)));
  };
  const int lowest = __builtin_bit_cast(int, -3.0e38f);
  const int x = Scan(__builtin_bit_cast(int, floats[i]), lowest, max);
  const int top = __builtin_amdgcn_readlane(x, 63);
  if (ThreadX() % 64 == 0) maxima[i / 64] = __builtin_bit_cast(float, top);
}

// d then s of both swaps.
KERNEL __launch_bounds__(64)
    swaps(uint32* out, const uint32* d, const uint32* s) {
  const uint32 t = ThreadX();
  U32x2 pair = __builtin_amdgcn_permlane16_swap(d[t], s[t], false, false);
  out[t] = pair[0];
  out[64 + t] = pair[1];
  pair = __builtin_amdgcn_permlane32_swap(d[t], s[t], false, false);
  out[128 + t] = pair[0];
  out[192 + t] = pair[1];
}

KERNEL __launch_bounds__(64)
    permutes(int* out, const int* values, const int* lanes) {
  const int t = int(ThreadX());
  const int x = values[t], lane = lanes[t];
  out[t] = __builtin_amdgcn_ds_bpermute(4 * lane, x);
  out[64 + t] = __builtin_amdgcn_ds_permute(4 * ((t * 11 + 5) % 64), x);
  out[128 + t] = __builtin_amdgcn_ds_swizzle(x, 0x041f);  // xor 1
  out[192 + t] = __builtin_amdgcn_ds_swizzle(x, 0x401f);  // xor 16
  out[256 + t] = __builtin_amdgcn_ds_swizzle(x, 0x0015);  // and 21
  out[320 + t] = __builtin_amdgcn_ds_swizzle(x, 0x801b);  // quad 3, 2, 1, 0
  // Half of the lanes only: what is inactive gives 0.
  int y = -1;
  if (t % 2 == 0) y = __builtin_amdgcn_ds_bpermute(4 * lane, x);
  out[384 + t] = y;
}

// Lanes by scalar numbers, votes and lane counts.
KERNEL __launch_bounds__(64)
    votes(uint64* masks, int* out, const int* in, int lane) {
  const int t = int(ThreadX());
  const int x = in[t];
  const uint64 odd = __builtin_amdgcn_ballot_w64(x % 2 != 0);
  out[t] = __builtin_amdgcn_readlane(x, lane);
  out[64 + t] = int(__builtin_amdgcn_mbcnt_hi(
      uint32(odd >> 32), __builtin_amdgcn_mbcnt_lo(uint32(odd), 0)));
  if (x > 50) {
    out[128 + t] = __builtin_amdgcn_readfirstlane(x);
    masks[1] = __builtin_amdgcn_ballot_w64(x > 75);
    masks[2] = __builtin_amdgcn_read_exec();
  }
  masks[0] = odd;
  out[192 + t] = __builtin_popcountll(odd) + __builtin_ctzll(odd | 1ull << 63);
}
