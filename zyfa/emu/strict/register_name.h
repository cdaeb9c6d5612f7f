#ifndef ZYFA_EMU_STRICT_REGISTER_NAME_H_
#define ZYFA_EMU_STRICT_REGISTER_NAME_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// "v7", "a0", "s12", "vcc", "exec", "m0": a row of Wave::vgpr or a number of
// ScalarRegister. "" for a negative number.
inline std::string RegisterName(bool vector, int number) {
  if (number < 0) return "";
  if (vector) {
    return number < kVgprs ? absl::StrCat("v", number)
                           : absl::StrCat("a", number - kVgprs);
  }
  if (number == kVccLo || number == kVccLo + 1) return "vcc";
  if (number == kExecLo || number == kExecLo + 1) return "exec";
  if (number == kM0) return "m0";
  return absl::StrCat("s", number);
}

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_REGISTER_NAME_H_
