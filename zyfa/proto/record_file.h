#ifndef ZYFA_PROTO_RECORD_FILE_H_
#define ZYFA_PROTO_RECORD_FILE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "zyfa/proto/record.pb.h"
#include "zyfa/proto/record_codec.h"

namespace zyfa::proto {

// The records in a file; the format follows from its name, as in
// RecordFormatOf(). NotFound if there is none; InvalidArgument, naming the
// file, if it is not a regular file or DecodeRecords() refuses its bytes.
absl::StatusOr<std::vector<Record>> ReadRecords(const std::string& path);

// What a RecordFile does with the records that the file already holds.
enum class RecordFileMode { kOverwrite, kAppend };

// A file of records that grows by one record at a time and is complete at every
// moment: each Add() writes a new file beside the old one and renames it, so a
// reader, or a crash, never meets half a record. In overwrite mode the old file
// stays as it is until the first Add().
class RecordFile {
 public:
  // InvalidArgument if `path` names something other than a regular file, or, to
  // append, if its content is not a sequence of records. NotFound or
  // PermissionDenied if no file can be made in its directory.
  static absl::StatusOr<RecordFile> Open(const std::string& path,
                                         RecordFileMode mode);

  // On an error the file holds what it held before.
  absl::Status Add(const Record& record);

 private:
  RecordFile(std::string path, RecordFormat format)
      : path_(std::move(path)), format_(format) {}

  std::string path_;  // symbolic links resolved
  RecordFormat format_;
  std::string bytes_;  // content after the last Add()
};

}  // namespace zyfa::proto

#endif  // ZYFA_PROTO_RECORD_FILE_H_
