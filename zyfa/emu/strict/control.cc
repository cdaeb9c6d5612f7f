#include "zyfa/emu/strict/control.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/lds_banks.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

class Control : public Observer {
 public:
  void StartGroup(Group& group, Wave* /*waves*/) override {
    barrier_.assign(static_cast<size_t>(group.wave_count), nullptr);
    last_dma_.assign(static_cast<size_t>(group.wave_count), 0);
  }

  void AccessLds(const Instruction& /*inst*/, Wave& wave,
                 const LdsAccess& access) override {
    const LdsCost cost = CostOf(access);
    wave.group->counters.lds_passes += cost.passes;
    wave.group->counters.lds_phases += cost.phases;
    if (access.kind == AccessKind::kDmaWrite) {
      last_dma_[static_cast<size_t>(wave.index)] = WaitsOf(wave).vm_issued;
    }
  }

  void Before(const ProgramStep& step, Wave& wave) override {
    const Instruction& inst = *step.inst;
    const auto w = static_cast<size_t>(wave.index);
    if (inst.instruction_class == InstructionClass::kMfma) {
      if (wave.exec == ~uint64_t{0}) return;
      wave.group->Note(Severity::kError, "partial-exec", inst, wave, -1, "exec",
                       absl::StrFormat("EXEC is %#x", wave.exec));
    } else if (inst.instruction_class == InstructionClass::kOther) {
      if (inst.mnemonic == "s_barrier") barrier_[w] = &inst;
      if (inst.mnemonic != "s_endpgm") return;
      barrier_[w] = nullptr;
      if (last_dma_[w] > WaitsOf(wave).vm_retired) {
        wave.group->Note(Severity::kError, "lds-dma-at-end", inst, wave, -1, "",
                         "a load into LDS has not been waited for");
      }
    }
  }

  void OpenBarrier(Group& group, Wave* waves) override {
    int ended = 0;
    const Instruction* barrier = nullptr;
    int waiting = 0;
    for (int w = 0; w < group.wave_count; ++w) {
      const Instruction* const at = barrier_[static_cast<size_t>(w)];
      ended += at == nullptr;
      if (at == nullptr || barrier != nullptr) continue;
      barrier = at;
      waiting = w;
    }
    if (ended == 0 || barrier == nullptr) return;
    group.Note(Severity::kWarning, "partial-barrier", *barrier, waves[waiting],
               -1, "",
               absl::StrCat(ended, " of ", group.wave_count,
                            " waves have ended before it"));
  }

 private:
  // By wave: the barrier it stands at, nullptr once it has ended.
  std::vector<const Instruction*> barrier_;
  std::vector<uint32_t> last_dma_;  // number of the last load into LDS
};

}  // namespace

std::unique_ptr<Observer> MakeControl() { return std::make_unique<Control>(); }

}  // namespace zyfa::emu
