#include "zyfa/launch/hip_device.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/fake_hip.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFakeLibrary[] = "zyfa/launch/libfake_hip.so";
constexpr char kPartialLibrary[] = "zyfa/launch/libpartial_hip.so";

const char* const kFunctions[] = {
    "hipGetDeviceCount",
    "hipRuntimeGetVersion",
    "hipDeviceGetName",
    "hipDeviceGetAttribute",
    "hipGetDevice",
    "hipSetDevice",
    "hipMalloc",
    "hipFree",
    "hipMemcpy",
    "hipMemset",
    "hipModuleLoadData",
    "hipModuleUnload",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel",
    "hipStreamCreate",
    "hipStreamDestroy",
    "hipStreamSynchronize",
    "hipDeviceSynchronize",
    "hipEventCreate",
    "hipEventDestroy",
    "hipEventRecord",
    "hipEventSynchronize",
    "hipEventElapsedTime",
};

class HipDeviceTest : public ::testing::Test {
 protected:
  HipDeviceTest() {
    // The same library that the device loads, so the same state.
    void* library = dlopen(kFakeLibrary, RTLD_NOW | RTLD_LOCAL);
    fake_ =
        library == nullptr
            ? nullptr
            : reinterpret_cast<FakeHipEntry>(dlsym(library, kFakeHipEntry))();
    fake_->reset();
  }

  static HipOptions Options(int ordinal = 0) {
    HipOptions options;
    options.library = kFakeLibrary;
    options.ordinal = ordinal;
    options.topology_directory = "/nonexistent";
    return options;
  }

  int Live() const {
    return fake_->live("memory") + fake_->live("module") +
           fake_->live("function") + fake_->live("stream") +
           fake_->live("event");
  }

  const FakeHip* fake_;
};

TEST_F(HipDeviceTest, PropertiesComeFromTheRuntime) {
  const auto device = OpenHipDevice(Options());
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->properties().kind, "hip");
  EXPECT_EQ((*device)->properties().name, "Fake GPU");
  EXPECT_EQ((*device)->properties().arch, "gfx950");
  EXPECT_EQ((*device)->properties().runtime, "HIP 70012345");
  EXPECT_EQ((*device)->properties().compute_units, 256u);
  EXPECT_FALSE((*device)->properties().modelled);
}

