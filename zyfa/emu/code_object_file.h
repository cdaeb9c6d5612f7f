#ifndef ZYFA_EMU_CODE_OBJECT_FILE_H_
#define ZYFA_EMU_CODE_OBJECT_FILE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "zyfa/emu/code_object.h"

namespace zyfa::emu {

// The code object in the file at `path`, which errors name: NotFound if there
// is no such file, else as CodeObject::Load().
absl::StatusOr<std::unique_ptr<CodeObject>> LoadCodeObject(
    const std::string& path);

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CODE_OBJECT_FILE_H_
