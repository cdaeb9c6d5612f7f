#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/probe/altered_device.h"
#include "zyfa/probe/fact.h"
#include "zyfa/probe/lean.h"
#include "zyfa/probe/probe_run.h"

namespace zyfa::probe {
namespace {

using Answers = std::map<std::string, std::string>;

Answers MatrixAnswers(emu::MatrixModel model) {
  emu::RunOptions options = emu::StrictOptions();
  options.matrix_model = model;
  EmulatorDevice device(options);
  const auto facts = MatrixFacts(device);
  EXPECT_TRUE(facts.ok()) << facts.status();
  Answers answers;
  for (const Fact& fact : *facts) answers[fact.name] = fact.seen;
  return answers;
}

// The answer to the only question with this in its name.
std::string Answer(const Answers& answers, const std::string& part) {
  std::string answer;
  int found = 0;
  for (const auto& [name, seen] : answers) {
    if (name.find(part) == std::string::npos) continue;
    answer = seen;
    ++found;
  }
  EXPECT_EQ(found, 1) << part;
  return answer;
}

TEST(ProbeTest, TheEmulatorIsAsOurKernelsNeedIt) {
  EmulatorDevice device(emu::StrictOptions());
  auto facts = VectorFacts(device);
  ASSERT_TRUE(facts.ok()) << facts.status();
  const auto more = MatrixFacts(device);
  ASSERT_TRUE(more.ok()) << more.status();
  facts->insert(facts->end(), more->begin(), more->end());
  int needed = 0;
  for (const Fact& fact : *facts) {
    EXPECT_NE(fact.verdict, Verdict::kNotOk)
        << fact.name << ": " << fact.seen << ", needed " << fact.needed;
    EXPECT_EQ(fact.verdict == Verdict::kInformative, fact.needed.empty());
    needed += fact.verdict == Verdict::kOk;
  }
  EXPECT_TRUE(AsNeeded(*facts));
  EXPECT_GE(needed, 18);
  EXPECT_TRUE(device.last_report().findings.empty());
}

// cdna4-isa 2.2 and 2.3, where it says what to expect of silicon.
TEST(ProbeTest, DocumentedAnswers) {
  EmulatorDevice device(emu::StrictOptions());
  const auto facts = VectorFacts(device);
  ASSERT_TRUE(facts.ok()) << facts.status();
  Answers answers;
  for (const Fact& fact : *facts) answers[fact.name] = fact.seen;
  EXPECT_EQ(Answer(answers, "v_cvt_pk_u8_f32: -1"), "0 255 255 0");
  EXPECT_EQ(Answer(answers, "FP16_OVFL = 0"), "7e 7f 7f");
  EXPECT_EQ(Answer(answers, "v_exp_f32: -127"), "00000000 00000000");
}

// matrix_model.h says how each of them adds up.
TEST(ProbeTest, TellsHowMatricesAreAddedUp) {
  const Answers exact = MatrixAnswers(emu::MatrixModel::kExact);
  const Answers cdna3 = MatrixAnswers(emu::MatrixModel::kCdna3);
  const Answers groups64 = MatrixAnswers(emu::MatrixModel::kGroups64);
  const Answers truncated = MatrixAnswers(emu::MatrixModel::kTruncated17);
  const Answers chain = MatrixAnswers(emu::MatrixModel::kFmaChain);

  const char* const kGroup = "survives from k =";
  EXPECT_EQ(Answer(exact, kGroup), "2");
  EXPECT_EQ(Answer(cdna3, kGroup), "16");
  EXPECT_EQ(Answer(groups64, kGroup), "never");
  EXPECT_EQ(Answer(truncated, kGroup), "never");
  EXPECT_EQ(Answer(chain, kGroup), "2");

  const char* const kBits = "cancellation around it";
  EXPECT_EQ(Answer(exact, kBits), "34 or more");
  EXPECT_EQ(Answer(cdna3, kBits), "24");
  EXPECT_EQ(Answer(groups64, kBits), "24");
  EXPECT_EQ(Answer(truncated, kBits), "17");
  EXPECT_EQ(Answer(chain, kBits), "23");

  // Even and odd places apart: their sums are joined with a floor.
  EXPECT_EQ(Answer(cdna3, "cancellation at k = 0, 2"), "toward zero");
  EXPECT_EQ(Answer(cdna3, "cancellation at k = 1, 3"), "down");
  EXPECT_EQ(Answer(exact, "cancellation at k = 1, 3"), "nothing");

  EXPECT_EQ(Answer(exact, "2^24 + (1 + 2^-18)"), "2");
  EXPECT_EQ(Answer(chain, "2^24 + (1 + 2^-18)"), "0");
  // What no model takes away.
  for (const Answers& a : {exact, cdna3, groups64, truncated, chain}) {
    EXPECT_EQ(Answer(a, "2^5 behind"), "40 8 32");
    EXPECT_EQ(Answer(a, "codes 1, 7, 0x81"), "1 7 -1");
  }
  // No two models answer everything alike.
  const std::vector<Answers> all = {exact, cdna3, groups64, truncated, chain};
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) EXPECT_NE(all[i], all[j]) << i << " " << j;
  }
}

