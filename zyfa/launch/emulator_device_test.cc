#include "zyfa/launch/emulator_device.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/emu/cycles/kernel_clock.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"

namespace zyfa {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<uint8_t> StoreKernels() {
  std::ifstream in("zyfa/launch/store_kernels.co", std::ios::binary);
  return std::vector<uint8_t>((std::istreambuf_iterator<char>(in)),
                              std::istreambuf_iterator<char>());
}

std::vector<uint8_t> Arguments(uint64_t out, uint32_t value) {
  std::vector<uint8_t> bytes(12);
  std::memcpy(bytes.data(), &out, 8);
  std::memcpy(bytes.data() + 8, &value, 4);
  return bytes;
}

LaunchShape Groups(uint32_t count) {
  LaunchShape shape;
  shape.grid[0] = count;
  shape.block[0] = 64;
  return shape;
}

TEST(EmulatorDeviceTest, RunsAKernel) {
  EmulatorDevice device;
  EXPECT_EQ(device.properties().kind, "emulator");
  EXPECT_EQ(device.properties().arch, "gfx950");
  EXPECT_EQ(device.properties().compute_units, 256u);
  EXPECT_TRUE(device.properties().modelled);
  const auto code = StoreKernels();
  const auto kernel = device.LoadOnce(code, "store");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(device.LoadOnce(code, "store")->native, kernel->native);
  const auto out = DeviceBuffer::Create(device, 3 * 64 * 4);
  ASSERT_TRUE(out.ok()) << out.status();
  const auto stream = device.CreateStream();
  ASSERT_TRUE(stream.ok()) << stream.status();
  const absl::Status status = device.Launch(
      *kernel, Groups(3), Arguments(out->address(), 1000), *stream);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(device.SynchronizeStream(*stream).ok());
  std::vector<uint32_t> read(3 * 64);
  EXPECT_TRUE(device
                  .CopyFromDevice({reinterpret_cast<uint8_t*>(read.data()),
                                   read.size() * 4},
                                  out->address())
                  .ok());
  for (uint32_t i = 0; i < 3 * 64; ++i) EXPECT_EQ(read[i], 1000 + i);
  EXPECT_EQ(device.last_report().waves, 3u);
  EXPECT_EQ(device.last_report().instructions, 3u * 12);
  EXPECT_EQ(device.last_report().global_bytes_written, 3u * 64 * 4);
  EXPECT_TRUE(device.DestroyStream(*stream).ok());
}

TEST(EmulatorDeviceTest, FaultyCodeFailsTheLaunch) {
  EmulatorDevice device;
  const auto kernel = device.LoadCodeObject(StoreKernels(), "wild");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto out = DeviceBuffer::Create(device, 256);
  ASSERT_TRUE(out.ok()) << out.status();
  const absl::Status status =
      device.Launch(*kernel, Groups(1), Arguments(out->address(), 0), {});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("kernel wild"), HasSubstr("at pc 0x"),
                    HasSubstr("global_store_dword v1, v2, s[4:5]"),
                    HasSubstr("wave 0")));
  EXPECT_TRUE(device.last_report().has_errors());
  // Later launches are not spoiled.
  const auto good = device.LoadCodeObject(StoreKernels(), "store");
  ASSERT_TRUE(good.ok()) << good.status();
  EXPECT_TRUE(
      device.Launch(*good, Groups(1), Arguments(out->address(), 0), {}).ok());
  EXPECT_FALSE(device.last_report().has_errors());
}

TEST(EmulatorDeviceTest, OptionsReachTheRun) {
  emu::RunOptions options;
  options.instruction_budget = 5;
  EmulatorDevice device(options);
  const auto kernel = device.LoadCodeObject(StoreKernels(), "store");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto out = DeviceBuffer::Create(device, 256);
  ASSERT_TRUE(out.ok()) << out.status();
  const auto arguments = Arguments(out->address(), 0);
  EXPECT_FALSE(device.Launch(*kernel, Groups(1), arguments, {}).ok());
  device.set_options({});
  EXPECT_TRUE(device.Launch(*kernel, Groups(1), arguments, {}).ok());
}

