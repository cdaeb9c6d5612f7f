/* The C interface as a C program sees it, on the fake HIP runtime that the
 * environment variable ZYFA_HIP_LIBRARY names. */

#include <math.h>
#include <string.h>

#include "zyfa/launch/c_expect.h"
#include "zyfa/launch/zyfa.h"

static void test_device(void) {
  zyfa_device* device = NULL;
  uint64_t address = 0;
  void* stream = NULL;
  unsigned char bytes[4] = {1, 2, 3, 4};
  unsigned char read[4] = {0, 0, 0, 0};

  EXPECT(zyfa_api_version() == ZYFA_API_VERSION);
  EXPECT(zyfa_open_hip(0, &device) == ZYFA_OK);
  EXPECT(strcmp(zyfa_last_error(), "") == 0);
  EXPECT(strcmp(zyfa_device_kind(device), "hip") == 0);
  EXPECT(strcmp(zyfa_device_name(device), "Fake GPU") == 0);
  EXPECT(!zyfa_device_is_modelled(device));
  EXPECT(zyfa_allocate(device, 4, &address) == ZYFA_OK);
  EXPECT(zyfa_fill(device, address, 7, 4) == ZYFA_OK);
  EXPECT(zyfa_copy_to_device(device, address + 1, bytes, 3) == ZYFA_OK);
  EXPECT(zyfa_copy_from_device(device, read, address, 4) == ZYFA_OK);
  EXPECT(read[0] == 7 && read[1] == 1 && read[2] == 2 && read[3] == 3);
  EXPECT(zyfa_create_stream(device, &stream) == ZYFA_OK && stream != NULL);
  EXPECT(zyfa_synchronize_stream(device, stream) == ZYFA_OK);
  EXPECT(zyfa_destroy_stream(device, stream) == ZYFA_OK);
  EXPECT(zyfa_synchronize(device) == ZYFA_OK);
  EXPECT(zyfa_free(device, address) == ZYFA_OK);
  EXPECT(zyfa_free(device, address) == ZYFA_INVALID_ARGUMENT);
  EXPECT(strstr(zyfa_last_error(), "hipFree") != NULL);
  zyfa_close(device);
  zyfa_close(NULL);

  EXPECT(refused(zyfa_open_hip(5, &device), "ordinal is 5", "allowed: 0 to 0"));
  EXPECT(device == NULL);
  EXPECT(refused(zyfa_open_hip(0, NULL), "device is NULL", "allowed"));
  EXPECT(
      refused(zyfa_allocate(NULL, 4, &address), "device is NULL", "allowed"));
  EXPECT(refused(zyfa_synchronize(NULL), "device is NULL", "allowed"));
}

