#ifndef ZYFA_LAUNCH_ZYFA_H_
#define ZYFA_LAUNCH_ZYFA_H_

/* ZYFA's C interface. It is a plain C11 (and C++) header over the C++ API of
 * zyfa/launch/attention.h, which states all rules for shapes and strides.
 *
 * Functions return a zyfa_status; zyfa_last_error() has the words to it.
 * Structs begin with their own size, which the ZYFA_..._INIT macros fill in, so
 * that programs built against an older or newer header keep their meaning. A
 * size is that of a version of the struct; what a newer one adds must be 0. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZYFA_API_VERSION 3

/* The header's version that the library was built with. */
uint32_t zyfa_api_version(void);

typedef enum zyfa_status {
  ZYFA_OK = 0,
  ZYFA_INVALID_ARGUMENT = 1,    /* a refusal, before anything was done */
  ZYFA_NOT_FOUND = 2,           /* no such variant or kernel */
  ZYFA_RESOURCE_EXHAUSTED = 3,  /* out of memory */
  ZYFA_FAILED_PRECONDITION = 4, /* unusable runtime, GPU is not gfx950 or not
                                   as a kernel needs it */
  ZYFA_UNAVAILABLE = 5,         /* no runtime, no GPU */
  ZYFA_INTERNAL = 6             /* the device failed */
} zyfa_status;

/* What went wrong in the calling thread's last call of this interface that
 * returns a zyfa_status; "" if nothing did. Valid until the next such call. */
const char* zyfa_last_error(void);

/* ---- Devices ---------------------------------------------------------- */

typedef struct zyfa_device zyfa_device;

/* Opens HIP's device of that ordinal; the HIP runtime is loaded now. Programs
 * that want the emulator include zyfa/launch/zyfa_emulator.h too. */
zyfa_status zyfa_open_hip(int32_t ordinal, zyfa_device** device);
/* Closes a device with no work in flight. Memory must have been freed before.
 * NULL is allowed. */
void zyfa_close(zyfa_device* device);

/* "hip" or "emulator"; the device's own name; 1 if its results are a model's
 * and no GPU's. Valid until zyfa_close(). */
const char* zyfa_device_kind(const zyfa_device* device);
const char* zyfa_device_name(const zyfa_device* device);
int zyfa_device_is_modelled(const zyfa_device* device);

/* Device memory by address. Copies and fills are done when they return. */
zyfa_status zyfa_allocate(zyfa_device* device, size_t bytes, uint64_t* address);
zyfa_status zyfa_free(zyfa_device* device, uint64_t address);
zyfa_status zyfa_copy_to_device(zyfa_device* device, uint64_t destination,
                                const void* source, size_t bytes);
zyfa_status zyfa_copy_from_device(zyfa_device* device, void* destination,
                                  uint64_t source, size_t bytes);
zyfa_status zyfa_fill(zyfa_device* device, uint64_t address, uint8_t value,
                      size_t bytes);

/* Streams are the device's own (hipStream_t with HIP); NULL is the default
 * one. */
zyfa_status zyfa_create_stream(zyfa_device* device, void** stream);
zyfa_status zyfa_destroy_stream(zyfa_device* device, void* stream);
zyfa_status zyfa_synchronize_stream(zyfa_device* device, void* stream);
/* Waits for all streams. */
zyfa_status zyfa_synchronize(zyfa_device* device);

/* ---- Attention -------------------------------------------------------- */

typedef enum zyfa_data_type {
  ZYFA_BF16 = 1,
  ZYFA_FP8 = 2, /* OCP e4m3 */
  ZYFA_INT8 = 3 /* of query and key, beside a value of FP8 */
} zyfa_data_type;

typedef enum zyfa_mask {
  ZYFA_CAUSAL = 1, /* aligned to the bottom right */
  ZYFA_FULL = 2
} zyfa_mask;