TEST_F(HipDeviceTest, ComputeUnitsAreTheDevices) {
  fake_->set_compute_units(304);
  const auto device = OpenHipDevice(Options());
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ((*device)->properties().compute_units, 304u);
  for (int none : {0, -1}) {
    fake_->set_compute_units(none);
    const absl::Status status = OpenHipDevice(Options()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(status.message(),
                HasSubstr(absl::StrCat("has ", none, " compute units")));
  }
}

TEST_F(HipDeviceTest, MemoryKeepsWhatIsCopied) {
  const auto device = OpenHipDevice(Options());
  ASSERT_TRUE(device.ok()) << device.status();
  const auto buffer = DeviceBuffer::Create(**device, 8);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  const std::vector<uint8_t> bytes = {1, 2, 3, 4, 5};
  EXPECT_TRUE((*device)->Fill(buffer->address(), 9, 8).ok());
  EXPECT_TRUE((*device)->CopyToDevice(buffer->address() + 2, bytes).ok());
  std::vector<uint8_t> read(8);
  EXPECT_TRUE(
      (*device)->CopyFromDevice(absl::MakeSpan(read), buffer->address()).ok());
  EXPECT_THAT(read, ElementsAre(9, 9, 1, 2, 3, 4, 5, 9));
  EXPECT_EQ(fake_->calls("hipStreamSynchronize"), 1) << "Fill must wait";
  // Beyond the end.
  EXPECT_EQ((*device)->CopyToDevice(buffer->address() + 4, bytes).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE((*device)->Free(0).ok());
}

TEST_F(HipDeviceTest, AttentionReachesTheKernel) {
  fake_->set_device_count(2);
  {
    const auto device = OpenHipDevice(Options(1));
    ASSERT_TRUE(device.ok()) << device.status();
    const auto stream = (*device)->CreateStream();
    ASSERT_TRUE(stream.ok()) << stream.status();
    AttentionParams params;
    params.query = DenseTensor(0x1000000, 3, 700, 6, 192);
    params.key = DenseTensor(0x2000000, 3, 900, 2, 192);
    params.value = DenseTensor(0x3000000, 3, 900, 2, 128);
    params.output = DenseTensor(0x4000000, 3, 700, 6, 128);
    params.lse = DenseLse(0x5000000, 3, 6, 700);
    params.softmax_scale = -0.25f;
    ASSERT_TRUE(AttentionForward(params, **device, *stream).ok());
    ASSERT_TRUE(AttentionForward(params, **device).ok());
    EXPECT_TRUE((*device)->DestroyStream(*stream).ok());
    ASSERT_EQ(fake_->launches(), 2);
    EXPECT_EQ(fake_->launch(1).stream, nullptr);
    const FakeLaunch launch = fake_->launch(0);
    EXPECT_STREQ(launch.kernel, "zyfa_bf16_d192x128_causal");
    EXPECT_THAT(launch.grid, ElementsAre(6u, 2u, 3u));  // 3 tiles in pairs
    EXPECT_THAT(launch.block, ElementsAre(512u, 1u, 1u));
    EXPECT_EQ(launch.lds_bytes, 0u);
    EXPECT_EQ(launch.stream, stream->native);
    EXPECT_EQ(launch.device, 1);
    // The bytes at the offsets that the kernels are generated for.
    ASSERT_EQ(launch.argument_bytes, 336u);
    const auto u64 = [&](int at) {
      uint64_t value;
      std::memcpy(&value, launch.arguments + at, 8);
      return value;
    };
    const auto u32 = [&](int at) {
      uint32_t value;
      std::memcpy(&value, launch.arguments + at, 4);
      return value;
    };
    const auto f32 = [&](int at) {
      float value;
      std::memcpy(&value, launch.arguments + at, 4);
      return value;
    };
    const uint64_t kWide[] = {0x1000000,     0x2000000, 0x3000000,
                              0x4000000,     0x5000000, 700 * 6 * 384,
                              384,                 // query
                              900 * 2 * 384, 384,  // key
                              900 * 2 * 256, 256,  // value
                              700 * 6 * 256, 256,  // output
                              6 * 700 * 4,   700 * 4};
    for (int i = 0; i < 15; ++i) EXPECT_EQ(u64(8 * i), kWide[i]) << i;
    const uint32_t kNarrow[] = {6 * 384, 2 * 384, 2 * 256,    6 * 256,   700,
                                900,     3,       0x55555556, 0x80008000};
    for (int i = 0; i < 9; ++i) EXPECT_EQ(u32(120 + 4 * i), kNarrow[i]) << i;
    EXPECT_FLOAT_EQ(f32(156), 0.25 * 1.4426950408889634);
    EXPECT_FLOAT_EQ(f32(160), 0.25);
    EXPECT_FLOAT_EQ(f32(164), 32 / 1.4426950408889634);
    for (int at = 168; at < 336; at += 4) EXPECT_EQ(u32(at), 0u) << at;
  }
  EXPECT_EQ(fake_->calls("hipModuleLoadData"), 2) << "check, and one kernel";
  EXPECT_EQ(Live(), 0);
  EXPECT_EQ(fake_->current_device(), 0) << "the caller's device must come back";
}

// Uses every function of the device once or more.
absl::Status UseEverything(const HipOptions& options, const FakeHip* fake,
                           std::map<std::string, int>& reported,
                           bool& launched) {
  launched = false;
  auto device_or = OpenHipDevice(options);
  if (!device_or.ok()) return device_or.status();
  const std::unique_ptr<Device> device = *std::move(device_or);
  Device& d = *device;
  const auto stream = d.CreateStream();
  if (!stream.ok()) return stream.status();
  bool stream_alive = true;
  const absl::Cleanup destroy_stream = [&] {
    if (stream_alive) (void)d.DestroyStream(*stream);
  };
  const auto begin = d.CreateEvent();
  if (!begin.ok()) return begin.status();
  const absl::Cleanup destroy_begin = [&] { (void)d.DestroyEvent(*begin); };
  const auto end = d.CreateEvent();
  if (!end.ok()) return end.status();
  bool end_alive = true;
  const absl::Cleanup destroy_end = [&] {
    if (end_alive) (void)d.DestroyEvent(*end);
  };
  const auto inputs = DeviceBuffer::Create(d, 4 * 64 * 256);
  if (!inputs.ok()) return inputs.status();
  const auto output = DeviceBuffer::Create(d, 64 * 256);
  if (!output.ok()) return output.status();
  const auto spare = d.Allocate(16);
  if (!spare.ok()) return spare.status();
  absl::Status status = d.Free(*spare);
  if (!status.ok()) {
    (void)d.Free(*spare);
    return status;
  }
  AttentionParams params;
  params.query = DenseTensor(inputs->address(), 1, 64, 1, 128);
  params.key = params.value = params.query;
  params.output = DenseTensor(output->address(), 1, 64, 1, 128);
  std::vector<uint8_t> host(64 * 256);
  if (status.ok()) status = d.Fill(inputs->address(), 0, inputs->size());
  if (status.ok()) status = d.CopyToDevice(inputs->address(), host);
  if (status.ok()) status = d.RecordEvent(*begin, *stream);
  if (status.ok()) status = AttentionForward(params, d, *stream);
  launched = status.ok();
  if (status.ok()) status = d.RecordEvent(*end, *stream);
  if (status.ok()) status = d.SynchronizeStream(*stream);
  if (status.ok()) status = d.Synchronize();
  if (status.ok()) status = d.ElapsedMilliseconds(*begin, *end).status();
  if (status.ok()) {
    status = d.CopyFromDevice(absl::MakeSpan(host), output->address());
  }
  if (status.ok()) {
    status = d.DestroyEvent(*end);
    end_alive = !status.ok();
  }
  if (status.ok()) {
    status = d.DestroyStream(*stream);
    stream_alive = !status.ok();
  }
  // What is called up to here has somebody to report to; the rest cleans up.
  for (const char* function : kFunctions) {
    reported[function] = fake->calls(function);
  }
  return status;
}

TEST_F(HipDeviceTest, EveryFailureOfEveryFunctionIsReportedWithoutLeak) {
  std::map<std::string, int> calls, unused;
  bool launched = false;
  const auto set_up = [&] {
    fake_->reset();
    fake_->set_device_count(2);  // and 1 wanted: hipSetDevice has work
  };
  set_up();
  const absl::Status good = UseEverything(Options(1), fake_, calls, launched);
  ASSERT_TRUE(good.ok()) << good;
  ASSERT_EQ(Live(), 0);
  for (const char* function : kFunctions) {
    const std::string name = function;
    ASSERT_GT(calls[name], 0) << name;
    for (int nth = 1; nth <= calls[name]; ++nth) {
      SCOPED_TRACE(absl::StrCat(name, " call ", nth));
      // Every second hipSetDevice gives the caller's device back, which is not
      // what the operation is about.
      if (name == "hipSetDevice" && nth % 2 == 0) continue;
      set_up();
      const int live_before = Live();
      fake_->fail(function, nth, 719);
      const absl::Status status =
          UseEverything(Options(1), fake_, unused, launched);
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
      EXPECT_THAT(
          status.message(),
          AllOf(HasSubstr(name), HasSubstr("HIP error 719: fake error text")));
      EXPECT_EQ(fake_->launches(), launched ? 1 : 0);
      // A module that HIP does not unload is HIP's to keep.
      EXPECT_EQ(Live() - live_before, name == "hipModuleUnload" ? 1 : 0);
      EXPECT_EQ(fake_->current_device(), 0);
    }
  }
}

TEST_F(HipDeviceTest, ErrorNumbersBecomeCodes) {
  const auto device = OpenHipDevice(Options());
  ASSERT_TRUE(device.ok()) << device.status();
  const struct {
    int error;
    absl::StatusCode code;
  } kCases[] = {{1, absl::StatusCode::kInvalidArgument},
                {2, absl::StatusCode::kResourceExhausted},
                {100, absl::StatusCode::kUnavailable},
                {101, absl::StatusCode::kInvalidArgument},
                {209, absl::StatusCode::kFailedPrecondition},
                {999, absl::StatusCode::kInternal}};
  for (const auto& c : kCases) {
    fake_->fail("hipMalloc", 1, c.error);
    const absl::Status status = (*device)->Allocate(100).status();
    EXPECT_EQ(status.code(), c.code);
    EXPECT_THAT(status.message(),
                HasSubstr(absl::StrCat("hipMalloc(100 bytes) failed with HIP "
                                       "error ",
                                       c.error)));
  }
  // A runtime that has no text for an error.
  fake_->fail("hipMalloc", 1, 2);
  fake_->fail("hipGetErrorString", 1, 1);
  EXPECT_THAT((*device)->Allocate(1).status().message(),
              HasSubstr("HIP error 2: unknown"));
}

TEST_F(HipDeviceTest, NoDevice) {
  fake_->set_device_count(0);
  EXPECT_EQ(OpenHipDevice(Options()).status(),
            absl::UnavailableError("HIP finds no GPU"));
  fake_->set_device_count(-1);  // hipErrorNoDevice, as without a driver
  const absl::Status status = OpenHipDevice(Options()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(),
              HasSubstr("hipGetDeviceCount failed with HIP error 100"));
  EXPECT_EQ(fake_->calls("hipModuleLoadData"), 0);
}

TEST_F(HipDeviceTest, OrdinalOutOfRange) {
  for (int ordinal : {-1, 1, 7}) {
    const absl::Status status = OpenHipDevice(Options(ordinal)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(absl::StrCat("ordinal is ", ordinal,
                                                         "; allowed: 0 to 0")));
  }
}

TEST_F(HipDeviceTest, AnotherGpuIsNamed) {
  const std::filesystem::path nodes =
      std::filesystem::path(std::getenv("TEST_TMPDIR")) / "topology";
  std::filesystem::create_directories(nodes / "1");
  std::ofstream(nodes / "1" / "properties") << "gfx_target_version 90402\n";
  HipOptions options = Options();
  options.topology_directory = nodes.string();
  fake_->fail("hipModuleLoadData", 1, 209);
  absl::Status status = OpenHipDevice(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("the GPU is not gfx950"),
                                      HasSubstr("hipModuleLoadData, error 209"),
                                      HasSubstr("gfx942")));
  fake_->fail("hipModuleLoadData", 1, 209);
  status = OpenHipDevice(Options()).status();
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("the GPU is not gfx950"), HasSubstr("unknown")));
  EXPECT_EQ(Live(), 0);
}

