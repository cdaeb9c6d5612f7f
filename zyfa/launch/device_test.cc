#include "zyfa/launch/device.h"

#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa {
namespace {

// The least that a back end has to be: it notes what it is asked.
class NotingDevice : public Device {
 public:
  const DeviceProperties& properties() const override { return properties_; }
  absl::StatusOr<uint64_t> Allocate(size_t bytes) override {
    if (bytes > 1000) return absl::ResourceExhaustedError("full");
    live.insert(next_ += 4096);
    return next_;
  }
  absl::Status Free(uint64_t address) override {
    return live.erase(address) == 1 ? absl::OkStatus()
                                    : absl::InvalidArgumentError("unknown");
  }
  absl::Status CopyToDevice(uint64_t, absl::Span<const uint8_t>) override {
    return absl::OkStatus();
  }
  absl::Status CopyFromDevice(absl::Span<uint8_t>, uint64_t) override {
    return absl::OkStatus();
  }
  absl::Status Fill(uint64_t, uint8_t, size_t) override {
    return absl::OkStatus();
  }
  absl::StatusOr<KernelHandle> LoadCodeObject(
      absl::Span<const uint8_t>, const std::string& kernel) override {
    if (!load_status.ok()) return load_status;
    loaded.push_back(kernel);
    return KernelHandle{this};
  }
  absl::Status Launch(KernelHandle, const LaunchShape& shape,
                      absl::Span<const uint8_t> arguments,
                      Stream stream) override {
    if (static_cast<int>(shapes.size()) == fail_launch) {
      return absl::InternalError("broken");
    }
    shapes.push_back(shape);
    args.emplace_back();
    EXPECT_EQ(arguments.size(), sizeof(AttentionArgs));
    std::memcpy(&args.back(), arguments.data(), sizeof(AttentionArgs));
    last_stream = stream;
    return absl::OkStatus();
  }
  absl::StatusOr<Stream> CreateStream() override { return Stream{}; }
  absl::Status DestroyStream(Stream) override { return absl::OkStatus(); }
  absl::Status SynchronizeStream(Stream) override { return absl::OkStatus(); }
  absl::Status Synchronize() override { return absl::OkStatus(); }
  absl::StatusOr<Event> CreateEvent() override { return Event{}; }
  absl::Status DestroyEvent(Event) override { return absl::OkStatus(); }
  absl::Status RecordEvent(Event, Stream) override { return absl::OkStatus(); }
  absl::StatusOr<double> ElapsedMilliseconds(Event, Event) override {
    return 0.0;
  }

  std::set<uint64_t> live;
  std::vector<std::string> loaded;
  std::vector<LaunchShape> shapes;
  std::vector<AttentionArgs> args;
  Stream last_stream;
  absl::Status load_status;
  int fail_launch = -1;

 private:
  DeviceProperties properties_;
  uint64_t next_ = 0;
};

AttentionParams Params(int64_t batch, int64_t seqlen) {
  AttentionParams params;
  params.query = DenseTensor(1 << 20, batch, seqlen, 2, 128);
  params.key = params.value = DenseTensor(1 << 20, batch, seqlen, 2, 128);
  params.output = DenseTensor(uint64_t{1} << 40, batch, seqlen, 2, 128);
  return params;
}

TEST(DeviceTest, BufferFreesItsMemoryOnce) {
  NotingDevice device;
  {
    auto first = DeviceBuffer::Create(device, 10);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first->size(), 10u);
    DeviceBuffer moved = std::move(*first);
    EXPECT_EQ(first->address(), 0u);
    DeviceBuffer second = *DeviceBuffer::Create(device, 20);
    EXPECT_EQ(device.live.size(), 2u);
    second = std::move(moved);
    EXPECT_EQ(second.size(), 10u);
  }
  EXPECT_TRUE(device.live.empty());
  EXPECT_EQ(DeviceBuffer::Create(device, 2000).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(DeviceTest, AttentionLoadsOnceAndLaunchesOnTheStream) {
  NotingDevice device;
  const Stream stream = {&device};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(AttentionForward(Params(2, 1000), device, stream).ok());
  }
  EXPECT_EQ(device.loaded, std::vector<std::string>{"zyfa_bf16_d128_causal"});
  ASSERT_EQ(device.shapes.size(), 3u);
  EXPECT_EQ(device.shapes[0].grid[0], 2u);
  EXPECT_EQ(device.shapes[0].grid[1], 2u);  // 4 tiles in pairs
  EXPECT_EQ(device.shapes[0].grid[2], 2u);
  EXPECT_EQ(device.shapes[0].block[0], 512u);
  EXPECT_EQ(device.args[0].seqlen_q, 1000u);
  EXPECT_EQ(device.last_stream.native, &device);
  AttentionParams full = Params(2, 1000);
  full.mask = Mask::kFull;
  ASSERT_TRUE(AttentionForward(full, device).ok());
  EXPECT_EQ(device.loaded.back(), "zyfa_bf16_d128_full");
  EXPECT_EQ(device.shapes[3].grid[1], 4u);
  EXPECT_EQ(device.last_stream.native, nullptr);
}

TEST(DeviceTest, AttentionLaunchesNothingForARefusalOrNoRows) {
  NotingDevice device;
  AttentionParams params = Params(1, 10);
  params.output.address = 8;
  EXPECT_EQ(AttentionForward(params, device).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(AttentionForward(Params(0, 10), device).ok());
  EXPECT_TRUE(AttentionForward(Params(1, 0), device).ok());
  EXPECT_TRUE(device.loaded.empty());
  EXPECT_TRUE(device.shapes.empty());
}

TEST(DeviceTest, AttentionReportsTheDevicesErrors) {
  NotingDevice device;
  device.load_status = absl::InternalError("no loading today");
  EXPECT_EQ(AttentionForward(Params(1, 10), device), device.load_status);
  EXPECT_TRUE(device.shapes.empty());
  // A failed load is tried again.
  device.load_status = absl::OkStatus();
  EXPECT_TRUE(AttentionForward(Params(1, 10), device).ok());
  // The second of two launches fails.
  device.shapes.clear();
  device.fail_launch = 1;
  EXPECT_EQ(AttentionForward(Params(70000, 3), device),
            absl::InternalError("broken"));
  EXPECT_EQ(device.shapes.size(), 1u);
}

}  // namespace
}  // namespace zyfa
