#include "zyfa/launch/hip_device.h"

#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/hip_api.h"

namespace zyfa {
namespace {

absl::StatusCode CodeOf(HipError error) {
  switch (error) {
    case kHipErrorInvalidValue:
    case kHipErrorInvalidDevice:
      return absl::StatusCode::kInvalidArgument;
    case kHipErrorOutOfMemory:
      return absl::StatusCode::kResourceExhausted;
    case kHipErrorNoDevice:
      return absl::StatusCode::kUnavailable;
    case kHipErrorNoBinaryForGpu:
      return absl::StatusCode::kFailedPrecondition;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status Check(const HipApi& api, absl::string_view call, HipError error) {
  if (error == kHipSuccess) return absl::OkStatus();
  const char* text = api.hipGetErrorString(error);
  return absl::Status(CodeOf(error),
                      absl::StrCat(call, " failed with HIP error ", error, ": ",
                                   text == nullptr ? "unknown" : text));
}

// Makes a device the calling thread's current one until the end of a scope.
class Current {
 public:
  Current(const HipApi& api, int ordinal) : api_(api) {
    status_ = Check(api, "hipGetDevice", api.hipGetDevice(&before_));
    if (!status_.ok() || before_ == ordinal) return;
    status_ = Check(api, absl::StrCat("hipSetDevice(", ordinal, ")"),
                    api.hipSetDevice(ordinal));
    changed_ = status_.ok();
  }
  ~Current() {
    if (changed_) (void)api_.hipSetDevice(before_);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  const HipApi& api_;
  absl::Status status_;
  int before_ = 0;
  bool changed_ = false;
};

HipStream Native(Stream stream) {
  return static_cast<HipStream>(stream.native);
}
HipEvent Native(Event event) { return static_cast<HipEvent>(event.native); }
void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

class HipDevice final : public Device {
 public:
  HipDevice(const HipApi& api, int ordinal, DeviceProperties properties)
      : api_(api), ordinal_(ordinal), properties_(std::move(properties)) {}

  ~HipDevice() override {
    const Current current(api_, ordinal_);
    if (modules_.empty()) return;
    (void)api_.hipDeviceSynchronize();  // kernels may still be running
    for (HipModule module : modules_) (void)api_.hipModuleUnload(module);
  }

  const DeviceProperties& properties() const override { return properties_; }

  absl::StatusOr<uint64_t> Allocate(size_t bytes) override {
    void* pointer = nullptr;
    const absl::Status status =
        Do(absl::StrCat("hipMalloc(", bytes, " bytes)"),
           [&] { return api_.hipMalloc(&pointer, bytes); });
    if (!status.ok()) return status;
    return reinterpret_cast<uint64_t>(pointer);
  }

  absl::Status Free(uint64_t address) override {
    if (address == 0) return absl::OkStatus();
    return Do("hipFree", [&] { return api_.hipFree(Pointer(address)); });
  }

  absl::Status CopyToDevice(uint64_t destination,
                            absl::Span<const uint8_t> source) override {
    return Do("hipMemcpy to the device", [&] {
      return api_.hipMemcpy(Pointer(destination), source.data(), source.size(),
                            kHipMemcpyHostToDevice);
    });
  }

  absl::Status CopyFromDevice(absl::Span<uint8_t> destination,
                              uint64_t source) override {
    return Do("hipMemcpy from the device", [&] {
      return api_.hipMemcpy(destination.data(), Pointer(source),
                            destination.size(), kHipMemcpyDeviceToHost);
    });
  }

  absl::Status Fill(uint64_t address, uint8_t value, size_t bytes) override {
    absl::Status status = Do("hipMemset", [&] {
      return api_.hipMemset(Pointer(address), value, bytes);
    });
    // hipMemset may return before the memory is set.
    if (status.ok()) status = SynchronizeStream({});
    return status;
  }

  absl::StatusOr<KernelHandle> LoadCodeObject(
      absl::Span<const uint8_t> code_object,
      const std::string& kernel) override {
    const Current current(api_, ordinal_);
    if (!current.status().ok()) return current.status();
    HipModule module = nullptr;
    absl::Status status =
        Check(api_, "hipModuleLoadData",
              api_.hipModuleLoadData(&module, code_object.data()));
    if (!status.ok()) return status;
    HipFunction function = nullptr;
    status =
        Check(api_, absl::StrCat("hipModuleGetFunction(", kernel, ")"),
              api_.hipModuleGetFunction(&function, module, kernel.c_str()));
    if (!status.ok()) {
      (void)api_.hipModuleUnload(module);
      return status;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    modules_.push_back(module);
    return KernelHandle{function};
  }

  absl::Status Launch(KernelHandle kernel, const LaunchShape& shape,
                      absl::Span<const uint8_t> arguments,
                      Stream stream) override {
    // HIP copies the block before it returns and declares the pointer mutable.
    void* block = const_cast<uint8_t*>(arguments.data());
    size_t bytes = arguments.size();
    void* extra[] = {kHipLaunchBufferPointer, block, kHipLaunchBufferSize,
                     &bytes, kHipLaunchEnd};
    return Do("hipModuleLaunchKernel", [&] {
      return api_.hipModuleLaunchKernel(
          static_cast<HipFunction>(kernel.native), shape.grid[0], shape.grid[1],
          shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
          shape.dynamic_lds_bytes, Native(stream), nullptr, extra);
    });
  }

  absl::StatusOr<Stream> CreateStream() override {
    HipStream stream = nullptr;
    const absl::Status status =
        Do("hipStreamCreate", [&] { return api_.hipStreamCreate(&stream); });
    if (!status.ok()) return status;
    return Stream{stream};
  }

  absl::Status DestroyStream(Stream stream) override {
    return Do("hipStreamDestroy",
              [&] { return api_.hipStreamDestroy(Native(stream)); });
  }

  absl::Status SynchronizeStream(Stream stream) override {
    return Do("hipStreamSynchronize",
              [&] { return api_.hipStreamSynchronize(Native(stream)); });
  }

  absl::Status Synchronize() override {
    return Do("hipDeviceSynchronize",
              [&] { return api_.hipDeviceSynchronize(); });
  }

  absl::StatusOr<Event> CreateEvent() override {
    HipEvent event = nullptr;
    const absl::Status status =
        Do("hipEventCreate", [&] { return api_.hipEventCreate(&event); });
    if (!status.ok()) return status;
    return Event{event};
  }

  absl::Status DestroyEvent(Event event) override {
    return Do("hipEventDestroy",
              [&] { return api_.hipEventDestroy(Native(event)); });
  }

  absl::Status RecordEvent(Event event, Stream stream) override {
    return Do("hipEventRecord", [&] {
      return api_.hipEventRecord(Native(event), Native(stream));
    });
  }

  absl::StatusOr<double> ElapsedMilliseconds(Event begin, Event end) override {
    absl::Status status = Do("hipEventSynchronize", [&] {
      return api_.hipEventSynchronize(Native(end));
    });
    if (!status.ok()) return status;
    float milliseconds = 0;
    status = Do("hipEventElapsedTime", [&] {
      return api_.hipEventElapsedTime(&milliseconds, Native(begin),
                                      Native(end));
    });
    if (!status.ok()) return status;
    return milliseconds;
  }

 private:
  // Runs one HIP call with this device current.
  template <typename Call>
  absl::Status Do(absl::string_view name, Call call) {
    const Current current(api_, ordinal_);
    if (!current.status().ok()) return current.status();
    return Check(api_, name, call());
  }

  const HipApi api_;
  const int ordinal_;
  const DeviceProperties properties_;
  std::mutex mutex_;
  std::vector<HipModule> modules_;
};

// HIP tells a GPU's architecture only in a struct whose layout changes between
// versions. What matters is whether it takes our code, so that is what is
// asked.
absl::Status CheckArchitecture(const HipApi& api, const HipOptions& options) {
  const Current current(api, options.ordinal);
  if (!current.status().ok()) return current.status();
  HipModule module = nullptr;
  const HipError error =
      api.hipModuleLoadData(&module, AllKernels()[0].code_object.data());
  if (error == kHipErrorNoBinaryForGpu) {
    const auto found = MachineArchitectures(options.topology_directory);
    return absl::FailedPreconditionError(
        absl::StrCat("the GPU is not gfx950: HIP device ", options.ordinal,
                     " refuses its code (hipModuleLoadData, error ", error,
                     "); GPUs of this machine: ",
                     found.empty() ? "unknown" : absl::StrJoin(found, ", ")));
  }
  const absl::Status status = Check(api, "hipModuleLoadData", error);
  if (!status.ok()) return status;
  return Check(api, "hipModuleUnload", api.hipModuleUnload(module));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenHipDevice(
    const HipOptions& options) {
  const auto api = LoadHipApi(options.library);
  if (!api.ok()) return api.status();
  // Without a device some runtimes answer later calls with misleading errors.
  int count = 0;
  absl::Status status =
      Check(*api, "hipGetDeviceCount", api->hipGetDeviceCount(&count));
  if (!status.ok()) return status;
  if (count <= 0) return absl::UnavailableError("HIP finds no GPU");
  if (options.ordinal < 0 || options.ordinal >= count) {
    return absl::InvalidArgumentError(
        absl::StrCat("ordinal is ", options.ordinal, "; allowed: 0 to ",
                     count - 1, ", the GPUs that HIP finds"));
  }
  int version = 0;
  status =
      Check(*api, "hipRuntimeGetVersion", api->hipRuntimeGetVersion(&version));
  if (!status.ok()) return status;
  char name[256] = {};
  status =
      Check(*api, "hipDeviceGetName",
            api->hipDeviceGetName(name, sizeof(name) - 1, options.ordinal));
  if (!status.ok()) return status;
  int compute_units = 0;
  status = Check(*api, "hipDeviceGetAttribute",
                 api->hipDeviceGetAttribute(
                     &compute_units, kHipDeviceAttributeMultiprocessorCount,
                     options.ordinal));
  if (!status.ok()) return status;
  if (compute_units < 1) {
    return absl::InternalError(
        absl::StrCat("hipDeviceGetAttribute says that the GPU has ",
                     compute_units, " compute units"));
  }
  status = CheckArchitecture(*api, options);
  if (!status.ok()) return status;

  DeviceProperties properties;
  properties.kind = "hip";
  properties.name = name;
  properties.arch = "gfx950";
  properties.runtime = absl::StrCat("HIP ", version);
  properties.compute_units = static_cast<uint32_t>(compute_units);
  properties.modelled = false;
  return std::unique_ptr<Device>(
      new HipDevice(*api, options.ordinal, std::move(properties)));
}

}  // namespace zyfa
