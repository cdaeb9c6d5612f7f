#ifndef ZYFA_BENCH_PROGRESS_H_
#define ZYFA_BENCH_PROGRESS_H_

#include <ostream>
#include <string>

namespace zyfa::bench {

// A line that is redrawn in place: a bar, how many of how many, and what is
// being done. Wiped when it goes.
class Progress {
 public:
  // Draws on `out`, or nowhere if `out` is nullptr (no terminal).
  Progress(std::ostream* out, int total) : out_(out), total_(total) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` of the total are complete; `what` is under way.
  void Show(int done, const std::string& what);

 private:
  std::ostream* out_;
  int total_;
};

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_PROGRESS_H_
