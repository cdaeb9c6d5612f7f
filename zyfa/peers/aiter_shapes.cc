#include "zyfa/peers/aiter_shapes.h"

#include <cstdint>
#include <vector>

#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {

std::vector<AiterProblem> AiterShapes(const AiterKernel& kernel, bool all) {
  const bool causal = kernel.mask == reference::Mask::kCausal;
  std::vector<AiterProblem> shapes;
  switch (kernel.family) {
    case Family::kFmhaV3:
      if (kernel.group) {
        shapes.push_back({.sequences = {{300, 300}, {171, 171}}});
        if (all) {
          shapes.push_back({.sequences = {{1, 1}, {256, 512}, {77, 200}},
                            .heads_q = 4,
                            .heads_kv = 2});
        }
      } else {
        shapes.push_back({.sequences = {{512, 512}}});
        if (!causal) shapes.push_back({.sequences = {{256, 256}}});
        if (all) {
          shapes.push_back({.sequences = {{256, 333}}});
          shapes.push_back(
              {.sequences = {{512, 512}}, .heads_q = 8, .heads_kv = 2});
          shapes.push_back({.sequences = {{200, 300}, {200, 300}},
                            .heads_q = 2,
                            .heads_kv = 1});
        }
      }
      break;
    case Family::kFmhaV4:
      shapes.push_back({.sequences = {{256, 256}}});
      shapes.push_back({.sequences = {{256, 512}}});
      if (all) {
        const int64_t odd = kernel.key_multiple == 1 ? 1 : 0;
        shapes.push_back({.sequences = {{129, 256 + odd}}});
        shapes.push_back({.sequences = {{300, 384 + odd}, {300, 384 + odd}},
                          .heads_q = 2,
                          .heads_kv = 2});
      }
      break;
    case Family::kMlaPs:
      shapes.push_back({.sequences = {{256, 256}}});
      shapes.push_back(
          {.sequences = {{512, 512}}, .heads_q = 2, .heads_kv = 2});
      if (all) {
        shapes.push_back({.sequences = {{300, 300}, {171, 171}},
                          .heads_q = 2,
                          .heads_kv = 2});
      }
      break;
    case Family::kMlaPaged:
      shapes.push_back({.sequences = {{33, 33}}, .heads_q = kernel.head_ratio});
      if (all) {
        shapes.push_back(
            {.sequences = {{5, 70}, {16, 16}}, .heads_q = kernel.head_ratio});
      }
      break;
  }
  return shapes;
}

}  // namespace zyfa::peers
