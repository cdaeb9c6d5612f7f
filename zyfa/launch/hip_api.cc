#include "zyfa/launch/hip_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace zyfa {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> Candidates(const std::string& library) {
  if (!library.empty()) return {library};
  const std::string asked = Environment("ZYFA_HIP_LIBRARY");
  if (!asked.empty()) return {asked};
  const std::string rocm = Environment("ROCM_PATH");
  std::vector<std::string> candidates;
  for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6"}) {
    if (!rocm.empty()) candidates.push_back(absl::StrCat(rocm, "/lib/", name));
    candidates.push_back(name);
    candidates.push_back(absl::StrCat("/opt/rocm/lib/", name));
  }
  return candidates;
}

// Looks up functions in a library and remembers those that it lacks.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <typename Function>
  void Find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library_, name));
    if (function == nullptr) missing_.push_back(name);
  }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  void* library_;
  std::vector<std::string> missing_;
};

}  // namespace

absl::StatusOr<HipApi> LoadHipApi(const std::string& library) {
  void* loaded = nullptr;
  std::string path;
  std::vector<std::string> reasons;
  for (const std::string& candidate : Candidates(library)) {
    loaded = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    path = candidate;
    if (loaded != nullptr) break;
    // dlerror() only keeps the last reason, and the first is often the true
    // one.
    const char* reason = dlerror();
    reasons.push_back(reason == nullptr ? candidate : reason);
  }
  if (loaded == nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "no HIP runtime can be loaded: ", absl::StrJoin(reasons, "; "),
        " (ZYFA_HIP_LIBRARY or ROCM_PATH can say where it is)"));
  }
  HipApi api = {};
  Symbols symbols(loaded);
  symbols.Find("hipGetDeviceCount", api.hipGetDeviceCount);
  symbols.Find("hipRuntimeGetVersion", api.hipRuntimeGetVersion);
  symbols.Find("hipDeviceGetName", api.hipDeviceGetName);
  symbols.Find("hipDeviceGetAttribute", api.hipDeviceGetAttribute);
  symbols.Find("hipGetDevice", api.hipGetDevice);
  symbols.Find("hipSetDevice", api.hipSetDevice);
  symbols.Find("hipMalloc", api.hipMalloc);
  symbols.Find("hipFree", api.hipFree);
  symbols.Find("hipMemcpy", api.hipMemcpy);
  symbols.Find("hipMemset", api.hipMemset);
  symbols.Find("hipModuleLoadData", api.hipModuleLoadData);
  symbols.Find("hipModuleUnload", api.hipModuleUnload);
  symbols.Find("hipModuleGetFunction", api.hipModuleGetFunction);
  symbols.Find("hipModuleLaunchKernel", api.hipModuleLaunchKernel);
  symbols.Find("hipStreamCreate", api.hipStreamCreate);
  symbols.Find("hipStreamDestroy", api.hipStreamDestroy);
  symbols.Find("hipStreamSynchronize", api.hipStreamSynchronize);
  symbols.Find("hipDeviceSynchronize", api.hipDeviceSynchronize);
  symbols.Find("hipEventCreate", api.hipEventCreate);
  symbols.Find("hipEventDestroy", api.hipEventDestroy);
  symbols.Find("hipEventRecord", api.hipEventRecord);
  symbols.Find("hipEventSynchronize", api.hipEventSynchronize);
  symbols.Find("hipEventElapsedTime", api.hipEventElapsedTime);
  symbols.Find("hipGetErrorString", api.hipGetErrorString);
  if (!symbols.missing().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the HIP runtime ", path, " lacks ",
                     absl::StrJoin(symbols.missing(), ", ")));
  }
  return api;
}

}  // namespace zyfa
