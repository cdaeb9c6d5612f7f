#include "zyfa/emu/strict/hazards.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/strict/hazard_traits.h"
#include "zyfa/emu/strict/register_name.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

// Two clocks of a wave, in wait states: of issued instructions, and the same
// with what is known to take longer: matrix instructions that find their pipe
// occupied, and scaled ones, which are two. And how many barriers it has
// passed, which take nobody knows how long.
struct Time {
  int64_t issued = -1000;
  int64_t stalled = -1000;
  int barriers = 0;
};

// Last instruction that touched a register in some way.
struct Event {
  Time time;
  const HazardTraits* traits = nullptr;
  const Instruction* inst = nullptr;
  uint16_t first = 0, count = 0;  // its whole tuple
};

struct WaveHistory {
  Time now;
  Time pipe_free;                // when the matrix pipe can take the next
  Event written[2 * kVgprs];     // vector registers, by vector instructions
  Event product[4][2 * kVgprs];  // by matrix instructions, the latest first
  Event addend[2 * kVgprs];      // read as matrix source C
  Event stored[2 * kVgprs];      // read as data of a wide store
  Event scalar_written[128];     // by vector instructions, EXEC and VCC too
  Event masked;                  // the last v_cmpx
  Event m0_written;              // by scalar instructions
  Event mode_set[64];            // s_setreg, by hardware register
};

// Wait states behind a matrix instruction, by what comes next (ISA 5.1). For
// double precision: what LLVM 22 inserts for gfx950.
enum class AfterMatrix {
  kVectorRead,  // also a vector memory or LDS instruction's source
  kVectorWrite,
  kMatrixAB,
  kSameC,
  kOtherC,
  kWriteOverC,  // of a register that was read as C
};

// `memory`: what comes next is no vector arithmetic; `double_precision`: it is
// a matrix instruction of that kind.
int StatesAfterMatrix(const HazardTraits& matrix, AfterMatrix next, bool memory,
                      bool double_precision = false) {
  const int p = matrix.passes == 2   ? 0
                : matrix.passes == 4 ? 1
                : matrix.passes == 8 ? 2
                                     : 3;
  static constexpr int kXdlResult[] = {5, 8, 12, 20};
  static constexpr int kXdlSameC[] = {2, 0, 0, 0};
  static constexpr int kXdlOtherC[] = {4, 6, 10, 18};
  static constexpr int kOverC[] = {1, 3, 7, 15};
  static constexpr int kSingleResult[] = {4, 6, 10, 18};
  static constexpr int kSingleOtherC[] = {2, 4, 8, 16};
  switch (matrix.pipe) {
    case MatrixPipe::kXdl:
      switch (next) {
        case AfterMatrix::kVectorRead:
        case AfterMatrix::kVectorWrite:
        case AfterMatrix::kMatrixAB:
          return kXdlResult[p];
        case AfterMatrix::kSameC:
          return kXdlSameC[p];
        case AfterMatrix::kOtherC:
          return kXdlOtherC[p];
        case AfterMatrix::kWriteOverC:
          return kOverC[p];
      }
      break;
    case MatrixPipe::kSgemm:
      switch (next) {
        case AfterMatrix::kVectorRead:
        case AfterMatrix::kVectorWrite:
        case AfterMatrix::kMatrixAB:
          return kSingleResult[p];
        case AfterMatrix::kSameC:
          return kXdlSameC[p];
        case AfterMatrix::kOtherC:
          return kSingleOtherC[p];
        case AfterMatrix::kWriteOverC:
          return 0;
      }
      break;
    case MatrixPipe::kDgemm4:
    case MatrixPipe::kDgemm16: {
      const bool large = matrix.pipe == MatrixPipe::kDgemm16;
      switch (next) {
        case AfterMatrix::kVectorRead:
          return memory ? (large ? 18 : 9) : (large ? 19 : 6);
        case AfterMatrix::kVectorWrite:
          return large ? 11 : 6;
        case AfterMatrix::kMatrixAB:
          return large ? 19 : 6;
        case AfterMatrix::kSameC:
          return large ? 0 : 4;
        case AfterMatrix::kOtherC:
          return !double_precision ? 0 : large ? 17 : 4;
        case AfterMatrix::kWriteOverC:
          return 0;
      }
      break;
    }
  }
  return 0;
}

