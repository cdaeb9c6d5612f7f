#include "zyfa/bench/open_records.h"

#include "absl/status/status.h"

namespace zyfa::bench {

absl::StatusOr<std::optional<proto::RecordFile>> OpenRecords(
    const std::string& path, bool append) {
  if (path.empty()) {
    if (append) {
      return absl::InvalidArgumentError(
          "--append=true: needs a file, --records=FILE");
    }
    return std::nullopt;
  }
  absl::StatusOr<proto::RecordFile> file =
      proto::RecordFile::Open(path, append ? proto::RecordFileMode::kAppend
                                           : proto::RecordFileMode::kOverwrite);
  if (!file.ok()) return file.status();
  return *std::move(file);
}

}  // namespace zyfa::bench
