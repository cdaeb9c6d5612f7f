#include "zyfa/models/regular_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace zyfa::models {

absl::StatusOr<uint64_t> RegularFileBytes(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error) &&
      std::ifstream(path, std::ios::binary)) {
    const uint64_t bytes = std::filesystem::file_size(path, error);
    if (!error) return bytes;
  }
  return absl::NotFoundError("is no file that can be read");
}

absl::Status ReadFileAt(const std::string& path, uint64_t offset, char* out,
                        uint64_t count) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  in.read(out, static_cast<std::streamsize>(count));
  if (in) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("bytes ", offset, " .. ",
                                          offset + count, " cannot be read"));
}

absl::Status InFile(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(path, ": ", status.message()));
}

}  // namespace zyfa::models
