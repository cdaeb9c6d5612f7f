#include "zyfa/emu/strict/undefined_values.h"

namespace zyfa::emu {

std::unique_ptr<Observer> MakeUndefinedValues(const Program& /*program*/,
                                              const KernelInfo& /*kernel*/) {
  return std::make_unique<Observer>();
}

}  // namespace zyfa::emu
