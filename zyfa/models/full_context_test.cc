// Bits per byte of whole segments, against those of another implementation
// (testdata/README.md: exact attention, all of the text). Takes half an hour.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/models/attention.h"
#include "zyfa/models/loss.h"
#include "zyfa/models/text_segment.h"
#include "zyfa/models/transformer.h"

namespace zyfa::models {
namespace {

double BitsPerByteOfText(const std::string& name) {
  const std::string testdata = "zyfa/models/testdata/";
  const auto model = Transformer::Load(testdata + name);
  EXPECT_TRUE(model.ok()) << model.status();
  double sum = 0;
  for (int64_t segment = 0; segment < 16; ++segment) {
    const auto text = ReadTextSegment(testdata + "val_256k.txt", segment,
                                      kSegmentBytes, model->config().bos);
    EXPECT_TRUE(text.ok()) << text.status();
    const auto logits = model->Logits(text->tokens, Float32Attention());
    EXPECT_TRUE(logits.ok()) << logits.status();
    const auto losses =
        Losses(*logits, text->targets, model->config().vocabulary);
    EXPECT_TRUE(losses.ok()) << losses.status();
    const double bits = BitsPerByte(*losses);
    std::cout << name << ", segment " << segment << ": " << bits << std::endl;
    sum += bits;
  }
  return sum / 16;
}

TEST(FullContextTest, Gqa) {
  EXPECT_NEAR(BitsPerByteOfText("gqa"), 1.0064, 5e-5);
}

TEST(FullContextTest, Mla) {
  EXPECT_NEAR(BitsPerByteOfText("mla"), 1.0526, 5e-5);
}

}  // namespace
}  // namespace zyfa::models
