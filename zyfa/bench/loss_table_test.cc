#include "zyfa/bench/loss_table.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

proto::Record Of(const std::string& model, const std::string& variant) {
  proto::Record record;
  record.set_variant(variant);
  record.set_computed_by("model");
  proto::ModelLoss& loss = *record.mutable_model_loss();
  loss.set_model(model);
  loss.set_segments(4);
  loss.set_tokens_per_segment(256);
  return record;
}

proto::Record WithLoss(const std::string& model, const std::string& variant) {
  proto::Record record = Of(model, variant);
  proto::ModelLoss& loss = *record.mutable_model_loss();
  loss.set_kl(0.0012345);
  loss.set_kl_standard_error(0.0001);
  loss.set_kl_to_bf16(0.002);
  loss.set_bits_per_byte(1.25);
  loss.set_added_bits_per_byte(-0.003);
  loss.set_added_bits_per_byte_standard_error(0.0005);
  return record;
}

TEST(LossTableTest, FiguresOfTheRecords) {
  std::vector<proto::Record> records = {
      WithLoss("gqa", "float32"), WithLoss("gqa", "fp8_lean_d128_causal"),
      Of("gqa", "fp8_lean_d128_causal"), WithLoss("mla", "AITER-like")};
  records[1].set_quantisation("mean key removed; e4m3: whatever");
  records[1].mutable_model_loss()->set_bf16_head_share(0.125);
  records[1].mutable_model_loss()->set_attention_clocks(2.5e6);
  records[1].set_gpu_time_ms(1.75);
  records[1].set_batch(3);
  records[1].set_seqlen_q(512);
  proto::ModelLoss& difference = *records[2].mutable_model_loss();
  difference.set_kl_difference(-0.00011);
  difference.set_kl_difference_standard_error(0.00002);
  difference.set_compared_to("fp8_exact, as is");
  records[3].set_quantisation("e4m3: whatever");
  const std::string text = RenderLoss(records);
  for (const char* part :
       {"\ngqa, 256 tokens of 4 segments.", "\nmla, 256 tokens of 4",
        "1.2345 +- 0.1000", " 2.0000  ", "1.25000", "-3.0000 +- 0.5000",
        "mean key removed    ", "12.5%", "     2.5000    1.7500\n",
        "batch 3 of 512 tokens",
        "model             -0.1100 +- 0.0200   fp8_exact, as is\n",
        "AITER-like                    as is "}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  // Only the first model has clocks and differences.
  const std::string mla = text.substr(text.find("\nmla"));
  EXPECT_THAT(mla, Not(HasSubstr("clocks")));
  EXPECT_THAT(mla, Not(HasSubstr("than")));
}

TEST(LossTableTest, NoRecords) { EXPECT_EQ(RenderLoss({}), ""); }

}  // namespace
}  // namespace zyfa::bench
