// Prints the example kernel to standard output.

#include <cstdio>

#include "absl/status/statusor.h"
#include "zyfa/gen/asm/example_kernel.h"

int main() {
  const absl::StatusOr<std::string> text = zyfa::gen::AddOneKernel();
  if (!text.ok()) {
    std::fprintf(stderr, "%s\n", text.status().ToString().c_str());
    return 1;
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}