TEST_F(HipDeviceTest, AbsentRuntime) {
  HipOptions options = Options();
  options.library = "/nonexistent/libamdhip64.so";
  absl::Status status = OpenHipDevice(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("/nonexistent/libamdhip64.so"),
                                      HasSubstr("ZYFA_HIP_LIBRARY")));
}

TEST_F(HipDeviceTest, RuntimeIsSoughtWhereTheEnvironmentSays) {
  HipOptions options = Options();
  options.library.clear();
  setenv("ZYFA_HIP_LIBRARY", kFakeLibrary, 1);
  EXPECT_TRUE(OpenHipDevice(options).ok());
  setenv("ZYFA_HIP_LIBRARY", "/nonexistent/a.so", 1);
  EXPECT_THAT(OpenHipDevice(options).status().message(),
              AllOf(HasSubstr("/nonexistent/a.so"),
                    Not(HasSubstr("libamdhip64.so.7"))));
  unsetenv("ZYFA_HIP_LIBRARY");

  // $ROCM_PATH/lib, version 7 before version 6.
  const std::filesystem::path rocm =
      std::filesystem::path(std::getenv("TEST_TMPDIR")) / "rocm";
  std::filesystem::create_directories(rocm / "lib");
  setenv("ROCM_PATH", rocm.c_str(), 1);
  std::filesystem::copy_file(kFakeLibrary, rocm / "lib" / "libamdhip64.so.6");
  EXPECT_TRUE(OpenHipDevice(options).ok());
  std::filesystem::copy_file(kPartialLibrary,
                             rocm / "lib" / "libamdhip64.so.7");
  EXPECT_THAT(OpenHipDevice(options).status().message(),
              HasSubstr("rocm/lib/libamdhip64.so.7 lacks"));
  unsetenv("ROCM_PATH");
}

