#ifndef ZYFA_EMU_STRICT_STRICT_H_
#define ZYFA_EMU_STRICT_STRICT_H_

#include <memory>
#include <vector>

#include "zyfa/emu/observer.h"
#include "zyfa/emu/strict/memory_races.h"

namespace zyfa::emu {

// Everything that the hardware leaves to the programmer and that a run with
// right numbers does not show: the checks whose headers stand beside this one.
// One object watches one launch.
class StrictMode : public ObserverFactory {
 public:
  StrictMode();
  ~StrictMode() override;
  std::unique_ptr<Observer> Make(const Program& program,
                                 const KernelInfo& kernel) override;
  std::vector<Finding> Finish() override;

 private:
  MemoryRaces memory_races_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_STRICT_H_
