#ifndef ZYFA_PEERS_KNOWN_FINDINGS_H_
#define ZYFA_PEERS_KNOWN_FINDINGS_H_

#include "zyfa/emu/finding.h"
#include "zyfa/peers/aiter_kernel.h"

namespace zyfa::peers {

// Why an error-level finding on this kernel says something about the kernel and
// not about the emulator, or nullptr if nothing is known. Each has been traced
// in the kernel's disassembly.
const char* Explain(const AiterKernel& kernel, const emu::Finding& finding);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_KNOWN_FINDINGS_H_
