// Notices when the published clocks' activities are older than the cycle model
// that they were computed with.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/testing/timed_waves.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

// 40 passes of what attention does: a tile into LDS, fragments out of it,
// matrix instructions of both sizes, exponentials beside them, a barrier.
Lines ProbeWave() {
  Lines pass = {"buffer_load_dwordx4 v4, s[0:3], 0 offen lds",
                "buffer_load_dwordx4 v5, s[0:3], 0 offen lds"};
  for (const char* fragment : {"v[8:11]", "v[12:15]", "v[16:19]", "v[20:23]"}) {
    pass.emplace_back(absl::StrFormat("ds_read_b128 %s, v6", fragment));
  }
  pass.emplace_back("s_waitcnt lgkmcnt(2)");
  const Lines step = {
      "v_mfma_f32_32x32x16_bf16 v[32:47], v[8:11], v[12:15], v[32:47]",
      "v_exp_f32 v200, v201",
      "v_fma_f32 v202, v203, v204, v205",
      "v_pk_mul_f32 v[206:207], v[208:209], v[210:211]",
      "v_cvt_pk_bf16_f32 v212, v213, v214",
      "v_mfma_f32_32x32x64_f8f6f4 v[48:63], v[8:15], v[16:23], v[48:63]",
      "v_exp_f32 v200, v201",
      "v_max3_f32 v202, v203, v204, v205",
      "v_permlane32_swap_b32 v215, v216"};
  pass = Join({pass, step, {"s_waitcnt lgkmcnt(0)"}, Repeat(3, step)});
  pass = Join({pass, {"s_waitcnt vmcnt(0)", "s_barrier"}});
  return Repeat(40, pass);
}

// The words behind "# probe:" of the points' head.
std::vector<std::string> RecordedProbe() {
  const std::vector<uint8_t> bytes =
      ReadData("zyfa/emu/cycles/clock_points.txt");
  const std::string text(bytes.begin(), bytes.end());
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "# probe:")) {
      return absl::StrSplit(line, ' ', absl::SkipEmpty());
    }
  }
  return {};
}

TEST(ClockPoints, ActivitiesAreThisCycleModels) {
  const Timeline run =
      RunWaves(std::vector<Lines>(8, ProbeWave()), CycleConstants::Defaults());
  uint64_t matrix = 0, vector = 0;
  for (const PipeClocks& pipes : run.report.pipes) {
    matrix += pipes.matrix;
    vector += pipes.vector;
  }
  const double all = 4 * static_cast<double>(run.report.clocks);
  const double matrix_busy = static_cast<double>(matrix) / all;
  const double vector_busy = static_cast<double>(vector) / all;
  const std::string now =
      absl::StrFormat("matrix %.4f vector %.4f", matrix_busy, vector_busy);
  const std::vector<std::string> recorded = RecordedProbe();
  double then_matrix = 0, then_vector = 0;
  ASSERT_TRUE(recorded.size() == 4 && recorded[0] == "matrix" &&
              absl::SimpleAtod(recorded[1], &then_matrix) &&
              recorded[2] == "vector" &&
              absl::SimpleAtod(recorded[3], &then_vector))
      << "clock_points.txt needs a line '# probe: " << now << "'";
  const char* const advice =
      "The cycle model changed: run the commands at the head of "
      "clock_points.txt anew, correct the points, write docs/clock-fit.md and "
      "the defaults of clock_model.cc, and then '# probe: ";
  // The points have three digits.
  EXPECT_NEAR(matrix_busy, then_matrix, 0.002) << advice << now << "'";
  EXPECT_NEAR(vector_busy, then_vector, 0.002) << advice << now << "'";
}

}  // namespace
}  // namespace zyfa::emu
