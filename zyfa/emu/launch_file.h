#ifndef ZYFA_EMU_LAUNCH_FILE_H_
#define ZYFA_EMU_LAUNCH_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/launch.pb.h"

namespace zyfa::emu {

// A launch with everything that its file names: code object, arguments,
// buffers.
struct PreparedLaunch {
  std::vector<uint8_t> code_object;
  std::string kernel;
  LaunchShape shape;
  std::vector<uint8_t> kernarg;
  struct Output {
    std::string path;
    uint64_t address = 0;
    uint64_t bytes = 0;
  };
  std::vector<Output> outputs;
};

// The message in the file at `path`. NotFound if there is none,
// InvalidArgument with line and column if it is no such text.
absl::StatusOr<Launch> ReadLaunchFile(const std::string& path);

// Checks `launch` and places its buffers into `memory`; relative paths start at
// `directory`. InvalidArgument or NotFound names the field, its value and what
// is allowed.
absl::StatusOr<PreparedLaunch> PrepareLaunch(const Launch& launch,
                                             const std::string& directory,
                                             DeviceMemory& memory);

// Both of the above, with paths relative to the file's own directory.
absl::StatusOr<PreparedLaunch> LoadLaunch(const std::string& path,
                                          DeviceMemory& memory);

// Writes every buffer that has an `out` path.
absl::Status WriteOutputs(const PreparedLaunch& prepared,
                          const DeviceMemory& memory);

// All bytes of a file; NotFound names it.
absl::StatusOr<std::vector<uint8_t>> ReadBytes(const std::string& path);
absl::Status WriteBytes(const std::string& path, const uint8_t* bytes,
                        size_t count);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_LAUNCH_FILE_H_
