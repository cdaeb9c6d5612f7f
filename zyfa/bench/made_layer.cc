#include "zyfa/bench/made_layer.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "zyfa/numerics/bf16.h"
#include "zyfa/reference/fp8_tensors.h"

namespace zyfa::bench {
namespace {

using models::CapturedLayer;
using numerics::Bf16;

constexpr int64_t kHeadDimV = 128;

}  // namespace

absl::StatusOr<CapturedLayer> MadeLayer(absl::string_view set, int64_t seqlen,
                                        int heads, uint32_t seed) {
  CapturedLayer layer{.seqlen = seqlen,
                      .heads_q = heads,
                      .heads_kv = heads,
                      .head_dim_qk = 128,
                      .head_dim_v = kHeadDimV};
  const auto size = static_cast<size_t>(seqlen * heads * 128);
  for (std::vector<Bf16>* x : {&layer.query, &layer.key, &layer.value}) {
    x->resize(size);
  }
  for (int h = 0; h < heads; ++h) {
    const auto head = reference::MakeHead(
        set, seqlen, 128, kHeadDimV, uint64_t{seed} + static_cast<uint64_t>(h));
    if (!head.ok()) return head.status();
    for (const auto& [from, to] : {std::pair(&head->query, &layer.query),
                                   std::pair(&head->key, &layer.key),
                                   std::pair(&head->value, &layer.value)}) {
      for (size_t i = 0; i < from->size(); ++i) {
        (*to)[(i / 128 * static_cast<size_t>(heads) + static_cast<size_t>(h)) *
                  128 +
              i % 128] = Bf16::FromFloat((*from)[i]);
      }
    }
  }
  return layer;
}

}  // namespace zyfa::bench
