#include "zyfa/bench/run_case.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/bench/flops.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/bench/naive_attention.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;
using ::testing::HasSubstr;

constexpr Case kCase = {.variant = {.mask = Mask::kCausal},
                        .batch = 2,
                        .heads_q = 2,
                        .heads_kv = 1,
                        .seqlen_q = 17,
                        .seqlen_kv = 17};

// A GPU whose memory is the host's, whose only kernel call is the right answer
// to one case, and whose every launch takes a quarter of a millisecond.
class FakeGpu : public Device {
 public:
  explicit FakeGpu(const Case& c) : case_(c) {}

  const DeviceProperties& properties() const override { return properties_; }
  absl::StatusOr<uint64_t> Allocate(size_t bytes) override {
    if (--allocations_left < 0) return absl::ResourceExhaustedError("full");
    ++live;
    return reinterpret_cast<uint64_t>(
        std::aligned_alloc(256, (bytes + 511) / 256 * 256));
  }
  absl::Status Free(uint64_t address) override {
    --live;
    std::free(Pointer(address));
    return absl::OkStatus();
  }
  absl::Status CopyToDevice(uint64_t destination,
                            absl::Span<const uint8_t> source) override {
    std::memcpy(Pointer(destination), source.data(), source.size());
    return absl::OkStatus();
  }
  absl::Status CopyFromDevice(absl::Span<uint8_t> destination,
                              uint64_t source) override {
    std::memcpy(destination.data(), Pointer(source), destination.size());
    return absl::OkStatus();
  }
  absl::Status Fill(uint64_t address, uint8_t value, size_t bytes) override {
    std::memset(Pointer(address), value, bytes);
    return absl::OkStatus();
  }
  absl::StatusOr<KernelHandle> LoadCodeObject(absl::Span<const uint8_t>,
                                              const std::string&) override {
    return KernelHandle{this};
  }
  absl::Status Launch(KernelHandle, const LaunchShape&,
                      absl::Span<const uint8_t> bytes, Stream) override {
    ++launches;
    if (!launch_status.ok()) return launch_status;
    AttentionArgs args;
    std::memcpy(&args, bytes.data(), sizeof(args));
    const Inputs inputs = {
        .query = Tensor(args.query, case_.seqlen_q, case_.heads_q, 128),
        .key = Tensor(args.key, case_.seqlen_kv, case_.heads_kv, 128),
        .value = Tensor(args.value, case_.seqlen_kv, case_.heads_kv, 128)};
    std::vector<Bf16> output = NaiveOutput(case_, inputs, args.scale);
    if (omit_last) output.pop_back();
    std::memcpy(Pointer(args.output), output.data(), 2 * output.size());
    return absl::OkStatus();
  }
  absl::StatusOr<Stream> CreateStream() override { return Stream{}; }
  absl::Status DestroyStream(Stream) override { return absl::OkStatus(); }
  absl::Status SynchronizeStream(Stream) override { return absl::OkStatus(); }
  absl::Status Synchronize() override { return absl::OkStatus(); }
  absl::StatusOr<Event> CreateEvent() override {
    return Event{&launches_at_[events++]};
  }
  absl::Status DestroyEvent(Event) override {
    --events;
    return absl::OkStatus();
  }
  absl::Status RecordEvent(Event event, Stream) override {
    *static_cast<int*>(event.native) = launches;
    return absl::OkStatus();
  }
  absl::StatusOr<double> ElapsedMilliseconds(Event begin, Event end) override {
    return 0.25 *
           (*static_cast<int*>(end.native) - *static_cast<int*>(begin.native));
  }

  int allocations_left = 100;
  int live = 0;      // allocations
  int events = 0;    // not destroyed
  int launches = 0;  // so far
  absl::Status launch_status;
  bool omit_last = false;  // one element of the output is never written

 private:
  static void* Pointer(uint64_t address) {
    return reinterpret_cast<void*>(address);
  }
  std::vector<Bf16> Tensor(uint64_t address, size_t seqlen, size_t heads,
                           size_t head_dim) const {
    const Bf16* data = static_cast<const Bf16*>(Pointer(address));
    return {data, data + case_.batch * seqlen * heads * head_dim};
  }

  Case case_;
  DeviceProperties properties_ = {.kind = "hip",
                                  .name = "Fake",
                                  .arch = "gfx950",
                                  .runtime = "fake runtime 1.0",
                                  .modelled = false};
  int launches_at_[2] = {0, 0};  // of the events
};

