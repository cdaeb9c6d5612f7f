#ifndef ZYFA_LAUNCH_HIP_API_H_
#define ZYFA_LAUNCH_HIP_API_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace zyfa {

// HIP's handles are pointers to what only the runtime knows.
using HipModule = struct HipModuleOpaque*;
using HipFunction = struct HipFunctionOpaque*;
using HipStream = struct HipStreamOpaque*;
using HipEvent = struct HipEventOpaque*;
using HipError = int;

// Numbers that are the same in all versions of HIP since 5.
inline constexpr HipError kHipSuccess = 0;
inline constexpr HipError kHipErrorInvalidValue = 1;
inline constexpr HipError kHipErrorOutOfMemory = 2;
inline constexpr HipError kHipErrorNoDevice = 100;
inline constexpr HipError kHipErrorInvalidDevice = 101;
inline constexpr HipError kHipErrorNoBinaryForGpu = 209;
inline constexpr int kHipMemcpyHostToDevice = 1;
inline constexpr int kHipMemcpyDeviceToHost = 2;
inline constexpr int kHipDeviceAttributeMultiprocessorCount = 63;
// Keys of hipModuleLaunchKernel's `extra` list.
inline void* const kHipLaunchBufferPointer = reinterpret_cast<void*>(1);
inline void* const kHipLaunchBufferSize = reinterpret_cast<void*>(2);
inline void* const kHipLaunchEnd = reinterpret_cast<void*>(3);

// The functions of the HIP runtime that this library calls, by HIP's own names.
// Only numbers and opaque pointers cross this border, no struct: structs differ
// between HIP 5, 6 and 7, these declarations do not.
struct HipApi {
  HipError (*hipGetDeviceCount)(int* count);
  HipError (*hipRuntimeGetVersion)(int* version);
  HipError (*hipDeviceGetName)(char* name, int bytes, int device);
  HipError (*hipDeviceGetAttribute)(int* value, int attribute, int device);
  HipError (*hipGetDevice)(int* device);
  HipError (*hipSetDevice)(int device);
  HipError (*hipMalloc)(void** pointer, size_t bytes);
  HipError (*hipFree)(void* pointer);
  HipError (*hipMemcpy)(void* destination, const void* source, size_t bytes,
                        int kind);
  HipError (*hipMemset)(void* pointer, int value, size_t bytes);
  HipError (*hipModuleLoadData)(HipModule* module, const void* image);
  HipError (*hipModuleUnload)(HipModule module);
  HipError (*hipModuleGetFunction)(HipFunction* function, HipModule module,
                                   const char* name);
  HipError (*hipModuleLaunchKernel)(HipFunction function, unsigned grid_x,
                                    unsigned grid_y, unsigned grid_z,
                                    unsigned block_x, unsigned block_y,
                                    unsigned block_z, unsigned lds_bytes,
                                    HipStream stream, void** parameters,
                                    void** extra);
  HipError (*hipStreamCreate)(HipStream* stream);
  HipError (*hipStreamDestroy)(HipStream stream);
  HipError (*hipStreamSynchronize)(HipStream stream);
  HipError (*hipDeviceSynchronize)();
  HipError (*hipEventCreate)(HipEvent* event);
  HipError (*hipEventDestroy)(HipEvent event);
  HipError (*hipEventRecord)(HipEvent event, HipStream stream);
  HipError (*hipEventSynchronize)(HipEvent event);
  HipError (*hipEventElapsedTime)(float* milliseconds, HipEvent begin,
                                  HipEvent end);
  const char* (*hipGetErrorString)(HipError error);
};

// Loads the HIP runtime: the file `library`; if that is empty, the one that the
// environment variable ZYFA_HIP_LIBRARY names; if there is none,
// libamdhip64.so.7 and then .6, each in $ROCM_PATH/lib, on the loader's path
// and in /opt/rocm/lib. A loaded runtime is never unloaded.
//
// Unavailable: none of them can be loaded, with the loader's reason for each.
// FailedPrecondition: the library lacks functions, with their names.
absl::StatusOr<HipApi> LoadHipApi(const std::string& library);

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_HIP_API_H_
