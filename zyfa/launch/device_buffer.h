#ifndef ZYFA_LAUNCH_DEVICE_BUFFER_H_
#define ZYFA_LAUNCH_DEVICE_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "zyfa/launch/device.h"

namespace zyfa {

// Device memory that is freed with its owner. The device must outlive it.
class DeviceBuffer {
 public:
  static absl::StatusOr<DeviceBuffer> Create(Device& device, size_t bytes);
  DeviceBuffer() = default;
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  uint64_t address() const { return address_; }
  size_t size() const { return bytes_; }

 private:
  Device* device_ = nullptr;
  uint64_t address_ = 0;
  size_t bytes_ = 0;
};

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_DEVICE_BUFFER_H_
