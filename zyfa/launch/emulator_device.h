#ifndef ZYFA_LAUNCH_EMULATOR_DEVICE_H_
#define ZYFA_LAUNCH_EMULATOR_DEVICE_H_

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/device.h"

namespace zyfa {

// How the emulator models the time of launches.
struct EmulatorTiming {
  emu::KernelTimeOptions options;
  // Launches run no more than the work-groups that are sampled for their time;
  // what the others would have written stays as it is.
  bool only = false;
};

// The emulated gfx950 as a device. Everything is done when its function
// returns, whatever the stream. Launches obey the limits of HIP, so that what
// runs here runs there.
//
// A launch whose code is found at fault (an error-level finding) returns
// Internal with the first such finding: rule, kernel, pc, disassembly, wave.
// All of them are in last_report().
class EmulatorDevice final : public Device {
 public:
  explicit EmulatorDevice(const emu::RunOptions& options = {});

  // For launches from now on.
  void set_options(const emu::RunOptions& options);
  // Of the latest launch that was run, faulty or not.
  emu::RunReport last_report() const;

  // From now on launches of attention kernels are modelled too, and events tell
  // modelled time; nullopt: no longer. Such a launch then fails where
  // ModelAttentionTime() does. Other kernels run whole and take no modelled
  // time.
  void set_timing(const std::optional<EmulatorTiming>& timing);
  // Of the latest launch that was modelled since set_timing().
  std::optional<emu::KernelTime> last_time() const;

  const DeviceProperties& properties() const override { return properties_; }
  absl::StatusOr<uint64_t> Allocate(size_t bytes) override;
  absl::Status Free(uint64_t address) override;
  absl::Status CopyToDevice(uint64_t destination,
                            absl::Span<const uint8_t> source) override;
  absl::Status CopyFromDevice(absl::Span<uint8_t> destination,
                              uint64_t source) override;
  absl::Status Fill(uint64_t address, uint8_t value, size_t bytes) override;
  absl::StatusOr<KernelHandle> LoadCodeObject(
      absl::Span<const uint8_t> code_object,
      const std::string& kernel) override;
  absl::Status Launch(KernelHandle kernel, const LaunchShape& shape,
                      absl::Span<const uint8_t> arguments,
                      Stream stream) override;
  absl::StatusOr<Stream> CreateStream() override;
  absl::Status DestroyStream(Stream stream) override;
  absl::Status SynchronizeStream(Stream stream) override;
  absl::Status Synchronize() override { return absl::OkStatus(); }
  absl::StatusOr<Event> CreateEvent() override;
  absl::Status DestroyEvent(Event event) override;
  absl::Status RecordEvent(Event event, Stream stream) override;
  // With set_timing(), the modelled time of the launches between the two, one
  // after the other. Without, time that the host took, which says nothing about
  // a GPU.
  absl::StatusOr<double> ElapsedMilliseconds(Event begin, Event end) override;

 private:
  struct Moment {
    std::chrono::steady_clock::time_point host;
    double modelled_ms = 0;
  };
  using Time = std::optional<Moment>;
  struct Kernel {
    std::unique_ptr<emu::CodeObject> code;
    std::string name;
  };
  struct StreamObject {};

  // These need mutex_ held.
  absl::Status CheckStream(Stream stream) const;
  absl::StatusOr<Time*> FindEvent(Event event);

  DeviceProperties properties_;
  emu::DeviceMemory memory_;
  mutable std::mutex mutex_;  // guards all below; launches run one at a time
  emu::RunOptions options_;
  emu::RunReport report_;
  std::optional<EmulatorTiming> timing_;
  std::optional<emu::KernelTime> time_;
  double modelled_ms_ = 0;  // of all launches so far
  std::map<const void*, std::unique_ptr<Kernel>> kernels_;
  std::map<const void*, std::unique_ptr<StreamObject>> streams_;
  std::map<const void*, std::unique_ptr<Time>> events_;
};

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_EMULATOR_DEVICE_H_
