#ifndef ZYFA_LAUNCH_FAKE_HIP_H_
#define ZYFA_LAUNCH_FAKE_HIP_H_

#include <cstdint>

namespace zyfa {

// How a test steers libfake_hip.so, a HIP runtime without a GPU: memory is the
// host's, code objects are checked but not run, and every call is counted.
// All of it is reached through the exported function ZyfaFakeHip().

struct FakeLaunch {
  char kernel[64] = "";
  unsigned grid[3] = {0, 0, 0};
  unsigned block[3] = {0, 0, 0};
  unsigned lds_bytes = 0;
  const void* stream = nullptr;
  int device = -1;  // current at the call
  uint64_t argument_bytes = 0;
  uint8_t arguments[512] = {};
};

struct FakeHip {
  // The nth call (1 is the next) of the function of that name returns `error`
  // and does nothing else.
  void (*fail)(const char* function, int nth, int error);
  void (*set_device_count)(int count);
  void (*set_compute_units)(int count);  // of every device
  // Forgets failures, counts, launches and objects; one device of 256
  // compute units, device 0 current.
  void (*reset)();
  int (*calls)(const char* function);
  // Objects that exist: "memory", "module", "stream", "event".
  int (*live)(const char* kind);
  int (*launches)();
  FakeLaunch (*launch)(int index);
  int (*current_device)();
};

using FakeHipEntry = const FakeHip* (*)();
inline constexpr char kFakeHipEntry[] = "ZyfaFakeHip";

}  // namespace zyfa

#endif  // ZYFA_LAUNCH_FAKE_HIP_H_