static void test_attention(void) {
  zyfa_device* device = NULL;
  zyfa_tensor query = dense(0x1000000, 100, 4);
  zyfa_tensor key = dense(0x2000000, 200, 2);
  zyfa_tensor value = dense(0x3000000, 200, 2);
  zyfa_tensor output = dense(0x4000000, 100, 4);
  zyfa_lse lse = ZYFA_LSE_INIT;
  zyfa_attention call = ZYFA_ATTENTION_INIT;
  float scale = 0.25f;
  struct {
    zyfa_tensor tensor;
    uint64_t later;
  } newer;

  lse.address = 0x5000000;
  lse.batch = 2;
  lse.heads = 4;
  lse.seqlen = 100;
  lse.head_stride = 400;
  lse.batch_stride = 1600;
  call.query = &query;
  call.key = &key;
  call.value = &value;
  call.output = &output;
  call.lse = &lse;
  call.softmax_scale = &scale;

  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  EXPECT(zyfa_open_hip(0, &device) == ZYFA_OK);
  EXPECT(zyfa_attention_forward(device, &call, NULL) == ZYFA_OK);
  EXPECT(refused(zyfa_attention_forward(NULL, &call, NULL), "device is NULL",
                 "allowed"));
  call.variant = "bf16_d128_causal";
  EXPECT(zyfa_attention_forward(device, &call, NULL) == ZYFA_OK);
  call.variant = "bf16_d9_causal";
  EXPECT(zyfa_supports(&call) == ZYFA_NOT_FOUND);
  call.variant = NULL;
  call.mask = ZYFA_FULL;
  EXPECT(zyfa_attention_forward(device, &call, NULL) == ZYFA_OK);
  zyfa_close(device);

  call.mask = 0;
  EXPECT(refused(zyfa_supports(&call), "mask is 0", "1 (causal), 2 (full)"));
  call.mask = ZYFA_CAUSAL;
  scale = (float)INFINITY;
  EXPECT(refused(zyfa_supports(&call), "softmax_scale is inf", "finite"));
  call.softmax_scale = NULL;
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  call.lse = NULL;
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  call.lse = &lse;
  lse.reserved = 1;
  EXPECT(refused(zyfa_supports(&call), "lse.reserved is 1", "allowed: 0"));
  lse.reserved = 0;
  query.data_type = 0;
  EXPECT(refused(zyfa_supports(&call), "query.data_type is 0",
                 "1 (bf16), 2 (fp8), 3 (int8)"));
  query.data_type = 4;
  EXPECT(refused(zyfa_supports(&call), "query.data_type is 4",
                 "1 (bf16), 2 (fp8), 3 (int8)"));
  query.data_type = ZYFA_BF16;
  query.seq_stride = 24;
  EXPECT(refused(zyfa_supports(&call), "query.seq_stride is 24 bytes",
                 "multiples of 16"));
  query = dense(0x1000000, 100, 4);
  call.value = NULL;
  EXPECT(refused(zyfa_supports(&call), "value is NULL", "allowed"));
  call.value = &value;
  EXPECT(refused(zyfa_supports(NULL), "attention is NULL", "allowed"));

  /* Structs of other versions. */
  output.struct_size = 71;
  EXPECT(refused(zyfa_supports(&call), "output.struct_size is 71",
                 "allowed: 72 to"));
  output.struct_size = 0xffffffffu;
  EXPECT(refused(zyfa_supports(&call), "output.struct_size is 4294967295",
                 "allowed: 72 to"));
  newer.tensor = dense(0x4000000, 100, 4);
  newer.tensor.struct_size = sizeof(newer);
  newer.later = 0;
  call.output = &newer.tensor;
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  newer.later = 1;
  EXPECT(refused(zyfa_supports(&call), "output has byte 72 set to 1",
                 "allowed: 0"));
}

static zyfa_tensor dense_fp8(uint64_t address, int64_t seqlen, int64_t heads) {
  zyfa_tensor tensor = dense(address, seqlen, heads);
  tensor.data_type = ZYFA_FP8;
  tensor.head_stride /= 2;
  tensor.seq_stride /= 2;
  tensor.batch_stride /= 2;
  return tensor;
}

