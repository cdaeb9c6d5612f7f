#ifndef ZYFA_EMU_STRICT_UNDEFINED_VALUES_H_
#define ZYFA_EMU_STRICT_UNDEFINED_VALUES_H_

#include <memory>

#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Follows bits that nothing has written through registers and LDS, and reports
// where one decides anything: rule "undefined-value", an error.
std::unique_ptr<Observer> MakeUndefinedValues(const Program& program,
                                              const KernelInfo& kernel);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_UNDEFINED_VALUES_H_