TEST(RunCase, RecordsWhatRanHowRightAndHowFast) {
  FakeGpu gpu(kCase);
  const proto::Record r =
      RunCase(kCase, gpu, {.seed = 5, .warmups = 3, .runs = 4});
  EXPECT_EQ(r.outcome(), proto::OUTCOME_OK) << r.message();
  EXPECT_FALSE(r.has_message());
  EXPECT_EQ(r.variant(), "bf16_d128_causal");
  EXPECT_EQ(r.device(), "hip");
  EXPECT_EQ(r.device_description(), "Fake");
  EXPECT_TRUE(r.has_modelled());
  EXPECT_FALSE(r.modelled());
  EXPECT_EQ(r.code_object_sha256().size(), 64u);
  EXPECT_THAT(r.versions().kernel_toolchain(), HasSubstr("clang version"));
  EXPECT_FALSE(r.versions().host_compiler().empty());
  EXPECT_EQ(r.versions().device_runtime(), "fake runtime 1.0");
  EXPECT_GT(r.start_time().seconds(), 1600000000);
  EXPECT_EQ(r.batch(), 2);
  EXPECT_EQ(r.heads_q(), 2);
  EXPECT_EQ(r.heads_kv(), 1);
  EXPECT_EQ(r.seqlen_q(), 17);
  EXPECT_EQ(r.seqlen_kv(), 17);
  EXPECT_EQ(r.head_dim_qk(), 128);
  EXPECT_EQ(r.head_dim_v(), 128);
  EXPECT_EQ(r.mask(), proto::MASK_CAUSAL);
  EXPECT_NEAR(r.softmax_scale(), 0.08838834764, 1e-8);
  EXPECT_EQ(r.input_distribution(), "gaussian");
  EXPECT_EQ(r.seed(), 5u);

  EXPECT_LT(r.rel_rmse(), 0x1p-9);
  EXPECT_EQ(r.rows_checked(), 2 * 17 * 2);

  // One launch for the check, three to warm up, four timed.
  EXPECT_EQ(gpu.launches, 8);
  EXPECT_EQ(r.warmups(), 3);
  EXPECT_EQ(r.runs(), 4);
  EXPECT_EQ(r.gpu_time_ms(), 0.25);
  EXPECT_EQ(r.flops(), AttentionFlops(kCase.variant, 4, 17, 17));
  EXPECT_DOUBLE_EQ(r.tflops(), r.flops() / 0.25e-3 / 1e12);
  EXPECT_FALSE(r.has_wall_seconds());

  EXPECT_EQ(gpu.live, 0);
  EXPECT_EQ(gpu.events, 0);
}

TEST(RunCase, AnElementThatTheKernelLeavesOutIsAFailure) {
  FakeGpu gpu(kCase);
  gpu.omit_last = true;
  const proto::Record r = RunCase(kCase, gpu, {.warmups = 0, .runs = 1});
  EXPECT_EQ(r.outcome(), proto::OUTCOME_FAILED);
  EXPECT_THAT(r.message(), HasSubstr("NaN"));
  EXPECT_FALSE(r.has_tflops());
}

TEST(RunCase, TimeAloneIsNothingForAGpu) {
  FakeGpu gpu(kCase);
  const proto::Record r = RunCase(kCase, gpu, {.timing = {.only = true}});
  EXPECT_EQ(r.outcome(), proto::OUTCOME_REFUSED);
  EXPECT_THAT(r.message(), HasSubstr("timing.only is set on device hip"));
  EXPECT_EQ(gpu.launches, 0);
}

TEST(RunCase, TheEmulatorsTimeIsModelled) {
  EmulatorDevice emulator;
  const proto::Record with = RunCase(kCase, emulator, {});
  EXPECT_EQ(with.outcome(), proto::OUTCOME_OK) << with.message();
  EXPECT_TRUE(with.modelled());
  EXPECT_TRUE(with.has_rel_rmse());
  const double seconds = with.gpu_time_ms() * 1e-3;
  EXPECT_GT(with.clocks(), 1000);
  // 6 us of launch.
  EXPECT_NEAR(seconds, with.clocks() / (with.clock_ghz() * 1e9) + 6e-6, 1e-12);
  EXPECT_DOUBLE_EQ(with.tflops(), with.flops() / seconds / 1e12);
  EXPECT_NEAR(with.peak_share(), with.tflops() / 2516.58, 1e-9);
  const proto::ModelledTime& time = with.modelled_time();
  EXPECT_EQ(time.work_groups(), 4);
  EXPECT_EQ(time.distinct_work_groups(), 1);
  EXPECT_EQ(time.sampled_work_groups(), 1);
  EXPECT_EQ(time.resident_work_groups(), 1);
  EXPECT_NEAR(time.launch_share() + time.fill_share() + time.cold_share() +
                  time.steady_share() + time.drain_share() + time.gap_share() +
                  time.tail_share() + time.bound_share(),
              1, 1e-12);

  // Alone it is the same time, but for data that softmax takes another way.
  const proto::Record alone =
      RunCase(kCase, emulator, {.timing = {.only = true}});
  EXPECT_EQ(alone.outcome(), proto::OUTCOME_OK) << alone.message();
  EXPECT_FALSE(alone.has_rel_rmse());
  EXPECT_NEAR(alone.clocks() / with.clocks(), 1, 0.01);
  EXPECT_EQ(alone.modelled_time().work_groups(), 4);
}

