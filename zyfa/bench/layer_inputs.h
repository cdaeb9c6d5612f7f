#ifndef ZYFA_BENCH_LAYER_INPUTS_H_
#define ZYFA_BENCH_LAYER_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

enum class ScalesOf { kTensor, kHead, kToken };

// How Q, K and V of a layer become what a kernel takes, by the library's
// quantiser.
struct Preparation {
  DataType data_type = DataType::kBf16;
  bool subtract_mean = false;  // of K
  bool rotate = false;         // Q and K
  // What shares a scale. FP8: of Q, K and V, Q's and K's powers of two with the
  // softmax scale in Q's; with kToken, which no kernel takes, those of Q and K
  // are largest magnitudes / 448 and V has one a head. INT8: of K; kToken is
  // the multiplier form, Q always has a power of two a row and V a scale a
  // head.
  ScalesOf scales = ScalesOf::kHead;

  auto operator<=>(const Preparation&) const = default;
};

// Both preparing steps.
constexpr Preparation Prepared(DataType type,
                               ScalesOf scales = ScalesOf::kHead) {
  return {type, true, true, scales};
}

// Record.quantisation of it.
std::string Quantisation(const Preparation& preparation);

// Dense [seqlen][head dim] of one query head and its KV head.
struct HeadNumbers {
  std::vector<double> query, key, value;
};

// 1 / sqrt(head_dim_qk).
double ExactSoftmaxScale(const models::CapturedLayer& layer);

// A layer as its kernel takes it.
class LayerInputs {
 public:
  // `layer` must outlive this. Errors are the quantiser's.
  static absl::StatusOr<LayerInputs> Make(const models::CapturedLayer& layer,
                                          const Preparation& preparation);

  // What a kernel is given for one query head and its KV head. There are no
  // such inputs of FP8 with scales of tokens.
  Inputs Head(int64_t head) const;

  // What codes and scales of a head stand for, with ExactSoftmaxScale().
  HeadNumbers Rounded(int64_t head) const;
  // The same before it is rounded: without the mean key, rotated. Errors are
  // the quantiser's.
  absl::StatusOr<HeadNumbers> Unrounded(int64_t head) const;

 private:
  struct Tensor {
    Elements codes{std::vector<numerics::Bf16>()};  // [seqlen][heads][dim]
    std::vector<float> descales = {};
    ScalesOf scales = ScalesOf::kTensor;

    // descale of a head's token.
    float Descale(int64_t head, int64_t token, int64_t seqlen) const;
  };

  LayerInputs(const models::CapturedLayer& layer,
              const Preparation& preparation)
      : layer_(&layer), preparation_(preparation) {}

  absl::Status QuantiseFp8();
  absl::Status QuantiseInt8();
  int64_t KvHead(int64_t head) const;
  std::vector<double> Numbers(const Tensor& tensor, int64_t heads, int64_t dim,
                              int64_t head) const;

  const models::CapturedLayer* layer_;
  Preparation preparation_;
  Tensor query_, key_, value_;
  float softmax_scale_ = 0;
  std::vector<float> key_mean_;        // [heads_kv][head_dim_qk], or none
  std::vector<uint8_t> shifts_;        // [heads_q][seqlen], INT8
  std::vector<uint32_t> multipliers_;  // [heads_kv][seqlen]
};

// A query head of a layer and its KV head, as a layer of one head. `head` is
// one of the layer's.
models::CapturedLayer HeadOf(const models::CapturedLayer& layer, int64_t head);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LAYER_INPUTS_H_
