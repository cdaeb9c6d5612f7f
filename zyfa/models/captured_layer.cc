#include "zyfa/models/captured_layer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "zyfa/models/safetensors.h"

namespace zyfa::models {
namespace {

using numerics::Bf16;

std::vector<Bf16> Round(absl::Span<const float> numbers) {
  std::vector<Bf16> rounded;
  rounded.reserve(numbers.size());
  for (const float x : numbers) rounded.push_back(Bf16::FromFloat(x));
  return rounded;
}

}  // namespace

CapturedLayer RoundLayer(const LayerAttention& layer) {
  return {.seqlen = layer.seqlen,
          .heads_q = layer.heads_q,
          .heads_kv = layer.heads_kv,
          .head_dim_qk = layer.head_dim_qk,
          .head_dim_v = layer.head_dim_v,
          .query = Round(layer.query),
          .key = Round(layer.key),
          .value = Round(layer.value)};
}

absl::StatusOr<std::vector<CapturedLayer>> CaptureLayers(
    const Transformer& model, absl::Span<const int32_t> tokens, int threads) {
  std::vector<CapturedLayer> layers;
  const AttentionFunction exact = Float32Attention(threads);
  const auto capture = [&](const LayerAttention& layer,
                           absl::Span<float> output) {
    layers.push_back(RoundLayer(layer));
    // Nobody reads what comes after the last layer's Q, K and V.
    if (layer.layer + 1 == model.config().layers) return absl::OkStatus();
    return exact(layer, output);
  };
  const absl::StatusOr<std::vector<float>> logits =
      model.Logits(tokens, capture, threads);
  if (!logits.ok()) return logits.status();
  return layers;
}

absl::Status WriteCapturedLayer(const std::string& path,
                                const CapturedLayer& layer) {
  return WriteSafetensors(
      path,
      {{"q", {layer.seqlen, layer.heads_q, layer.head_dim_qk}, layer.query},
       {"k", {layer.seqlen, layer.heads_kv, layer.head_dim_qk}, layer.key},
       {"v", {layer.seqlen, layer.heads_kv, layer.head_dim_v}, layer.value}});
}

absl::StatusOr<CapturedLayer> ReadCapturedLayer(const std::string& path) {
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  const char* const names[] = {"q", "k", "v"};
  std::vector<int64_t> shapes[3];
  const auto refuse = [&](int tensor, absl::string_view allowed) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": tensor \"", names[tensor], "\" has shape [",
        absl::StrJoin(shapes[tensor], ", "), "]; allowed: ", allowed));
  };
  for (int i = 0; i < 3; ++i) {
    absl::StatusOr<std::vector<int64_t>> shape = file->Shape(names[i]);
    if (!shape.ok()) return shape.status();
    shapes[i] = *std::move(shape);
    if (shapes[i].size() != 3 || shapes[i][0] < 1 || shapes[i][1] < 1 ||
        shapes[i][2] < 1) {
      return refuse(i, "[tokens, heads, head_dim], each 1 or more");
    }
  }
  const auto& [q, k, v] = shapes;
  if (k[0] != q[0] || k[2] != q[2] || q[1] % k[1] != 0) {
    return refuse(
        1, absl::StrCat("[", q[0], ", a divisor of ", q[1], ", ", q[2], "]"));
  }
  if (v[0] != k[0] || v[1] != k[1]) {
    return refuse(2, absl::StrCat("[", k[0], ", ", k[1], ", head_dim]"));
  }
  CapturedLayer layer = {.seqlen = q[0],
                         .heads_q = q[1],
                         .heads_kv = k[1],
                         .head_dim_qk = q[2],
                         .head_dim_v = v[2]};
  std::vector<Bf16>* const targets[] = {&layer.query, &layer.key, &layer.value};
  for (int i = 0; i < 3; ++i) {
    absl::StatusOr<std::vector<Bf16>> elements =
        file->Read(names[i], shapes[i]);
    if (!elements.ok()) return elements.status();
    *targets[i] = *std::move(elements);
  }
  return layer;
}

}  // namespace zyfa::models
