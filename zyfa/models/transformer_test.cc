// What the forward pass promises beside the right numbers (reference_test.cc).
#include "zyfa/models/transformer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/models/attention.h"

namespace zyfa::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char kTestdata[] = "zyfa/models/testdata/";

std::vector<int32_t> Tokens(int64_t count) {
  std::vector<int32_t> tokens = {256};
  for (int64_t i = 1; i < count; ++i) {
    tokens.push_back("attention is a sum of values. "[i % 30]);
  }
  return tokens;
}

class TransformerTest : public ::testing::TestWithParam<const char*> {
 protected:
  Transformer Model() const {
    absl::StatusOr<Transformer> model =
        Transformer::Load(std::string(kTestdata) + GetParam());
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }
};

std::vector<float> Logits(const Transformer& model,
                          const std::vector<int32_t>& tokens,
                          const AttentionFunction& attention, int threads) {
  absl::StatusOr<std::vector<float>> logits =
      model.Logits(tokens, attention, threads);
  EXPECT_TRUE(logits.ok()) << logits.status();
  return *std::move(logits);
}

TEST_P(TransformerTest, BitsDependOnEarlierTokensOnly) {
  const Transformer model = Model();
  const std::vector<int32_t> tokens = Tokens(150);
  const std::vector<float> all = Logits(model, tokens, Float32Attention(), 0);
  ASSERT_EQ(all.size(), 150u * 257u);
  for (const int64_t count : {1, 37, 128}) {
    const std::vector<float> some =
        Logits(model, Tokens(count), Float32Attention(1), 3);
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin()));
  }
  std::vector<int32_t> other = tokens;
  other[100] = 'Z';
  const std::vector<float> changed =
      Logits(model, other, Float32Attention(), 0);
  const auto first_difference =
      std::mismatch(all.begin(), all.end(), changed.begin()).first -
      all.begin();
  EXPECT_EQ(first_difference / 257, 100);
}

// The plug sees each layer once, in order, and its output is what counts.
TEST_P(TransformerTest, AttentionIsThePlug) {
  const Transformer model = Model();
  const ModelConfig& config = model.config();
  const std::vector<int32_t> tokens = Tokens(20);
  const std::vector<float> exact = Logits(model, tokens, Float32Attention(), 0);
  for (int64_t changed = -1; changed < config.layers; ++changed) {
    int64_t calls = 0;
    const auto plug = [&](const LayerAttention& layer,
                          absl::Span<float> output) {
      EXPECT_EQ(layer.layer, calls++);
      EXPECT_EQ(layer.seqlen, 20);
      EXPECT_EQ(layer.heads_q, config.heads_q);
      EXPECT_EQ(layer.heads_kv, config.heads_kv);
      EXPECT_EQ(layer.head_dim_qk, config.head_dim_qk);
      EXPECT_EQ(layer.head_dim_v, config.head_dim_v);
      EXPECT_NEAR(layer.softmax_scale, std::pow(config.head_dim_qk, -0.5),
                  1e-15);
      EXPECT_EQ(static_cast<int64_t>(layer.query.size()),
                20 * config.heads_q * config.head_dim_qk);
      EXPECT_EQ(static_cast<int64_t>(layer.key.size()),
                20 * config.heads_kv * config.head_dim_qk);
      EXPECT_EQ(static_cast<int64_t>(layer.value.size()),
                20 * config.heads_kv * config.head_dim_v);
      EXPECT_EQ(static_cast<int64_t>(output.size()),
                20 * config.heads_q * config.head_dim_v);
      EXPECT_TRUE(std::all_of(output.begin(), output.end(),
                              [](float x) { return x == 0.0f; }));
      const absl::Status status = Float32Attention()(layer, output);
      // One number of the last token.
      if (layer.layer == changed) output[output.size() - 1] += 1.0f;
      return status;
    };
    const std::vector<float> logits = Logits(model, tokens, plug, 0);
    EXPECT_EQ(calls, config.layers);
    const auto first_difference =
        std::mismatch(exact.begin(), exact.end(), logits.begin()).first -
        exact.begin();
    EXPECT_EQ(first_difference / 257, changed < 0 ? 20 : 19) << changed;
  }
}

TEST_P(TransformerTest, AnErrorOfAttentionEndsIt) {
  int calls = 0;
  const auto logits =
      Model().Logits(Tokens(5), [&](const LayerAttention&, absl::Span<float>) {
        ++calls;
        return absl::UnavailableError("no device");
      });
  EXPECT_EQ(logits.status(), absl::UnavailableError("no device"));
  EXPECT_EQ(calls, 1);
}

TEST_P(TransformerTest, RefusesOtherTokens) {
  const Transformer model = Model();
  const struct {
    std::vector<int32_t> tokens;
    const char* message;
  } cases[] = {
      {{}, "there are 0 tokens; allowed: 1 .. 16384"},
      {std::vector<int32_t>(16385), "there are 16385 tokens"},
      {{256, 5, 257}, "token 2 is 257; allowed: 0 .. 256"},
      {{-1}, "token 0 is -1; allowed: 0 .. 256"},
  };
  for (const auto& c : cases) {
    const auto logits = model.Logits(c.tokens, Float32Attention());
    EXPECT_EQ(logits.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(logits.status().message()), HasSubstr(c.message));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TransformerTest,
                         ::testing::Values("gqa", "mla"),
                         [](const auto& model) { return model.param; });

// A directory with the gqa model's weights and a config where `from` is `to`.
std::string AlteredModel(const std::string& from, const std::string& to) {
  namespace fs = std::filesystem;
  const fs::path source = std::string(kTestdata) + "gqa";
  const fs::path target = fs::path(::testing::TempDir()) / "altered";
  fs::remove_all(target);
  fs::create_directories(target);
  std::ifstream in(source / "config.json");
  std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(absl::StrReplaceAll({{from, to}}, &text), 1);
  std::ofstream(target / "config.json") << text;
  fs::create_symlink(fs::absolute(source / "model.safetensors"),
                     target / "model.safetensors");
  return target.string();
}

TEST(TransformerLoadTest, WeightsMustFitTheConfig) {
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } cases[] = {
      {"\"ffn_dim\": 1024", "\"ffn_dim\": 512",
       "tensor \"layers.0.w1.weight\" has shape [1024, 384]; allowed: [512, "
       "384]"},
      {"\"n_layers\": 6", "\"n_layers\": 7",
       "there is no tensor \"layers.6.wq.weight\""},
      {"\"vocab_size\": 257", "\"vocab_size\": 260",
       "tensor \"embed.weight\" has shape [257, 384]; allowed: [260, 384]"},
      {"\"n_kv_heads\": 2", "\"n_kv_heads\": 4",
       "tensor \"layers.0.wk.weight\" has shape [256, 384]; allowed: [512, "
       "384]"},
  };
  for (const auto& c : cases) {
    const auto model = Transformer::Load(AlteredModel(c.from, c.to));
    EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(model.status().message()),
                AllOf(HasSubstr("model.safetensors: "), HasSubstr(c.message)));
  }
}

TEST(TransformerLoadTest, FilesMustBeThere) {
  const auto none = Transformer::Load(::testing::TempDir() + "/absent");
  EXPECT_EQ(none.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("config.json"));
  const std::string directory = AlteredModel("500000.0", "500000.0");
  EXPECT_TRUE(Transformer::Load(directory).ok());
  std::filesystem::remove(directory + "/model.safetensors");
  const auto half = Transformer::Load(directory);
  EXPECT_EQ(half.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(half.status().message()),
              HasSubstr("model.safetensors"));
}

}  // namespace
}  // namespace zyfa::models
