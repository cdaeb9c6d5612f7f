#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
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
  const auto facts = AllFacts(device);
  ASSERT_TRUE(facts.ok()) << facts.status();
  int needed = 0;
  for (const Fact& fact : *facts) {
    EXPECT_NE(fact.verdict, Verdict::kNotOk)
        << fact.name << ": " << fact.seen << ", needed " << fact.needed;
    EXPECT_EQ(fact.verdict == Verdict::kInformative, fact.needed.empty());
    needed += fact.verdict == Verdict::kOk;
  }
  EXPECT_TRUE(AsNeeded(*facts));
  EXPECT_GE(needed, 32);
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

std::set<std::string> NotOk(const std::vector<Fact>& facts) {
  std::set<std::string> names;
  for (const Fact& fact : facts) {
    if (fact.verdict == Verdict::kNotOk) names.insert(fact.name);
  }
  return names;
}

// Sums that keep 17 bits below the largest term lose the smallest codes.
TEST(ProbeTest, RowSumsTakeAllBits) {
  const std::string name = "v_smfmac_f32_16x16x128_fp8_fp8: sums of ";
  for (const auto model :
       {emu::MatrixModel::kCdna3, emu::MatrixModel::kGroups64,
        emu::MatrixModel::kTruncated17, emu::MatrixModel::kFmaChain}) {
    emu::RunOptions options = emu::StrictOptions();
    options.matrix_model = model;
    EmulatorDevice device(options);
    const auto facts = RowSumFacts(device);
    ASSERT_TRUE(facts.ok()) << facts.status();
    std::set<std::string> wrong;
    if (model == emu::MatrixModel::kTruncated17) {
      wrong = {name + "codes 0 .. 126", name + "62 codes 126 and 2 codes 1"};
    }
    EXPECT_EQ(NotOk(*facts), wrong);
  }
}

// Devices on which the INT8 kernels would go wrong, and which facts say so.
TEST(ProbeTest, NamesWhatInt8KernelsCannotUse) {
  const std::string shift = "v_ashr_pk_u8_i32: shifts 0 .. 20 of lanes, ";
  const std::string product = "v_mfma_i32_32x32x32_i8: ";
  const std::string sparse = "v_smfmac_f32_16x16x128_fp8_fp8: ";
  const std::set<std::string> all_products = {product + "C apart from D",
                                              product + "D is C",
                                              product + "C is the constant 0"};
  const std::set<std::string> row_sums = {
      sparse + "sums of codes 0 .. 126",
      sparse + "sums of 62 codes 126 and 2 codes 1"};
  const std::set<std::string> all_sparse = {
      sparse + "the first two of four", sparse + "the last two of four",
      sparse + "the first or last two, by row", sparse + "D is added to"};
  const struct {
    std::set<std::string> wrong;
    AlteredDevice::Change change;
  } cases[] = {
      // Halves that are not kept.
      {{shift + "low half"}, [](VectorResult& r) { r.shifted_low &= 0xffff; }},
      {{shift + "high half"},
       [](VectorResult& r) { r.shifted_high &= 0xffff0000; }},
      {{shift + "both halves"},
       [](VectorResult& r) { r.shifted_both &= 0xffff0000; }},
      // Saturation to a signed byte.
      {{shift + "low half"},
       [](VectorResult& r) {
         if ((r.shifted_low & 0xff) > 127) r.shifted_low ^= 0x80;
       }},
      // 24 bits of a product, as of floats.
      {{"v_mul_i32_i24: scores, multipliers"},
       [](VectorResult& r) {
         const auto x = static_cast<float>(static_cast<int32_t>(r.mul));
         r.mul = static_cast<uint32_t>(static_cast<int64_t>(x));
       }},
      {{"v_mad_i32_i24: scores, multipliers, addends"},
       [](VectorResult& r) {
         const auto x = static_cast<float>(static_cast<int32_t>(r.mad));
         r.mad = static_cast<uint32_t>(static_cast<int64_t>(x));
       }},
      // Rows in another order.
      {all_products,
       [](Int8Result& r) {
         for (uint32_t* d : {r.apart, r.in_place, r.bare}) {
           std::swap(d[1], d[4]);
         }
       }},
      // An addend that is not there.
      {{product + "C apart from D"},
       [](Int8Result& r) { std::copy_n(r.bare, 16, r.apart); }},
      {{product + "D is C"},
       [](Int8Result& r) { std::copy_n(r.bare, 16, r.in_place); }},
      {{product + "C is the constant 0"},
       [](Int8Result& r) { std::copy_n(r.apart, 16, r.bare); }},
      // Sums of floats.
      {{product + "C apart from D"},
       [](Int8Result& r) {
         for (uint32_t& d : r.apart) {
           const auto x = static_cast<float>(static_cast<int32_t>(d));
           d = static_cast<uint32_t>(static_cast<int64_t>(x));
         }
       }},
      {all_sparse, [](SparseResult& r) { std::swap(r.d[2], r.d[3]); }},
      // Sums of 19 bits: those of small numbers do not mind.
      {row_sums,
       [](SparseResult& r) {
         for (uint32_t& d : r.d) d &= 0xffffffe0;
       }},
  };
  for (const auto& c : cases) {
    AlteredDevice device(c.change);
    const auto facts = AllFacts(device);
    ASSERT_TRUE(facts.ok()) << facts.status();
    EXPECT_EQ(NotOk(*facts), c.wrong);
  }
}

// ISA guide 7.1.5: with FP16_OVFL = 0 the carries of int32 sums are dropped.
TEST(ProbeTest, IntegerSumsWrap) {
  EmulatorDevice device(emu::StrictOptions());
  const auto facts = Int8MatrixFacts(device);
  ASSERT_TRUE(facts.ok()) << facts.status();
  Answers answers;
  for (const Fact& fact : *facts) answers[fact.name] = fact.seen;
  EXPECT_EQ(Answer(answers, "-2^31 - 1, FP16_OVFL = 0"), "80000000 7fffffff");
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
