#ifndef ZYFA_PROBE_ALTERED_DEVICE_H_
#define ZYFA_PROBE_ALTERED_DEVICE_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/probe/layout.h"

namespace zyfa::probe {

// The emulator, for tests of what a probe does elsewhere: results of one of the
// probe kernels are changed on their way back. It counts launches.
class AlteredDevice final : public Device {
 public:
  using Change = std::variant<std::function<void(VectorResult&)>,
                              std::function<void(Int8Result&)>,
                              std::function<void(SparseResult&)>>;
  explicit AlteredDevice(Change change) : change_(std::move(change)) {}

  // Of the kernel of that name in its code object.
  int launches(const std::string& kernel) const {
    const auto found = launches_.find(kernel);
    return found == launches_.end() ? 0 : found->second;
  }
  int launches() const {
    int sum = 0;
    for (const auto& [kernel, count] : launches_) sum += count;
    return sum;
  }
  // The launches to come return this.
  void set_launch_status(absl::Status status) { launch_status_ = status; }

  const DeviceProperties& properties() const override {
    return device_.properties();
  }
  absl::StatusOr<uint64_t> Allocate(size_t bytes) override {
    return device_.Allocate(bytes);
  }
  absl::Status Free(uint64_t address) override { return device_.Free(address); }
  absl::Status CopyToDevice(uint64_t destination,
                            absl::Span<const uint8_t> source) override {
    return device_.CopyToDevice(destination, source);
  }
  absl::Status CopyFromDevice(absl::Span<uint8_t> destination,
                              uint64_t source) override {
    const absl::Status status = device_.CopyFromDevice(destination, source);
    std::visit([&](const auto& change) { Alter(change, destination); },
               change_);
    return status;
  }
  absl::Status Fill(uint64_t address, uint8_t value, size_t bytes) override {
    return device_.Fill(address, value, bytes);
  }
  absl::StatusOr<KernelHandle> LoadCodeObject(
      absl::Span<const uint8_t> code_object,
      const std::string& kernel) override {
    const auto handle = device_.LoadCodeObject(code_object, kernel);
    if (handle.ok()) kernels_[handle->native] = kernel;
    return handle;
  }
  absl::Status Launch(KernelHandle kernel, const LaunchShape& shape,
                      absl::Span<const uint8_t> arguments,
                      Stream stream) override {
    if (!launch_status_.ok()) return launch_status_;
    latest_ = kernels_[kernel.native];
    ++launches_[latest_];
    return device_.Launch(kernel, shape, arguments, stream);
  }
  absl::StatusOr<Stream> CreateStream() override {
    return device_.CreateStream();
  }
  absl::Status DestroyStream(Stream stream) override {
    return device_.DestroyStream(stream);
  }
  absl::Status SynchronizeStream(Stream stream) override {
    return device_.SynchronizeStream(stream);
  }
  absl::Status Synchronize() override { return device_.Synchronize(); }
  absl::StatusOr<Event> CreateEvent() override { return device_.CreateEvent(); }
  absl::Status DestroyEvent(Event event) override {
    return device_.DestroyEvent(event);
  }
  absl::Status RecordEvent(Event event, Stream stream) override {
    return device_.RecordEvent(event, stream);
  }
  absl::StatusOr<double> ElapsedMilliseconds(Event begin, Event end) override {
    return device_.ElapsedMilliseconds(begin, end);
  }

 private:
  static const char* KernelOf(const VectorResult&) {
    return "zyfa_probe_vector";
  }
  static const char* KernelOf(const Int8Result&) { return "zyfa_probe_int8"; }
  static const char* KernelOf(const SparseResult&) {
    return "zyfa_probe_sparse";
  }

  template <class Result>
  void Alter(const std::function<void(Result&)>& change,
             absl::Span<uint8_t> bytes) const {
    Result result;
    if (latest_ != KernelOf(result)) return;
    for (size_t i = 0; i + sizeof(Result) <= bytes.size();
         i += sizeof(Result)) {
      std::memcpy(&result, bytes.data() + i, sizeof(result));
      change(result);
      std::memcpy(bytes.data() + i, &result, sizeof(result));
    }
  }

  EmulatorDevice device_{emu::StrictOptions()};
  Change change_;
  absl::Status launch_status_;
  std::map<void*, std::string> kernels_;
  std::map<std::string, int> launches_;
  std::string latest_;
};

}  // namespace zyfa::probe

#endif  // ZYFA_PROBE_ALTERED_DEVICE_H_
