#ifndef ZYFA_EMU_FINDING_H_
#define ZYFA_EMU_FINDING_H_

#include <cstdint>
#include <string>

namespace zyfa::emu {

enum class Severity { kWarning, kError };

// One verdict of the emulator on the code it ran. Rules:
//   error    "unsupported-instruction", "program-counter", "trap",
//            "instruction-budget", "register-out-of-range", "waitcnt" (a load's
//            destination is used before an s_waitcnt retired it),
//            "out-of-range" (memory), "lds-out-of-range", "partial-exec",
//            "misaligned"; in strict mode "undefined-value" (bits that nothing
//            has written decide an address, a branch, EXEC, a lane or a
//            stored value)
//   warning  "ambiguous-range" (published rules of the buffer range check
//            differ), "unbound-buffer"
struct Finding {
  Severity severity = Severity::kError;
  std::string rule;  // "out-of-range", "unsupported-instruction", ...
  std::string kernel;
  uint64_t pc = 0;  // byte offset inside .text
  std::string disassembly;
  uint32_t workgroup[3] = {0, 0, 0};
  int wave = 0;
  int lane = -1;          // -1: the whole wave
  std::string registers;  // that the rule is about: "v12", "s4", ""
  std::string detail;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_FINDING_H_