static void test_scales(void) {
  zyfa_tensor query = dense_fp8(0x1000000, 100, 4);
  zyfa_tensor key = dense_fp8(0x2000000, 200, 2);
  zyfa_tensor value = dense_fp8(0x3000000, 200, 2);
  zyfa_tensor output = dense(0x4000000, 100, 4);
  zyfa_scale number = ZYFA_SCALE_INIT;
  zyfa_scale tensor = ZYFA_SCALE_INIT;
  zyfa_scale wrong = ZYFA_SCALE_INIT;
  zyfa_attention call = ZYFA_ATTENTION_INIT;
  zyfa_attention older;

  call.query = &query;
  call.key = &key;
  call.value = &value;
  call.output = &output;
  number.value = 0.5f;
  tensor.address = 0x5000000;
  tensor.batch = 2;
  tensor.heads = 2;
  tensor.batch_stride = 8;
  tensor.head_stride = 4;

  /* Each field is its own argument's. */
  wrong.value = (float)INFINITY;
  call.query_descale = &wrong;
  EXPECT(refused(zyfa_supports(&call), "query_descale is inf", "finite"));
  call.query_descale = &number;
  call.key_descale = &wrong;
  EXPECT(refused(zyfa_supports(&call), "key_descale is inf", "finite"));
  call.key_descale = &tensor;
  wrong.address = 0x5000000;
  wrong.batch = 3;
  call.value_descale = &wrong;
  EXPECT(refused(zyfa_supports(&call), "value_descale.batch is 3",
                 "1, or 2, which is query.batch"));
  wrong.batch = 1;
  wrong.heads = 4;
  EXPECT(refused(zyfa_supports(&call), "value_descale.heads is 4",
                 "1, or 2, which is key.heads"));
  call.value_descale = NULL;
  call.output_scale = &number;
  EXPECT(refused(zyfa_supports(&call), "output_scale is 0.5",
                 "none, but for an FP8 output"));
  call.output_scale = NULL;
  value.data_type = ZYFA_BF16;
  EXPECT(refused(zyfa_supports(&call), "value.data_type is bf16",
                 "fp8, which is query.data_type"));
  query.data_type = key.data_type = ZYFA_BF16;
  EXPECT(refused(zyfa_supports(&call), "query_descale is 0.5",
                 "none, but for FP8 inputs"));

  /* Version 1 of the call ends before the scales; what lies there is no part
   * of it. */
  query = dense(0x1000000, 100, 4);
  key = dense(0x2000000, 200, 2);
  value = dense(0x3000000, 200, 2);
  older = call;
  older.struct_size = 64;
  EXPECT(zyfa_supports(&older) == ZYFA_OK);
  /* A size that ends elsewhere would take a part of a pointer for one. */
  for (older.struct_size = 0; older.struct_size < sizeof(older);
       ++older.struct_size) {
    if (older.struct_size == 64 || older.struct_size == 96) continue;
    EXPECT(refused(zyfa_supports(&older), "attention.struct_size is ",
                   "allowed: 64, 96, 112 to 65536"));
  }
  older.struct_size = 96;
  EXPECT(refused(zyfa_supports(&older), "query_descale is 0.5", "allowed"));
  older.struct_size = sizeof(older);
  EXPECT(refused(zyfa_supports(&older), "query_descale is 0.5", "allowed"));
  wrong.struct_size = 47;
  call.query_descale = &wrong;
  EXPECT(refused(zyfa_supports(&call), "query_descale.struct_size is 47",
                 "allowed: 48 to"));
}

static zyfa_tensor dense_int8(uint64_t address, int64_t seqlen, int64_t heads) {
  zyfa_tensor tensor = dense_fp8(address, seqlen, heads);
  tensor.data_type = ZYFA_INT8;
  return tensor;
}

static zyfa_tokens dense_tokens(uint64_t address, int64_t seqlen, int64_t heads,
                                int64_t bytes) {
  zyfa_tokens tokens = ZYFA_TOKENS_INIT;
  tokens.address = address;
  tokens.batch = 2;
  tokens.heads = heads;
  tokens.seqlen = seqlen;
  tokens.head_stride = seqlen * bytes;
  tokens.batch_stride = heads * seqlen * bytes;
  return tokens;
}

