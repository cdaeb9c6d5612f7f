#ifndef ZYFA_EMU_STRICT_ALU_PROPAGATION_H_
#define ZYFA_EMU_STRICT_ALU_PROPAGATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "zyfa/emu/strict/propagation_rule.h"
#include "zyfa/emu/strict/wave_shadow.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// A scalar, vector or matrix instruction, prepared.
struct AluStep {
  const Instruction* inst = nullptr;
  PropagationRule rule;
  SccRule scc = SccRule::kKept;
  bool reads_scc = false;
  bool scalar = false;                // SALU
  bool compare = false;               // v_cmp, v_cmpx
  std::vector<RegisterRange> ranges;  // reads first, without EXEC
};
AluStep PrepareAlu(const Instruction& inst);

// Follows undefined bits through arithmetic by trial: the instruction's own
// handler runs several times on a copy of the wave, each time with other values
// in the place of the undefined bits. What differs between the runs depends on
// them; PropagationRule says how far that reaches. So layouts, selectors and
// partial writes need no second description.
//
// Where bits only move the other bits keep their values, so a mask makes a
// result defined. In a computation of numbers all others take values of
// ordinary size, so that none hides a dependence: 0 times undefined is
// undefined.
//
// Comparisons are not tried, as few values change their one bit: a lane's bit
// is undefined if a source of the lane has an undefined bit.
class AluPropagation {
 public:
  AluPropagation();

  // Whether undefined bits are near: false in the steady state of a kernel.
  static bool Concerns(const AluStep& step, const Wave& wave,
                       const WaveShadow& shadow);
  // Moves `shadow` over the instruction that `wave` is about to execute.
  // Returns undefined bits that it would write into EXEC.
  uint64_t Run(const AluStep& step, const Wave& wave, WaveShadow& shadow);

 private:
  static constexpr int kMaxRows = 64;  // written by one instruction

  // The undefined bits of one trial, by the source that they stand in.
  struct Plan {
    int sources = 0;  // with undefined bits
    int trials = 2;
    bool moves_bits = false;
  };
  static uint32_t Pattern(const Plan& plan, int trial, int source);
  Plan MakePlan(const AluStep& step, const Wave& wave, const WaveShadow& shadow,
                int* source_of_range);
  void Try(const AluStep& step, const Wave& wave, const WaveShadow& shadow,
           const Plan& plan, int trial, const int* source_of_range);
  void Compare(const AluStep& step, const Wave& wave, WaveShadow& shadow,
               uint64_t& mask) const;
  void SpreadVectors(const AluStep& step, const Wave& wave, WaveShadow& shadow,
                     uint64_t& spoilt_lanes);
  void SpreadScalars(const AluStep& step, uint64_t spoilt_lanes,
                     WaveShadow& shadow);
  bool UndefinedScc(const AluStep& step, bool sources, bool control,
                    bool result, const WaveShadow& shadow) const;

  std::unique_ptr<Wave> trial_;
  // Numbers of ordinary size in every format.
  static constexpr int kNumberRows = 64;
  alignas(64) uint32_t numbers_[kNumberRows][kLanes];
  uint32_t ones_[kLanes];  // block scales of 1
  // Results of the first trial and what differed from them in another.
  alignas(64) uint32_t first_[kMaxRows][kLanes];
  alignas(64) uint32_t differs_[kMaxRows][kLanes];
  uint32_t first_sgpr_[128];
  uint32_t differs_sgpr_[128];
  uint64_t first_exec_ = 0, differs_exec_ = 0;
  bool first_scc_ = false, differs_scc_ = false;
};

// Undefined bits of a scalar operand's first register, constants and special
// values included.
uint32_t UndefinedScalar(const WaveShadow& shadow, const Wave& wave,
                         int number);
// Whether VCC == 0 depends on undefined bits.
bool UndefinedVccz(const WaveShadow& shadow, const Wave& wave);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_ALU_PROPAGATION_H_