TEST(RunCase, BadTimingIsRecorded) {
  EmulatorDevice emulator;
  proto::Record r = RunCase(kCase, emulator, {.timing = {.clock = "3"}});
  EXPECT_EQ(r.outcome(), proto::OUTCOME_FAILED);
  EXPECT_THAT(r.message(), HasSubstr("clock is 3 GHz"));
  r = RunCase(kCase, emulator, {.timing = {.constants = "/absent"}});
  EXPECT_EQ(r.outcome(), proto::OUTCOME_FAILED);
  EXPECT_THAT(r.message(), HasSubstr("/absent"));
}

TEST(RunCase, AFailingLaunchIsRecorded) {
  FakeGpu gpu(kCase);
  gpu.launch_status = absl::InternalError("hipModuleLaunchKernel: 719");
  const proto::Record r = RunCase(kCase, gpu, {});
  EXPECT_EQ(r.outcome(), proto::OUTCOME_FAILED);
  EXPECT_THAT(r.message(), HasSubstr("hipModuleLaunchKernel: 719"));
  EXPECT_FALSE(r.has_rel_rmse());
  EXPECT_EQ(gpu.live, 0);
}

TEST(RunCase, LackOfMemoryIsRecordedAndNothingLeaks) {
  for (int allocations = 0; allocations < 4; ++allocations) {
    FakeGpu gpu(kCase);
    gpu.allocations_left = allocations;
    const proto::Record r = RunCase(kCase, gpu, {});
    EXPECT_EQ(r.outcome(), proto::OUTCOME_FAILED);
    EXPECT_THAT(r.message(), HasSubstr("full"));
    EXPECT_EQ(gpu.live, 0);
  }
}

TEST(RunCase, ACaseThatNoKernelTakesIsRefused) {
  Case c = kCase;
  c.variant.head_dim_qk = c.variant.head_dim_v = 64;
  FakeGpu gpu(c);
  const proto::Record r = RunCase(c, gpu, {});
  EXPECT_EQ(r.outcome(), proto::OUTCOME_REFUSED);
  EXPECT_THAT(r.message(), HasSubstr("64"));
  EXPECT_EQ(gpu.launches, 0);
  EXPECT_FALSE(r.has_code_object_sha256());
}

TEST(RunCase, GivenInputsRunInsteadOfGaussianOnes) {
  EmulatorDevice emulator;
  const Inputs inputs = *GaussianInputs(kCase, 7);
  const proto::Record given = RunCase(kCase, emulator, {.inputs = &inputs});
  EXPECT_EQ(given.outcome(), proto::OUTCOME_OK) << given.message();
  EXPECT_FALSE(given.has_input_distribution());
  EXPECT_FALSE(given.has_seed());
  EXPECT_EQ(given.rel_rmse(), RunCase(kCase, emulator, {.seed = 7}).rel_rmse());

  Inputs small = inputs;
  small.key = Elements(std::vector<numerics::Bf16>(5));
  const proto::Record refused = RunCase(kCase, emulator, {.inputs = &small});
  EXPECT_EQ(refused.outcome(), proto::OUTCOME_FAILED);
  EXPECT_THAT(refused.message(),
              HasSubstr("inputs.key has 5 elements; allowed: "));
}

TEST(RunCase, OtherSeedsOtherErrors) {
  FakeGpu gpu(kCase);
  const RunCaseOptions once = {.seed = 1, .warmups = 0, .runs = 1};
  const double first = RunCase(kCase, gpu, once).rel_rmse();
  EXPECT_EQ(RunCase(kCase, gpu, once).rel_rmse(), first);
  EXPECT_NE(
      RunCase(kCase, gpu, {.seed = 2, .warmups = 0, .runs = 1}).rel_rmse(),
      first);
}

}  // namespace
}  // namespace zyfa::bench
