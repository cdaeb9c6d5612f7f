#ifndef ZYFA_EMU_INITIAL_SGPRS_H_
#define ZYFA_EMU_INITIAL_SGPRS_H_

#include <cstdint>

#include "zyfa/emu/code_object.h"

namespace zyfa::emu {

// Properties of a kernel descriptor that ask for user SGPRs, in the order in
// which these come.
enum KernelProperty : uint32_t {
  kPrivateSegmentBuffer = 1 << 0,
  kDispatchPointer = 1 << 1,
  kQueuePointer = 1 << 2,
  kKernargPointer = 1 << 3,
  kDispatchId = 1 << 4,
  kFlatScratchInit = 1 << 5,
  kPrivateSegmentSize = 1 << 6,
};

// First SGPR of everything that a wave starts with, -1 for what the descriptor
// does not ask for (LLVM AMDGPUUsage "Initial Kernel Execution State").
struct InitialSgprs {
  int dispatch_pointer = -1;   // two registers
  int queue_pointer = -1;      // two
  int kernarg_pointer = -1;    // two
  int dispatch_id = -1;        // two
  int private_size = -1;       // one
  int preload = -1;            // preload_count
  uint32_t preload_count = 0;  // kernarg dwords from preload_first on
  uint32_t preload_first = 0;
  int group_id[3] = {-1, -1, -1};
  uint32_t named = 0;  // user SGPRs that the properties ask for
  uint32_t user = 0;   // that the descriptor counts
};

InitialSgprs LayOutSgprs(const KernelInfo& kernel);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_INITIAL_SGPRS_H_
