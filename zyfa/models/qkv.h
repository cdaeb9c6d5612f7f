#ifndef ZYFA_MODELS_QKV_H_
#define ZYFA_MODELS_QKV_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "zyfa/models/config.h"
#include "zyfa/models/row_functions.h"
#include "zyfa/models/safetensors.h"

namespace zyfa::models {

// The part of a layer that makes Q, K and V. testdata/README.md has the
// formulas.
class QkvProjection {
 public:
  virtual ~QkvProjection() = default;

  // From `rows` normed rows y, [rows][width], at positions first .. : query
  // [rows][heads_q][head_dim_qk], key [rows][heads_kv][head_dim_qk] and value
  // [rows][heads_kv][head_dim_v], RoPE applied. May be called from several
  // threads at once.
  virtual void Project(int64_t first, int64_t rows, const float* y,
                       const Rope& rope, float* query, float* key,
                       float* value) const = 0;
};

// The one of a layer; its weights' names begin with `prefix` ("layers.0.").
// Errors: the file's.
absl::StatusOr<std::unique_ptr<QkvProjection>> LoadQkvProjection(
    const ModelConfig& config, const SafetensorsFile& file,
    const std::string& prefix);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_QKV_H_
