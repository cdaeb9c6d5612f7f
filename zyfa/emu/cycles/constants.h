#ifndef ZYFA_EMU_CYCLES_CONSTANTS_H_
#define ZYFA_EMU_CYCLES_CONSTANTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace zyfa::emu {

// What the cycle model believes of the hardware, in shader clocks unless a name
// says otherwise. Values, ranges, sources: the table in constants.cc, and that
// alone.
struct CycleConstants {
  // Vector pipe time of one wave instruction.
  double vector_ordinary, vector_transcendental, vector_packed_fp32;
  double vector_permlane_swap, vector_convert_fp8, vector_convert_int;
  double vector_wide_multiply, vector_move64;
  // When other instructions may issue behind a matrix instruction: slots of 4.
  double hold_base_slots, hold_bytes_per_slot, hold_packed_slots;
  double hold_packed_wide_slots, hold_sparse_slots, hold_other_wave;
  double convert_fp8_beside_matrix;
  double matrix_scaled_idle;
  // Register ports.
  double port_three_source_lds, port_three_source_matrix;
  // Issue.
  double issue_internal, issue_shared_memory_port, issue_oldest_first;
  double barrier_release, branch_taken, branch_not_taken, fetch_miss;
  // LDS.
  double lds_latency, lds_write_latency, lds_fifo, lds_path_bytes, lds_address;
  double lds_fill;
  // Vector and scalar memory.
  double memory_round_trip, memory_line, memory_wide_minimum;
  double memory_in_flight, memory_queue, memory_store, memory_issue;
  double memory_l1_lines, memory_l1_hit, memory_return;
  double scalar_load, scalar_load_cold;
  // The launch.
  double group_dispatch, launch_overhead_us;
  double hbm_bytes_per_ns, l2_bytes_per_clock_xcd;

  // Every constant at its default.
  static CycleConstants Defaults();
};

// How a value is known: of this part, of a sibling, from a vendor's document,
// from a compiler's model, or by arithmetic from those and from shipped
// binaries.
enum class Confidence {
  kMeasured,
  kMeasuredSibling,
  kVendor,
  kCompiler,
  kInferred
};
const char* ConfidenceName(Confidence confidence);

struct CycleConstant {
  const char* name;  // as an override file writes it
  double CycleConstants::* field;
  double value;      // default
  double low, high;  // the range that the sources leave open
  Confidence confidence;
  const char* source;
};

// The table, one row for each field of CycleConstants.
absl::Span<const CycleConstant> CycleConstantTable();

// Lines of "name = value"; '#' starts a comment. Later lines win.
// InvalidArgument names the line, and what is unknown or out of range: a value
// must be finite, not negative and at most 1e9.
absl::Status ApplyOverrides(const std::string& text, CycleConstants& constants);

// The defaults with the overrides of a file; an empty path means none.
// NotFound if it cannot be read.
absl::StatusOr<CycleConstants> LoadCycleConstants(const std::string& path);

// "name = value" of every constant that differs from its default, in the order
// of the table: what a result has to say of a model that was changed.
std::vector<std::string> ChangedConstants(const CycleConstants& constants);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_CONSTANTS_H_
