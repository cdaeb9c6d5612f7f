#include "zyfa/emu/cycles/constants.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace zyfa::emu {
namespace {

using C = CycleConstants;
constexpr Confidence kM = Confidence::kMeasured;
constexpr Confidence kMS = Confidence::kMeasuredSibling;
constexpr Confidence kV = Confidence::kVendor;
constexpr Confidence kC = Confidence::kCompiler;
constexpr Confidence kI = Confidence::kInferred;

// The sources' tags are those of docs/cycle-model.md.
constexpr CycleConstant kTable[] = {
    {"vector.ordinary", &C::vector_ordinary, 4, 4, 4, kM,
     "GT-attn cost table; TG: dependent v_add chain every 4 clk"},
    {"vector.transcendental", &C::vector_transcendental, 8, 8, 16, kM,
     "GT-attn: half-width unit; AITER: 3 v_exp_f32 beside a 32-clk MFMA"},
    {"vector.packed_fp32", &C::vector_packed_fp32, 4, 4, 8, kM,
     "GT-attn; vector peak of SPEC; LLC22 and GT-plugin say 8"},
    {"vector.permlane_swap", &C::vector_permlane_swap, 8, 8, 20, kC,
     "LLC22: two micro-ops; GT-attn books 20 with copies and guards"},
    {"vector.convert_fp8", &C::vector_convert_fp8, 4, 4, 8, kI,
     "v_cvt_pk_fp8_f32 and kin: shipped kernels fit 4 better than 8"},
    {"vector.convert_int", &C::vector_convert_int, 4, 4, 8, kI,
     "v_cvt_u32_f32, v_cvt_pk_u8_f32, v_cvt_f32_i32: 16 excluded by AITER-v4"},
    {"vector.wide_multiply", &C::vector_wide_multiply, 16, 8, 16, kMS,
     "v_mul_lo_u32, v_mul_hi_u32: GCNASM, LLC22"},
    {"vector.move64", &C::vector_move64, 4, 4, 8, kC,
     "v_mov_b64, v_lshl_add_u64: LLC22 4, TG at least 8 to a load"},
    {"hold.base_slots", &C::hold_base_slots, 1, 1, 1, kM, "LL-233721"},
    {"hold.bytes_per_slot", &C::hold_bytes_per_slot, 16, 16, 32, kM,
     "LL-233721: 1 + bytes of the widest of A, B a lane / 16; 3 slots with an "
     "FP8 operand has this one source"},
    {"hold.packed_slots", &C::hold_packed_slots, 2, 2, 2, kM,
     "LL-233721, GT-coiss: passes + 2 before packed fp32"},
    {"hold.packed_wide_slots", &C::hold_packed_wide_slots, 1, 0, 1, kM,
     "LL-233721: one more if A has 16 bytes a lane"},
    {"hold.sparse_slots", &C::hold_sparse_slots, 3, 3, 3, kM, "LL-239095"},
    {"hold.other_wave", &C::hold_other_wave, 1, 0, 1, kI,
     "GT-attn: nothing issues in the read phase; 0: the own wave alone holds"},
    {"convert_fp8.beside_matrix", &C::convert_fp8_beside_matrix, 1, 0, 1, kI,
     "LLC22 lists v_cvt_pk_fp8_f32 as never; AITER runs it beside the other "
     "wave's MFMAs"},
    {"matrix.scaled_idle", &C::matrix_scaled_idle, 4, 0, 4, kM,
     "LL-233721: a scaled MFMA enters an idle pipe one slot later"},
    {"port.three_source_lds", &C::port_three_source_lds, 1, 0, 2, kI,
     "three-source VALU meeting an LDS return: GT-attn section 7"},
    {"port.three_source_matrix", &C::port_three_source_matrix, 0, 0, 0.5, kI,
     "three-source VALU under an MFMA: GT-pmc; the fold of GT-attn is worth "
     "0.5 clk each, LDS returns included"},
    {"issue.internal", &C::issue_internal, 4, 4, 8, kM,
     "s_waitcnt, s_nop, s_barrier, s_setprio: GT-note"},
    {"issue.shared_memory_port", &C::issue_shared_memory_port, 1, 0, 1, kM,
     "LDS and VMEM share a port: newest GT-attn; separate: RPC"},
    {"issue.oldest_first", &C::issue_oldest_first, 1, 0, 1, kI,
     "among equal priorities; 0: who issued longest ago"},
    {"barrier.release", &C::barrier_release, 36, 8, 46, kI,
     "after the last arrival. OPUS-MLA: 46 clk of dead time a barrier; 36 fits "
     "AITER's loops with 11 and 14 barriers"},
    {"branch.taken", &C::branch_taken, 8, 4, 32, kC, "LLC22"},
    {"branch.not_taken", &C::branch_not_taken, 4, 4, 16, kI, "one slot"},
    {"fetch.miss", &C::fetch_miss, 48, 28, 64, kI,
     "TG: 28 to 64 clk at first touch of a line"},
    {"lds.latency", &C::lds_latency, 64, 40, 80, kM,
     "GT-lds: 50 to 70 from issue to first data"},
    {"lds.write_latency", &C::lds_write_latency, 40, 34, 46, kM,
     "TG: ds_write_b32 to lgkmcnt 0 in 36 to 48, with 2 in the banks"},
    {"lds.fifo", &C::lds_fifo, 8, 8, 8, kM, "GT-lds, of each pair of SIMDs"},
    {"lds.path_bytes", &C::lds_path_bytes, 128, 128, 128, kM,
     "GT-lds: return path of each pair of SIMDs a clk"},
    {"lds.address", &C::lds_address, 4, 4, 4, kM, "GT-lds"},
    {"lds.fill", &C::lds_fill, 0, 0, 1, kI,
     "bank time that a load into LDS takes from reads, of its 128 B/clk: GT's "
     "GEMM v7 reads at full rate beside its loads at 98 %"},
    {"memory.round_trip", &C::memory_round_trip, 600, 600, 1500, kI,
     "first data of an idle path; GT-tcp's 1000 of a loaded one is this and "
     "the "
     "next row"},
    {"memory.return", &C::memory_return, 2.84, 2, 3.5, kM,
     "of a line behind the L1: GT-tcp's 44 KB in 1000 clk"},
    {"memory.line", &C::memory_line, 2, 2, 2, kM,
     "128-byte line of the vector L1 at 64 B/clk: SPEC, GT-tcp"},
    {"memory.wide_minimum", &C::memory_wide_minimum, 16, 8, 16, kM,
     "GT-tcp: dwordx2 and dwordx4 take 16 clk"},
    {"memory.in_flight", &C::memory_in_flight, 44, 32, 44, kM,
     "GT-tcp: wave loads a round trip, 32 in the L1 and 12 queued before it"},
    {"memory.queue", &C::memory_queue, 12, 8, 16, kM, "GT-tcp: before the L1"},
    {"memory.store", &C::memory_store, 232, 184, 280, kM, "TG"},
    {"memory.issue", &C::memory_issue, 4, 4, 16, kI, "one slot"},
    {"memory.l1_lines", &C::memory_l1_lines, 256, 0, 256, kV,
     "32 KB of 128-byte lines: SPEC"},
    {"memory.l1_hit", &C::memory_l1_hit, 120, 100, 150, kMS,
     "GCNASM: 100 clk at 1.42 GHz, one lane"},
    {"scalar.load", &C::scalar_load, 100, 60, 200, kMS, "GCNASM"},
    {"scalar.load_cold", &C::scalar_load_cold, 740, 720, 764, kM, "TG"},
    {"group.dispatch", &C::group_dispatch, 1000, 200, 1700, kI,
     "end of a work-group to the start of the next on its CU: GT-attn 10 says "
     "under 1 us"},
    {"launch.overhead_us", &C::launch_overhead_us, 6, 2, 10, kI,
     "empty kernel, start to end; not published"},
    {"hbm.bytes_per_ns", &C::hbm_bytes_per_ns, 8000, 5600, 8000, kV, "SPEC"},
    {"l2.bytes_per_clock_xcd", &C::l2_bytes_per_clock_xcd, 2048, 1024, 2048, kI,
     "CDNA3's value"},
};

}  // namespace

