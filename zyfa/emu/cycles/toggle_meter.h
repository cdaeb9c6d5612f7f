#ifndef ZYFA_EMU_CYCLES_TOGGLE_METER_H_
#define ZYFA_EMU_CYCLES_TOGGLE_METER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/cycles/clock_model.h"
#include "zyfa/emu/cycles/compute_unit.h"
#include "zyfa/emu/cycles/matrix_operands.h"

namespace zyfa::emu {

// Bits of an operand that were compared, and those that differed.
struct BitFlips {
  uint64_t flips = 0;
  uint64_t bits = 0;
  // A and B: the flips that multipliers see. A multiplier with a zero on its
  // other side before and after passes nothing on; so each flip is weighted
  // with the share of its multipliers whose other side is not zero both times.
  // As `flips` where the elements are not known.
  double live = 0;

  double share() const {
    return bits == 0 ? 0
                     : static_cast<double>(flips) / static_cast<double>(bits);
  }
};

struct FlipCounts {
  uint64_t instructions = 0;  // whose operands were compared
  std::array<BitFlips, kMatrixOperands> operands;

  const BitFlips& of(MatrixOperand operand) const {
    return operands[static_cast<size_t>(operand)];
  }
  void Add(const FlipCounts& other);
};

struct FlipReport {
  // By step of the later instruction of each pair: the caller knows which steps
  // are QK and which PV, and so whose A or B is P.
  std::vector<FlipCounts> steps;
  std::array<FlipCounts, kSimds> simds;
  FlipCounts total;
  // Clocks from the first compared instruction to the last, all SIMDs together.
  uint64_t simd_clocks = 0;
  // Matrix instructions that issued without their operands being known.
  uint64_t unknown = 0;
  // What was done in these clocks, by the SIMDs that had matrix instructions.
  Activity activity;

  double FlipsPerInstruction(MatrixOperand operand) const;
  double FlipsPerClock(MatrixOperand operand) const;  // of one SIMD
  double LivePerClock(MatrixOperand operand) const;
};

// Counts how many bits change on the operands of the matrix pipe. The measure:
// for each register of A, B, C and D, how many bits differ (Hamming distance,
// 64 lanes) between what it holds and what the register at the same place held
// for the matrix instruction that issued before on this SIMD, whichever wave
// that was of. Registers that the one before did not have are compared with the
// last instruction that had them. Which registers the hardware reads in which
// order is not published; within an instruction nothing is compared.
//
// Give it to ComputeUnitOptions::listener for a run over `traces`; operands[i]
// belongs to traces[i], nullptr if unknown.
class ToggleMeter : public IssueListener {
 public:
  ToggleMeter(absl::Span<const InstructionTime> instructions,
              absl::Span<const GroupTrace* const> traces,
              absl::Span<const GroupMatrixOperands* const> operands);

  void Issue(const IssueEvent& event) override;

  FlipReport Report() const;

 private:
  // What the operand ports of a SIMD held last.
  struct Port {
    std::vector<uint32_t> words;
    std::vector<bool> known;  // by register
  };
  // Of the clocks before `at`, in which a pipe or path worked.
  struct Work {
    double matrix = 0, vector = 0, lds_bytes = 0;
  };
  struct Simd {
    std::array<Port, kMatrixOperands> ports;
    std::array<ElementLayout, 2> layout;  // of what A and B hold
    bool started = false;
    uint64_t first = 0, last = 0;  // compared instructions
    Work now, at_first, at_last;   // `now`: all that issued so far
  };
  struct WavePlace {
    size_t position = 0;
    uint64_t matrix = 0;  // instructions issued
  };

  bool CompareElements(const MatrixOperandWords& words, const Simd& simd,
                       FlipCounts& counts) const;
  FlipCounts Compare(const MatrixOperandWords& words, Simd& simd) const;

  absl::Span<const InstructionTime> instructions_;
  std::vector<const GroupTrace*> traces_;
  std::vector<const GroupMatrixOperands*> operands_;
  std::vector<std::vector<WavePlace>> places_;
  std::array<Simd, kSimds> simds_;
  FlipReport report_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_TOGGLE_METER_H_