class Hazards : public Observer {
 public:
  explicit Hazards(const Program& program)
      : program_(program), traits_(program.steps().size()) {}

  void StartGroup(Group& group, Wave* /*waves*/) override {
    group_ = &group;
    history_.resize(static_cast<size_t>(group.wave_count));
    for (auto& history : history_) {
      if (history == nullptr) history = std::make_unique<WaveHistory>();
      *history = WaveHistory();
    }
  }

  void Before(const ProgramStep& step, Wave& wave) override {
    auto& prepared = traits_[program_.IndexOf(step)];
    if (prepared == nullptr) {
      prepared = std::make_unique<HazardTraits>(TraitsOf(*step.inst));
    }
    const HazardTraits& traits = *prepared;
    WaveHistory& history = *history_[static_cast<size_t>(wave.index)];
    Check check{*group_, wave, *step.inst, traits, history};
    if (traits.writer == HazardWriter::kMatrix) {
      history.now.stalled =
          std::max(history.now.stalled, history.pipe_free.stalled);
    }
    for (const HazardRange& range : traits.ranges) {
      if (range.vector) {
        check.Vector(range);
      } else {
        check.Scalar(range);
      }
    }
    check.Others();
    Record(*step.inst, traits, history);
  }

 private:
  // One instruction against what its wave issued before.
  struct Check {
    Group& group;
    Wave& wave;
    const Instruction& inst;
    const HazardTraits& traits;
    const WaveHistory& history;

    // `states` must lie between `event` and now. `forgiven`: a warning even so.
    void Wants(int states, const Event& event, const char* rule,
               const HazardRange& range, int number, bool forgiven) {
      const auto between = [](int64_t now, int64_t then) {
        return now - then - 1;
      };
      const int64_t issued = between(history.now.issued, event.time.issued);
      if (issued >= states) return;
      const bool stalled =
          between(history.now.stalled, event.time.stalled) >= states;
      const bool barrier = history.now.barriers > event.time.barriers;
      if (!group.Wants(rule, inst)) return;
      group.Note(
          stalled || barrier || forgiven ? Severity::kWarning
                                         : Severity::kError,
          rule, inst, wave, -1, RegisterName(range.vector, number),
          absl::StrFormat("%d wait states wanted, %d found behind %#x: %s%s",
                          states, issued, event.inst->address, event.inst->text,
                          stalled   ? " (the busy matrix pipe may cover it)"
                          : barrier ? " (a barrier between may cover it)"
                                    : ""));
    }

    void Vector(const HazardRange& range) {
      const bool write = range.use == HazardUse::kWrite;
      for (int r = range.first; r < range.first + range.count; ++r) {
        for (const auto& product : history.product) {
          if (product[r].traits != nullptr)
            Product(range, r, product[r], write);
        }
        const Event& written = history.written[r];
        if (written.traits != nullptr) Written(range, r, written, write);
        if (!write) continue;
        const Event& addend = history.addend[r];
        if (addend.traits != nullptr && (traits.vector_alu || traits.memory)) {
          Wants(StatesAfterMatrix(*addend.traits, AfterMatrix::kWriteOverC,
                                  traits.memory),
                addend, "hazard-matrix-addend-overwritten", range, r, false);
        }
        const Event& stored = history.stored[r];
        // Vector memory instructions take their data in order.
        if (stored.traits != nullptr && !traits.vector_memory) {
          Wants(traits.memory ? 1 : 2, stored, "hazard-store-data-overwritten",
                range, r, !traits.vector_alu);
        }
      }
    }

    void Product(const HazardRange& range, int r, const Event& product,
                 bool write) {
      if (traits.writer == HazardWriter::kMatrix) {
        MatrixAfterMatrix(range, r, product);
      } else if (traits.vector_alu || traits.memory) {
        Wants(
            StatesAfterMatrix(
                *product.traits,
                write ? AfterMatrix::kVectorWrite : AfterMatrix::kVectorRead,
                traits.memory),
            product,
            write ? "hazard-matrix-result-overwritten" : "hazard-matrix-result",
            range, r, false);
      }
    }

