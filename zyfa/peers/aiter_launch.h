#ifndef ZYFA_PEERS_AITER_LAUNCH_H_
#define ZYFA_PEERS_AITER_LAUNCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/mla_work.h"

namespace zyfa::peers {

// A launch of one of AITER's kernels, its buffers in an emulator's memory.
struct AiterLaunch {
  std::string kernel;  // name in the code object
  emu::LaunchShape shape;
  std::vector<uint8_t> kernarg;
  uint64_t output = 0;  // BF16 [query token][head][head_dim_v]
  // Float, 0 if the kernel writes none: [batch][head][query], for grouped
  // kernels [head][query token].
  uint64_t lse = 0;
};

// Work-groups and work-items of a launch, as AITER's launchers choose them.
emu::LaunchShape AiterLaunchShape(const AiterKernel& kernel,
                                  const AiterProblem& problem);

// Lays out the operands, allocates and fills the buffers and writes the
// argument block. Outputs are filled with NaN. InvalidArgument if the kernel
// cannot do the problem (Validate), ResourceExhausted if memory ends.
// `mla_work`, for kernels of mla_pfl_qh192_vh128: what their work-groups do,
// works of the problem; nullptr: MakeMlaWork() for a few groups.
absl::StatusOr<AiterLaunch> PrepareAiterLaunch(
    const AiterKernel& kernel, const AiterProblem& problem,
    const AiterOperands& operands, emu::DeviceMemory& memory,
    const MlaWorkList* mla_work = nullptr);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_AITER_LAUNCH_H_
