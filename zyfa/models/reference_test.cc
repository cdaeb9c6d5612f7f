// Both models against others' forward passes of the same weights: an
// independent float64 one, the reference.json beside each of them, and PyTorch
// in float32, their torch.json.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/struct.pb.h"
#include "gtest/gtest.h"
#include "zyfa/models/attention.h"
#include "zyfa/models/json.h"
#include "zyfa/models/loss.h"
#include "zyfa/models/text_segment.h"
#include "zyfa/models/transformer.h"

namespace zyfa::models {
namespace {

namespace pb = google::protobuf;

const char kTestdata[] = "zyfa/models/testdata/";
constexpr int64_t kTokens = 1024;

// Absolute for numbers of size 1 or less, relative for larger ones. Over all
// segments float32 comes to 7e-6, in one of the first losses.
constexpr double kTolerance = 1e-5;

void ExpectNear(double value, double expected, const std::string& what) {
  EXPECT_NEAR(value, expected, kTolerance * std::max(1.0, std::abs(expected)))
      << what;
}

const pb::Value& Field(const pb::Struct& object, const std::string& name) {
  return object.fields().at(name);
}

// Segments to run: SEGMENTS is a list of numbers, by comma.
std::vector<int64_t> Segments() {
  std::vector<int64_t> segments;
  const char* list = std::getenv("SEGMENTS");
  for (const auto& text : absl::StrSplit(list == nullptr ? "" : list, ',')) {
    int64_t segment;
    EXPECT_TRUE(absl::SimpleAtoi(text, &segment)) << "SEGMENTS=" << list;
    segments.push_back(segment);
  }
  return segments;
}

double Norm(absl::Span<const float> numbers) {
  double sum = 0;
  for (const float x : numbers) sum += double{x} * x;
  return std::sqrt(sum);
}

// Compares what layers hand to attention, and what that gives, with `layers`.
AttentionFunction Compare(const pb::ListValue& layers) {
  const AttentionFunction exact = Float32Attention();
  return
      [&layers, exact](const LayerAttention& layer, absl::Span<float> output) {
        const absl::Status status = exact(layer, output);
        const pb::Struct& expected =
            layers.values(static_cast<int>(layer.layer)).struct_value();
        const struct {
          std::string name;
          absl::Span<const float> numbers;
          int64_t row;
        } tensors[] = {
            {"q", layer.query, layer.heads_q * layer.head_dim_qk},
            {"k", layer.key, layer.heads_kv * layer.head_dim_qk},
            {"v", layer.value, layer.heads_kv * layer.head_dim_v},
            {"o", output, layer.heads_q * layer.head_dim_v},
        };
        for (const auto& tensor : tensors) {
          const std::string what =
              tensor.name + " of layer " + std::to_string(layer.layer);
          ExpectNear(Norm(tensor.numbers),
                     Field(expected, tensor.name).number_value(), what);
          const pb::ListValue& components =
              Field(expected, tensor.name + "_head0_pos5").list_value();
          EXPECT_EQ(components.values_size(), 4);
          for (int i = 0; i < components.values_size(); ++i) {
            ExpectNear(tensor.numbers[5 * tensor.row + i],
                       components.values(i).number_value(),
                       what + ", component " + std::to_string(i));
          }
        }
        return status;
      };
}

void ReadJson(const std::string& path, pb::Struct& object) {
  std::ifstream in(path);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  absl::StatusOr<pb::Struct> parsed = ParseJsonObject(text);
  ASSERT_TRUE(parsed.ok()) << path << ": " << parsed.status();
  object = *std::move(parsed);
}

class ReferenceTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string directory = std::string(kTestdata) + GetParam();
    absl::StatusOr<Transformer> model = Transformer::Load(directory);
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = std::make_unique<Transformer>(*std::move(model));
    ReadJson(directory + "/reference.json", reference_);
    ReadJson(directory + "/torch.json", torch_);
    ASSERT_EQ(Field(reference_, "tokens").number_value(), kTokens);
  }

  const pb::Struct& Segment(int64_t segment) const {
    return Field(reference_, "segments")
        .list_value()
        .values(static_cast<int>(segment))
        .struct_value();
  }

  TextSegment Text(int64_t segment, int64_t tokens = kTokens) const {
    absl::StatusOr<TextSegment> text =
        ReadTextSegment(std::string(kTestdata) + "val_256k.txt", segment,
                        tokens, model_->config().bos);
    EXPECT_TRUE(text.ok()) << text.status();
    return *std::move(text);
  }

