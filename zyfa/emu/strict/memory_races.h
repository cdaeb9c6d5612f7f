#ifndef ZYFA_EMU_STRICT_MEMORY_RACES_H_
#define ZYFA_EMU_STRICT_MEMORY_RACES_H_

#include <memory>
#include <vector>

#include "zyfa/emu/finding.h"
#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Accesses to the same byte of device memory, at least one a write that is not
// an atomic, by two waves of a group with no barrier between, or by two groups
// of the launch, which nothing orders: rule "memory-race".
//
// Scoped loads and stores count as atomic.
//
// An error; between groups only a warning if the launch uses global atomics, as
// kernels that order themselves through them are not understood.
class MemoryRaces {
 public:
  MemoryRaces();
  ~MemoryRaces();
  // Watches the groups of one host thread.
  std::unique_ptr<Observer> Make(const Program& program);
  // After all groups: what two of them did to the same bytes. The same list
  // whatever the number of threads and the order in which groups ended.
  std::vector<Finding> Finish();

 private:
  class Launch;
  class Watcher;
  std::unique_ptr<Launch> launch_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_MEMORY_RACES_H_
