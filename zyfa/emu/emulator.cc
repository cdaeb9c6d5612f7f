#include "zyfa/emu/emulator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/group_runner.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/strict/strict.h"
#include "zyfa/emu/wave_start.h"

namespace zyfa::emu {
namespace {

constexpr const char* kClassNames[kInstructionClasses] = {
    "salu", "valu", "trans", "mfma", "lds", "vmem", "smem", "branch", "other"};

// Device memory that a run needs beside the caller's; freed with it.
class RunMemory {
 public:
  explicit RunMemory(DeviceMemory& memory) : memory_(memory) {}
  ~RunMemory() {
    for (uint64_t address : addresses_) (void)memory_.Free(address);
  }
  absl::StatusOr<uint64_t> Place(absl::Span<const uint8_t> bytes) {
    absl::StatusOr<uint64_t> address = memory_.Allocate(bytes.size());
    if (!address.ok()) return address;
    addresses_.push_back(*address);
    absl::Status status = memory_.Write(*address, bytes);
    if (!status.ok()) return status;
    return address;
  }

 private:
  DeviceMemory& memory_;
  std::vector<uint64_t> addresses_;
};

absl::Status CheckShape(const KernelInfo& kernel, const LaunchShape& shape) {
  uint64_t groups = 1, items = 1;
  for (int d = 0; d < 3; ++d) {
    if (shape.grid[d] == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("grid[", d, "] is 0, at least 1 is needed"));
    }
    if (shape.workgroup[d] == 0 || shape.workgroup[d] > 1024) {
      return absl::InvalidArgumentError(
          absl::StrCat("workgroup[", d, "] is ", shape.workgroup[d],
                       ", 1 to 1024 are allowed"));
    }
    items *= shape.workgroup[d];
    if (shape.grid[d] > std::numeric_limits<uint32_t>::max() / groups) {
      return absl::InvalidArgumentError(
          absl::StrCat("grid ", shape.grid[0], " x ", shape.grid[1], " x ",
                       shape.grid[2], " has more than 2^32 - 1 work-groups"));
    }
    groups *= shape.grid[d];
  }
  if (items > kernel.max_workgroup_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("a work-group of ", items, " work-items; kernel ",
                     kernel.name, " allows ", kernel.max_workgroup_size));
  }
  const uint64_t lds = uint64_t{kernel.lds_bytes} + shape.dynamic_lds_bytes;
  if (lds > kMaxLdsBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        lds, " bytes of LDS (", kernel.lds_bytes, " static, ",
        shape.dynamic_lds_bytes, " dynamic); a work-group has ", kMaxLdsBytes));
  }
  // A SIMD has 512 registers a lane for its share of the work-group's waves.
  const uint64_t waves = (items + kLanes - 1) / kLanes;
  if ((waves + 3) / 4 * kernel.vgprs > 512) {
    return absl::InvalidArgumentError(absl::StrCat(
        waves, " waves of ", kernel.vgprs,
        " vector registers do not fit the four SIMDs of a compute unit"));
  }
  return absl::OkStatus();
}

// The whole kernarg segment: the caller's part and the hidden arguments.
absl::StatusOr<std::vector<uint8_t>> BuildKernarg(
    const KernelInfo& kernel, const LaunchShape& shape,
    absl::Span<const uint8_t> given) {
  uint32_t least = kernel.arguments.empty() ? kernel.kernarg_bytes : 0;
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.value_kind.compare(0, 7, "hidden_") == 0) continue;
    least = std::max(least, argument.offset + argument.size);
  }
  if (given.size() < least || given.size() > kernel.kernarg_bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernarg has ", given.size(), " bytes; kernel ", kernel.name, " takes ",
        least, " to ", kernel.kernarg_bytes));
  }
  // The HSA runtime's segments end at a multiple of 16, and compiled code loads
  // up to there.
  std::vector<uint8_t> kernarg((kernel.kernarg_bytes + 15) / 16 * 16, 0);
  std::copy(given.begin(), given.end(), kernarg.begin());
  absl::Status status = FillHiddenArguments(kernel, shape, kernarg);
  if (!status.ok()) return status;
  return kernarg;
}

absl::StatusOr<uint64_t> PlaceImage(const CodeObject& code,
                                    DeviceMemory& memory,
                                    RunMemory& run_memory) {
  absl::StatusOr<uint64_t> address = run_memory.Place(code.image());
  if (!address.ok()) return address;
  for (const CodeObject::Relocation& relocation : code.relocations()) {
    const uint64_t value = *address + relocation.addend;
    absl::Status status = memory.Write(
        *address + relocation.offset,
        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&value), 8));
    if (!status.ok()) return status;
  }
  return address;
}

absl::Status CheckGroups(const LaunchShape& shape,
                         const std::vector<uint64_t>& groups) {
  const uint64_t count =
      uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] >= count || (i > 0 && groups[i] <= groups[i - 1])) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "groups[%d] = %d; allowed: ascending numbers below %d, the groups of "
          "the grid",
          i, groups[i], count));
    }
  }
  return absl::OkStatus();
}

// Adds up the groups in the order of their numbers, whatever the order in which
// threads finish them, so that a report does not depend on the threads.
class Collector {
 public:
  explicit Collector(RunReport& report) : report_(report) {}

  // Groups above this one need not run.
  const std::atomic<uint64_t>& stop_after() const { return stop_after_; }