/* [batch, seqlen, heads, head_dim]; strides in bytes, head_dim contiguous. */
typedef struct zyfa_tensor {
  uint32_t struct_size;
  uint32_t data_type; /* zyfa_data_type */
  uint64_t address;
  int64_t batch;
  int64_t seqlen;
  int64_t heads;
  int64_t head_dim;
  int64_t batch_stride;
  int64_t seq_stride;
  int64_t head_stride;
} zyfa_tensor;

/* float32 [batch, heads, seqlen]; strides in bytes, seqlen contiguous. */
typedef struct zyfa_lse {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  uint64_t address;
  int64_t batch;
  int64_t heads;
  int64_t seqlen;
  int64_t batch_stride;
  int64_t head_stride;
} zyfa_lse;

/* A descale or an output scale of FP8 tensors: the number `value` or, with an
 * address, float32 [batch, heads] on the device; strides in bytes. A size of 1
 * stands for all batch entries or heads. */
typedef struct zyfa_scale {
  uint32_t struct_size;
  float value; /* if address is 0; no meaning otherwise */
  uint64_t address;
  int64_t batch;
  int64_t heads;
  int64_t batch_stride;
  int64_t head_stride;
} zyfa_scale;

/* A number for each token, [batch, heads, seqlen]; strides in bytes, seqlen
 * contiguous. */
typedef struct zyfa_tokens {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  uint64_t address;
  int64_t batch;
  int64_t heads;
  int64_t seqlen;
  int64_t batch_stride;
  int64_t head_stride;
} zyfa_tokens;

typedef struct zyfa_attention {
  uint32_t struct_size;
  uint32_t mask; /* zyfa_mask */
  const zyfa_tensor* query;
  const zyfa_tensor* key;
  const zyfa_tensor* value;
  const zyfa_tensor* output;
  const zyfa_lse* lse;        /* NULL: not wanted */
  const float* softmax_scale; /* NULL: 1 / sqrt(query's head_dim). INT8:
                                 NULL, it is in the codes */
  const char* variant;        /* NULL: picked by type, head dims and mask */
  /* Version 2. NULL: 1; all that BF16 tensors allow. */
  const zyfa_scale* query_descale;
  const zyfa_scale* key_descale;
  const zyfa_scale* value_descale;
  const zyfa_scale* output_scale;
  /* Version 3. Of INT8 query and key; NULL with others. */
  const zyfa_tokens* query_shift;    /* uint8, of query's tokens: 0 to 20, other
                                        rows are NaN; not NULL */
  const zyfa_tokens* key_multiplier; /* uint32, of key's tokens: 1 to 255;
                                        NULL: 1 */
} zyfa_attention;

/* struct initialisers: zyfa_tensor query = ZYFA_TENSOR_INIT; */
#define ZYFA_TENSOR_INIT \
  {sizeof(zyfa_tensor), ZYFA_BF16, 0, 0, 0, 0, 0, 0, 0, 0}
#define ZYFA_LSE_INIT {sizeof(zyfa_lse), 0, 0, 0, 0, 0, 0, 0}
#define ZYFA_TOKENS_INIT {sizeof(zyfa_tokens), 0, 0, 0, 0, 0, 0, 0}
#define ZYFA_SCALE_INIT {sizeof(zyfa_scale), 1.0f, 0, 1, 1, 0, 0}
#define ZYFA_ATTENTION_INIT \
  {sizeof(zyfa_attention),  \
   ZYFA_CAUSAL,             \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL,                    \
   NULL}

/* ZYFA_OK if zyfa_attention_forward() would launch this call; else
 * zyfa_last_error() names the argument, its value and what is allowed. */
zyfa_status zyfa_supports(const zyfa_attention* attention);

/* Puts the call on a stream. Results are there after the stream has been
 * synchronised. */
zyfa_status zyfa_attention_forward(zyfa_device* device,
                                   const zyfa_attention* attention,
                                   void* stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ZYFA_LAUNCH_ZYFA_H_ */
