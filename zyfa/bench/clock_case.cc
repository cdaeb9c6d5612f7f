#include "zyfa/bench/clock_case.h"

#include <cmath>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "zyfa/bench/clock_model_run.h"
#include "zyfa/bench/versions.h"
#include "zyfa/kernels/sha256.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/numerics/random.h"

// The code objects that are linked into this program (gfx_kernel).
extern "C" {
extern const uint8_t zyfa_co_clock_bf16_begin[];
extern const uint8_t zyfa_co_clock_bf16_end[];
extern const uint8_t zyfa_co_clock_fp8_begin[];
extern const uint8_t zyfa_co_clock_fp8_end[];
}

namespace zyfa::bench {
namespace {

constexpr uint32_t kComputeUnits = 256;  // of an MI355X
constexpr uint32_t kLanes = 512;         // of a work-group, eight waves
constexpr int kPairs = 4;
constexpr int kInstructions = 8;  // of a trip
constexpr int kWavesOfSimd = 2;
constexpr int kAccumulators = 2;
constexpr size_t kSumBytes = size_t{16} * kAccumulators * kLanes;  // of a group
// Long enough for the accumulators to be exact on constant operands.
constexpr uint32_t kCheckedTrips = 8;

// zyfa/gen/clock/clock_loop.h, as the host sees it.
struct Loop {
  absl::Span<const uint8_t> code_object;
  int depth;      // K of an instruction
  int registers;  // of an operand
  int clocks;     // of an instruction
};

Loop LoopOf(const std::string& kernel) {
  if (kernel == "clock_fp8") {
    return {absl::MakeConstSpan(zyfa_co_clock_fp8_begin, zyfa_co_clock_fp8_end),
            64, 8, 64};
  }
  return {absl::MakeConstSpan(zyfa_co_clock_bf16_begin, zyfa_co_clock_bf16_end),
          16, 4, 32};
}

struct Arguments {
  uint64_t operands;
  uint64_t sums;
  uint32_t trips;
  uint32_t unused = 0;
};

// Two BF16 or four E4M3 numbers of random bits without NaN or infinity; the
// exponent of BF16 keeps its upper half, so that sums stay finite.
uint32_t Finite(uint32_t bits, bool fp8) {
  if (!fp8) return (bits & 0x87ff87ff) | 0x38003800;
  for (uint32_t byte = 0; byte < 32; byte += 8) {
    if ((bits >> byte & 0x7f) == 0x7f) bits ^= 1u << byte;
  }
  return bits;
}

std::vector<uint32_t> Operands(const ClockCase& c, const Loop& loop,
                               uint32_t seed) {
  const bool fp8 = c.kernel == "clock_fp8";
  std::vector<uint32_t> words(size_t{2} * kPairs * kLanes *
                              static_cast<size_t>(loop.registers));
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = c.pattern == "constant"
                   ? (fp8 ? 0x38383838 : 0x3f803f80)
                   : Finite(numerics::RandomWords(seed, 0, i / 4)[i % 4], fp8);
  }
  return words;
}

// A loop on a device, ready to be launched.
struct Prepared {
  KernelHandle kernel;
  DeviceBuffer operands, sums;
  uint32_t groups = 0;

