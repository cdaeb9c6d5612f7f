#include "zyfa/peers/mla_work.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/mla_arguments.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {
namespace {

constexpr int64_t kQueryTile = 256;

// One for each head and query tile.
std::vector<MlaWork> AllWorks(const AiterProblem& problem,
                              reference::Mask mask) {
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
  return works;
}

}  // namespace

MlaWorkList MakeMlaWork(const AiterProblem& problem, reference::Mask mask,
                        int groups) {
  const std::vector<MlaWork> works = AllWorks(problem, mask);
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

MlaWorkList BalanceMlaWork(const AiterProblem& problem, reference::Mask mask,
                           int groups) {
  std::vector<MlaWork> works = AllWorks(problem, mask);
  const auto keys = [](const MlaWork& work) {
    return int64_t{work.key_end} - work.key_start;
  };
  std::stable_sort(
      works.begin(), works.end(),
      [&](const MlaWork& a, const MlaWork& b) { return keys(a) > keys(b); });
  const size_t used = std::min(works.size(), static_cast<size_t>(groups));
  using Load = std::pair<int64_t, size_t>;  // keys so far, which group
  std::priority_queue<Load, std::vector<Load>, std::greater<Load>> loads;
  for (size_t group = 0; group < used; ++group) loads.emplace(0, group);
  std::vector<std::vector<MlaWork>> shares(used);
  for (const MlaWork& work : works) {
    const auto [load, group] = loads.top();
    loads.pop();
    shares[group].push_back(work);
    loads.emplace(load + keys(work) + kMlaWorkKeys, group);
  }
  MlaWorkList list;
  list.starts.push_back(0);
  for (const std::vector<MlaWork>& share : shares) {
    list.works.insert(list.works.end(), share.begin(), share.end());
    list.starts.push_back(static_cast<int32_t>(list.works.size()));
  }
  return list;
}

MlaWorkList MlaWorkOfOneHead(const AiterProblem& problem, MlaWorkList list) {
  std::vector<AiterProblem::Sequence> before = {{0, 0}};  // tokens, summed up
  for (const AiterProblem::Sequence& s : problem.sequences) {
    before.push_back(
        {before.back().queries + s.queries, before.back().keys + s.keys});
  }
  for (MlaWork& work : list.works) {
    const AiterProblem::Sequence& base =
        before[static_cast<size_t>(work.batch)];
    work.query_start -= static_cast<int32_t>(base.queries);
    work.query_end -= static_cast<int32_t>(base.queries);
    work.key_start -= static_cast<int32_t>(base.keys);
    work.key_end -= static_cast<int32_t>(base.keys);
    work.batch = 0;
    work.heads = 1 << 16;
  }
  return list;
}

}  // namespace zyfa::peers
