#ifndef ZYFA_LAUNCH_C_EXPECT_H_
#define ZYFA_LAUNCH_C_EXPECT_H_

/* For tests of the C interface in C, one file a program, which ends with
 * failures > 0. */

#include <stdio.h>
#include <string.h>

#include "zyfa/launch/zyfa.h"

static int failures = 0;

static void expect(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: %s does not hold; last error: %s\n", line, what,
         zyfa_last_error());
}

#define EXPECT(condition) expect((condition) ? 1 : 0, #condition, __LINE__)

/* The last call was refused with a message that has both parts. */
static int refused(zyfa_status status, const char* a, const char* b) {
  return status == ZYFA_INVALID_ARGUMENT &&
         strstr(zyfa_last_error(), a) != NULL &&
         strstr(zyfa_last_error(), b) != NULL;
}

static zyfa_tensor dense(uint64_t address, int64_t seqlen, int64_t heads) {
  zyfa_tensor tensor = ZYFA_TENSOR_INIT;
  tensor.address = address;
  tensor.batch = 2;
  tensor.seqlen = seqlen;
  tensor.heads = heads;
  tensor.head_dim = 128;
  tensor.head_stride = 256;
  tensor.seq_stride = heads * 256;
  tensor.batch_stride = seqlen * heads * 256;
  return tensor;
}

#endif /* ZYFA_LAUNCH_C_EXPECT_H_ */
