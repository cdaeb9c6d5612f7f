#ifndef ZYFA_GEN_TOOL_GENERATOR_MAIN_H_
#define ZYFA_GEN_TOOL_GENERATOR_MAIN_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace zyfa::gen {

// main() of a tool that writes the assembly of one kernel:
// TOOL --variant=NAME --out=FILE. Exit status 0, or 1 with a message that
// begins with the tool's name.
int GeneratorMain(
    int argc, char** argv, const char* tool,
    const std::function<absl::StatusOr<std::string>(const std::string& name)>&
        generate);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_TOOL_GENERATOR_MAIN_H_
