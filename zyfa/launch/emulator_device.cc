#include "zyfa/launch/emulator_device.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "zyfa/launch/attention_time.h"

namespace zyfa {
namespace {

// The first error-level finding in words, or OK.
absl::Status Verdict(const std::vector<emu::Finding>& findings) {
  for (const emu::Finding& f : findings) {
    if (f.severity != emu::Severity::kError) continue;
    std::string where =
        absl::StrCat("work-group (", f.workgroup[0], ", ", f.workgroup[1], ", ",
                     f.workgroup[2], "), wave ", f.wave);
    if (f.lane >= 0) absl::StrAppend(&where, ", lane ", f.lane);
    return absl::InternalError(
        absl::StrCat("emulator: ", f.rule, " in kernel ", f.kernel, " at pc 0x",
                     absl::Hex(f.pc), ", ", f.disassembly, ": ", f.detail, " (",
                     where, ")"));
  }
  return absl::OkStatus();
}

absl::Status CheckLimits(const LaunchShape& shape) {
  const uint64_t threads = uint64_t{shape.grid[0]} * shape.block[0];
  if (threads >> 32 != 0 || shape.grid[1] > 65535 || shape.grid[2] > 65535) {
    return absl::InvalidArgumentError(absl::StrCat(
        "grid is (", shape.grid[0], ", ", shape.grid[1], ", ", shape.grid[2],
        ") work-groups of ", shape.block[0],
        " along x; allowed: less than 2^32 work-items along x, 65535 "
        "work-groups along y and z"));
  }
  return absl::OkStatus();
}

// An address outside the allocations is the caller's mistake, as it is to HIP.
absl::Status AsMisuse(const absl::Status& status) {
  if (!absl::IsOutOfRange(status) && !absl::IsNotFound(status)) return status;
  return absl::InvalidArgumentError(status.message());
}

absl::Status UnknownHandle(absl::string_view kind) {
  return absl::InvalidArgumentError(absl::StrCat(
      kind, " is no handle of this device; allowed: what it created"));
}

}  // namespace

EmulatorDevice::EmulatorDevice(const emu::RunOptions& options)
    : options_(options) {
  properties_.kind = "emulator";
  properties_.name = "gfx950 emulator";
  properties_.arch = "gfx950";
  properties_.runtime = "zyfa emulator";
  properties_.modelled = true;
}

void EmulatorDevice::set_options(const emu::RunOptions& options) {
  const std::lock_guard<std::mutex> lock(mutex_);
  options_ = options;
}

emu::RunReport EmulatorDevice::last_report() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return report_;
}

void EmulatorDevice::set_timing(const std::optional<EmulatorTiming>& timing) {
  const std::lock_guard<std::mutex> lock(mutex_);
  timing_ = timing;
  time_.reset();
}

std::optional<emu::KernelTime> EmulatorDevice::last_time() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return time_;
}

absl::StatusOr<uint64_t> EmulatorDevice::Allocate(size_t bytes) {
  return memory_.Allocate(bytes);
}

absl::Status EmulatorDevice::Free(uint64_t address) {
  if (address == 0) return absl::OkStatus();
  return AsMisuse(memory_.Free(address));
}

absl::Status EmulatorDevice::CopyToDevice(uint64_t destination,
                                          absl::Span<const uint8_t> source) {
  return AsMisuse(memory_.Write(destination, source));
}

absl::Status EmulatorDevice::CopyFromDevice(absl::Span<uint8_t> destination,
                                            uint64_t source) {
  return AsMisuse(memory_.Read(source, destination));
}

absl::Status EmulatorDevice::Fill(uint64_t address, uint8_t value,
                                  size_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  uint8_t* host = memory_.Translate(address, bytes);
  if (host == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "address is 0x", absl::Hex(address), " with ", bytes,
        " bytes to fill; allowed: what lies inside one allocation"));
  }
  std::memset(host, value, bytes);
  return absl::OkStatus();
}

absl::StatusOr<KernelHandle> EmulatorDevice::LoadCodeObject(
    absl::Span<const uint8_t> code_object, const std::string& kernel) {
  auto code = emu::CodeObject::Load(code_object);
  if (!code.ok()) return code.status();
  if ((*code)->FindKernel(kernel) == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("the code object holds no kernel ", kernel));
  }
  auto owned = std::make_unique<Kernel>();
  owned->code = *std::move(code);
  owned->name = kernel;
  const KernelHandle handle = {owned.get()};
  const std::lock_guard<std::mutex> lock(mutex_);
  kernels_[handle.native] = std::move(owned);
  return handle;
}

