#ifndef ZYFA_EMU_WAVE_START_H_
#define ZYFA_EMU_WAVE_START_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/group.h"

namespace zyfa::emu {

// What all work-groups of a launch start from.
struct LaunchState {
  const KernelInfo* kernel = nullptr;
  LaunchShape shape;
  MatrixModel matrix_model = MatrixModel::kExact;
  uint64_t kernarg_address = 0;
  uint64_t dispatch_packet_address = 0;  // 0: the kernel does not ask for it
  std::vector<uint8_t> kernarg;          // for preloaded SGPRs
};

// What registers and LDS hold before a kernel writes them: NaN as F32, as
// either BF16 half and as FP8, and easy to recognise in a dump.
inline constexpr uint32_t kGarbageVgpr = 0xfff1fff1;
inline constexpr uint32_t kGarbageSgpr = 0xfff2fff2;
inline constexpr uint32_t kGarbageLds = 0xfff3fff3;

// Unimplemented if the kernel's descriptor asks for a register that is not
// provided, InvalidArgument if it contradicts itself.
absl::Status CheckDescriptor(const KernelInfo& kernel);

// Writes the hidden arguments that the metadata lists into `kernarg`, as the
// runtime does at a launch. Services of the host (printf, heap, queues) become
// null pointers, so that a kernel that uses one faults. InvalidArgument if one
// lies beyond the kernarg segment.
absl::Status FillHiddenArguments(const KernelInfo& kernel,
                                 const LaunchShape& shape,
                                 std::vector<uint8_t>& kernarg);

// The AQL packet of the launch, 64 bytes.
std::vector<uint8_t> DispatchPacket(const LaunchState& launch);

// Registers, MODE, EXEC and program counter of wave `index` of group.id
// (descriptor rules: LLVM AMDGPUUsage "Initial Kernel Execution State").
void StartWave(const LaunchState& launch, Group& group, int index, Wave& wave);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_WAVE_START_H_
