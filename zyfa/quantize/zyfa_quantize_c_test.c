/* The quantiser's part of the C interface as a C program sees it, on the fake
 * HIP runtime that the environment variable ZYFA_HIP_LIBRARY names. */

#include <stddef.h>

#include "zyfa/launch/c_expect.h"
#include "zyfa/quantize/zyfa_quantize.h"

static zyfa_lse dense_lse(uint64_t address) {
  zyfa_lse lse = ZYFA_LSE_INIT;
  lse.address = address;
  lse.batch = 2;
  lse.heads = 4;
  lse.seqlen = 100;
  lse.head_stride = 400;
  lse.batch_stride = 1600;
  return lse;
}

int main(void) {
  zyfa_device* device = NULL;
  zyfa_tensor query = dense(0x1000000, 100, 4);
  zyfa_tensor key = dense(0x2000000, 200, 2);
  zyfa_tensor value = dense(0x3000000, 200, 2);
  zyfa_tensor output = dense(0x4000000, 100, 4);
  zyfa_lse lse = dense_lse(0x5000000);
  zyfa_lse correction = dense_lse(0x6000000);
  zyfa_quantized_attention call = ZYFA_QUANTIZED_ATTENTION_INIT;
  size_t bytes = 0;
  uint32_t precision;
  float scale = 0.25f;
  struct {
    zyfa_quantized_attention call;
    uint64_t later;
  } newer;

  call.query = &query;
  call.key = &key;
  call.value = &value;
  call.output = &output;
  call.workspace = 0x7000000;
  EXPECT(zyfa_open_hip(0, &device) == ZYFA_OK);
  for (precision = ZYFA_FP8_LEAN; precision <= ZYFA_INT8_MULTIPLY;
       ++precision) {
    call.precision = precision;
    EXPECT(zyfa_quantized_attention_workspace(&call, &bytes) == ZYFA_OK);
    EXPECT(bytes >= (100 * 4 + 200 * 2 * 2) * 2 * 128);
  }
  call.precision = ZYFA_INT8_SHIFT;
  EXPECT(zyfa_quantized_attention_forward(device, &call, NULL) == ZYFA_OK);
  call.mask = ZYFA_FULL;
  call.softmax_scale = &scale;
  call.lse = &lse;
  call.lse_correction = &correction;
  EXPECT(zyfa_quantized_attention_forward(device, &call, NULL) == ZYFA_OK);
  call.subtract_mean = 0;
  EXPECT(refused(zyfa_quantized_attention_forward(device, &call, NULL),
                 "lse_correction is given", "allowed: none"));
  call.lse_correction = NULL;
  call.rotate = 0;
  EXPECT(zyfa_quantized_attention_forward(device, &call, NULL) == ZYFA_OK);

  EXPECT(refused(zyfa_quantized_attention_forward(NULL, &call, NULL),
                 "device is NULL", "allowed"));
  EXPECT(refused(zyfa_quantized_attention_forward(device, NULL, NULL),
                 "attention is NULL", "allowed"));
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, NULL),
                 "bytes is NULL", "allowed"));
  call.precision = 5;
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, &bytes),
                 "precision is 5", "4 (INT8, multiplier form)"));
  EXPECT(bytes == 0);
  call.precision = 0;
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, &bytes),
                 "precision is 0", "1 (FP8, lean P)"));
  call.precision = ZYFA_FP8_EXACT;
  call.rotate = 2;
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, &bytes),
                 "rotate is 2", "allowed: 0, 1"));
  call.rotate = 1;
  call.subtract_mean = 7;
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, &bytes),
                 "subtract_mean is 7", "allowed: 0, 1"));
  call.subtract_mean = 0;
  call.reserved = 1;
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, &bytes),
                 "reserved is 1", "allowed: 0"));
  call.reserved = 0;
  call.mask = 3;
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, &bytes), "mask is 3",
                 "1 (causal), 2 (full)"));
  call.mask = ZYFA_CAUSAL;
  call.value = NULL;
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, &bytes),
                 "value is NULL", "allowed"));
  call.value = &value;

  /* Structs of other versions. */
  call.struct_size = 80;
  EXPECT(refused(zyfa_quantized_attention_workspace(&call, &bytes),
                 "attention.struct_size is 80", "allowed: 88 to 65536"));
  call.struct_size = sizeof(call);
  newer.call = call;
  newer.call.struct_size = sizeof(newer);
  newer.later = 0;
  EXPECT(zyfa_quantized_attention_workspace(&newer.call, &bytes) == ZYFA_OK);
  newer.later = 1;
  EXPECT(refused(zyfa_quantized_attention_workspace(&newer.call, &bytes),
                 "attention has byte 88 set to 1", "allowed: 0"));
  zyfa_close(device);
  return failures == 0 ? 0 : 1;
}