const char* ConfidenceName(Confidence confidence) {
  switch (confidence) {
    case Confidence::kMeasured:
      return "measured";
    case Confidence::kMeasuredSibling:
      return "measured on a sibling";
    case Confidence::kVendor:
      return "vendor document";
    case Confidence::kCompiler:
      return "compiler model";
    case Confidence::kInferred:
      return "inferred";
  }
  return "";
}

absl::Span<const CycleConstant> CycleConstantTable() { return kTable; }

CycleConstants CycleConstants::Defaults() {
  CycleConstants constants{};
  for (const CycleConstant& row : kTable) constants.*row.field = row.value;
  return constants;
}

absl::Status ApplyOverrides(const std::string& text,
                            CycleConstants& constants) {
  int number = 0;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) {
    ++number;
    const std::string body(
        absl::StripAsciiWhitespace(line.substr(0, line.find('#'))));
    if (body.empty()) continue;
    const std::vector<std::string> parts =
        absl::StrSplit(body, absl::MaxSplits('=', 1));
    const std::string name(absl::StripAsciiWhitespace(parts[0]));
    const CycleConstant* row = nullptr;
    for (const CycleConstant& candidate : kTable) {
      if (name == candidate.name) row = &candidate;
    }
    if (row == nullptr) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "line %d: no constant is named \"%s\"", number, name));
    }
    double value = 0;
    if (parts.size() != 2 ||
        !absl::SimpleAtod(absl::StripAsciiWhitespace(parts[1]), &value) ||
        !std::isfinite(value) || value < 0 || value > 1e9) {
      return absl::InvalidArgumentError(
          absl::StrFormat("line %d: \"%s\": %s needs a number from 0 to 1e9",
                          number, body, name));
    }
    constants.*row->field = value;
  }
  return absl::OkStatus();
}

absl::StatusOr<CycleConstants> LoadCycleConstants(const std::string& path) {
  CycleConstants constants = CycleConstants::Defaults();
  if (path.empty()) return constants;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  std::error_code error;
  if (!file || std::filesystem::is_directory(path, error)) {
    return absl::NotFoundError(
        absl::StrCat("constants file ", path, ": cannot be read"));
  }
  const absl::Status status = ApplyOverrides(text.str(), constants);
  if (!status.ok()) {
    return absl::Status(
        status.code(), absl::StrCat(path, ": ", std::string(status.message())));
  }
  return constants;
}

std::vector<std::string> ChangedConstants(const CycleConstants& constants) {
  std::vector<std::string> changed;
  for (const CycleConstant& row : kTable) {
    const double value = constants.*row.field;
    if (value != row.value) {
      changed.push_back(absl::StrFormat("%s = %g", row.name, value));
    }
  }
  return changed;
}

}  // namespace zyfa::emu