    void Written(const HazardRange& range, int r, const Event& written,
                 bool write) {
      const HazardTraits& first = *written.traits;
      const bool matrix = traits.writer == HazardWriter::kMatrix;
      if (first.writer == HazardWriter::kMatrix) return;
      if (first.writer == HazardWriter::kDot) {
        const bool same = traits.opcode == first.opcode;
        if (matrix || ((traits.vector_alu || traits.memory) &&
                       (!same || (!write && !Accumulates(range))))) {
          Wants(3, written, "hazard-dot-result", range, r, false);
        }
        return;
      }
      if (write) return;
      if (matrix) {
        const bool beside = history.now.issued - written.time.issued == 1;
        Wants(2, written, "hazard-valu-matrix-source", range, r,
              first.conversion || !beside);
        return;
      }
      if (!traits.vector_alu) return;
      if (first.writer == HazardWriter::kTranscendental &&
          range.use != HazardUse::kKept &&
          inst.instruction_class != InstructionClass::kTrans) {
        Wants(1, written, "hazard-trans-result", range, r, false);
      }
      // Merging into it is a use too.
      if (first.writer == HazardWriter::kPartial) {
        Wants(1, written, "hazard-placed-result", range, r, false);
      } else if (range.use == HazardUse::kKept && first.scaled_conversion &&
                 traits.scaled_conversion) {
        Wants(1, written, "hazard-partial-write", range, r, true);
      }
      if (traits.permlane) {
        Wants(2, written, "hazard-permlane", range, r, first.permlane);
      }
      if (traits.dpp) Wants(2, written, "hazard-dpp", range, r, false);
      if (traits.read_lane)
        Wants(1, written, "hazard-readlane", range, r, false);
    }

    // Whether the source is the addend that the same opcode hands on.
    bool Accumulates(const HazardRange& range) const {
      return inst.operands.size() > 3 &&
             (inst.operands[3].kind == OperandKind::kVgpr ||
              inst.operands[3].kind == OperandKind::kAgpr) &&
             Wave::Row(inst.operands[3]) == range.first;
    }

    void MatrixAfterMatrix(const HazardRange& range, int r,
                           const Event& written) {
      const HazardTraits& first = *written.traits;
      switch (range.use) {
        case HazardUse::kMatrixAB:
        case HazardUse::kMatrixScale:
          Wants(StatesAfterMatrix(first, AfterMatrix::kMatrixAB, false),
                written, "hazard-matrix-source", range, r, false);
          return;
        case HazardUse::kMatrixC: {
          const bool same =
              written.first == range.first && written.count == range.count;
          Wants(StatesAfterMatrix(
                    first, same ? AfterMatrix::kSameC : AfterMatrix::kOtherC,
                    false,
                    traits.pipe == MatrixPipe::kDgemm4 ||
                        traits.pipe == MatrixPipe::kDgemm16),
                written, "hazard-matrix-addend", range, r, false);
          return;
        }
        default:
          return;
      }
    }

    void Scalar(const HazardRange& range) {
      if (range.use == HazardUse::kWrite) return;
      for (int r = range.first; r < range.first + range.count; ++r) {
        const Event& written = history.scalar_written[r & 127];
        if (written.traits == nullptr) continue;
        switch (range.use) {
          case HazardUse::kConstant:
            Wants(2, written, "hazard-scalar-constant", range, r, false);
            break;
          case HazardUse::kLaneSelect:
            Wants(4, written, "hazard-lane-select", range, r, false);
            break;
          case HazardUse::kAddress:
            Wants(5, written, "hazard-scalar-address", range, r, false);
            break;
          case HazardUse::kMask:
            if (traits.div_fmas) {
              Wants(4, written, "hazard-div-fmas", range, r, false);
            }
            break;
          default:
            break;
        }
      }
    }

