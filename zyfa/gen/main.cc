// Writes the assembly of one kernel variant:
// gen --variant=bf16_d128_causal --out=FILE

#include <string>

#include "absl/status/statusor.h"
#include "zyfa/gen/attention/attention_kernel.h"
#include "zyfa/gen/fp8/fp8_kernel.h"
#include "zyfa/gen/tool/generator_main.h"
#include "zyfa/variant/variant.h"

namespace {

absl::StatusOr<std::string> Generate(const std::string& name) {
  const absl::StatusOr<zyfa::Variant> variant = zyfa::ParseVariant(name);
  if (!variant.ok()) return variant.status();
  return zyfa::IsPersistent(*variant)
             ? zyfa::gen::GenerateFp8Kernel(*variant)
             : zyfa::gen::GenerateAttentionKernel(*variant);
}

}  // namespace

int main(int argc, char** argv) {
  return zyfa::gen::GeneratorMain(argc, argv, "gen", Generate);
}
