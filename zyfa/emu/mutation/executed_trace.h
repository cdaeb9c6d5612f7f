#ifndef ZYFA_EMU_MUTATION_EXECUTED_TRACE_H_
#define ZYFA_EMU_MUTATION_EXECUTED_TRACE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Records what the waves of one launch executed. Use it for one launch.
class ExecutedTrace : public ObserverFactory {
 public:
  // `waves`: numbers of the waves of work-group 0 to trace.
  explicit ExecutedTrace(std::set<int> waves);
  ~ExecutedTrace() override;
  std::unique_ptr<Observer> Make(const Program& program,
                                 const KernelInfo& kernel) override;

  // After the launch; edits of the launch are in the instructions.
  //
  // What one of the chosen waves executed, in order; empty for any other. The
  // instructions are copies that live as long as this object.
  std::vector<const Instruction*> Trace(int wave) const;
  // Instruction::address of all that any wave of any work-group executed.
  std::set<uint64_t> ExecutedAddresses() const;

 private:
  struct Record;  // of one host thread
  std::set<int> waves_;
  std::mutex mutex_;  // of the list; a record is its thread's own
  std::vector<std::unique_ptr<Record>> records_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_MUTATION_EXECUTED_TRACE_H_