    // What no register of the instruction's own list shows.
    void Others() {
      const HazardRange exec{HazardUse::kRead, false, kExecLo, 2};
      const Event& masked = history.masked;
      if (masked.traits != nullptr) {
        const int states = traits.writer == HazardWriter::kMatrix  ? 4
                           : traits.permlane                       ? 4
                           : traits.dpp                            ? 5
                           : traits.read_lane || traits.write_lane ? 4
                                                                   : 0;
        Wants(states, masked, "hazard-exec", exec, kExecLo, false);
      }
      const HazardRange vcc{HazardUse::kRead, false, kVccLo, 2};
      const Event& compared = history.scalar_written[kVccLo];
      if (traits.reads_vccz && compared.traits != nullptr) {
        Wants(5, compared, "hazard-vccz", vcc, kVccLo, false);
      }
      if (traits.reads_execz && masked.traits != nullptr) {
        Wants(5, masked, "hazard-execz", exec, kExecLo, false);
      }
      const HazardRange m0{HazardUse::kRead, false, kM0, 1};
      if (traits.needs_m0 && history.m0_written.traits != nullptr) {
        Wants(1, history.m0_written, "hazard-m0", m0, kM0,
              traits.vector_memory);
      }
      for (const int number : {traits.set_register, traits.get_register}) {
        if (number < 0) continue;
        const Event& set = history.mode_set[number];
        if (set.traits == nullptr) continue;
        Wants(2, set, "hazard-setreg", {}, -1, false);
      }
      if (traits.pk_fma_fault) {
        group.Note(Severity::kError, "pk-fma-fault", inst, wave, -1, "",
                   "both results take the high half of one source: gfx950 "
                   "loses the low result now and then");
      }
    }
  };

  static void Record(const Instruction& inst, const HazardTraits& traits,
                     WaveHistory& history) {
    const auto event = [&](const HazardRange& range) {
      return Event{history.now, &traits, &inst, range.first, range.count};
    };
    const bool matrix = traits.writer == HazardWriter::kMatrix;
    for (const HazardRange& range : traits.ranges) {
      const Event here = event(range);
      for (int r = range.first; r < range.first + range.count; ++r) {
        if (!range.vector) {
          if (range.use == HazardUse::kWrite) {
            // A scalar write takes the register over.
            history.scalar_written[r & 127] =
                traits.vector_alu ? here : Event();
          }
        } else if (range.use == HazardUse::kWrite) {
          history.written[r] = traits.vector_alu || matrix ? here : Event();
          if (matrix) {
            for (size_t p = std::size(history.product) - 1; p > 0; --p) {
              history.product[p][r] = history.product[p - 1][r];
            }
            history.product[0][r] = here;
          }
        } else if (range.use == HazardUse::kMatrixC) {
          // The reader that takes longest, not the last.
          if (Free(here) >= Free(history.addend[r])) history.addend[r] = here;
        } else if (traits.wide_store && IsData(inst, r)) {
          history.stored[r] = here;
        }
      }
    }
    if (traits.writes_exec) history.masked = event({});
    if (traits.scalar_writes_m0) history.m0_written = event({});
    if (traits.set_register >= 0) {
      history.mode_set[traits.set_register] = event({});
    }
    if (matrix) {
      history.pipe_free.stalled = history.now.stalled + traits.passes;
    }
    history.now.issued += traits.wait_states;
    history.now.stalled += traits.wait_states + traits.issue_slots - 1;
    history.now.barriers += traits.barrier;
  }

  // When what a matrix instruction reads as C may be overwritten.
  static int64_t Free(const Event& addend) {
    return addend.traits == nullptr
               ? -1000
               : addend.time.issued +
                     StatesAfterMatrix(*addend.traits, AfterMatrix::kWriteOverC,
                                       false);
  }

  // Stores: everything but the address is data.
  static bool IsData(const Instruction& inst, int row) {
    for (const Operand& operand : inst.operands) {
      if (operand.count < 3 || (operand.kind != OperandKind::kVgpr &&
                                operand.kind != OperandKind::kAgpr)) {
        continue;
      }
      const int first = Wave::Row(operand);
      if (row >= first && row < first + operand.count) return true;
    }
    return false;
  }

  const Program& program_;
  // Prepared when first executed: short runs see little of their program.
  std::vector<std::unique_ptr<HazardTraits>> traits_;
  std::vector<std::unique_ptr<WaveHistory>> history_;
  Group* group_ = nullptr;
};

}  // namespace

std::unique_ptr<Observer> MakeHazards(const Program& program) {
  return std::make_unique<Hazards>(program);
}

}  // namespace zyfa::emu
