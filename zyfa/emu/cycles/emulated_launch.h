#ifndef ZYFA_EMU_CYCLES_EMULATED_LAUNCH_H_
#define ZYFA_EMU_CYCLES_EMULATED_LAUNCH_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"

namespace zyfa::emu {

// What the emulator is to run. Only work-groups that are sampled run, and what
// they store is stored; their loads must find data that stands for all others'.
struct EmulatedLaunch {
  const CodeObject* code = nullptr;
  std::string kernel;
  LaunchShape shape;  // may be a part of the launch: LaunchWork::examples
  absl::Span<const uint8_t> kernarg;
  DeviceMemory* memory = nullptr;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_EMULATED_LAUNCH_H_