  // `turn`: its place among the groups that run.
  void Add(uint64_t turn, uint64_t group, const Counters& counters, int waves,
           std::vector<Finding> findings, bool faulted) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (faulted && group < stop_after_.load(std::memory_order_relaxed)) {
      stop_after_.store(group, std::memory_order_relaxed);
    }
    waiting_[turn] = {group, counters, waves, std::move(findings)};
    while (!waiting_.empty() && waiting_.begin()->first == next_ &&
           waiting_.begin()->second.group <=
               stop_after_.load(std::memory_order_relaxed)) {
      Merge(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      ++next_;
    }
  }

  const Counters& total() const { return total_; }

 private:
  struct Result {
    uint64_t group = 0;
    Counters counters;
    int waves = 0;
    std::vector<Finding> findings;
  };

  void Merge(Result& result) {
    total_.Add(result.counters);
    report_.waves += static_cast<uint64_t>(result.waves);
    for (Finding& finding : result.findings) {
      int& seen = seen_[{finding.rule, finding.pc}];
      if (seen++ < Group::kFindingsPerRule) {
        report_.findings.push_back(std::move(finding));
      }
    }
  }

  RunReport& report_;
  std::mutex mutex_;
  std::atomic<uint64_t> stop_after_{std::numeric_limits<uint64_t>::max()};
  uint64_t next_ = 0;
  std::map<uint64_t, Result> waiting_;
  std::map<std::pair<std::string, uint64_t>, int> seen_;
  Counters total_;
};

void RunGroups(const LaunchState& launch, const Program& program,
               const RunOptions& options, DeviceMemory& memory,
               uint64_t text_address,
               const std::vector<ObserverFactory*>& factories,
               Collector& collector) {
  const uint32_t* grid = launch.shape.grid;
  const bool all = options.groups.empty();
  const uint64_t groups =
      all ? uint64_t{grid[0]} * grid[1] * grid[2] : options.groups.size();
  std::atomic<uint64_t> next{0};
  const auto work = [&] {
    std::vector<std::unique_ptr<Observer>> observers;
    for (ObserverFactory* factory : factories) {
      observers.push_back(factory->Make(program, *launch.kernel));
    }
    GroupRunner runner(launch, program, options, memory, text_address,
                       collector.stop_after(), observers);
    for (uint64_t turn = next++; turn < groups; turn = next++) {
      const uint64_t group = all ? turn : options.groups[turn];
      if (group > collector.stop_after().load()) break;
      if (!runner.Run(group)) continue;
      collector.Add(turn, group, runner.counters(), runner.wave_count(),
                    std::move(runner.findings()), runner.faulted());
    }
  };
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  const uint64_t wanted =
      options.threads > 0 ? static_cast<uint64_t>(options.threads) : cores;
  const uint64_t count = std::min(wanted, groups);
  std::vector<std::thread> threads;
  for (uint64_t t = 1; t < count; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

bool RunReport::has_errors() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.severity == Severity::kError;
  });
}

absl::StatusOr<RunReport> Run(const CodeObject& code,
                              const std::string& kernel_name,
                              const LaunchShape& shape,
                              absl::Span<const uint8_t> kernarg,
                              DeviceMemory& memory, const RunOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const KernelInfo* kernel = code.FindKernel(kernel_name);
  if (kernel == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("the code object has no kernel named ", kernel_name));
  }
  absl::Status status = CheckDescriptor(*kernel);
  if (status.ok()) status = CheckShape(*kernel, shape);
  if (status.ok()) status = CheckGroups(shape, options.groups);
  if (!status.ok()) return status;
  absl::StatusOr<std::vector<uint8_t>> segment =
      BuildKernarg(*kernel, shape, kernarg);
  if (!segment.ok()) return segment.status();

  RunMemory run_memory(memory);
  absl::StatusOr<uint64_t> image = PlaceImage(code, memory, run_memory);
  if (!image.ok()) return image.status();
  absl::StatusOr<uint64_t> kernarg_address = run_memory.Place(*segment);
  if (!kernarg_address.ok()) return kernarg_address.status();
  LaunchState launch;
  launch.kernel = kernel;
  launch.shape = shape;
  launch.matrix_model = options.matrix_model;
  launch.kernarg_address = *kernarg_address;
  launch.kernarg = *std::move(segment);
  absl::StatusOr<uint64_t> packet = run_memory.Place(DispatchPacket(launch));
  if (!packet.ok()) return packet.status();
  launch.dispatch_packet_address = *packet;

  RunReport report;
  Collector collector(report);
  absl::StatusOr<Program> program = Program::Make(code, *kernel, options.edits);
  if (!program.ok()) return program.status();
  std::vector<ObserverFactory*> factories = options.observers;
  StrictMode strict;
  if (options.strict) factories.push_back(&strict);
  RunGroups(launch, *program, options, memory, *image + code.text_offset(),
            factories, collector);
  for (ObserverFactory* factory : factories) {
    for (Finding& finding : factory->Finish()) {
      report.findings.push_back(std::move(finding));
    }
  }
  const Counters& total = collector.total();
  for (int c = 0; c < kInstructionClasses; ++c) {
    report.instructions += total.by_class[c];
    report.instructions_by_class[kClassNames[c]] = total.by_class[c];
  }
  report.global_bytes_read = total.global_bytes_read;
  report.global_bytes_written = total.global_bytes_written;
  report.lds_bytes_read = total.lds_bytes_read;
  report.lds_bytes_written = total.lds_bytes_written;
  report.clipped_dwords = total.clipped_dwords;
  report.lds_passes = total.lds_passes;
  report.lds_phases = total.lds_phases;
  report.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return report;
}

}  // namespace zyfa::emu