absl::Status EmulatorDevice::Launch(KernelHandle kernel,
                                    const LaunchShape& shape,
                                    absl::Span<const uint8_t> arguments,
                                    Stream stream) {
  const absl::Status limits = CheckLimits(shape);
  if (!limits.ok()) return limits;
  const std::lock_guard<std::mutex> lock(mutex_);
  const absl::Status status = CheckStream(stream);
  if (!status.ok()) return status;
  const auto found = kernels_.find(kernel.native);
  if (found == kernels_.end()) return UnknownHandle("kernel");
  const Kernel& loaded = *found->second;
  if (timing_.has_value() && IsAttentionKernel(loaded.name)) {
    absl::StatusOr<emu::KernelTime> time = ModelAttentionTime(
        *loaded.code, loaded.name, shape, arguments, memory_, timing_->options);
    if (!time.ok()) return time.status();
    modelled_ms_ += time->milliseconds;
    time_ = *std::move(time);
    if (timing_->only) return Verdict(time_->findings);
  }
  emu::LaunchShape emulated;
  for (int i = 0; i < 3; ++i) {
    emulated.grid[i] = shape.grid[i];
    emulated.workgroup[i] = shape.block[i];
  }
  emulated.dynamic_lds_bytes = shape.dynamic_lds_bytes;
  auto report = emu::Run(*loaded.code, loaded.name, emulated, arguments,
                         memory_, options_);
  if (!report.ok()) return report.status();
  report_ = *std::move(report);
  return Verdict(report_.findings);
}

absl::Status EmulatorDevice::CheckStream(Stream stream) const {
  if (stream.native == nullptr || streams_.count(stream.native) != 0) {
    return absl::OkStatus();
  }
  return UnknownHandle("stream");
}

absl::StatusOr<Stream> EmulatorDevice::CreateStream() {
  auto stream = std::make_unique<StreamObject>();
  const Stream handle = {stream.get()};
  const std::lock_guard<std::mutex> lock(mutex_);
  streams_[handle.native] = std::move(stream);
  return handle;
}

absl::Status EmulatorDevice::DestroyStream(Stream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (streams_.erase(stream.native) == 0) return UnknownHandle("stream");
  return absl::OkStatus();
}

absl::Status EmulatorDevice::SynchronizeStream(Stream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return CheckStream(stream);
}

absl::StatusOr<EmulatorDevice::Time*> EmulatorDevice::FindEvent(Event event) {
  const auto found = events_.find(event.native);
  if (found == events_.end()) return UnknownHandle("event");
  return found->second.get();
}

absl::StatusOr<Event> EmulatorDevice::CreateEvent() {
  auto time = std::make_unique<Time>();
  const Event handle = {time.get()};
  const std::lock_guard<std::mutex> lock(mutex_);
  events_[handle.native] = std::move(time);
  return handle;
}

absl::Status EmulatorDevice::DestroyEvent(Event event) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (events_.erase(event.native) == 0) return UnknownHandle("event");
  return absl::OkStatus();
}

absl::Status EmulatorDevice::RecordEvent(Event event, Stream stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const absl::Status status = CheckStream(stream);
  if (!status.ok()) return status;
  const auto time = FindEvent(event);
  if (!time.ok()) return time.status();
  **time = {std::chrono::steady_clock::now(), modelled_ms_};
  return absl::OkStatus();
}

absl::StatusOr<double> EmulatorDevice::ElapsedMilliseconds(Event begin,
                                                           Event end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto from = FindEvent(begin);
  if (!from.ok()) return from.status();
  const auto to = FindEvent(end);
  if (!to.ok()) return to.status();
  if (!(*from)->has_value() || !(*to)->has_value()) {
    return absl::InvalidArgumentError(
        "event was not recorded; allowed: two recorded events");
  }
  if (timing_.has_value()) {
    return (**to)->modelled_ms - (**from)->modelled_ms;
  }
  const std::chrono::duration<double, std::milli> elapsed =
      (**to)->host - (**from)->host;
  return elapsed.count();
}

}  // namespace zyfa
