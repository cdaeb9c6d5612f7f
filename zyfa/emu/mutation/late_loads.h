#ifndef ZYFA_EMU_MUTATION_LATE_LOADS_H_
#define ZYFA_EMU_MUTATION_LATE_LOADS_H_

#include <memory>

#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Not a watcher but an adversary: what a load brings stays away from its
// registers until an s_waitcnt has retired it; until then they hold garbage, as
// they may on hardware. Code that waits for all its loads does not notice.
class LateLoads : public ObserverFactory {
 public:
  std::unique_ptr<Observer> Make(const Program& program,
                                 const KernelInfo& kernel) override;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_MUTATION_LATE_LOADS_H_
