#include "zyfa/reference/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace zyfa::reference {

void ParallelFor(
    int64_t tasks, int threads,
    const std::function<void(const std::function<int64_t()>& next)>& work) {
  int64_t workers = threads;
  if (threads == 0) workers = std::thread::hardware_concurrency();
  workers = std::clamp<int64_t>(workers, 1, std::max<int64_t>(tasks, 1));

  std::atomic<int64_t> counter = 0;
  const std::function<int64_t()> next = [&]() -> int64_t {
    const int64_t task = counter.fetch_add(1);
    return task < tasks ? task : -1;
  };
  std::vector<std::thread> others;
  for (int64_t i = 1; i < workers; ++i) others.emplace_back(work, next);
  work(next);
  for (std::thread& thread : others) thread.join();
}

}  // namespace zyfa::reference
