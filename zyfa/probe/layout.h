#ifndef ZYFA_PROBE_LAYOUT_H_
#define ZYFA_PROBE_LAYOUT_H_

#include <cstdint>

namespace zyfa::probe {

// What the probe kernels and their host code share. A work-group is one wave;
// lane l of group g reads the input at index 64 g + l and writes the result
// there.

// Argument block of all kernels.
struct ProbeArgs {
  uint64_t inputs;
  uint64_t results;
};

// "vector": every instruction of VectorResult on the same operands. FP32
// denormals are kept, rounding is to nearest even.
struct VectorInput {
  uint32_t a, b, c;
  uint32_t old;  // of a destination that is written in part
};
struct VectorResult {
  uint32_t ashr_low;   // v_ashr_pk_u8_i32 old, a, b, 8
  uint32_t ashr_high;  // the same into the high half
  uint32_t ashr_both;  // a, b into the low half of old, then b, a into the high
  uint32_t byte_1;     // v_cvt_pk_u8_f32 a into byte 1 of old
  uint32_t exp;        // v_exp_f32 a
  uint32_t fma;        // v_fma_f32 a, b, c
  uint32_t code;       // v_ashr_pk_u8_i32 0, fma, fma, 8
  uint32_t scaled_low;  // v_cvt_scalef32_pk_fp8_f32 old, a, b, c; FP16_OVFL = 0
  uint32_t scaled_high;     // the same into the high half
  uint32_t scaled_clamped;  // as scaled_low, FP16_OVFL = 1
  uint32_t fp8_clamped;     // v_cvt_pk_fp8_f32 old, a, b; FP16_OVFL = 1
  uint32_t shifted_low;     // v_ashr_pk_u8_i32 old, a, b, c
  uint32_t shifted_high;    // the same into the high half
  uint32_t shifted_both;    // as ashr_both, with the shift c
  uint32_t mad;             // v_mad_i32_i24 a, b, c
  uint32_t mul;             // v_mul_i32_i24 a, b
};

// "matrix": v_mfma_scale_f32_32x32x64_f8f6f4 of e4m3 operands, in the places
// that cdna4-isa 1 gives.
struct MatrixInput {
  uint32_t a[8], b[8];
  uint32_t c[16];
  uint32_t scale_a, scale_b;  // byte 0
  uint32_t unused[2];
};
struct MatrixResult {
  uint32_t d[16];
};

// "int8": v_mfma_i32_32x32x32_i8, its operands in the places that cdna4-isa 1.1
// gives.
struct Int8Input {
  uint32_t a[4], b[4];
  uint32_t c[16];
};
struct Int8Result {
  uint32_t apart[16];     // D in other registers than C
  uint32_t in_place[16];  // in those of C
  uint32_t bare[16];      // C = 0, the constant
  uint32_t clamped[16];   // as apart, FP16_OVFL = 1
};

// "sparse": v_smfmac_f32_16x16x128_fp8_fp8 (cdna4-isa 1.3).
struct SparseInput {
  uint32_t a[4], b[8];
  uint32_t d[4];  // before
  uint32_t places;
  uint32_t unused[3];
};
struct SparseResult {
  uint32_t d[4];
};

static_assert(sizeof(VectorInput) == 16 && sizeof(VectorResult) == 64);
static_assert(sizeof(MatrixInput) == 144 && sizeof(MatrixResult) == 64);
static_assert(sizeof(Int8Input) == 96 && sizeof(Int8Result) == 256);
static_assert(sizeof(SparseInput) == 80 && sizeof(SparseResult) == 16);

}  // namespace zyfa::probe

#endif  // ZYFA_PROBE_LAYOUT_H_
