#include "zyfa/emu/cycles/matrix_operands.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <string>

#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

// The bits of a constant in a register.
uint32_t ConstantBits(const Operand& operand) {
  if (operand.kind == OperandKind::kFloat) {
    return std::bit_cast<uint32_t>(static_cast<float>(operand.real));
  }
  return static_cast<uint32_t>(operand.integer);
}

void AppendOperand(MatrixOperand which, const Operand& operand,
                   const Wave& wave, int registers, MatrixOperandWords& words) {
  if (operand.kind != OperandKind::kVgpr &&
      operand.kind != OperandKind::kAgpr) {
    words.Append(which,
                 std::vector<uint32_t>(static_cast<size_t>(registers) * kLanes,
                                       ConstantBits(operand)));
    return;
  }
  words.Append(which, {wave.vgpr[Wave::Row(operand)],
                       static_cast<size_t>(operand.count) * kLanes});
}

// Formats that cbsz and blgp select: E4M3, E5M2, E2M3, E3M2, E2M1.
constexpr uint8_t kSelectedBits[] = {8, 8, 6, 6, 4};

// Elements of dense instructions with operands of 16 bits and less; all others
// stay unknown.
std::array<ElementLayout, 2> LayoutOf(const Instruction& inst) {
  const std::string& name = inst.mnemonic;
  const auto has = [&name](const char* part) {
    return name.find(part) != std::string::npos;
  };
  ElementLayout layout = {.bits = 0, .rows = 0, .sign = true};
  if (name.rfind("v_mfma", 0) != 0 || has("4x4")) return {};
  // One block: of several the lanes of a k are not neighbours in this sense.
  if (has("_32x32x16_") || has("_32x32x32_") || has("_32x32x64_")) {
    layout.rows = 32;
  } else if (has("_16x16x32_") || has("_16x16x64_") || has("_16x16x128_")) {
    layout.rows = 16;
  } else {
    return {};
  }
  if (has("f8f6f4")) {
    std::array<ElementLayout, 2> both = {layout, layout};
    const uint8_t formats[] = {inst.mods.cbsz, inst.mods.blgp};
    for (size_t i = 0; i < both.size(); ++i) {
      if (formats[i] >= std::size(kSelectedBits)) return {};
      both[i].bits = kSelectedBits[formats[i]];
    }
    return both;
  }
  if (has("bf16") || has("_f16")) {
    layout.bits = 16;
  } else if (has("fp8") || has("bf8")) {
    layout.bits = 8;
  } else if (has("_i8")) {
    layout.bits = 8;
    layout.sign = false;
  } else {
    return {};
  }
  return {layout, layout};
}

}  // namespace

void MatrixOperandWords::Append(MatrixOperand operand,
                                absl::Span<const uint32_t> words) {
  place_[static_cast<size_t>(operand)] = {static_cast<uint32_t>(words_.size()),
                                          static_cast<uint32_t>(words.size())};
  words_.insert(words_.end(), words.begin(), words.end());
}

absl::Span<const uint32_t> MatrixOperandWords::words(
    MatrixOperand operand) const {
  const auto [first, count] = place_[static_cast<size_t>(operand)];
  return {words_.data() + first, count};
}

const MatrixOperandWords* GroupMatrixOperands::Find(int wave,
                                                    uint64_t number) const {
  if (static_cast<size_t>(wave) >= waves.size() || number < first) {
    return nullptr;
  }
  const std::vector<MatrixOperandWords>& kept =
      waves[static_cast<size_t>(wave)];
  return number - first < kept.size() ? &kept[number - first] : nullptr;
}

class MatrixOperandRecorder::Recorder : public Observer {
 public:
  explicit Recorder(MatrixOperandRecorder& owner)
      : owner_(owner), window_(owner.window_) {}

  void StartGroup(Group& group, Wave* /*waves*/) override {
    const auto waves = static_cast<size_t>(group.wave_count);
    operands_ = GroupMatrixOperands{};
    operands_.first = window_.first;
    operands_.waves.resize(waves);
    executed_.assign(waves, 0);
    closed_.assign(waves, false);
  }

  void Before(const ProgramStep& step, Wave& wave) override {
    if (step.inst->instruction_class != InstructionClass::kMfma) return;
    const auto w = static_cast<size_t>(wave.index);
    const uint64_t number = executed_[w]++;
    keeping_ = number >= window_.first &&
               number - window_.first < window_.count && !closed_[w];
    if (!keeping_) return;
    const std::vector<Operand>& operands = step.inst->operands;
    const bool sparse = step.inst->mnemonic.rfind("v_smfmac", 0) == 0;
    MatrixOperandWords words;
    words.layout = LayoutOf(*step.inst);
    const int registers = operands[0].count;
    AppendOperand(MatrixOperand::kA, operands[1], wave, operands[1].count,
                  words);
    AppendOperand(MatrixOperand::kB, operands[2], wave, operands[2].count,
                  words);
    AppendOperand(MatrixOperand::kC, operands[sparse ? 0 : 3], wave, registers,
                  words);
    operands_.waves[w].push_back(std::move(words));
  }

  void After(const ProgramStep& step, Wave& wave) override {
    if (step.inst->instruction_class != InstructionClass::kMfma || !keeping_) {
      return;
    }
    const auto w = static_cast<size_t>(wave.index);
    MatrixOperandWords& words = operands_.waves[w].back();
    AppendOperand(MatrixOperand::kD, step.inst->operands[0], wave,
                  step.inst->operands[0].count, words);
    if (!owner_.Reserve(words.bytes())) {
      operands_.waves[w].pop_back();
      closed_[w] = true;  // no holes
    }
  }

  void EndGroup(Group& group, Wave* /*waves*/) override {
    const std::lock_guard<std::mutex> lock(owner_.mutex_);
    owner_.groups_[group.linear_id] = std::move(operands_);
  }

 private:
  MatrixOperandRecorder& owner_;
  const MatrixOperandWindow window_;
  GroupMatrixOperands operands_;
  std::vector<uint64_t> executed_;  // matrix instructions, by wave
  std::vector<bool> closed_;
  bool keeping_ = false;
};

MatrixOperandRecorder::MatrixOperandRecorder(const MatrixOperandWindow& window)
    : window_(window) {}
MatrixOperandRecorder::~MatrixOperandRecorder() = default;

std::unique_ptr<Observer> MatrixOperandRecorder::Make(
    const Program& /*program*/, const KernelInfo& /*kernel*/) {
  return std::make_unique<Recorder>(*this);
}

bool MatrixOperandRecorder::Reserve(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > window_.max_bytes - bytes_) {
    full_ = true;
    return false;
  }
  bytes_ += bytes;
  return true;
}

}  // namespace zyfa::emu