TEST(EmulatorDeviceTest, Memory) {
  EmulatorDevice device;
  const auto buffer = DeviceBuffer::Create(device, 8);
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(buffer->address() % 256, 0u);
  const std::vector<uint8_t> bytes = {1, 2, 3};
  std::vector<uint8_t> read(8);
  EXPECT_TRUE(device.Fill(buffer->address(), 9, 8).ok());
  EXPECT_TRUE(device.CopyToDevice(buffer->address() + 5, bytes).ok());
  EXPECT_TRUE(
      device.CopyFromDevice(absl::MakeSpan(read), buffer->address()).ok());
  EXPECT_THAT(read, ElementsAre(9, 9, 9, 9, 9, 1, 2, 3));
  // As on HIP, what leaves the allocation is the caller's mistake.
  for (const absl::Status& status :
       {device.CopyToDevice(buffer->address() + 6, bytes),
        device.CopyFromDevice(absl::MakeSpan(read), buffer->address() + 1),
        device.Fill(buffer->address(), 0, 9), device.Free(1)}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_TRUE(device.Free(0).ok());
  EXPECT_TRUE(device.Fill(0, 0, 0).ok());
}

TEST(EmulatorDeviceTest, RefusesWhatHipRefuses) {
  EmulatorDevice device;
  const auto code = StoreKernels();
  EXPECT_EQ(device.LoadCodeObject(code, "absent").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_FALSE(
      device.LoadCodeObject(std::vector<uint8_t>{1, 2, 3}, "store").ok());
  const auto kernel = device.LoadCodeObject(code, "store");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto out = DeviceBuffer::Create(device, 256);
  const auto arguments = Arguments(out->address(), 0);
  const auto refusal = [&](const LaunchShape& shape) {
    const absl::Status status = device.Launch(*kernel, shape, arguments, {});
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  LaunchShape shape = Groups(1);
  shape.grid[1] = 65536;
  EXPECT_THAT(refusal(shape), HasSubstr("grid is (1, 65536, 1)"));
  shape = Groups(1);
  shape.grid[2] = 65536;
  EXPECT_THAT(refusal(shape), HasSubstr("grid is (1, 1, 65536)"));
  EXPECT_THAT(refusal(Groups(1 << 26)), HasSubstr("2^32 work-items"));
  shape = Groups(1);
  shape.block[0] = 128;  // the kernel allows 64
  refusal(shape);
  // Handles that are none.
  int stranger = 0;
  const KernelHandle no_kernel = {&stranger};
  EXPECT_FALSE(device.Launch(no_kernel, Groups(1), arguments, {}).ok());
  EXPECT_FALSE(device.Launch(*kernel, Groups(1), arguments, {&stranger}).ok());
  EXPECT_FALSE(device.SynchronizeStream({&stranger}).ok());
  EXPECT_FALSE(device.DestroyStream({&stranger}).ok());
  EXPECT_FALSE(device.DestroyEvent({&stranger}).ok());
  EXPECT_FALSE(device.RecordEvent({&stranger}, {}).ok());
}

TEST(EmulatorDeviceTest, EventsTellTheHostsTime) {
  EmulatorDevice device;
  const auto begin = device.CreateEvent();
  const auto end = device.CreateEvent();
  ASSERT_TRUE(begin.ok() && end.ok());
  EXPECT_FALSE(device.ElapsedMilliseconds(*begin, *end).ok());
  EXPECT_TRUE(device.RecordEvent(*begin, {}).ok());
  EXPECT_TRUE(device.RecordEvent(*end, {}).ok());
  const auto elapsed = device.ElapsedMilliseconds(*begin, *end);
  ASSERT_TRUE(elapsed.ok()) << elapsed.status();
  EXPECT_GE(*elapsed, 0.0);
  EXPECT_TRUE(device.DestroyEvent(*begin).ok());
  EXPECT_TRUE(device.DestroyEvent(*end).ok());
  EXPECT_TRUE(device.Synchronize().ok());
}

TEST(EmulatorDeviceTest, TimedEventsTellModelledTime) {
  EmulatorDevice device;
  EmulatorTiming timing;
  timing.options.clock = *emu::FixedClock(2.0);
  device.set_timing(timing);
  constexpr int64_t kRows = 64;
  const auto memory = DeviceBuffer::Create(device, 4 * kRows * 256);
  ASSERT_TRUE(memory.ok()) << memory.status();
  AttentionParams params;
  params.mask = Mask::kFull;
  TensorView* tensors[] = {&params.query, &params.key, &params.value,
                           &params.output};
  for (size_t i = 0; i < 4; ++i) {
    *tensors[i] =
        DenseTensor(memory->address() + i * kRows * 256, 1, kRows, 1, 128);
  }
  EXPECT_FALSE(device.last_time().has_value());
  const auto begin = device.CreateEvent();
  const auto end = device.CreateEvent();
  ASSERT_TRUE(begin.ok() && end.ok());
  ASSERT_TRUE(device.RecordEvent(*begin, {}).ok());
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = AttentionForward(params, device);
    ASSERT_TRUE(status.ok()) << status;
  }
  ASSERT_TRUE(device.RecordEvent(*end, {}).ok());
  ASSERT_TRUE(device.last_time().has_value());
  const emu::KernelTime time = *device.last_time();
  EXPECT_GT(time.clocks, 1000);
  const double launch_us = timing.options.constants.launch_overhead_us;
  EXPECT_NEAR(time.milliseconds, time.clocks / 2e6 + launch_us * 1e-3, 1e-12);
  EXPECT_NEAR(*device.ElapsedMilliseconds(*begin, *end), 3 * time.milliseconds,
              1e-12);
}

TEST(EmulatorDeviceTest, TimingAloneWritesOnlySampledGroups) {
  EmulatorDevice device;
  EmulatorTiming timing;
  timing.only = true;
  device.set_timing(timing);
  // Two heads upon one: the second would write other rows.
  const auto inputs = DeviceBuffer::Create(device, 64 * 256);
  const auto output = DeviceBuffer::Create(device, 2 * 64 * 256);
  ASSERT_TRUE(inputs.ok() && output.ok());
  ASSERT_TRUE(device.Fill(output->address(), 0xff, output->size()).ok());
  AttentionParams params;
  params.mask = Mask::kFull;
  params.query = DenseTensor(inputs->address(), 1, 64, 1, 128);
  params.query.heads = 2;
  params.key = params.value = params.query;
  params.output = DenseTensor(output->address(), 1, 64, 2, 128);
  const absl::Status status = AttentionForward(params, device);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(device.last_time()->groups, 2u);
  device.set_timing(timing);
  EXPECT_FALSE(device.last_time().has_value());
  std::vector<uint8_t> written(output->size());
  ASSERT_TRUE(
      device.CopyFromDevice(absl::MakeSpan(written), output->address()).ok());
  for (size_t i = 0; i < written.size(); ++i) {
    ASSERT_EQ(written[i], i / 256 % 2 == 0 ? 0 : 0xff) << i;
  }
}

TEST(EmulatorDeviceTest, OtherKernelsRunWholeAndTakeNoModelledTime) {
  EmulatorDevice device;
  EmulatorTiming timing;
  timing.only = true;
  device.set_timing(timing);
  const auto kernel = device.LoadCodeObject(StoreKernels(), "store");
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const auto out = DeviceBuffer::Create(device, 256);
  ASSERT_TRUE(out.ok()) << out.status();
  ASSERT_TRUE(device.Fill(out->address(), 0xff, 256).ok());
  const auto begin = device.CreateEvent();
  const auto end = device.CreateEvent();
  ASSERT_TRUE(begin.ok() && end.ok());
  ASSERT_TRUE(device.RecordEvent(*begin, {}).ok());
  const absl::Status status =
      device.Launch(*kernel, Groups(1), Arguments(out->address(), 0), {});
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_TRUE(device.RecordEvent(*end, {}).ok());
  EXPECT_EQ(*device.ElapsedMilliseconds(*begin, *end), 0);
  EXPECT_FALSE(device.last_time().has_value());
  std::vector<uint8_t> written(256);
  ASSERT_TRUE(
      device.CopyFromDevice(absl::MakeSpan(written), out->address()).ok());
  EXPECT_NE(written, std::vector<uint8_t>(256, 0xff));
}

}  // namespace
}  // namespace zyfa
