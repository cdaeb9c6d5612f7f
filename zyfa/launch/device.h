#ifndef ZYFA_LAUNCH_DEVICE_H_
#define ZYFA_LAUNCH_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace zyfa {

// Handles of a device's objects. `native` is the back end's own (hipStream_t,
// hipEvent_t on HIP); null is the default stream, and no event or kernel.
struct Stream {
  void* native = nullptr;
};
struct Event {
  void* native = nullptr;
};
struct KernelHandle {
  void* native = nullptr;
};

struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1};   // work-groups
  uint32_t block[3] = {1, 1, 1};  // work-items of a work-group
  uint32_t dynamic_lds_bytes = 0;
};

// Of an MI355X.
inline constexpr uint32_t kDefaultComputeUnits = 256;

struct DeviceProperties {
  std::string kind;     // "hip", "emulator"
  std::string name;     // for people
  std::string arch;     // "gfx950"
  std::string runtime;  // what executes, with its version
  uint32_t compute_units = kDefaultComputeUnits;
  bool modelled = false;  // results are a model's, not a GPU's measurements
};

// A GPU, or something that behaves as one. A back end implements the virtual
// functions; everything else here is built on them. Work on one stream runs in
// order; copies and Fill() wait for all earlier work of the default stream and
// are done when they return. All functions may be called from several threads.
//
// Every error is a status that names the operation; InvalidArgument for misuse,
// ResourceExhausted for lack of memory, Internal or a more telling code for
// failures of the device.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  virtual const DeviceProperties& properties() const = 0;

  // Device memory, aligned to 256 bytes at least. Zero bytes are allowed.
  virtual absl::StatusOr<uint64_t> Allocate(size_t bytes) = 0;
  // Freeing address 0 does nothing.
  virtual absl::Status Free(uint64_t address) = 0;
  virtual absl::Status CopyToDevice(uint64_t destination,
                                    absl::Span<const uint8_t> source) = 0;
  virtual absl::Status CopyFromDevice(absl::Span<uint8_t> destination,
                                      uint64_t source) = 0;
  virtual absl::Status Fill(uint64_t address, uint8_t value, size_t bytes) = 0;

  // The kernel of that name in a code object, loaded until the device ends.
  // `code_object` may go after the call.
  virtual absl::StatusOr<KernelHandle> LoadCodeObject(
      absl::Span<const uint8_t> code_object, const std::string& kernel) = 0;
  // `arguments` is the content of the kernel-argument block.
  virtual absl::Status Launch(KernelHandle kernel, const LaunchShape& shape,
                              absl::Span<const uint8_t> arguments,
                              Stream stream) = 0;

  virtual absl::StatusOr<Stream> CreateStream() = 0;
  virtual absl::Status DestroyStream(Stream stream) = 0;
  virtual absl::Status SynchronizeStream(Stream stream) = 0;
  // Waits for all work of all streams.
  virtual absl::Status Synchronize() = 0;

  virtual absl::StatusOr<Event> CreateEvent() = 0;
  virtual absl::Status DestroyEvent(Event event) = 0;
  virtual absl::Status RecordEvent(Event event, Stream stream) = 0;
  // Waits for `end`, then the device's time from `begin` to `end`.
  virtual absl::StatusOr<double> ElapsedMilliseconds(Event begin,
                                                     Event end) = 0;

  // LoadCodeObject() at the first call with this kernel, the same handle later.
  // `code_object` must live as long as the device: it is known by its address.
  absl::StatusOr<KernelHandle> LoadOnce(absl::Span<const uint8_t> code_object,
                                        const std::string& kernel);

  // What `probe` finds out about this device: run at the first call, the same
  // answer later. FailedPrecondition, which says that the device is unfit, is
  // an answer too; after other errors the next call tries again.
  using Probe = absl::StatusOr<float> (*)(Device&);
  absl::StatusOr<float> ProbeOnce(Probe probe);

 protected:
  Device() = default;

 private:
  std::mutex mutex_;
  std::map<std::pair<const uint8_t*, std::string>, KernelHandle> loaded_;
  std::mutex probe_mutex_;
  std::map<Probe, absl::StatusOr<float>> probed_;
};

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_DEVICE_H_
