#include "zyfa/emu/code_object_file.h"

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/launch_file.h"

namespace zyfa::emu {

absl::StatusOr<std::unique_ptr<CodeObject>> LoadCodeObject(
    const std::string& path) {
  const absl::StatusOr<std::vector<uint8_t>> bytes = ReadBytes(path);
  if (!bytes.ok()) return bytes.status();
  auto code = CodeObject::Load(*bytes);
  if (!code.ok()) {
    return absl::Status(code.status().code(),
                        absl::StrCat(path, ": ", code.status().message()));
  }
  return code;
}

}  // namespace zyfa::emu
