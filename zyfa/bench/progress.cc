#include "zyfa/bench/progress.h"

namespace zyfa::bench {
namespace {

constexpr int kBarWidth = 24;
// Back to the first column; wipe to the end of the line (ECMA-48 EL).
constexpr char kWipe[] = "\r\x1b[K";

}  // namespace

Progress::~Progress() {
  if (out_ != nullptr) *out_ << kWipe << std::flush;
}

void Progress::Show(int done, const std::string& what) {
  if (out_ == nullptr) return;
  const int filled = total_ > 0 ? kBarWidth * done / total_ : kBarWidth;
  *out_ << kWipe << '[' << std::string(filled, '=')
        << std::string(kBarWidth - filled, ' ') << "] " << done << '/' << total_
        << ' ' << what << std::flush;
}

}  // namespace zyfa::bench
