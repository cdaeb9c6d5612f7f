#ifndef ZYFA_PROTO_RECORD_CODEC_H_
#define ZYFA_PROTO_RECORD_CODEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::proto {

// How a sequence of records is laid out in bytes.
enum class RecordFormat {
  kJsonLines,        // protobuf JSON with the proto's field names, one a line
  kDelimitedBinary,  // varint length, then the message, and so on
};

// kDelimitedBinary for a name that ends in ".binpb", else kJsonLines.
RecordFormat RecordFormatOf(absl::string_view file_name);

// Appends `record` to `bytes`. InvalidArgument if a string in it is not UTF-8.
absl::Status EncodeRecord(const Record& record, RecordFormat format,
                          std::string& bytes);

// The inverse of a sequence of EncodeRecord() calls; `bytes` may come from
// anywhere. InvalidArgument, with the line (JSON, from 1) or the byte offset
// (binary, from 0), if they end within a record, are malformed, or hold fields
// that this version of the schema does not know. A last line without its line
// feed is read as well.
absl::StatusOr<std::vector<Record>> DecodeRecords(absl::string_view bytes,
                                                  RecordFormat format);

}  // namespace zyfa::proto

#endif  // ZYFA_PROTO_RECORD_CODEC_H_
