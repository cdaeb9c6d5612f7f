#include "zyfa/models/config.h"

#include <fstream>
#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char kMla[] = R"({
 "arch": "mla", "n_layers": 4, "n_kv_heads": 4, "qk_head_dim": 192,
 "rope_dim": 64, "kv_rank": 192, "softmax_scale": 0.0721, "vocab_size": 257,
 "bos_id": 256, "d_model": 384, "n_heads": 4, "v_head_dim": 128,
 "ffn_dim": 1024, "rope_theta": 500000.0, "norm_eps": 1e-05,
 "norm": "rmsnorm", "activation": "silu", "tied_embeddings": false,
 "bias": false, "qk_norm": false, "max_context": 16384,
 "weights_dtype": "bfloat16", "training": {"steps": 13840}
})";

absl::StatusOr<ModelConfig> Parse(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/config.json";
  std::ofstream(path, std::ios::binary) << text;
  return ReadModelConfig(path);
}

// kMla with `from`, which it has, replaced.
absl::StatusOr<ModelConfig> Altered(const std::string& from,
                                    const std::string& to) {
  std::string text = kMla;
  EXPECT_EQ(absl::StrReplaceAll({{from, to}}, &text), 1) << from;
  return Parse(text);
}

TEST(ConfigTest, ReadsEveryField) {
  const auto config = Parse(kMla);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->architecture, Architecture::kMla);
  EXPECT_EQ(config->layers, 4);
  EXPECT_EQ(config->vocabulary, 257);
  EXPECT_EQ(config->bos, 256);
  EXPECT_EQ(config->width, 384);
  EXPECT_EQ(config->ffn_width, 1024);
  EXPECT_EQ(config->heads_q, 4);
  EXPECT_EQ(config->heads_kv, 4);
  EXPECT_EQ(config->head_dim_qk, 192);
  EXPECT_EQ(config->head_dim_v, 128);
  EXPECT_EQ(config->rope_dim, 64);
  EXPECT_EQ(config->kv_rank, 192);
  EXPECT_EQ(config->rope_theta, 500000.0);
  EXPECT_EQ(config->softmax_scale, 0.0721);
  EXPECT_EQ(config->norm_epsilon, 1e-5);
  EXPECT_EQ(config->max_context, 16384);
}

TEST(ConfigTest, RefusesValuesOutOfRange) {
  const struct {
    const char* from;
    const char* to;
    const char* message;
  } cases[] = {
      {"\"mla\"", "\"mha\"", "arch is mha; allowed: gqa, mla"},
      {"\"mla\"", "3", "arch is a number; allowed: strings"},
      {"\"arch\"", "\"ach\"", "there is no field \"arch\""},
      {"\"n_layers\": 4", "\"n_layers\": 0",
       "n_layers is 0; allowed: numbers 1 .. 256"},
      {"\"n_layers\": 4", "\"n_layers\": 1e300", "n_layers is 1e+300"},
      {"\"n_layers\": 4", "\"n_layers\": 3.5",
       "n_layers is 3.5; allowed: whole numbers"},
      {"\"n_layers\": 4", "\"n_layers\": true", "n_layers is a boolean"},
      {"\"d_model\": 384", "\"d_model\": 380",
       "d_model is 380; allowed: multiples of 16"},
      {"\"d_model\": 384", "\"d_model\": 1000000000000", "d_model is 1e+12"},
      {"\"bos_id\": 256", "\"bos_id\": 257",
       "bos_id is 257; allowed: below vocab_size, 257"},
      {"\"n_kv_heads\": 4", "\"n_kv_heads\": 2",
       "n_kv_heads is 2; allowed: n_heads, 4, for mla"},
      {"\"rope_dim\": 64", "\"rope_dim\": 192",
       "rope_dim is 192; allowed: less than qk_head_dim, 192"},
      {"500000.0", "0.5", "rope_theta is 0.5"},
      {"0.0721", "-1", "softmax_scale is -1"},
      {"1e-05", "\"NaN\"", "norm_eps is a string"},
      {"16384", "-1", "max_context is -1"},
      {"\"rmsnorm\"", "\"layernorm\"", "norm is layernorm; allowed: rmsnorm"},
      {"\"silu\"", "\"gelu\"", "activation is gelu; allowed: silu"},
      {"\"bfloat16\"", "\"float32\"",
       "weights_dtype is float32; allowed: bfloat16"},
      {"\"bias\": false", "\"bias\": true", "bias is something else"},
      {"\"qk_norm\": false", "\"qk_norm\": 0", "qk_norm is something else"},
      {"\"kv_rank\": 192", "\"kv_rank\": 8", "kv_rank is 8"},
  };
  for (const auto& c : cases) {
    const auto config = Altered(c.from, c.to);
    EXPECT_EQ(config.status().code(), absl::StatusCode::kInvalidArgument)
        << c.from;
    EXPECT_THAT(std::string(config.status().message()),
                AllOf(HasSubstr("config.json: "), HasSubstr(c.message)));
  }
}

TEST(ConfigTest, GroupedQueriesHaveRulesOfTheirOwn) {
  std::string text = kMla;
  absl::StrReplaceAll({{"\"mla\"", "\"gqa\""}}, &text);
  EXPECT_THAT(std::string(Parse(text).status().message()),
              HasSubstr("rope_dim is 64; allowed: qk_head_dim, 192, for gqa"));
  absl::StrReplaceAll({{"\"rope_dim\": 64", "\"rope_dim\": 192"},
                       {"\"kv_rank\": 192, ", ""},
                       {"\"n_kv_heads\": 4", "\"n_kv_heads\": 3"}},
                      &text);
  EXPECT_THAT(std::string(Parse(text).status().message()),
              HasSubstr("n_kv_heads is 3; allowed: divisors of n_heads, 4"));
  absl::StrReplaceAll({{"\"n_kv_heads\": 3", "\"n_kv_heads\": 2"}}, &text);
  const auto config = Parse(text);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->architecture, Architecture::kGqa);
  EXPECT_EQ(config->heads_kv, 2);
}

TEST(ConfigTest, RefusesWhatIsNoConfig) {
  EXPECT_THAT(std::string(Parse("[]").status().message()),
              HasSubstr("config.json: no JSON object"));
  EXPECT_THAT(
      std::string(Parse(std::string((1 << 20) + 1, ' ')).status().message()),
      HasSubstr("has 1048577 bytes; allowed: 0 .. 1048576"));
  for (const std::string& path :
       {::testing::TempDir() + "/absent", ::testing::TempDir()}) {
    EXPECT_EQ(ReadModelConfig(path).status().code(),
              absl::StatusCode::kNotFound);
  }
}

}  // namespace
}  // namespace zyfa::models
