#ifndef ZYFA_REFERENCE_EXPECT_ROWS_ALONE_H_
#define ZYFA_REFERENCE_EXPECT_ROWS_ALONE_H_

#include <cstdint>

#include "gtest/gtest.h"
#include "zyfa/reference/problem.h"

namespace zyfa::reference {

// Each row comes out the same whatever other rows are computed, and by however
// many threads. `compute(AttentionOptions)`: of a problem with batch 1, 100
// rows, 4 heads and head dim 128 of V.
template <typename Compute>
void ExpectRowsAlone(const Compute& compute) {
  AttentionOptions options;
  options.threads = 1;
  const AttentionResult one = compute(options);
  options.threads = 5;
  EXPECT_EQ(compute(options).output, one.output);
  options.rows = {99, 5};
  const AttentionResult some = compute(options);
  for (int64_t i = 0; i < 4 * 128; ++i) {
    EXPECT_EQ(some.output[i], one.output[99 * 4 * 128 + i]);
    EXPECT_EQ(some.output[4 * 128 + i], one.output[5 * 4 * 128 + i]);
  }
}

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_EXPECT_ROWS_ALONE_H_
