#include "zyfa/bench/row_errors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "zyfa/numerics/bf16.h"

namespace zyfa::bench {
namespace {

double Quotient(double squared_error, double squares) {
  if (squared_error == 0.0) return 0.0;
  if (squares == 0.0) return std::numeric_limits<double>::infinity();
  return std::sqrt(squared_error / squares);
}

}  // namespace

RowErrors CompareRows(const std::vector<double>& rows,
                      const std::vector<double>& expected, int64_t dim) {
  double all_error = 0.0, all = 0.0;
  std::vector<double> of_rows;
  for (size_t first = 0; first < rows.size();
       first += static_cast<size_t>(dim)) {
    double error = 0.0, squares = 0.0;
    for (size_t i = first; i < first + static_cast<size_t>(dim); ++i) {
      error += (rows[i] - expected[i]) * (rows[i] - expected[i]);
      squares += expected[i] * expected[i];
    }
    of_rows.push_back(Quotient(error, squares));
    all_error += error;
    all += squares;
  }
  std::sort(of_rows.begin(), of_rows.end());
  const size_t rank = (of_rows.size() * 99 + 99) / 100;  // rounded up
  return {Quotient(all_error, all), of_rows[rank - 1], of_rows.back()};
}

std::vector<double> RoundedToBf16(const std::vector<double>& rows) {
  std::vector<double> rounded;
  rounded.reserve(rows.size());
  for (const double x : rows) {
    rounded.push_back(
        double{numerics::Bf16::FromFloat(static_cast<float>(x)).ToFloat()});
  }
  return rounded;
}

}  // namespace zyfa::bench
