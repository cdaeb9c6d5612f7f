// Prints the catalogue of all instructions to standard output.

#include <cstdio>

#include "absl/status/statusor.h"
#include "zyfa/gen/asm/catalogue.h"

int main() {
  const absl::StatusOr<zyfa::gen::Catalogue> catalogue =
      zyfa::gen::BuildCatalogue();
  if (!catalogue.ok()) {
    std::fprintf(stderr, "%s\n", catalogue.status().ToString().c_str());
    return 1;
  }
  std::fputs(catalogue->text.c_str(), stdout);
  return 0;
}
