#ifndef ZYFA_QUANTIZE_ZYFA_QUANTIZE_H_
#define ZYFA_QUANTIZE_ZYFA_QUANTIZE_H_

/* Attention of bf16 tensors by FP8 and INT8 kernels, for programs that use
 * ZYFA's C interface (zyfa/launch/zyfa.h). It stands apart from zyfa.h because
 * it needs the quantiser's kernels. All rules are those of
 * zyfa/quantize/quantized_attention.h. */

#include "zyfa/launch/zyfa.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What Q, K and V are quantised to, and the kernels that run. */
typedef enum zyfa_precision {
  ZYFA_FP8_LEAN = 1,
  ZYFA_FP8_EXACT = 2,
  ZYFA_INT8_SHIFT = 3,
  ZYFA_INT8_MULTIPLY = 4
} zyfa_precision;

typedef struct zyfa_quantized_attention {
  uint32_t struct_size;
  uint32_t mask; /* zyfa_mask */
  const zyfa_tensor* query;
  const zyfa_tensor* key;
  const zyfa_tensor* value;
  const zyfa_tensor* output;
  const zyfa_lse* lse;            /* NULL: not wanted */
  const zyfa_lse* lse_correction; /* to be added to lse; NULL unless lse is
                                     given and the mean is subtracted */
  const float* softmax_scale;     /* NULL: 1 / sqrt(query's head_dim) */
  uint32_t precision;             /* zyfa_precision */
  uint32_t rotate;        /* 1: Q and K, by a Hadamard transform; or 0 */
  uint32_t subtract_mean; /* 1: the mean key from each key; or 0 */
  uint32_t reserved;      /* 0 */
  uint64_t
      workspace; /* zyfa_quantized_attention_workspace() bytes of device
                    memory at a multiple of 256, for the time of the call */
} zyfa_quantized_attention;

#define ZYFA_QUANTIZED_ATTENTION_INIT \
  {sizeof(zyfa_quantized_attention),  \
   ZYFA_CAUSAL,                       \
   NULL,                              \
   NULL,                              \
   NULL,                              \
   NULL,                              \
   NULL,                              \
   NULL,                              \
   NULL,                              \
   ZYFA_FP8_LEAN,                     \
   1,                                 \
   1,                                 \
   0,                                 \
   0}

/* What the call needs at `workspace`, which is not looked at. Refuses all that
 * zyfa_quantized_attention_forward() would refuse. */
zyfa_status zyfa_quantized_attention_workspace(
    const zyfa_quantized_attention* attention, size_t* bytes);

/* Puts the call on a stream, as zyfa_attention_forward() does. */
zyfa_status zyfa_quantized_attention_forward(
    zyfa_device* device, const zyfa_quantized_attention* attention,
    void* stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ZYFA_QUANTIZE_ZYFA_QUANTIZE_H_ */
