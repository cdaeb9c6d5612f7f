#include "zyfa/launch/fake_hip.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace zyfa {
namespace {

constexpr int kInvalidValue = 1;
constexpr int kOutOfMemory = 2;
constexpr int kNoDevice = 100;
constexpr int kInvalidDevice = 101;
constexpr int kNoBinaryForGpu = 209;
constexpr int kNotFound = 500;
constexpr int kInvalidHandle = 400;

// What a handle points to.
struct Object {
  std::string kind;
  std::string name;          // of a function
  Object* module = nullptr;  // of a function
};

struct State {
  std::mutex mutex;
  int device_count = 1;
  int compute_units = 256;
  int device = 0;
  std::map<std::string, int> calls;
  std::map<std::pair<std::string, int>, int> failures;  // by number of the call
  std::map<void*, size_t> memory;
  std::set<Object*> objects;
  std::vector<FakeLaunch> launches;
};

State& TheState() {
  static State* state = new State;
  return *state;
}

// One call: holds the lock, counts, and says whether it has to fail.
class Call {
 public:
  explicit Call(const char* name) : lock_(state.mutex) {
    const int number = ++state.calls[name];
    const auto found = state.failures.find({name, number});
    if (found != state.failures.end()) error_ = found->second;
  }
  int error() const { return error_; }

  Object* Add(const char* kind) {
    Object* object = new Object;
    object->kind = kind;
    state.objects.insert(object);
    return object;
  }
  bool Is(Object* object, const char* kind) {
    return state.objects.count(object) != 0 && object->kind == kind;
  }
  int Remove(Object* object, const char* kind) {
    if (!Is(object, kind)) return kInvalidHandle;
    state.objects.erase(object);
    delete object;
    return 0;
  }
  bool IsMemory(const void* pointer, size_t bytes) {
    if (bytes == 0) return true;
    auto block = state.memory.upper_bound(const_cast<void*>(pointer));
    if (block == state.memory.begin()) return false;
    --block;
    const char* begin = static_cast<const char*>(block->first);
    const char* at = static_cast<const char*>(pointer);
    const size_t offset = static_cast<size_t>(at - begin);
    return offset <= block->second && bytes <= block->second - offset;
  }

  State& state = TheState();

 private:
  std::lock_guard<std::mutex> lock_;
  int error_ = 0;
};

void Fail(const char* function, int nth, int error) {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.failures[{function, s.calls[function] + nth}] = error;
}

void SetDeviceCount(int count) {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.device_count = count;
}

void SetComputeUnits(int count) {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.compute_units = count;
}

void Reset() {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  s.device_count = 1;
  s.compute_units = 256;
  s.device = 0;
  s.calls.clear();
  s.failures.clear();
  s.launches.clear();
  for (Object* object : s.objects) delete object;
  s.objects.clear();
  for (const auto& [pointer, bytes] : s.memory) std::free(pointer);
  s.memory.clear();
}

int Calls(const char* function) {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.calls[function];
}

int Live(const char* kind) {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  if (std::strcmp(kind, "memory") == 0)
    return static_cast<int>(s.memory.size());
  int count = 0;
  for (const Object* object : s.objects) count += object->kind == kind;
  return count;
}

int Launches() {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return static_cast<int>(s.launches.size());
}

FakeLaunch Launch(int index) {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.launches.at(static_cast<size_t>(index));
}

int CurrentDevice() {
  State& s = TheState();
  const std::lock_guard<std::mutex> lock(s.mutex);
  return s.device;
}

constexpr FakeHip kFakeHip = {Fail,     SetDeviceCount, SetComputeUnits,
                              Reset,    Calls,          Live,
                              Launches, Launch,         CurrentDevice};

}  // namespace
}  // namespace zyfa

using zyfa::Call;
using zyfa::Object;

