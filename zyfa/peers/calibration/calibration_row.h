#ifndef ZYFA_PEERS_CALIBRATION_CALIBRATION_ROW_H_
#define ZYFA_PEERS_CALIBRATION_CALIBRATION_ROW_H_

#include <string>
#include <vector>

namespace zyfa::peers {

// What of a kernel is compared with its published figure.
enum class Quantity {
  kLoopClocks,  // of one pass of the main loop
  kLoopBusy,    // matrix pipe, share of the main loop's clocks
  kReadClocks,  // between successive ds_read_b128
  kTflops,      // of a whole launch
  kCausalRatio  // TFLOP/s of a causal launch over those of a full one
};
// "clk per pass", ...
const char* QuantityName(Quantity quantity);

// One published figure. `kernel` names a row of aiter_kernel.cc or of
// gluon_kernel.cc.
struct CalibrationRow {
  std::string kernel;
  Quantity quantity = Quantity::kLoopClocks;
  double published = 0;
  std::string source;
  // Of launches: queries = keys, sequences, heads.
  int seqlen = 0, batch = 1, heads = 1, heads_kv = 1;
  // Not looked at before the constants were fixed.
  bool blind = false;
  // Why the figures may differ by more than 15 %; empty: they should not.
  std::string reason;
};

// Every figure that the model is held against, one set of constants for all.
// Loop clocks of AITER's FP8 to FP4 kernels are what their TFLOP/s make at a
// clock of 1.7 GHz (cdna4-timing 7.4), which is an assumption; those of the
// GEMM loops are from thread traces.
const std::vector<CalibrationRow>& CalibrationRows();

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_CALIBRATION_CALIBRATION_ROW_H_
