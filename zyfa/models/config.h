#ifndef ZYFA_MODELS_CONFIG_H_
#define ZYFA_MODELS_CONFIG_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace zyfa::models {

enum class Architecture {
  kGqa,  // grouped queries, RoPE on the whole head
  kMla,  // latent keys and values, RoPE on the last part of the head
};

// What config.json says of a model (testdata/README.md has the formulas).
struct ModelConfig {
  Architecture architecture = Architecture::kGqa;
  int64_t layers = 0;
  int64_t vocabulary = 0;
  int32_t bos = 0;  // the token before the text
  int64_t width = 0;
  int64_t ffn_width = 0;
  int64_t heads_q = 0;
  int64_t heads_kv = 0;  // divides heads_q
  int64_t head_dim_qk = 0;
  int64_t head_dim_v = 0;
  int64_t rope_dim = 0;  // the last ones of head_dim_qk
  int64_t kv_rank = 0;   // kMla only
  double rope_theta = 0;
  double softmax_scale = 0;
  double norm_epsilon = 0;
  int64_t max_context = 0;
};

// Reads config.json at `path`. NotFound if there is no such file;
// InvalidArgument names the file, the field, its value and what is allowed,
// also where it asks for what the forward pass here does not do.
absl::StatusOr<ModelConfig> ReadModelConfig(const std::string& path);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_CONFIG_H_
