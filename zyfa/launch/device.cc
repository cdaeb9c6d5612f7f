#include "zyfa/launch/device.h"

namespace zyfa {

absl::StatusOr<KernelHandle> Device::LoadOnce(
    absl::Span<const uint8_t> code_object, const std::string& kernel) {
  // Held while loading, so that two threads do not load the same kernel twice.
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto key = std::make_pair(code_object.data(), kernel);
  const auto found = loaded_.find(key);
  if (found != loaded_.end()) return found->second;
  const auto handle = LoadCodeObject(code_object, kernel);
  if (handle.ok()) loaded_.emplace(key, *handle);
  return handle;
}

absl::StatusOr<float> Device::ProbeOnce(Probe probe) {
  // Held while probing; not mutex_, since a probe loads its kernel.
  const std::lock_guard<std::mutex> lock(probe_mutex_);
  const auto found = probed_.find(probe);
  if (found != probed_.end()) return found->second;
  const absl::StatusOr<float> answer = probe(*this);
  if (answer.ok() || absl::IsFailedPrecondition(answer.status())) {
    probed_.emplace(probe, answer);
  }
  return answer;
}

}  // namespace zyfa
