#include "zyfa/peers/mla_work.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/mla_arguments.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {
namespace {

constexpr int64_t kQueryTile = 256;

}  // namespace

MlaWorkList MakeMlaWork(const AiterProblem& problem, reference::Mask mask,
                        int groups) {
  std::vector<MlaWork> works;
  int64_t query_base = 0;
  int64_t key_base = 0;
  for (size_t batch = 0; batch < problem.sequences.size(); ++batch) {
    const AiterProblem::Sequence& s = problem.sequences[batch];
    for (int64_t start = 0; start < s.queries; start += kQueryTile) {
      const int64_t end = std::min(start + kQueryTile, s.queries);
      const int64_t keys =
          mask == reference::Mask::kCausal ? s.keys - s.queries + end : s.keys;
      for (int64_t head = 0; head < problem.heads_q; ++head) {
        works.push_back(
            {.batch = static_cast<int32_t>(batch),
             .query_start = static_cast<int32_t>(query_base + start),
             .query_end = static_cast<int32_t>(query_base + end),
             .key_start = static_cast<int32_t>(key_base),
             .key_end = static_cast<int32_t>(key_base + keys),
             .key_offset = static_cast<int32_t>(s.keys - keys),
             .heads = static_cast<int32_t>(head | (head + 1) << 16)});
      }
    }
    query_base += s.queries;
    key_base += s.keys;
  }

  MlaWorkList list;
  list.starts.push_back(0);
  const size_t used = std::min(works.size(), static_cast<size_t>(groups));
  for (size_t group = 0; group < used; ++group) {
    for (size_t i = group; i < works.size(); i += used) {
      list.works.push_back(works[i]);
    }
    list.starts.push_back(static_cast<int32_t>(list.works.size()));
  }
  return list;
}

}  // namespace zyfa::peers
