// Vector types and the places of matrix elements in a wave's registers, as the
// matrix instructions' users know them (cdna4-isa.md 1).
#ifndef ZYFA_EMU_TESTDATA_MATRIX_H_
#define ZYFA_EMU_TESTDATA_MATRIX_H_

#include "zyfa/emu/testdata/device.h"

template <class T, int kCount>
using Vec = T __attribute__((ext_vector_type(kCount)));

// Row and column of result register r of lane l, and the product (of several in
// one instruction) that it belongs to.
struct Place {
  int block, row, column;
};
template <int kRows>
__device__ inline Place ResultPlace(int l, int r) {
  if constexpr (kRows == 32) {
    return {r / 16, 8 * (r % 16 / 4) + 4 * (l / 32) + r % 4, l % 32};
  } else if constexpr (kRows == 16) {
    return {r / 4, 4 * (l / 16) + r % 4, l % 16};
  } else {
    return {l / 4, r, l % 4};
  }
}
// The same for float64.
template <int kRows>
__device__ inline Place ResultPlaceF64(int l, int r) {
  if constexpr (kRows == 16) {
    return {0, 4 * r + l / 16, l % 16};
  } else {
    return {l / 4 % 4, l / 16, l % 4};
  }
}

#endif  // ZYFA_EMU_TESTDATA_MATRIX_H_
