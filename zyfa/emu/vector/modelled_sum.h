#ifndef ZYFA_EMU_VECTOR_MODELLED_SUM_H_
#define ZYFA_EMU_VECTOR_MODELLED_SUM_H_

#include <cstdint>

#include "zyfa/emu/matrix_model.h"

namespace zyfa::emu::valu {

// One operand of a matrix product: values[k * lines + line] * 2^scale.
struct MatrixOperand {
  const double* values;
  int lines;  // rows of A or columns of B
  // Exponent of the format's smallest normal number; subnormals count with it.
  int least_exponent;
  // scales[k / 32 * lines + line], or nullptr: all 0.
  const int16_t* scales = nullptr;
};

// Product sums under every model but kExact, which has a path of its own:
// sum[i * b.lines + j] += sum over k < depth of a[k][i] * b[k][j]. Sums are
// float32 values on entry and on exit, overflow is Inf; a NaN has no
// particular bits. `bytes`: the operands have 8 bits or less. At most 128
// values of k.
void AddUnderModel(MatrixModel model, bool bytes, int depth,
                   const MatrixOperand& a, const MatrixOperand& b, double* sum);

}  // namespace zyfa::emu::valu

#endif  // ZYFA_EMU_VECTOR_MODELLED_SUM_H_
