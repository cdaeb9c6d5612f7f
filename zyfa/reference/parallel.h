#ifndef ZYFA_REFERENCE_PARALLEL_H_
#define ZYFA_REFERENCE_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace zyfa::reference {

// Calls `work(next)` on `threads` threads (0: one for each processor, but never
// more than tasks) and waits for them. `next()` hands out the tasks 0 ..
// tasks-1 in order, each to one thread, and then -1.
void ParallelFor(
    int64_t tasks, int threads,
    const std::function<void(const std::function<int64_t()>& next)>& work);

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_PARALLEL_H_
