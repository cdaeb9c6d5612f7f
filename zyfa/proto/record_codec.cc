#include "zyfa/proto/record_codec.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/util/delimited_message_util.h"
#include "google/protobuf/util/json_util.h"

namespace zyfa::proto {
namespace {

namespace pb = google::protobuf;

std::string Message(const pb::util::Status& status) {
  return status.message().ToString();
}

absl::Status EncodeJson(const Record& record, std::string& bytes) {
  pb::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string line;
  pb::util::Status status =
      pb::util::MessageToJsonString(record, &line, options);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("record has no JSON form: ", Message(status)));
  }
  absl::StrAppend(&bytes, line, "\n");
  return absl::OkStatus();
}

absl::Status EncodeBinary(const Record& record, std::string& bytes) {
  pb::io::StringOutputStream stream(&bytes);
  if (!pb::util::SerializeDelimitedToZeroCopyStream(record, &stream)) {
    return absl::InvalidArgumentError("record has no binary form");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Record>> DecodeJson(absl::string_view bytes) {
  std::vector<Record> records;
  for (int line_number = 1; !bytes.empty(); ++line_number) {
    const size_t length = bytes.find('\n');
    const absl::string_view line = bytes.substr(0, length);
    bytes.remove_prefix(length == absl::string_view::npos ? bytes.size()
                                                          : length + 1);
    // Strict: no unknown fields or enumerators.
    pb::util::Status status = pb::util::JsonStringToMessage(
        pb::StringPiece(line.data(), line.size()), &records.emplace_back(),
        pb::util::JsonParseOptions());
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", line_number, " is no record: ", Message(status)));
    }
  }
  return records;
}

// Whether `record` or a message in it has unknown fields; drops them.
bool DropUnknownFields(Record& record) {
  const size_t before = record.ByteSizeLong();
  record.DiscardUnknownFields();
  return record.ByteSizeLong() != before;
}

absl::StatusOr<std::vector<Record>> DecodeBinary(absl::string_view bytes) {
  std::vector<Record> records;
  for (size_t offset = 0; offset < bytes.size();) {
    const absl::string_view rest = bytes.substr(offset);
    const auto error = [&](auto... what) {
      return absl::InvalidArgumentError(
          absl::StrCat("record at byte ", offset, " ", what...));
    };
    // A length takes at most five bytes, so a short array is all that
    // CodedInputStream need see of it, whatever the size of the file.
    pb::io::CodedInputStream prefix(
        reinterpret_cast<const uint8_t*>(rest.data()),
        static_cast<int>(std::min<size_t>(rest.size(), 10)));
    uint32_t length;
    if (!prefix.ReadVarint32(&length)) return error("has no valid length");
    const size_t start = prefix.CurrentPosition();
    if (length > rest.size() - start) {
      return error("is cut off: it has ", length, " bytes, the data only ",
                   rest.size() - start);
    }
    if (length > std::numeric_limits<int>::max()) return error("is too large");
    if (!records.emplace_back().ParseFromArray(rest.data() + start,
                                               static_cast<int>(length))) {
      return error("is malformed");
    }
    if (DropUnknownFields(records.back())) return error("has unknown fields");
    offset += start + length;
  }
  return records;
}

}  // namespace

RecordFormat RecordFormatOf(absl::string_view file_name) {
  return absl::EndsWith(file_name, ".binpb") ? RecordFormat::kDelimitedBinary
                                             : RecordFormat::kJsonLines;
}

absl::Status EncodeRecord(const Record& record, RecordFormat format,
                          std::string& bytes) {
  // Protobuf would write a string that is not UTF-8, or leave it out, with no
  // more than a line on stderr; only a parser refuses it.
  const pb::LogSilencer silencer;
  if (!Record().ParseFromString(record.SerializeAsString())) {
    return absl::InvalidArgumentError("record has a string that is not UTF-8");
  }
  return format == RecordFormat::kJsonLines ? EncodeJson(record, bytes)
                                            : EncodeBinary(record, bytes);
}

absl::StatusOr<std::vector<Record>> DecodeRecords(absl::string_view bytes,
                                                  RecordFormat format) {
  const pb::LogSilencer silencer;  // the status says it all
  return format == RecordFormat::kJsonLines ? DecodeJson(bytes)
                                            : DecodeBinary(bytes);
}

}  // namespace zyfa::proto
