#include "zyfa/models/loss.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::models {
namespace {

using ::testing::HasSubstr;

TEST(LossTest, LogProbabilitiesAreTheSoftmax) {
  const std::vector<float> logits = {1.0f, -2.0f, 0.5f, 3.0f, -50.0f};
  const std::vector<double> logs = LogProbabilities(logits);
  long double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<long double>(x));
  ASSERT_EQ(logs.size(), logits.size());
  for (size_t i = 0; i < logs.size(); ++i) {
    EXPECT_NEAR(logs[i], static_cast<double>(logits[i] - std::log(sum)), 1e-13);
  }
}

TEST(LossTest, LogProbabilitiesOfLargeLogits) {
  const std::vector<double> logs =
      LogProbabilities(std::vector<float>{1000.0f, 1000.0f, -1000.0f});
  EXPECT_NEAR(logs[0], -std::log(2.0), 1e-12);
  EXPECT_NEAR(logs[2], -2000.0 - std::log(2.0), 1e-12);
}

TEST(LossTest, NotANumberStaysOne) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& logits :
       {std::vector<float>{nan, 1, 2}, {1, nan, 2}, {1, inf, 2}}) {
    for (const double log : LogProbabilities(logits)) {
      EXPECT_TRUE(std::isnan(log)) << log;
    }
  }
}

TEST(LossTest, UniformLogitsCostTheLogarithmOfTheVocabulary) {
  const std::vector<float> logits(3 * 256, 7.0f);
  const auto losses = Losses(logits, {0, 100, 255}, 256);
  ASSERT_TRUE(losses.ok()) << losses.status();
  EXPECT_EQ(losses->size(), 3u);
  for (const double loss : *losses) EXPECT_NEAR(loss, std::log(256.0), 1e-13);
  EXPECT_NEAR(BitsPerByte(*losses), 8.0, 1e-12);
}

TEST(LossTest, EachTargetHasItsRow) {
  // p = 1/2, 1/4, 1/4 and 1/4, 1/4, 1/2.
  const float ln2 = static_cast<float>(std::log(2.0));
  const std::vector<float> logits = {ln2, 0, 0, 0, 0, ln2};
  const auto losses = Losses(logits, {0, 1}, 3);
  ASSERT_TRUE(losses.ok()) << losses.status();
  EXPECT_NEAR((*losses)[0], std::log(2.0), 1e-6);
  EXPECT_NEAR((*losses)[1], std::log(4.0), 1e-6);
  EXPECT_NEAR(BitsPerByte(*losses), 1.5, 1e-6);
}

TEST(LossTest, RefusesSizesThatDoNotFit) {
  const std::vector<float> logits(6);
  const auto few = Losses(logits, {0, 1}, 4);
  EXPECT_THAT(std::string(few.status().message()),
              HasSubstr("there are 6 logits; allowed: 2 targets times a "
                        "vocabulary of 4"));
  EXPECT_FALSE(Losses(logits, {0}, 5).ok());  // one row and a piece of another
  EXPECT_FALSE(Losses(logits, {0}, 0).ok());
  for (const int32_t target : {-1, 3}) {
    const auto beyond = Losses(logits, {0, target}, 3);
    EXPECT_THAT(std::string(beyond.status().message()),
                HasSubstr(std::string("target 1 is ") + std::to_string(target) +
                          "; allowed: 0 .. 2"));
  }
}

TEST(LossTest, AllLogProbabilitiesGoRowByRow) {
  const float ln3 = static_cast<float>(std::log(3.0));
  const auto logs = AllLogProbabilities(std::vector<float>{ln3, 0, 5, 5}, 2);
  ASSERT_TRUE(logs.ok()) << logs.status();
  ASSERT_EQ(logs->size(), 4u);
  EXPECT_NEAR((*logs)[0], std::log(0.75), 1e-7);
  EXPECT_NEAR((*logs)[1], std::log(0.25), 1e-7);
  EXPECT_NEAR((*logs)[3], std::log(0.5), 1e-12);
  EXPECT_THAT(
      std::string(
          AllLogProbabilities(std::vector<float>(5), 2).status().message()),
      HasSubstr("there are 5 logits; allowed: multiples of a "
                "vocabulary of 2, 1 at least"));
}

TEST(LossTest, KlDivergence) {
  // Of (1/4, 3/4) from (1/2, 1/2): 1/2 ln 2 + 1/2 ln 2/3 = 1/2 ln 4/3. The
  // other way round: 1/4 ln 1/2 + 3/4 ln 3/2. Of a row from itself: 0.
  const double half = std::log(0.5), quarter = std::log(0.25),
               most = std::log(0.75);
  EXPECT_NEAR(MeanKlDivergence({half, half}, {quarter, most}, 2),
              0.143841036225890, 1e-14);
  EXPECT_NEAR(MeanKlDivergence({quarter, most}, {half, half}, 2),
              0.130812035941137, 1e-14);
  EXPECT_NEAR(MeanKlDivergence({half, half, quarter, most},
                               {quarter, most, quarter, most}, 2),
              0.143841036225890 / 2, 1e-14);
}

}  // namespace
}  // namespace zyfa::models