static void test_int8(void) {
  zyfa_device* device = NULL;
  zyfa_tensor query = dense_int8(0x1000000, 100, 4);
  zyfa_tensor key = dense_int8(0x2000000, 200, 2);
  zyfa_tensor value = dense_fp8(0x3000000, 200, 2);
  zyfa_tensor output = dense(0x4000000, 100, 4);
  zyfa_tokens shift = dense_tokens(0x5000001, 100, 4, 1);
  zyfa_tokens multiplier = dense_tokens(0x6000004, 200, 2, 4);
  zyfa_scale scale = ZYFA_SCALE_INIT;
  zyfa_attention call = ZYFA_ATTENTION_INIT;
  zyfa_attention older;
  float softmax_scale = 0.25f;
  struct {
    zyfa_tokens tokens;
    uint64_t later;
  } newer;

  call.query = &query;
  call.key = &key;
  call.value = &value;
  call.output = &output;
  EXPECT(refused(zyfa_supports(&call), "query_shift is not given",
                 "a shift for each row of query"));
  call.query_shift = &shift;
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  call.key_multiplier = &multiplier;
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  EXPECT(zyfa_open_hip(0, &device) == ZYFA_OK);
  EXPECT(zyfa_attention_forward(device, &call, NULL) == ZYFA_OK);
  zyfa_close(device);

  /* Each is its own argument's; the multipliers pick the kernel. */
  call.variant = "int8_multiply_d128_causal";
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  call.variant = "int8_shift_d128_causal";
  EXPECT(refused(zyfa_supports(&call), "key_multiplier is given",
                 "allowed: none"));
  call.key_multiplier = NULL;
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  call.variant = "int8_multiply_d128_causal";
  EXPECT(refused(zyfa_supports(&call), "key_multiplier is not given",
                 "allowed: a tensor"));
  call.variant = NULL;
  call.key_multiplier = &multiplier;
  shift.heads = 2;
  EXPECT(refused(zyfa_supports(&call), "query_shift.heads is 2",
                 "4, which is query.heads"));
  shift.heads = 4;
  shift.batch_stride = -1;
  EXPECT(refused(zyfa_supports(&call), "query_shift.batch_stride is -1 bytes",
                 "not negative"));
  shift.batch_stride = 400;
  multiplier.seqlen = 100;
  EXPECT(refused(zyfa_supports(&call), "key_multiplier.seqlen is 100",
                 "200, which is key.seqlen"));
  multiplier.seqlen = 200;
  multiplier.head_stride = 802;
  EXPECT(refused(zyfa_supports(&call), "key_multiplier.head_stride is 802",
                 "multiples of 4"));
  multiplier.head_stride = 800;
  multiplier.address = 0x6000002;
  EXPECT(refused(zyfa_supports(&call), "key_multiplier.address is 0x6000002",
                 "multiples of 4"));
  multiplier.address = 0x6000004;

  /* What int8 already contains. */
  call.softmax_scale = &softmax_scale;
  EXPECT(refused(zyfa_supports(&call), "softmax_scale is 0.25",
                 "none with INT8 queries"));
  call.softmax_scale = NULL;
  call.query_descale = &scale;
  EXPECT(refused(zyfa_supports(&call), "query_descale is 1",
                 "none, but for FP8 inputs"));
  call.query_descale = NULL;
  call.value_descale = &scale;
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  call.value_descale = NULL;
  value.data_type = ZYFA_INT8;
  EXPECT(refused(zyfa_supports(&call), "value.data_type is int8",
                 "fp8, for query.data_type is int8"));
  value.data_type = ZYFA_FP8;

  /* Structs of other versions. */
  shift.reserved = 7;
  EXPECT(
      refused(zyfa_supports(&call), "query_shift.reserved is 7", "allowed: 0"));
  shift.reserved = 0;
  multiplier.struct_size = 55;
  EXPECT(refused(zyfa_supports(&call), "key_multiplier.struct_size is 55",
                 "allowed: 56 to"));
  newer.tokens = dense_tokens(0x6000004, 200, 2, 4);
  newer.tokens.struct_size = sizeof(newer);
  newer.later = 0;
  call.key_multiplier = &newer.tokens;
  EXPECT(zyfa_supports(&call) == ZYFA_OK);
  newer.later = (uint64_t)1 << 8;
  EXPECT(refused(zyfa_supports(&call), "key_multiplier has byte 57 set to 1",
                 "allowed: 0"));
  call.key_multiplier = NULL;

  /* Version 2 of the call ends before the shifts. */
  older = call;
  older.struct_size = 96;
  EXPECT(refused(zyfa_supports(&older), "query_shift is not given", "allowed"));
  query = dense_fp8(0x1000000, 100, 4);
  key = dense_fp8(0x2000000, 200, 2);
  EXPECT(zyfa_supports(&older) == ZYFA_OK);
  older.struct_size = sizeof(older);
  EXPECT(refused(zyfa_supports(&older), "query_shift is a tensor at 0x5000001",
                 "none, but for INT8"));
}

int main(void) {
  test_device();
  test_attention();
  test_scales();
  test_int8();
  return failures == 0 ? 0 : 1;
}
