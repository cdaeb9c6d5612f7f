#ifndef ZYFA_BENCH_ROW_ERRORS_H_
#define ZYFA_BENCH_ROW_ERRORS_H_

#include <cstdint>
#include <vector>

namespace zyfa::bench {

// How far output rows are from others, in units of those.
struct RowErrors {
  double rel_rmse = 0.0;  // over all rows
  double p99_row = 0.0;   // 99 % of the rows have at most this
  double worst_row = 0.0;
};

// Both have rows of `dim` numbers, one row at least, as many.
RowErrors CompareRows(const std::vector<double>& rows,
                      const std::vector<double>& expected, int64_t dim);

// As the kernels store them.
std::vector<double> RoundedToBf16(const std::vector<double>& rows);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_ROW_ERRORS_H_