TEST_F(HipDeviceTest, EveryPlaceTriedIsReported) {
  HipOptions options = Options();
  options.library.clear();
  setenv("ROCM_PATH", "/nonexistent", 1);
  const auto device = OpenHipDevice(options);
  unsetenv("ROCM_PATH");
  if (device.ok() || device.status().code() != absl::StatusCode::kUnavailable ||
      device.status().message().find("can be loaded") == std::string::npos) {
    GTEST_SKIP() << "this machine has a HIP runtime";
  }
  for (const char* version : {"7", "6"}) {
    const std::string name = absl::StrCat("libamdhip64.so.", version, ":");
    EXPECT_THAT(device.status().message(),
                AllOf(HasSubstr(absl::StrCat("/nonexistent/lib/", name)),
                      HasSubstr(absl::StrCat("; ", name)),
                      HasSubstr(absl::StrCat("/opt/rocm/lib/", name))));
  }
}

TEST_F(HipDeviceTest, RuntimeWithoutSomeFunctions) {
  HipOptions options = Options();
  options.library = kPartialLibrary;
  const absl::Status status = OpenHipDevice(options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr(kPartialLibrary), HasSubstr("hipMalloc"),
                    HasSubstr("hipGetErrorString"),
                    Not(HasSubstr("hipGetDeviceCount"))));
}

}  // namespace
}  // namespace zyfa
