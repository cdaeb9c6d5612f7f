#include "zyfa/models/transformer.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/models/row_functions.h"
#include "zyfa/models/safetensors.h"
#include "zyfa/models/weights.h"
#include "zyfa/reference/parallel.h"

namespace zyfa::models {
namespace {

// Tokens that a thread takes at once.
constexpr int64_t kRows = 32;

// Calls `work(first, rows)` for blocks of tokens, on several threads.
void ForBlocks(int64_t tokens, int threads,
               const std::function<void(int64_t first, int64_t rows)>& work) {
  reference::ParallelFor((tokens + kRows - 1) / kRows, threads,
                         [&](const std::function<int64_t()>& next) {
                           for (int64_t block = next(); block >= 0;
                                block = next()) {
                             const int64_t first = block * kRows;
                             work(first, std::min(kRows, tokens - first));
                           }
                         });
}

void Add(const std::vector<float>& addend, float* x) {
  for (size_t i = 0; i < addend.size(); ++i) x[i] += addend[i];
}

}  // namespace

absl::StatusOr<Transformer> Transformer::Load(const std::string& directory) {
  const std::filesystem::path path(directory);
  const absl::StatusOr<ModelConfig> config =
      ReadModelConfig((path / "config.json").string());
  if (!config.ok()) return config.status();
  const absl::StatusOr<SafetensorsFile> file =
      SafetensorsFile::Open((path / "model.safetensors").string());
  if (!file.ok()) return file.status();

  Transformer model;
  model.config_ = *config;
  for (absl::Status status :
       {LoadMatrix(*file, "embed.weight", config->vocabulary, config->width,
                   model.embedding_),
        LoadVector(*file, "final_norm.weight", config->width,
                   model.final_norm_),
        LoadLinear(*file, "head", config->vocabulary, config->width,
                   model.head_)}) {
    if (!status.ok()) return status;
  }
  for (int64_t i = 0; i < config->layers; ++i) {
    Layer layer;
    if (absl::Status status = model.LoadLayer(*file, i, layer); !status.ok()) {
      return status;
    }
    model.layers_.push_back(std::move(layer));
  }
  return model;
}

absl::Status Transformer::LoadLayer(const SafetensorsFile& file, int64_t index,
                                    Layer& layer) const {
  const std::string prefix = absl::StrCat("layers.", index, ".");
  const int64_t width = config_.width;
  absl::StatusOr<std::unique_ptr<QkvProjection>> qkv =
      LoadQkvProjection(config_, file, prefix);
  if (!qkv.ok()) return qkv.status();
  layer.qkv = *std::move(qkv);
  for (absl::Status status :
       {LoadVector(file, prefix + "attn_norm.weight", width,
                   layer.attention_norm),
        LoadVector(file, prefix + "ffn_norm.weight", width, layer.ffn_norm),
        LoadLinear(file, prefix + "wo", width,
                   config_.heads_q * config_.head_dim_v, layer.output),
        LoadLinear(file, prefix + "w1", config_.ffn_width, width, layer.gate),
        LoadLinear(file, prefix + "w3", config_.ffn_width, width, layer.up),
        LoadLinear(file, prefix + "w2", width, config_.ffn_width,
                   layer.down)}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void Transformer::BeforeAttention(const Layer& layer, const Rope& rope,
                                  int64_t first, int64_t rows, const float* x,
                                  float* query, float* key,
                                  float* value) const {
  std::vector<float> y(rows * config_.width);
  for (int64_t r = 0; r < rows; ++r) {
    RmsNorm(x + r * config_.width, layer.attention_norm.data(), config_.width,
            config_.norm_epsilon, y.data() + r * config_.width);
  }
  layer.qkv->Project(first, rows, y.data(), rope, query, key, value);
}

void Transformer::AfterAttention(const Layer& layer, int64_t rows,
                                 const float* attention_output,
                                 float* x) const {
  std::vector<float> y(rows * config_.width);
  layer.output.Apply(rows, attention_output, y.data());
  Add(y, x);
  for (int64_t r = 0; r < rows; ++r) {
    RmsNorm(x + r * config_.width, layer.ffn_norm.data(), config_.width,
            config_.norm_epsilon, y.data() + r * config_.width);
  }
  std::vector<float> gate(rows * config_.ffn_width);
  std::vector<float> up(rows * config_.ffn_width);
  layer.gate.Apply(rows, y.data(), gate.data());
  layer.up.Apply(rows, y.data(), up.data());
  GatedSilu(gate.data(), up.data(), rows * config_.ffn_width);
  layer.down.Apply(rows, gate.data(), y.data());
  Add(y, x);
}

absl::StatusOr<std::vector<float>> Transformer::Logits(
    absl::Span<const int32_t> tokens, const AttentionFunction& attention,
    int threads) const {
  const int64_t count = static_cast<int64_t>(tokens.size());
  if (count < 1 || count > config_.max_context) {
    return absl::InvalidArgumentError(absl::StrCat(
        "there are ", count, " tokens; allowed: 1 .. ", config_.max_context));
  }
  for (int64_t t = 0; t < count; ++t) {
    if (tokens[t] < 0 || tokens[t] >= config_.vocabulary) {
      return absl::InvalidArgumentError(
          absl::StrCat("token ", t, " is ", tokens[t], "; allowed: 0 .. ",
                       config_.vocabulary - 1));
    }
  }

  const int64_t width = config_.width;
  std::vector<float> x(count * width);
  for (int64_t t = 0; t < count; ++t) {
    std::copy_n(embedding_.begin() + tokens[t] * width, width,
                x.begin() + t * width);
  }
  const Rope rope(count, config_.rope_dim, config_.rope_theta);
  const int64_t query_row = config_.heads_q * config_.head_dim_qk;
  const int64_t key_row = config_.heads_kv * config_.head_dim_qk;
  const int64_t value_row = config_.heads_kv * config_.head_dim_v;
  const int64_t output_row = config_.heads_q * config_.head_dim_v;
  std::vector<float> query(count * query_row);
  std::vector<float> key(count * key_row);
  std::vector<float> value(count * value_row);
  for (size_t i = 0; i < layers_.size(); ++i) {
    ForBlocks(count, threads, [&](int64_t first, int64_t rows) {
      BeforeAttention(layers_[i], rope, first, rows, x.data() + first * width,
                      query.data() + first * query_row,
                      key.data() + first * key_row,
                      value.data() + first * value_row);
    });
    std::vector<float> output(count * output_row);
    const LayerAttention layer = {.layer = static_cast<int64_t>(i),
                                  .seqlen = count,
                                  .heads_q = config_.heads_q,
                                  .heads_kv = config_.heads_kv,
                                  .head_dim_qk = config_.head_dim_qk,
                                  .head_dim_v = config_.head_dim_v,
                                  .softmax_scale = config_.softmax_scale,
                                  .query = query,
                                  .key = key,
                                  .value = value};
    if (absl::Status status = attention(layer, absl::MakeSpan(output));
        !status.ok()) {
      return status;
    }
    ForBlocks(count, threads, [&](int64_t first, int64_t rows) {
      AfterAttention(layers_[i], rows, output.data() + first * output_row,
                     x.data() + first * width);
    });
  }

  std::vector<float> logits(count * config_.vocabulary);
  ForBlocks(count, threads, [&](int64_t first, int64_t rows) {
    std::vector<float> y(rows * width);
    for (int64_t r = 0; r < rows; ++r) {
      RmsNorm(x.data() + (first + r) * width, final_norm_.data(), width,
              config_.norm_epsilon, y.data() + r * width);
    }
    head_.Apply(rows, y.data(), logits.data() + first * config_.vocabulary);
  });
  return logits;
}

}  // namespace zyfa::models
