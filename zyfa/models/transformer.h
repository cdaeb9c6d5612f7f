#ifndef ZYFA_MODELS_TRANSFORMER_H_
#define ZYFA_MODELS_TRANSFORMER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/models/attention.h"
#include "zyfa/models/config.h"
#include "zyfa/models/linear.h"
#include "zyfa/models/qkv.h"
#include "zyfa/models/row_functions.h"
#include "zyfa/models/safetensors.h"

namespace zyfa::models {

// A byte-level causal transformer (testdata/README.md), run forward in float32
// with the attention that the caller gives.
class Transformer {
 public:
  // From config.json and model.safetensors in `directory`. Errors name the
  // file, and the field or the tensor.
  static absl::StatusOr<Transformer> Load(const std::string& directory);

  const ModelConfig& config() const { return config_; }

  // Logits of the next token after each of `tokens`, [tokens][vocabulary], on
  // `threads` threads (0: one for each processor) beside what `attention` uses.
  // InvalidArgument if there are no tokens, more than max_context, or one is
  // outside of the vocabulary; else the errors of `attention`. Bits depend
  // neither on the threads nor on the machine, if attention's do not.
  absl::StatusOr<std::vector<float>> Logits(absl::Span<const int32_t> tokens,
                                            const AttentionFunction& attention,
                                            int threads = 0) const;

 private:
  struct Layer {
    std::vector<float> attention_norm, ffn_norm;
    std::unique_ptr<QkvProjection> qkv;
    Linear output;          // after attention
    Linear gate, up, down;  // of the feed-forward part: w1, w3, w2
  };

  Transformer() = default;

  absl::Status LoadLayer(const SafetensorsFile& file, int64_t index,
                         Layer& layer) const;

  // The parts of a layer before and after attention, for `rows` tokens at
  // positions first .. . x is the residual stream, [rows][width].
  void BeforeAttention(const Layer& layer, const Rope& rope, int64_t first,
                       int64_t rows, const float* x, float* query, float* key,
                       float* value) const;
  void AfterAttention(const Layer& layer, int64_t rows,
                      const float* attention_output, float* x) const;

  ModelConfig config_;
  std::vector<float> embedding_;  // [vocabulary][width]
  std::vector<Layer> layers_;
  std::vector<float> final_norm_;
  Linear head_;
};

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_TRANSFORMER_H_
