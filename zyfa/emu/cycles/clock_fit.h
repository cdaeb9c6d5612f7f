#ifndef ZYFA_EMU_CYCLES_CLOCK_FIT_H_
#define ZYFA_EMU_CYCLES_CLOCK_FIT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/cycles/clock_model.h"

namespace zyfa::emu {

// A published clock, or the ratio of two, and what the units did meanwhile.
struct ClockPoint {
  enum class Use {
    kFit,    // takes part in the fit
    kCheck,  // is compared only
    kInput,  // the denominator of others
  };
  std::string name;
  double value = 0;  // GHz, or a ratio
  int over = -1;     // ratio: index of the point whose clock divides
  double error = 0;  // relative, one standard deviation
  Activity activity;
  bool flips_unknown = false;  // one number, fitted, for all such points
  Use use = Use::kFit;
  std::string source;
};

// Lines as the head of clock_points.txt says. InvalidArgument names the line
// and what is wrong with it.
absl::StatusOr<std::vector<ClockPoint>> ParseClockPoints(
    const std::string& text);

// What is believed of a constant before any point is seen: its logarithm is
// normal, log(value) +- log(factor).
struct ClockPrior {
  const char* name;
  double ClockConstants::* field;
  double value;
  double factor;
  const char* reason;
};
const std::vector<ClockPrior>& ClockPriors();
// The same of the flips of points that do not say them.
inline constexpr double kUnknownFlips = 128, kUnknownFlipsFactor = 1.8;

struct FittedConstant {
  double value = 0;
  double factor = 0;  // one standard deviation of the logarithm, as a factor
};
struct ClockFit {
  ClockConstants constants;
  std::vector<FittedConstant> fitted;  // as ClockPriors()
  FittedConstant unknown_flips;
  double rms_percent = 0;  // relative residual of points in the fit
};

// What the model says of a point: the clock without its upper limit, or the
// ratio of two.
double ModelledValue(const std::vector<ClockPoint>& points, size_t index,
                     const ClockConstants& constants);

// The same points with flips where they were unknown.
std::vector<ClockPoint> WithFlips(std::vector<ClockPoint> points, double flips);

// Least squares of log(modelled / value) / error over the points in the fit,
// with the priors as further rows. FailedPrecondition if it does not settle.
absl::StatusOr<ClockFit> FitClock(const std::vector<ClockPoint>& points);

// The fit as docs/clock-fit.md.
std::string ClockFitPage(const std::vector<ClockPoint>& points,
                         const ClockFit& fit);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_CLOCK_FIT_H_
