#include "zyfa/models/qkv.h"

#include <algorithm>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/models/linear.h"
#include "zyfa/models/weights.h"

namespace zyfa::models {
namespace {

// Q, K and V straight from the row, RoPE on whole heads.
class GroupedQueries : public QkvProjection {
 public:
  explicit GroupedQueries(const ModelConfig& config) : config_(config) {}

  absl::Status Load(const SafetensorsFile& file, const std::string& prefix) {
    const int64_t width = config_.width;
    for (absl::Status status :
         {LoadLinear(file, prefix + "wq", config_.heads_q * config_.head_dim_qk,
                     width, query_),
          LoadLinear(file, prefix + "wk",
                     config_.heads_kv * config_.head_dim_qk, width, key_),
          LoadLinear(file, prefix + "wv", config_.heads_kv * config_.head_dim_v,
                     width, value_)}) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void Project(int64_t first, int64_t rows, const float* y, const Rope& rope,
               float* query, float* key, float* value) const override {
    query_.Apply(rows, y, query);
    key_.Apply(rows, y, key);
    value_.Apply(rows, y, value);
    const int64_t dim = config_.head_dim_qk;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t h = 0; h < config_.heads_q; ++h) {
        rope.Rotate(first + r, query + (r * config_.heads_q + h) * dim);
      }
      for (int64_t h = 0; h < config_.heads_kv; ++h) {
        rope.Rotate(first + r, key + (r * config_.heads_kv + h) * dim);
      }
    }
  }

 private:
  const ModelConfig config_;
  Linear query_, key_, value_;
};

// K and V from a latent row, all heads with the same rotated part of K. This is
// the expanded form: a key of its own for each query head.
class LatentKeysAndValues : public QkvProjection {
 public:
  explicit LatentKeysAndValues(const ModelConfig& config)
      : config_(config), plain_dim_(config.head_dim_qk - config.rope_dim) {}

  absl::Status Load(const SafetensorsFile& file, const std::string& prefix) {
    const int64_t rank = config_.kv_rank;
    for (absl::Status status :
         {LoadLinear(file, prefix + "wq", config_.heads_q * config_.head_dim_qk,
                     config_.width, query_),
          LoadLinear(file, prefix + "wkv_a", rank + config_.rope_dim,
                     config_.width, compress_),
          LoadVector(file, prefix + "kv_norm.weight", rank, norm_),
          LoadLinear(file, prefix + "wkv_b",
                     config_.heads_kv * (plain_dim_ + config_.head_dim_v), rank,
                     expand_)}) {
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  void Project(int64_t first, int64_t rows, const float* y, const Rope& rope,
               float* query, float* key, float* value) const override {
    const int64_t dim = config_.head_dim_qk;
    const int64_t rank = config_.kv_rank;
    const int64_t heads = config_.heads_kv;
    query_.Apply(rows, y, query);
    std::vector<float> compressed(rows * compress_.outputs());
    compress_.Apply(rows, y, compressed.data());
    std::vector<float> latent(rows * rank);
    for (int64_t r = 0; r < rows; ++r) {
      RmsNorm(compressed.data() + r * compress_.outputs(), norm_.data(), rank,
              config_.norm_epsilon, latent.data() + r * rank);
    }
    std::vector<float> expanded(rows * expand_.outputs());
    expand_.Apply(rows, latent.data(), expanded.data());

    for (int64_t r = 0; r < rows; ++r) {
      float* rotated = compressed.data() + r * compress_.outputs() + rank;
      rope.Rotate(first + r, rotated);
      for (int64_t h = 0; h < heads; ++h) {
        rope.Rotate(first + r, query + (r * heads + h) * dim + plain_dim_);
        const float* both = expanded.data() +
                            (r * heads + h) * (plain_dim_ + config_.head_dim_v);
        float* k = key + (r * heads + h) * dim;
        std::copy_n(both, plain_dim_, k);
        std::copy_n(rotated, config_.rope_dim, k + plain_dim_);
        std::copy_n(both + plain_dim_, config_.head_dim_v,
                    value + (r * heads + h) * config_.head_dim_v);
      }
    }
  }

 private:
  const ModelConfig config_;
  const int64_t plain_dim_;  // head_dim_qk without RoPE
  Linear query_, compress_, expand_;
  std::vector<float> norm_;
};

template <typename Projection>
absl::StatusOr<std::unique_ptr<QkvProjection>> Make(const ModelConfig& config,
                                                    const SafetensorsFile& file,
                                                    const std::string& prefix) {
  auto projection = std::make_unique<Projection>(config);
  if (absl::Status status = projection->Load(file, prefix); !status.ok()) {
    return status;
  }
  return projection;
}

}  // namespace

absl::StatusOr<std::unique_ptr<QkvProjection>> LoadQkvProjection(
    const ModelConfig& config, const SafetensorsFile& file,
    const std::string& prefix) {
  return config.architecture == Architecture::kGqa
             ? Make<GroupedQueries>(config, file, prefix)
             : Make<LatentKeysAndValues>(config, file, prefix);
}

}  // namespace zyfa::models
