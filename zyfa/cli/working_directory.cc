#include "zyfa/cli/working_directory.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace zyfa::cli {

void EnterUserDirectory() {
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  // One that is gone shows when a path in it is used.
  std::error_code ignored;
  if (directory != nullptr) std::filesystem::current_path(directory, ignored);
}

}  // namespace zyfa::cli