extern "C" {

const zyfa::FakeHip* ZyfaFakeHip() { return &zyfa::kFakeHip; }

int hipGetDeviceCount(int* count) {
  Call call("hipGetDeviceCount");
  if (call.error()) return call.error();
  if (call.state.device_count < 0) return zyfa::kNoDevice;
  *count = call.state.device_count;
  return 0;
}

int hipRuntimeGetVersion(int* version) {
  Call call("hipRuntimeGetVersion");
  if (call.error()) return call.error();
  *version = 70012345;
  return 0;
}

int hipDeviceGetName(char* name, int bytes, int device) {
  Call call("hipDeviceGetName");
  if (call.error()) return call.error();
  if (device < 0 || device >= call.state.device_count) {
    return zyfa::kInvalidDevice;
  }
  std::strncpy(name, "Fake GPU", static_cast<size_t>(bytes));
  return 0;
}

int hipDeviceGetAttribute(int* value, int attribute, int device) {
  Call call("hipDeviceGetAttribute");
  if (call.error()) return call.error();
  if (device < 0 || device >= call.state.device_count) {
    return zyfa::kInvalidDevice;
  }
  if (attribute != 63) return zyfa::kInvalidValue;
  *value = call.state.compute_units;
  return 0;
}

int hipGetDevice(int* device) {
  Call call("hipGetDevice");
  if (call.error()) return call.error();
  *device = call.state.device;
  return 0;
}

int hipSetDevice(int device) {
  Call call("hipSetDevice");
  if (call.error()) return call.error();
  if (device < 0 || device >= call.state.device_count) {
    return zyfa::kInvalidDevice;
  }
  call.state.device = device;
  return 0;
}

int hipMalloc(void** pointer, size_t bytes) {
  Call call("hipMalloc");
  if (call.error()) return call.error();
  *pointer = nullptr;
  if (bytes == 0) return 0;
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (*pointer == nullptr) return zyfa::kOutOfMemory;
  call.state.memory[*pointer] = bytes;
  return 0;
}

int hipFree(void* pointer) {
  Call call("hipFree");
  if (call.error()) return call.error();
  if (pointer == nullptr) return 0;
  if (call.state.memory.erase(pointer) == 0) return zyfa::kInvalidValue;
  std::free(pointer);
  return 0;
}

int hipMemcpy(void* destination, const void* source, size_t bytes, int kind) {
  Call call("hipMemcpy");
  if (call.error()) return call.error();
  const bool fits = kind == 1   ? call.IsMemory(destination, bytes)
                    : kind == 2 ? call.IsMemory(source, bytes)
                                : false;
  if (!fits) return zyfa::kInvalidValue;
  if (bytes > 0) std::memcpy(destination, source, bytes);
  return 0;
}

int hipMemset(void* pointer, int value, size_t bytes) {
  Call call("hipMemset");
  if (call.error()) return call.error();
  if (!call.IsMemory(pointer, bytes)) return zyfa::kInvalidValue;
  if (bytes > 0) std::memset(pointer, value, bytes);
  return 0;
}

int hipModuleLoadData(Object** module, const void* image) {
  Call call("hipModuleLoadData");
  if (call.error()) return call.error();
  const auto* bytes = static_cast<const unsigned char*>(image);
  if (std::memcmp(bytes, "\177ELF", 4) != 0 || bytes[18] != 224 ||
      bytes[48] != 0x4f) {
    return zyfa::kNoBinaryForGpu;
  }
  *module = call.Add("module");
  return 0;
}

int hipModuleUnload(Object* module) {
  Call call("hipModuleUnload");
  if (call.error()) return call.error();
  // A module's functions go with it.
  for (auto it = call.state.objects.begin(); it != call.state.objects.end();) {
    Object* object = *it;
    if (object->kind == "function" && object->module == module) {
      it = call.state.objects.erase(it);
      delete object;
    } else {
      ++it;
    }
  }
  return call.Remove(module, "module");
}

int hipModuleGetFunction(Object** function, Object* module, const char* name) {
  Call call("hipModuleGetFunction");
  if (call.error()) return call.error();
  if (!call.Is(module, "module")) return zyfa::kInvalidHandle;
  if (std::strncmp(name, "zyfa_", 5) != 0) return zyfa::kNotFound;
  *function = call.Add("function");
  (*function)->name = name;
  (*function)->module = module;
  return 0;
}

int hipModuleLaunchKernel(Object* function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned lds_bytes, Object* stream,
                          void** parameters, void** extra) {
  Call call("hipModuleLaunchKernel");
  if (call.error()) return call.error();
  if (!call.Is(function, "function")) return zyfa::kInvalidHandle;
  if (stream != nullptr && !call.Is(stream, "stream")) {
    return zyfa::kInvalidHandle;
  }
  // HIP's limits, and its keys 1, 2 and 3 for address, size and end.
  const uint64_t threads[3] = {uint64_t{grid_x} * block_x,
                               uint64_t{grid_y} * block_y,
                               uint64_t{grid_z} * block_z};
  if (threads[0] == 0 || threads[1] == 0 || threads[2] == 0 ||
      threads[0] >> 32 != 0 || grid_y > 65535 || grid_z > 65535 ||
      block_x * block_y * block_z > 1024) {
    return zyfa::kInvalidValue;
  }
  const auto key = [&](int i) { return reinterpret_cast<uintptr_t>(extra[i]); };
  if (parameters != nullptr || extra == nullptr || key(0) != 1 || key(2) != 2 ||
      key(4) != 3) {
    return zyfa::kInvalidValue;
  }
  zyfa::FakeLaunch launch;
  std::strncpy(launch.kernel, function->name.c_str(),
               sizeof(launch.kernel) - 1);
  const unsigned grid[3] = {grid_x, grid_y, grid_z};
  const unsigned block[3] = {block_x, block_y, block_z};
  std::memcpy(launch.grid, grid, sizeof(grid));
  std::memcpy(launch.block, block, sizeof(block));
  launch.lds_bytes = lds_bytes;
  launch.stream = stream;
  launch.device = call.state.device;
  launch.argument_bytes = *static_cast<size_t*>(extra[3]);
  if (launch.argument_bytes > sizeof(launch.arguments)) {
    return zyfa::kInvalidValue;
  }
  std::memcpy(launch.arguments, extra[1], launch.argument_bytes);
  call.state.launches.push_back(launch);
  return 0;
}

int hipStreamCreate(Object** stream) {
  Call call("hipStreamCreate");
  if (call.error()) return call.error();
  *stream = call.Add("stream");
  return 0;
}

int hipStreamDestroy(Object* stream) {
  Call call("hipStreamDestroy");
  if (call.error()) return call.error();
  return call.Remove(stream, "stream");
}

int hipStreamSynchronize(Object* stream) {
  Call call("hipStreamSynchronize");
  if (call.error()) return call.error();
  return stream == nullptr || call.Is(stream, "stream") ? 0
                                                        : zyfa::kInvalidHandle;
}

int hipDeviceSynchronize() {
  Call call("hipDeviceSynchronize");
  return call.error();
}

int hipEventCreate(Object** event) {
  Call call("hipEventCreate");
  if (call.error()) return call.error();
  *event = call.Add("event");
  return 0;
}

int hipEventDestroy(Object* event) {
  Call call("hipEventDestroy");
  if (call.error()) return call.error();
  return call.Remove(event, "event");
}

int hipEventRecord(Object* event, Object* stream) {
  Call call("hipEventRecord");
  if (call.error()) return call.error();
  const bool known = stream == nullptr || call.Is(stream, "stream");
  return known && call.Is(event, "event") ? 0 : zyfa::kInvalidHandle;
}

int hipEventSynchronize(Object* event) {
  Call call("hipEventSynchronize");
  if (call.error()) return call.error();
  return call.Is(event, "event") ? 0 : zyfa::kInvalidHandle;
}

int hipEventElapsedTime(float* milliseconds, Object* begin, Object* end) {
  Call call("hipEventElapsedTime");
  if (call.error()) return call.error();
  if (!call.Is(begin, "event") || !call.Is(end, "event")) {
    return zyfa::kInvalidHandle;
  }
  *milliseconds = 1.5f;
  return 0;
}

const char* hipGetErrorString(int error) {
  Call call("hipGetErrorString");
  if (call.error()) return nullptr;
  return error == zyfa::kOutOfMemory ? "out of memory" : "fake error text";
}

}  // extern "C"
