#include "zyfa/cli/output.h"

#include <cstdio>
#include <iostream>

namespace zyfa::cli {

absl::Status FlushOutput() {
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) {
    return absl::OkStatus();
  }
  return absl::DataLossError("standard output cannot be written");
}

}  // namespace zyfa::cli
