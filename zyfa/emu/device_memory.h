#ifndef ZYFA_EMU_DEVICE_MEMORY_H_
#define ZYFA_EMU_DEVICE_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace zyfa::emu {

// The emulated GPU's memory: allocations at device addresses below 2^48 with
// guard space between them, so that an access beyond one never meets another.
// Pages are taken from the host when touched: allocations of many GiB are cheap
// as long as they stay empty.
class DeviceMemory {
 public:
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // A zero-filled block, aligned to 256 bytes; its end is exact to the byte.
  // bytes == 0 gives a valid address of which nothing may be accessed.
  absl::StatusOr<uint64_t> Allocate(size_t bytes);
  absl::Status Free(uint64_t address);
  // OutOfRange names the address and the nearest allocation.
  absl::Status Write(uint64_t address, absl::Span<const uint8_t> bytes);
  absl::Status Read(uint64_t address, absl::Span<uint8_t> bytes) const;

  // A copy of everything, by allocation, and back again. Only for the same live
  // allocations; nothing may run meanwhile.
  struct Allocation {
    uint64_t address = 0;
    std::vector<uint8_t> bytes;
  };
  using Content = std::vector<Allocation>;
  Content Save() const;
  void Restore(const Content& content);

  // Host pointer to [address, address + bytes) or nullptr if any byte of it
  // lies outside one live allocation. Safe to call from many threads during a
  // run.
  uint8_t* Translate(uint64_t address, size_t bytes) const;

 private:
  struct Block {
    uint8_t* host = nullptr;
    size_t bytes = 0;
    size_t mapped = 0;
  };
  // The allocation with the greatest address <= `address`, or blocks_.end().
  std::map<uint64_t, Block>::const_iterator FindAtOrBelow(
      uint64_t address) const;
  // Where `span` bytes fit behind `start`, or 0.
  uint64_t FindGap(uint64_t start, uint64_t span) const;
  absl::Status OutOfRange(const char* what, uint64_t address,
                          size_t bytes) const;

  mutable std::mutex mutex_;
  std::map<uint64_t, Block> blocks_;
  uint64_t next_;
  // Changes with every Allocate and Free, unique over all objects: what a
  // thread remembers of the blocks holds for one generation.
  std::atomic<uint64_t> generation_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_DEVICE_MEMORY_H_
