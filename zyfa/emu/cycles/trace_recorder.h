#ifndef ZYFA_EMU_CYCLES_TRACE_RECORDER_H_
#define ZYFA_EMU_CYCLES_TRACE_RECORDER_H_

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "zyfa/emu/cycles/instruction_time.h"
#include "zyfa/emu/cycles/trace.h"
#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Records the traces of every work-group of a run, for the cycle model. Give it
// to RunOptions::observers; read it after the run.
class TraceRecorder : public ObserverFactory {
 public:
  TraceRecorder();
  ~TraceRecorder() override;
  std::unique_ptr<Observer> Make(const Program& program,
                                 const KernelInfo& kernel) override;

  // By linear number of the group.
  const std::map<uint32_t, GroupTrace>& groups() const { return groups_; }
  // The kernel's instructions, indexed as TraceEvent::step.
  const std::vector<InstructionTime>& instructions() const {
    return instructions_;
  }
  // Same index: matrix instructions whose A or B was, each time, the same in
  // all lanes, zero in half of them at least, or one word and zeros. They make
  // row sums or start values, not products of the problem's own matrices.
  const std::vector<bool>& auxiliary() const { return auxiliary_; }

 private:
  class Recorder;

  std::mutex mutex_;
  std::map<uint32_t, GroupTrace> groups_;
  std::vector<InstructionTime> instructions_;
  std::vector<bool> auxiliary_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_TRACE_RECORDER_H_
