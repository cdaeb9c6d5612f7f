#include "zyfa/emu/cycles/clock_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "zyfa/emu/testing/test_device.h"

namespace zyfa::emu {
namespace {

using ::testing::HasSubstr;

std::string Data(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadData(path);
  return std::string(bytes.begin(), bytes.end());
}

std::vector<ClockPoint> CommittedPoints() {
  auto points = ParseClockPoints(Data("zyfa/emu/cycles/clock_points.txt"));
  EXPECT_TRUE(points.ok()) << points.status();
  return points.ok() ? *points : std::vector<ClockPoint>();
}

TEST(ClockFit, CommittedPageAndConstantsAreOfTheCommittedPoints) {
  const std::vector<ClockPoint> points = CommittedPoints();
  auto fit = FitClock(points);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(Data("docs/clock-fit.md"), ClockFitPage(points, *fit))
      << "write it anew: bazel run //zyfa/emu/cycles:clock_fit > "
         "docs/clock-fit.md";
  const ClockConstants defaults = ClockConstants::Defaults();
  for (const ClockPrior& prior : ClockPriors()) {
    EXPECT_NEAR(defaults.*prior.field, fit->constants.*prior.field, 0.0005)
        << prior.name;
  }
  EXPECT_EQ(defaults.peak_ghz, fit->constants.peak_ghz);
  EXPECT_EQ(defaults.reference_ghz, fit->constants.reference_ghz);
}

// Points that a known model made, and enough of them to outweigh the priors.
TEST(ClockFit, FindsTheModelThatMadeThePoints) {
  ClockConstants truth = ClockConstants::Defaults();
  truth.exponent = 1.8;
  truth.idle = 0.22;
  truth.matrix = 0.6;
  truth.flips = 0.35;
  truth.vector = 0.33;
  truth.lds = 0.21;
  truth.peak_ghz = 1e9;
  std::vector<ClockPoint> points;
  for (int i = 0; i < 32; ++i) {
    ClockPoint p;
    p.name = absl::StrCat("p", i);
    p.error = 0.0001;
    p.activity = {.matrix_busy = i & 1 ? 1.0 : 0.3,
                  .vector_busy = i & 2 ? 0.8 : 0.1,
                  .flips_per_clock = i & 4 ? 256.0 : 20,
                  .lds_busy = i & 8 ? 0.6 : 0.1};
    p.value = ModelledClockGhz(p.activity, truth);
    if (i == 31) {
      // Of this one nobody said how many bits flipped.
      p.activity.flips_per_clock = 0;
      p.flips_unknown = true;
    }
    if (i == 30) {
      p.over = 3;
      p.value /= ModelledClockGhz(points[3].activity, truth);
    }
    points.push_back(p);
  }
  auto fit = FitClock(points);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_NEAR(fit->constants.exponent, 1.8, 0.02);
  EXPECT_NEAR(fit->constants.idle, 0.22, 0.01);
  EXPECT_NEAR(fit->constants.matrix, 0.6, 0.01);
  EXPECT_NEAR(fit->constants.flips, 0.35, 0.01);
  EXPECT_NEAR(fit->constants.vector, 0.33, 0.01);
  EXPECT_NEAR(fit->constants.lds, 0.21, 0.01);
  EXPECT_NEAR(fit->unknown_flips.value, 256, 5);
  EXPECT_LT(fit->rms_percent, 0.1);
  for (const FittedConstant& c : fit->fitted) EXPECT_LT(c.factor, 1.05);
}

// Without points the fit is what was believed before.
TEST(ClockFit, PriorsAlone) {
  auto fit = FitClock({});
  ASSERT_TRUE(fit.ok()) << fit.status();
  for (size_t i = 0; i < ClockPriors().size(); ++i) {
    EXPECT_NEAR(fit->fitted[i].value, ClockPriors()[i].value, 1e-6);
    EXPECT_NEAR(fit->fitted[i].factor, ClockPriors()[i].factor, 1e-6);
  }
}

TEST(ClockFit, BadLinesAreNamed) {
  const struct {
    const char* line;
    const char* message;
  } kBad[] = {
      {"a | 2 | | .1 | 1 | 0 | 0 | 0 | fit", "9 fields"},
      {"a | x | | .1 | 1 | 0 | 0 | 0 | fit | s", "value is 'x'"},
      {"a | nan | | .1 | 1 | 0 | 0 | 0 | fit | s", "value is 'nan'"},
      {"a | 0 | | .1 | 1 | 0 | 0 | 0 | fit | s", "value is 0"},
      {"a | 2 | | 0 | 1 | 0 | 0 | 0 | fit | s", "error is '0'"},
      {"a | 2 | | .1 | 1.1 | 0 | 0 | 0 | fit | s", "matrix is '1.1'"},
      {"a | 2 | | .1 | 1 | -1 | 0 | 0 | fit | s", "vector is '-1'"},
      {"a | 2 | | .1 | 1 | 0 | ? | 0 | fit | s", "lds is '?'"},
      {"a | 2 | | .1 | 1 | 0 | 0 | 2000 | fit | s", "flips is '2000'"},
      {"a | 2 | | .1 | 1 | 0 | 0 | 0 | guess | s", "use is 'guess'"},
      {"a | 2 | b | .1 | 1 | 0 | 0 | 0 | fit | s", "over is 'b'"},
  };
  for (const auto& bad : kBad) {
    const auto points = ParseClockPoints(absl::StrCat("# head\n", bad.line));
    EXPECT_FALSE(points.ok()) << bad.line;
    EXPECT_THAT(std::string(points.status().message()),
                HasSubstr(absl::StrCat("line 2 of the clock points: ")));
    EXPECT_THAT(std::string(points.status().message()), HasSubstr(bad.message));
  }
}

TEST(ClockFit, PointsAreRead) {
  const auto points = ParseClockPoints(
      "a | 2 | | .1 | 1 | .2 | .3 | 4 | input | s\n"
      "\n"
      "b | .5 | a | .1 | 1 | 0 | 0 | ? | check | t, u\n");
  ASSERT_TRUE(points.ok()) << points.status();
  ASSERT_EQ(points->size(), 2u);
  EXPECT_EQ((*points)[0].use, ClockPoint::Use::kInput);
  EXPECT_EQ((*points)[0].activity.vector_busy, .2);
  EXPECT_EQ((*points)[0].activity.lds_busy, .3);
  EXPECT_EQ((*points)[0].activity.flips_per_clock, 4);
  EXPECT_EQ((*points)[0].over, -1);
  EXPECT_EQ((*points)[1].over, 0);
  EXPECT_TRUE((*points)[1].flips_unknown);
  EXPECT_EQ((*points)[1].source, "t, u");
}

}  // namespace
}  // namespace zyfa::emu