TEST(ProbeTest, ASumOfAllPlaces) {
  EmulatorDevice device(emu::StrictOptions());
  Dot dot;
  for (int k = 0; k < 64; ++k) dot.Add(k, k % 4, k % 3 == 0);
  double want = 0.5;
  for (int k = 0; k < 64; ++k) want += (k % 3 == 0 ? -1 : 1) << k % 4;
  dot.c = 0.5f;
  const auto sums = RunDots(device, {dot});
  ASSERT_TRUE(sums.ok()) << sums.status();
  EXPECT_EQ(sums->at(0), want);
}

uint32_t Pair(double code) {
  return 0x101 * static_cast<uint32_t>(std::clamp(code, 0.0, 255.0));
}
// The argument that was converted, in codes.
double Argument(const VectorResult& r) {
  return std::bit_cast<float>(r.fma) * 0x1p141;
}

TEST(ProbeLeanTest, AConversionToNearestWantsAnotherAddend) {
  AlteredDevice even(
      [](VectorResult& r) { r.code = Pair(std::nearbyint(Argument(r))); });
  const auto top = ProbeLean(even);
  ASSERT_TRUE(top.ok()) << top.status();
  EXPECT_EQ(*top, 126.0f);
  AlteredDevice up(
      [](VectorResult& r) { r.code = Pair(std::floor(Argument(r) + 0.5)); });
  EXPECT_EQ(ProbeLean(up).value(), 126.0f);
  // Not what v_ashr_pk_u8_i32 is for, but its lean kernels would be right.
  AlteredDevice ceiling(
      [](VectorResult& r) { r.code = Pair(std::ceil(Argument(r))); });
  EXPECT_NEAR(ProbeLean(ceiling).value(), 125.5f, 1.0 / 256);
}

TEST(ProbeLeanTest, RefusesDevicesOnWhichLeanKernelsAreWrong) {
  const struct {
    const char* message;
    AlteredDevice::Change change;
  } cases[] = {
      {"v_fma_f32",
       [](VectorResult& r) {
         if (std::abs(Argument(r)) < 0x1p15) r.fma &= 0x80000000;
       }},
      {"pair of codes",
       [](VectorResult& r) { r.code = r.code / 0x101 / 2 * 0x101; }},
      {"pair of codes", [](VectorResult& r) { r.code &= 0x7f7f; }},
      {"pair of codes",
       [](VectorResult& r) {
         if (Argument(r) < -1e9) r.code = 0xffff;
       }},
      {"high half", [](VectorResult& r) { r.ashr_high &= 0xffff0000; }},
      {"low half of", [](VectorResult& r) { r.ashr_low &= 0xffff; }},
      {"no argument", [](VectorResult& r) { r.code = 0; }},
  };
  for (const auto& c : cases) {
    AlteredDevice device(c.change);
    const auto top = ProbeLean(device);
    EXPECT_EQ(top.status().code(), absl::StatusCode::kFailedPrecondition)
        << c.message;
    EXPECT_NE(top.status().message().find(c.message), std::string::npos)
        << c.message << ": " << top.status();
    const auto facts = VectorFacts(device);
    ASSERT_TRUE(facts.ok()) << facts.status();
    EXPECT_FALSE(AsNeeded(*facts)) << c.message;
    EXPECT_NE(FactTable(*facts).find("NOT OK"), std::string::npos);
  }
}

TEST(ProbeLeanTest, TheEmulatorRoundsDown) {
  EmulatorDevice device(emu::StrictOptions());
  const auto top = ProbeLean(device);
  ASSERT_TRUE(top.ok()) << top.status();
  EXPECT_EQ(*top, 126.5f);
  EXPECT_TRUE(device.last_report().findings.empty());
}

}  // namespace
}  // namespace zyfa::probe