  absl::Status Launch(Device& device, uint32_t trips) const {
    const Arguments arguments = {operands.address(), sums.address(), trips};
    LaunchShape shape;
    shape.grid[0] = groups;
    shape.block[0] = kLanes;
    return device.Launch(
        kernel, shape,
        {reinterpret_cast<const uint8_t*>(&arguments), sizeof(arguments)},
        Stream());
  }
};

absl::StatusOr<Prepared> Prepare(const ClockCase& c, const Loop& loop,
                                 uint32_t seed, Device& device) {
  Prepared p;
  p.groups = IsEmulator(device) ? 1 : kComputeUnits;
  const std::vector<uint32_t> words = Operands(c, loop, seed);
  const size_t bytes = words.size() * sizeof(uint32_t);
  absl::StatusOr<DeviceBuffer> operands = DeviceBuffer::Create(device, bytes);
  if (!operands.ok()) return operands.status();
  p.operands = *std::move(operands);
  absl::StatusOr<DeviceBuffer> sums =
      DeviceBuffer::Create(device, kSumBytes * p.groups);
  if (!sums.ok()) return sums.status();
  p.sums = *std::move(sums);
  absl::Status status = device.CopyToDevice(
      p.operands.address(),
      {reinterpret_cast<const uint8_t*>(words.data()), bytes});
  // All ones is a NaN: a loop that did not run shows.
  status.Update(device.Fill(p.sums.address(), 0xff, p.sums.size()));
  if (!status.ok()) return status;
  absl::StatusOr<KernelHandle> kernel =
      device.LoadOnce(loop.code_object, absl::StrCat("zyfa_", c.kernel));
  if (!kernel.ok()) return kernel.status();
  p.kernel = *kernel;
  return p;
}

// The sums after kCheckedTrips trips: on constant operands each is exactly the
// number of its products, otherwise they must be finite.
absl::Status CheckSums(const ClockCase& c, const Loop& loop, const Prepared& p,
                       Device& device) {
  std::vector<float> sums(p.sums.size() / sizeof(float));
  absl::Status status = device.CopyFromDevice(
      {reinterpret_cast<uint8_t*>(sums.data()), p.sums.size()},
      p.sums.address());
  if (!status.ok()) return status;
  const float expected = static_cast<float>(kCheckedTrips * kInstructions /
                                            kAccumulators * loop.depth);
  for (size_t i = 0; i < sums.size(); ++i) {
    const bool good =
        c.pattern == "constant" ? sums[i] == expected : std::isfinite(sums[i]);
    if (!good) {
      return absl::InternalError(
          absl::StrCat("sum ", i, " is ", sums[i], ", not ",
                       c.pattern == "constant" ? absl::StrCat(expected)
                                               : std::string("finite")));
    }
  }
  return absl::OkStatus();
}

// Mean time of a launch in milliseconds.
absl::StatusOr<double> TimeLaunches(const Prepared& p, uint32_t trips,
                                    int warmups, int runs, Device& device) {
  const absl::StatusOr<Event> begin = device.CreateEvent();
  if (!begin.ok()) return begin.status();
  const absl::StatusOr<Event> end = device.CreateEvent();
  if (!end.ok()) {
    device.DestroyEvent(*begin).IgnoreError();
    return end.status();
  }
  absl::Status status;
  for (int i = -warmups; i < runs && status.ok(); ++i) {
    if (i == 0) status.Update(device.RecordEvent(*begin, Stream()));
    if (status.ok()) status = p.Launch(device, trips);
  }
  if (status.ok()) status = device.RecordEvent(*end, Stream());
  absl::StatusOr<double> elapsed = status;
  if (status.ok()) elapsed = device.ElapsedMilliseconds(*begin, *end);
  status.Update(device.DestroyEvent(*begin));
  status.Update(device.DestroyEvent(*end));
  if (!elapsed.ok()) return elapsed.status();
  if (!status.ok()) return status;
  return *elapsed / runs;
}

absl::Status MeasureClock(const Prepared& p, const Loop& loop,
                          const ClockOptions& options, Device& device,
                          proto::Record& record) {
  const auto trips = static_cast<uint32_t>(options.trips);
  const absl::StatusOr<double> once =
      TimeLaunches(p, trips, options.warmups, options.runs, device);
  if (!once.ok()) return once.status();
  const absl::StatusOr<double> twice =
      TimeLaunches(p, 2 * trips, options.warmups, options.runs, device);
  if (!twice.ok()) return twice.status();
  record.set_gpu_time_ms(*twice);
  record.set_warmups(options.warmups);
  record.set_runs(options.runs);
  if (!(*twice > *once)) {
    return absl::InternalError(absl::StrCat(2 * trips, " trips take ", *twice,
                                            " ms, and ", trips, " take ", *once,
                                            " ms: there is no clock in that"));
  }
  const double clocks =
      static_cast<double>(trips) * kInstructions * kWavesOfSimd * loop.clocks;
  record.set_clock_ghz(clocks / ((*twice - *once) * 1e6));
  return absl::OkStatus();
}

absl::Status Run(const ClockCase& c, Device& device,
                 const ClockOptions& options, proto::Record& record) {
  const Loop loop = LoopOf(c.kernel);
  record.set_code_object_sha256(Sha256Hex(loop.code_object));
  const absl::StatusOr<Prepared> p = Prepare(c, loop, options.seed, device);
  if (!p.ok()) return p.status();
  absl::Status status = p->Launch(device, kCheckedTrips);
  if (status.ok()) status = device.Synchronize();
  if (status.ok()) status = CheckSums(c, loop, *p, device);
  if (!status.ok()) return status;
  const bool emulated = IsEmulator(device);
  status = emulated ? RecordModelledClock(
                          device,
                          [&] {
                            return p->Launch(
                                device,
                                static_cast<uint32_t>(options.emulated_trips));
                          },
                          record)
                    : MeasureClock(*p, loop, options, device, record);
  if (!status.ok()) return status;
  const double flops = 2.0 * 32 * 32 * loop.depth;  // of an instruction
  const double busy = emulated ? record.busy() : 1;
  record.set_tflops(flops / loop.clocks * 4 * kComputeUnits * busy *
                    record.clock_ghz() / 1e3);
  return absl::OkStatus();
}

}  // namespace

std::vector<ClockCase> ClockCases() {
  std::vector<ClockCase> cases;
  for (const char* kernel : {"clock_bf16", "clock_fp8"}) {
    for (const char* pattern : {"constant", "random"}) {
      cases.push_back({kernel, pattern});
    }
  }
  return cases;
}

proto::Record RunClockCase(const ClockCase& c, Device& device,
                           const ClockOptions& options) {
  const DeviceProperties& properties = device.properties();
  proto::Record record;
  record.set_variant(absl::StrCat(c.kernel, "_", c.pattern));
  record.set_device(properties.kind);
  record.set_device_description(properties.name);
  record.set_modelled(properties.modelled);
  *record.mutable_versions() = BuildVersions();
  record.mutable_versions()->set_device_runtime(properties.runtime);
  record.mutable_start_time()->set_seconds(std::time(nullptr));
  record.set_input_distribution(c.pattern);
  record.set_seed(options.seed);
  const absl::Status status = Run(c, device, options, record);
  record.set_outcome(status.ok() ? proto::OUTCOME_OK : proto::OUTCOME_FAILED);
  if (!status.ok()) record.set_message(status.ToString());
  return record;
}

}  // namespace zyfa::bench