  std::vector<float> Logits(const TextSegment& text,
                            const AttentionFunction& attention) const {
    absl::StatusOr<std::vector<float>> logits =
        model_->Logits(text.tokens, attention);
    EXPECT_TRUE(logits.ok()) << logits.status();
    return *std::move(logits);
  }

  std::unique_ptr<Transformer> model_;
  pb::Struct reference_;
  pb::Struct torch_;
};

TEST_P(ReferenceTest, Losses) {
  for (const int64_t segment : Segments()) {
    SCOPED_TRACE("segment " + std::to_string(segment));
    const TextSegment text = Text(segment);
    const absl::StatusOr<std::vector<double>> losses =
        Losses(Logits(text, Float32Attention()), text.targets,
               model_->config().vocabulary);
    ASSERT_TRUE(losses.ok()) << losses.status();
    const pb::Struct& expected = Segment(segment);
    ExpectNear(BitsPerByte(*losses),
               Field(expected, "bits_per_byte").number_value(),
               "bits per byte");
    const pb::ListValue& first = Field(expected, "nll_first8").list_value();
    ASSERT_EQ(first.values_size(), 8);
    for (int i = 0; i < 8; ++i) {
      ExpectNear((*losses)[i], first.values(i).number_value(),
                 "loss " + std::to_string(i));
    }
  }
}

TEST_P(ReferenceTest, LayersAndLargestProbabilities) {
  const pb::ListValue& layers = Field(reference_, "layers").list_value();
  ASSERT_EQ(layers.values_size(), model_->config().layers);
  const std::vector<float> logits = Logits(Text(0), Compare(layers));
  const int64_t vocabulary = model_->config().vocabulary;
  const auto& positions = Field(Segment(0), "top5").struct_value().fields();
  ASSERT_EQ(positions.size(), 5);
  for (const auto& [position_text, top] : positions) {
    int64_t position;
    ASSERT_TRUE(absl::SimpleAtoi(position_text, &position));
    const std::vector<double> logs = LogProbabilities(
        absl::MakeSpan(logits).subspan(position * vocabulary, vocabulary));
    ASSERT_EQ(top.list_value().values_size(), 5);
    double least = 0;
    for (const pb::Value& pair : top.list_value().values()) {
      const int token =
          static_cast<int>(pair.list_value().values(0).number_value());
      ExpectNear(logs[token], pair.list_value().values(1).number_value(),
                 "log-probability of token " + std::to_string(token) +
                     " at position " + position_text);
      least = logs[token];
    }
    // And no other token has a larger one than the fifth.
    EXPECT_EQ(std::count_if(logs.begin(), logs.end(),
                            [least](double log) { return log >= least; }),
              5);
  }
}

TEST_P(ReferenceTest, PyTorch) {
  const auto tokens =
      static_cast<int64_t>(Field(torch_, "tokens").number_value());
  ASSERT_EQ(tokens, 2048);
  const int64_t vocabulary = model_->config().vocabulary;
  for (const int64_t segment : Segments()) {
    SCOPED_TRACE("segment " + std::to_string(segment));
    const TextSegment text = Text(segment, tokens);
    const std::vector<float> logits = Logits(text, Float32Attention());
    const auto losses = Losses(logits, text.targets, vocabulary);
    ASSERT_TRUE(losses.ok()) << losses.status();
    EXPECT_NEAR(BitsPerByte(*losses),
                Field(torch_, "bits_per_byte")
                    .list_value()
                    .values(static_cast<int>(segment))
                    .number_value(),
                1e-6);
    if (segment != 0) continue;
    const auto& positions = Field(torch_, "logits").struct_value().fields();
    ASSERT_EQ(positions.size(), 4);
    for (const auto& [position_text, expected] : positions) {
      int64_t position;
      ASSERT_TRUE(absl::SimpleAtoi(position_text, &position));
      ASSERT_EQ(expected.list_value().values_size(), vocabulary);
      double apart = 0, all = 0;
      for (int i = 0; i < vocabulary; ++i) {
        const double want = expected.list_value().values(i).number_value();
        const double difference = logits[position * vocabulary + i] - want;
        apart += difference * difference;
        all += want * want;
      }
      // Both are float32: some of its roundings apart.
      EXPECT_LE(std::sqrt(apart / all), 1e-5) << "position " << position_text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ReferenceTest, ::testing::Values("gqa", "mla"),
                         [](const auto& model) { return model.param; });

}  // namespace
}  // namespace zyfa::models
