#include "zyfa/bench/lab_table.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/bench/contender.h"
#include "zyfa/bench/layer_inputs.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

proto::Record Of(absl::string_view name, const std::string& source,
                 double rel_rmse) {
  proto::Record record;
  for (const Contender& c : kContenders) {
    if (c.name != name) continue;
    record.set_variant(VariantOf(c, 128));
    record.set_quantisation(Quantisation(c.preparation));
  }
  record.set_study(proto::STUDY_LAYERS);
  record.set_source(source);
  record.set_head_dim_qk(128);
  record.set_computed_by("model");
  record.set_rel_rmse(rel_rmse);
  return record;
}

proto::Record Sink(const std::string& source, double mass) {
  proto::Record record;
  record.set_study(proto::STUDY_STATISTICS);
  record.set_source(source);
  record.mutable_input_statistics()->set_largest_sink_mass(mass);
  return record;
}

// Layers 0 and 1 of one model, 0 of another; ratios 2, .5 and 1.
std::vector<proto::Record> Records() {
  return {Of("FP8 lean", "a layer 0", .008),
          Of("AITER-like", "a layer 0", .004),
          Of("FP8 lean", "a layer 1", .002),
          Of("AITER-like", "a layer 1", .004),
          Of("FP8 lean", "b layer 0", .003),
          Of("AITER-like", "b layer 0", .003),
          Sink("a layer 1", .5),
          Sink("b layer 0", .1)};
}

TEST(LabTableTest, MeansAndBars) {
  const std::string text = RenderLab(Records());
  // Columns: three layers, the mean of a, of which there are two, and of all.
  EXPECT_THAT(text, ContainsRegex("alone  *a 0  *a 1  *b 0  *mean a  *mean\n"));
  EXPECT_THAT(text, ContainsRegex("FP8 lean  *0.00800  *0.00200  *0.00300  "
                                  "*0.00500  *0.00433\n"));
  EXPECT_THAT(
      text,
      ContainsRegex("lean / AITER-like  *2.000  *0.500  *1.000  *1.000  *1.000 "
                    " worst 2.000; bar: mean <= 0.75, not met; bar: worst <= "
                    "1.00, not met; bar: a 1 <= 0.40, not met\n"));
  EXPECT_THAT(text, Not(HasSubstr("b 0 <=")));  // no sink
  EXPECT_THAT(text, Not(HasSubstr("lean / exact")));
}

TEST(LabTableTest, BarsThatAreMet) {
  std::vector<proto::Record> records = Records();
  for (proto::Record& r : records) {
    if (r.variant() == "AITER-like") r.set_rel_rmse(4 * r.rel_rmse());
  }
  EXPECT_THAT(RenderLab(records),
              HasSubstr("worst 0.500; bar: mean <= 0.75, met; bar: worst <= "
                        "1.00, met; bar: a 1 <= 0.40, met\n"));
}

TEST(LabTableTest, WhatASourceLacksIsADash) {
  std::vector<proto::Record> records = Records();
  records.erase(records.begin());  // lean of a layer 0
  EXPECT_THAT(RenderLab(records),
              ContainsRegex("FP8 lean  *-  *0.00200  *0.00300  *-  *-\n"));
  EXPECT_EQ(RenderLab({}), "");
}

}  // namespace
}  // namespace zyfa::bench
