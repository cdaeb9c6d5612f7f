#ifndef ZYFA_EMU_TESTING_TEST_DEVICE_H_
#define ZYFA_EMU_TESTING_TEST_DEVICE_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/schedules.h"

namespace zyfa::emu {

// Arguments of a kernel in order, each aligned to its own size.
class Kernarg {
 public:
  template <class T>
  Kernarg& Add(T value) {
    const size_t at = (bytes_.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// All bytes of a file among the test's data, by path from the workspace's root.
std::vector<uint8_t> ReadData(const std::string& path);

// A code object among the test's data, with memory to run its kernels on. Fails
// the process where a test could not go on anyway.
class TestDevice {
 public:
  // `name`: file of zyfa/emu/testdata without ".co".
  explicit TestDevice(const std::string& name);

  template <class T>
  uint64_t Upload(const std::vector<T>& values) {
    return UploadBytes(
        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(values.data()),
                            values.size() * sizeof(T)));
  }
  uint64_t UploadBytes(absl::Span<const uint8_t> bytes);
  template <class T>
  std::vector<T> Download(uint64_t address, size_t count) const {
    std::vector<T> values(count);
    DownloadBytes(address,
                  absl::MakeSpan(reinterpret_cast<uint8_t*>(values.data()),
                                 count * sizeof(T)));
    return values;
  }
  void DownloadBytes(uint64_t address, absl::Span<uint8_t> bytes) const;

  absl::StatusOr<RunReport> Run(const std::string& kernel,
                                const LaunchShape& shape,
                                const Kernarg& kernarg,
                                const RunOptions& options = StrictOptions());
  // The same; a test failure unless it ends without any finding but of rules in
  // `allowed`.
  RunReport RunClean(const std::string& kernel, const LaunchShape& shape,
                     const Kernarg& kernarg,
                     const RunOptions& options = StrictOptions(),
                     const std::set<std::string>& allowed = {});

  DeviceMemory& memory() { return memory_; }
  const CodeObject& code() const { return *code_; }

 private:
  std::unique_ptr<CodeObject> code_;
  DeviceMemory memory_;
};

// `workgroups` groups of `items` work-items along x.
LaunchShape Shape(uint32_t workgroups, uint32_t items);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_TESTING_TEST_DEVICE_H_
