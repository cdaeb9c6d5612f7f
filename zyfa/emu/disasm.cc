// Prints what a gfx950 code object holds: kernels, resources, instructions.
#include <cstdio>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/code_object_file.h"

namespace zyfa::emu {
namespace {

void PrintKernel(const KernelInfo& kernel) {
  std::printf("kernel %s\n", kernel.name.c_str());
  std::printf(
      "  entry %#llx, kernarg %u bytes, LDS %u bytes, scratch %u bytes "
      "a lane\n",
      static_cast<unsigned long long>(kernel.entry), kernel.kernarg_bytes,
      kernel.lds_bytes, kernel.private_bytes);
  std::printf(
      "  vector registers %u, AGPRs from %u; scalar registers %u; "
      "work-group at most %u\n",
      kernel.vgprs, kernel.accum_offset, kernel.sgprs,
      kernel.max_workgroup_size);
  for (const KernelArgument& argument : kernel.arguments) {
    std::printf("  argument at %4u, %3u bytes: %s %s\n", argument.offset,
                argument.size, argument.value_kind.c_str(),
                argument.name.c_str());
  }
}

absl::Status Disassemble(const std::string& path) {
  const auto code = LoadCodeObject(path);
  if (!code.ok()) return code.status();
  std::multimap<uint64_t, std::string> entries;
  for (const KernelInfo& kernel : (*code)->kernels()) {
    PrintKernel(kernel);
    entries.emplace(kernel.entry, kernel.name);
  }
  for (const Instruction& inst : (*code)->instructions()) {
    const auto [first, last] = entries.equal_range(inst.address);
    for (auto it = first; it != last; ++it) {
      std::printf("\n%s:\n", it->second.c_str());
    }
    std::printf("%8llx  %s%s\n", static_cast<unsigned long long>(inst.address),
                inst.text.c_str(),
                inst.handler == nullptr ? "  // not emulated" : "");
  }
  return cli::FlushOutput();
}

}  // namespace
}  // namespace zyfa::emu

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  if (argc != 2) {
    std::fprintf(stderr, "usage: disasm CODE_OBJECT\n");
    return 2;
  }
  const absl::Status status = zyfa::emu::Disassemble(argv[1]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "disasm: %s\n", status.ToString().c_str());
  return 2;
}
