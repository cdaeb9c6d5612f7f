#ifndef ZYFA_MODELS_REGULAR_FILE_H_
#define ZYFA_MODELS_REGULAR_FILE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace zyfa::models {

// The size of the file at `path`; NotFound, without the path, unless it is a
// regular file that can be read. Never waits, as opening a pipe would.
absl::StatusOr<uint64_t> RegularFileBytes(const std::string& path);

// `count` bytes from `offset` on into `out`; DataLoss, without the path, if
// they cannot be had.
absl::Status ReadFileAt(const std::string& path, uint64_t offset, char* out,
                        uint64_t count);

// `status` with the path before its message.
absl::Status InFile(const std::string& path, const absl::Status& status);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_REGULAR_FILE_H_
