// Exponential, logarithm, reciprocal, roots and circle functions.
//
// The float32 forms flush denormal inputs and results whatever MODE says and
// are computed in double, then rounded once: within 0.501 units in the last
// place. Only sums and products are used, so that every host gives the same
// bits.

#include <cmath>
#include <limits>

#include "zyfa/emu/vector/lanewise.h"
#include "zyfa/emu/vector/target.h"
#include "zyfa/emu/vector/transcendental_math.h"

ZYFA_VECTOR_TARGET_BEGIN();

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

inline float FlushDenormal(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  return std::bit_cast<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

template <class T>
struct Function : LaneOp<T, T> {
  static constexpr NanRule kNan = NanRule::kPropagate;
};

// Wraps a function given for float (float32) and double (float16).
#define ZYFA_FUNCTION(Name, Call)               \
  struct Name##F32 : Function<F32> {            \
    static float Do(float a) {                  \
      const float x = FlushDenormal(a);         \
      return FlushDenormal(Call);               \
    }                                           \
  };                                            \
  struct Name##F16 : Function<F16> {            \
    static double Do(double x) { return Call; } \
  };
ZYFA_FUNCTION(Exp, Exp2(x))
ZYFA_FUNCTION(Log, Log2(x))
ZYFA_FUNCTION(Rcp, 1 / x)
ZYFA_FUNCTION(Sqrt, std::sqrt(x))
ZYFA_FUNCTION(Rsq, InverseSqrt(x))
ZYFA_FUNCTION(Sin, SinTurns(x))
ZYFA_FUNCTION(Cos, CosTurns(x))
#undef ZYFA_FUNCTION

struct RcpF64 : Function<F64> {
  static double Do(double a) { return 1 / a; }
};
struct SqrtF64 : Function<F64> {
  static double Do(double a) { return std::sqrt(a); }
};
struct RsqF64 : Function<F64> {
  static double Do(double a) { return 1 / std::sqrt(a); }
};

}  // namespace

void AddTranscendentals(valu::HandlerTable& table) {
  table["v_exp_f32"] = &MakeLanewise<ExpF32>;
  table["v_log_f32"] = &MakeLanewise<LogF32>;
  table["v_rcp_f32"] = &MakeLanewise<RcpF32>;
  table["v_rcp_iflag_f32"] = &MakeLanewise<RcpF32>;
  table["v_sqrt_f32"] = &MakeLanewise<SqrtF32>;
  table["v_rsq_f32"] = &MakeLanewise<RsqF32>;
  table["v_sin_f32"] = &MakeLanewise<SinF32>;
  table["v_cos_f32"] = &MakeLanewise<CosF32>;
  table["v_exp_legacy_f32"] = &MakeLanewise<ExpF32>;
  table["v_log_legacy_f32"] = &MakeLanewise<LogF32>;
  table["v_exp_f16"] = &MakeLanewise<ExpF16>;
  table["v_log_f16"] = &MakeLanewise<LogF16>;
  table["v_rcp_f16"] = &MakeLanewise<RcpF16>;
  table["v_sqrt_f16"] = &MakeLanewise<SqrtF16>;
  table["v_rsq_f16"] = &MakeLanewise<RsqF16>;
  table["v_sin_f16"] = &MakeLanewise<SinF16>;
  table["v_cos_f16"] = &MakeLanewise<CosF16>;
  table["v_rcp_f64"] = &MakeLanewise<RcpF64>;
  table["v_sqrt_f64"] = &MakeLanewise<SqrtF64>;
  table["v_rsq_f64"] = &MakeLanewise<RsqF64>;

  table.ApproximateAll(
      [](const std::string& name) { return !name.ends_with("_f64"); },
      "the hardware is within 1 unit of the last place, by a way that is not "
      "documented; rounded correctly here");
  table.ApproximateAll(
      [](const std::string& name) { return name.ends_with("_f64"); },
      "the hardware gives a start value of fewer bits; rounded correctly here");
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET

ZYFA_VECTOR_TARGET_END();
