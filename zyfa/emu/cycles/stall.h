#ifndef ZYFA_EMU_CYCLES_STALL_H_
#define ZYFA_EMU_CYCLES_STALL_H_

#include <cstdint>

namespace zyfa::emu {

// Why a wave did not issue its next instruction at the first turn it could
// have. Each clock of waiting has one reason, the last that went away.
enum class Stall : uint8_t {
  kIssue,         // another wave of the SIMD took the issue port
  kVectorPipe,    // vector pipe busy
  kMatrixPipe,    // matrix pipe busy
  kMatrixHold,    // behind a matrix instruction (cdna4-timing 1.3)
  kMatrixResult,  // a matrix result that is not in its registers yet
  kLdsQueue,      // FIFO of the SIMD pair full, or lgkmcnt at its top
  kMemoryQueue,   // vector memory queue full, or vmcnt at its top
  kWaitLds,       // s_waitcnt lgkmcnt
  kWaitMemory,    // s_waitcnt vmcnt
  kBarrier,
  kNop,     // wait states of s_nop and s_sleep beyond the first
  kBranch,  // refilling behind a branch
  kFetch,   // instruction cache
};
inline constexpr int kStalls = 13;

// "issue port", "vector pipe", ...
const char* StallName(Stall stall);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_STALL_H_
