#include "zyfa/launch/device_buffer.h"

#include <utility>

namespace zyfa {

absl::StatusOr<DeviceBuffer> DeviceBuffer::Create(Device& device,
                                                  size_t bytes) {
  const auto address = device.Allocate(bytes);
  if (!address.ok()) return address.status();
  DeviceBuffer buffer;
  buffer.device_ = &device;
  buffer.address_ = *address;
  buffer.bytes_ = bytes;
  return buffer;
}

DeviceBuffer::~DeviceBuffer() {
  // Nobody is left to hear of an error.
  if (device_ != nullptr) (void)device_->Free(address_);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace zyfa
