#ifndef ZYFA_EMU_EMULATOR_H_
#define ZYFA_EMU_EMULATOR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/edit.h"
#include "zyfa/emu/finding.h"
#include "zyfa/emu/matrix_model.h"
#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// In which order the waves of a work-group run between two barriers.
enum class WaveOrder {
  kRotate,         // round robin, `rotate_instructions` each
  kAlone,          // each wave alone up to the next barrier, lowest first
  kAloneReversed,  // the same, highest first
};

// When the data of a load straight into LDS becomes visible in LDS.
enum class DmaLanding {
  kAtIssue,  // with the instruction
  kAtWait,   // with the s_waitcnt vmcnt that retires it, or the end of the wave
};

struct RunOptions {
  WaveOrder wave_order = WaveOrder::kRotate;
  int rotate_instructions = 8;
  DmaLanding dma_landing = DmaLanding::kAtWait;
  int threads = 0;  // 0: one a core
  // A wave that issues more instructions than this is taken for endless.
  uint64_t instruction_budget = uint64_t{1} << 28;
  MatrixModel matrix_model = MatrixModel::kExact;
  // Checks what hardware does not: see strict/strict.h. The run's results are
  // the same bits.
  bool strict = false;
  std::vector<Edit> edits = {};
  // The work-groups to run, by linear number (x fastest), ascending and inside
  // the grid; empty: all. What the others would have written stays as it is.
  std::vector<uint64_t> groups = {};
  // Asked for an observer on each host thread; must outlive the run.
  std::vector<ObserverFactory*> observers = {};
};

// The defaults with every check: what tests run with.
inline RunOptions StrictOptions() {
  RunOptions options;
  options.strict = true;
  return options;
}

struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1};        // in work-groups
  uint32_t workgroup[3] = {64, 1, 1};  // in work-items, 1024 at most together
  uint32_t dynamic_lds_bytes = 0;
};

// What a run did. Counts are wave instructions over the whole launch.
struct RunReport {
  uint64_t instructions = 0;
  // "salu", "valu", "trans", "mfma", "lds", "vmem", "smem", "branch", "other".
  std::map<std::string, uint64_t> instructions_by_class;
  uint64_t waves = 0;
  uint64_t global_bytes_read = 0;
  uint64_t global_bytes_written = 0;
  uint64_t lds_bytes_read = 0;
  uint64_t lds_bytes_written = 0;
  uint64_t clipped_dwords = 0;  // buffer accesses cut off by the descriptor
  // Turns of the LDS banks and those without bank conflicts (lds_banks.h); 0
  // unless strict.
  uint64_t lds_passes = 0;
  uint64_t lds_phases = 0;
  double wall_seconds = 0;        // of the host; says nothing about a GPU
  std::vector<Finding> findings;  // at most a few per rule and pc

  bool has_errors() const;
};

// Runs one kernel of `code` over all its work-groups, on all cores. Memory is
// what `memory` holds; `kernarg` is copied into it for the run.
// Errors: NotFound (no such kernel), InvalidArgument (grid, work-group, LDS or
// kernarg size that the kernel does not allow, RunOptions::groups). A fault of
// the kernel itself is not an error of this call: it is an error-level finding
// in the report, and the run ends there.
absl::StatusOr<RunReport> Run(const CodeObject& code, const std::string& kernel,
                              const LaunchShape& shape,
                              absl::Span<const uint8_t> kernarg,
                              DeviceMemory& memory,
                              const RunOptions& options = {});

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_EMULATOR_H_
