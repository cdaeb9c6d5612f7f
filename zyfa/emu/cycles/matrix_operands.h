#ifndef ZYFA_EMU_CYCLES_MATRIX_OPERANDS_H_
#define ZYFA_EMU_CYCLES_MATRIX_OPERANDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "zyfa/emu/observer.h"

namespace zyfa::emu {

enum class MatrixOperand : uint8_t { kA, kB, kC, kD };
inline constexpr int kMatrixOperands = 4;

// How A and B hold their elements: element e of lane l is bits [e * bits,
// e * bits + bits) of the lane's registers, and meets element e of the lanes l'
// with l / rows = l' / rows of the other operand, which is of the same k (where
// one operand is of 8 bits and the other of fewer, it is not).
struct ElementLayout {
  uint8_t bits = 0;   // 0: not known
  uint8_t rows = 0;   // lanes that hold the same k
  bool sign = false;  // the top bit does not count where zeros are told
  bool operator==(const ElementLayout&) const = default;
};

// The operands of one executed matrix instruction as its registers held them,
// [register][lane]. A constant C fills as many registers as D. C of a sparse
// instruction is what D held before.
class MatrixOperandWords {
 public:
  void Append(MatrixOperand operand, absl::Span<const uint32_t> words);
  absl::Span<const uint32_t> words(MatrixOperand operand) const;
  size_t bytes() const { return words_.size() * sizeof(uint32_t); }

  // Of A and of B.
  std::array<ElementLayout, 2> layout = {};

 private:
  std::vector<uint32_t> words_;
  std::array<std::pair<uint32_t, uint32_t>, kMatrixOperands> place_ = {};
};

// What the matrix instructions of a work-group worked on: for each wave its
// instructions number `first`, first + 1, ... of all that it executed.
struct GroupMatrixOperands {
  uint64_t first = 0;
  std::vector<std::vector<MatrixOperandWords>> waves;

  // nullptr if that instruction was not kept.
  const MatrixOperandWords* Find(int wave, uint64_t number) const;
};

struct MatrixOperandWindow {
  // Matrix instructions of each wave: those before are not kept, nor more.
  uint64_t first = 0;
  uint64_t count = std::numeric_limits<uint64_t>::max();
  // Of all work-groups together. What would go beyond is not kept.
  size_t max_bytes = size_t{256} << 20;
};

// Keeps the operands of matrix instructions while the emulator runs, for the
// cycle model to put in order afterwards. Give it to RunOptions::observers;
// read it after the run.
class MatrixOperandRecorder : public ObserverFactory {
 public:
  explicit MatrixOperandRecorder(const MatrixOperandWindow& window = {});
  ~MatrixOperandRecorder() override;
  std::unique_ptr<Observer> Make(const Program& program,
                                 const KernelInfo& kernel) override;

  // By linear number of the group.
  const std::map<uint32_t, GroupMatrixOperands>& groups() const {
    return groups_;
  }
  // Whether max_bytes kept something out that the window asked for.
  bool full() const { return full_; }

 private:
  class Recorder;

  // False if that many bytes more would be too many.
  bool Reserve(size_t bytes);

  MatrixOperandWindow window_;
  std::mutex mutex_;
  std::map<uint32_t, GroupMatrixOperands> groups_;
  size_t bytes_ = 0;
  bool full_ = false;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_MATRIX_OPERANDS_H_
