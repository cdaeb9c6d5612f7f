#include "zyfa/models/captured_layer.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "zyfa/models/attention.h"
#include "zyfa/models/safetensors.h"
#include "zyfa/models/transformer.h"

namespace zyfa::models {
namespace {

using numerics::Bf16;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

std::vector<Bf16> Numbers(int64_t count, uint16_t first) {
  std::vector<Bf16> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back({static_cast<uint16_t>(first + i)});
  }
  return numbers;
}

CapturedLayer Layer(int64_t seqlen, int64_t heads_q, int64_t heads_kv,
                    int64_t head_dim_qk, int64_t head_dim_v) {
  return {.seqlen = seqlen,
          .heads_q = heads_q,
          .heads_kv = heads_kv,
          .head_dim_qk = head_dim_qk,
          .head_dim_v = head_dim_v,
          .query = Numbers(seqlen * heads_q * head_dim_qk, 1),
          .key = Numbers(seqlen * heads_kv * head_dim_qk, 20000),
          .value = Numbers(seqlen * heads_kv * head_dim_v, 40000)};
}

TEST(CapturedLayerTest, ComesBackFromItsFile) {
  const std::string path = Path("layer.safetensors");
  for (const CapturedLayer& layer :
       {Layer(7, 4, 2, 128, 128), Layer(3, 4, 4, 192, 128),
        Layer(1, 16, 1, 128, 128), Layer(5, 1, 1, 2, 1)}) {
    ASSERT_TRUE(WriteCapturedLayer(path, layer).ok());
    const auto read = ReadCapturedLayer(path);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->seqlen, layer.seqlen);
    EXPECT_EQ(read->heads_q, layer.heads_q);
    EXPECT_EQ(read->heads_kv, layer.heads_kv);
    EXPECT_EQ(read->head_dim_qk, layer.head_dim_qk);
    EXPECT_EQ(read->head_dim_v, layer.head_dim_v);
    EXPECT_EQ(read->query, layer.query);
    EXPECT_EQ(read->key, layer.key);
    EXPECT_EQ(read->value, layer.value);
  }
}

TEST(CapturedLayerTest, RefusesToWriteWhatDoesNotFit) {
  const std::string path = Path("unfit.safetensors");
  CapturedLayer layer = Layer(7, 4, 2, 128, 128);
  layer.key.pop_back();
  EXPECT_EQ(WriteCapturedLayer(path, layer).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(CapturedLayerTest, RefusesTensorsThatDoNotFit) {
  using Shape = std::vector<int64_t>;
  const struct {
    Shape q, k, v;
    const char* message;
  } cases[] = {
      {{8, 4, 16},
       {8, 2, 16},
       {8, 32},
       "tensor \"v\" has shape [8, 32]; allowed: [tokens, heads, head_dim]"},
      {{1, 8, 4, 16}, {8, 2, 16}, {8, 2, 16}, "tensor \"q\" has shape [1, 8,"},
      {{8, 4, 16}, {8, 0, 16}, {8, 2, 16}, "tensor \"k\" has shape [8, 0, 16]"},
      {{8, 4, 16},
       {9, 2, 16},
       {9, 2, 16},
       "tensor \"k\" has shape [9, 2, 16]; allowed: [8, a divisor of 4, 16]"},
      {{8, 4, 16}, {8, 3, 16}, {8, 3, 16}, "tensor \"k\" has shape [8, 3, 16]"},
      {{8, 4, 16}, {8, 2, 24}, {8, 2, 16}, "tensor \"k\" has shape [8, 2, 24]"},
      {{8, 4, 16},
       {8, 2, 16},
       {8, 4, 16},
       "tensor \"v\" has shape [8, 4, 16]; allowed: [8, 2, head_dim]"},
      {{8, 4, 16}, {8, 2, 16}, {7, 2, 16}, "tensor \"v\" has shape [7, 2, 16]"},
  };
  const std::string path = Path("shapes.safetensors");
  for (const auto& c : cases) {
    const auto elements = [](const Shape& shape) {
      int64_t count = 1;
      for (const int64_t dimension : shape) count *= dimension;
      return std::vector<Bf16>(count);
    };
    const std::vector<Bf16> q = elements(c.q), k = elements(c.k),
                            v = elements(c.v);
    ASSERT_TRUE(
        WriteSafetensors(path, {{"q", c.q, q}, {"k", c.k, k}, {"v", c.v, v}})
            .ok());
    const auto layer = ReadCapturedLayer(path);
    EXPECT_EQ(layer.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(layer.status().message()),
                AllOf(HasSubstr("shapes.safetensors: "), HasSubstr(c.message)));
  }
}

TEST(CapturedLayerTest, RefusesFilesWithoutATensor) {
  const std::string path = Path("two.safetensors");
  const std::vector<Bf16> one(1);
  ASSERT_TRUE(
      WriteSafetensors(path, {{"q", {1, 1, 1}, one}, {"k", {1, 1, 1}, one}})
          .ok());
  EXPECT_THAT(std::string(ReadCapturedLayer(path).status().message()),
              HasSubstr("there is no tensor \"v\""));
  EXPECT_EQ(ReadCapturedLayer(Path("absent")).status().code(),
            absl::StatusCode::kNotFound);
}

// The capture is what a layer's attention is given, rounded, in every layer.
TEST(CaptureLayersTest, RoundsWhatAttentionReceives) {
  for (const char* name : {"gqa", "mla"}) {
    SCOPED_TRACE(name);
    const auto model =
        Transformer::Load(std::string("zyfa/models/testdata/") + name);
    ASSERT_TRUE(model.ok()) << model.status();
    std::vector<int32_t> tokens = {256};
    for (const char c : std::string("It is a truth universally acknowledged")) {
      tokens.push_back(c);
    }
    const auto layers = CaptureLayers(*model, tokens);
    ASSERT_TRUE(layers.ok()) << layers.status();
    ASSERT_EQ(static_cast<int64_t>(layers->size()), model->config().layers);
    const auto compare = [&](const LayerAttention& layer,
                             absl::Span<float> output) {
      const CapturedLayer& captured = (*layers)[layer.layer];
      EXPECT_EQ(captured.seqlen, static_cast<int64_t>(tokens.size()));
      EXPECT_EQ(captured.heads_q, layer.heads_q);
      EXPECT_EQ(captured.heads_kv, layer.heads_kv);
      EXPECT_EQ(captured.head_dim_qk, layer.head_dim_qk);
      EXPECT_EQ(captured.head_dim_v, layer.head_dim_v);
      for (const auto& [numbers, rounded] :
           {std::pair{layer.query, &captured.query},
            {layer.key, &captured.key},
            {layer.value, &captured.value}}) {
        EXPECT_EQ(numbers.size(), rounded->size());
        for (size_t i = 0; i < numbers.size(); ++i) {
          EXPECT_EQ(Bf16::FromFloat(numbers[i]), (*rounded)[i]);
        }
      }
      return Float32Attention()(layer, output);
    };
    EXPECT_TRUE(model->Logits(tokens, compare).ok());
  }
}

}  // namespace
}  // namespace zyfa::models
