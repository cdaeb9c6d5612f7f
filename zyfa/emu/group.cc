#include "zyfa/emu/group.h"

#include <utility>

namespace zyfa::emu {

bool Group::Wants(const char* rule, const Instruction& inst) const {
  int seen = 0;
  for (const Finding& finding : findings) {
    seen += finding.pc == inst.address && finding.rule == rule;
  }
  return seen < kFindingsPerRule;
}

void Group::Report(Severity severity, const char* rule, const Instruction& inst,
                   Wave& wave, int lane, std::string detail) {
  if (severity == Severity::kError) wave.signal = WaveSignal::kFault;
  Note(severity, rule, inst, wave, lane, "", std::move(detail));
}

void Group::Note(Severity severity, const char* rule, const Instruction& inst,
                 const Wave& wave, int lane, std::string registers,
                 std::string detail) {
  if (!Wants(rule, inst)) return;
  Finding finding;
  finding.severity = severity;
  finding.rule = rule;
  finding.kernel = kernel;
  finding.pc = inst.address;
  finding.disassembly = inst.text;
  for (int i = 0; i < 3; ++i) finding.workgroup[i] = id[i];
  finding.wave = wave.index;
  finding.lane = lane;
  finding.registers = std::move(registers);
  finding.detail = std::move(detail);
  findings.push_back(std::move(finding));
}

void LandDma(Group& group, const PendingDma& dma) {
  const uint32_t bytes = 4 * dma.dwords;
  if (dma.lanes == ~uint64_t{0} && dma.lane_stride == bytes &&
      dma.dwords == 4) {
    std::memcpy(group.lds.get() + dma.lds_address, dma.data, sizeof(dma.data));
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((dma.lanes >> lane & 1) == 0) continue;
    std::memcpy(
        group.lds.get() + dma.lds_address + uint32_t(lane) * dma.lane_stride,
        dma.data[lane], bytes);
  }
}

void LandRetired(Group& group, WaitState& waits) {
  while (waits.first_dma != waits.end_dma) {
    const PendingDma& dma = waits.dma[waits.first_dma % WaitState::kDmaSlots];
    if (dma.sequence > waits.vm_retired) break;
    LandDma(group, dma);
    ++waits.first_dma;
  }
}

}  // namespace zyfa::emu
