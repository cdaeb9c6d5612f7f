#include "zyfa/models/safetensors.h"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/struct.pb.h"
#include "zyfa/models/json.h"
#include "zyfa/models/regular_file.h"

namespace zyfa::models {
namespace {

namespace pb = google::protobuf;
using numerics::Bf16;

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kLengthBytes = 8;
constexpr char kMetadata[] = "__metadata__";

std::string ShapeText(absl::Span<const int64_t> shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// Names come from files: what cannot be printed is escaped, and long ones are
// cut.
std::string Quoted(const std::string& name) {
  constexpr size_t kShown = 64;
  std::string text = "\"";
  for (const char c : name.substr(0, kShown)) {
    if (absl::ascii_isprint(static_cast<unsigned char>(c))) {
      text += c;
    } else {
      absl::StrAppend(
          &text, "\\x",
          absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    }
  }
  return absl::StrCat(text, name.size() > kShown ? "...\"" : "\"");
}

// Product of the dimensions; InvalidArgument if it is more than `most`.
absl::StatusOr<uint64_t> ElementCount(absl::Span<const int64_t> shape,
                                      uint64_t most) {
  if (absl::c_linear_search(shape, 0)) return 0;
  uint64_t count = 1;
  for (const int64_t dimension : shape) {
    const uint64_t n = static_cast<uint64_t>(dimension);
    if (count > most / n) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape is ", ShapeText(shape), "; allowed: at most ",
                       most, " elements, which the file has room for"));
    }
    count *= n;
  }
  return count;
}

struct Entry {
  std::vector<int64_t> shape;
  uint64_t begin = 0;  // in the data, in bytes
  uint64_t end = 0;
};

absl::StatusOr<Entry> ParseEntry(const pb::Value& value, uint64_t data_bytes) {
  if (value.kind_case() != pb::Value::kStructValue) {
    return absl::InvalidArgumentError(
        "is no object; allowed: {\"dtype\", \"shape\", \"data_offsets\"}");
  }
  const pb::Struct& object = value.struct_value();
  const auto dtype_field = JsonField(object, "dtype");
  if (!dtype_field.ok()) return dtype_field.status();
  const absl::StatusOr<std::string> dtype = JsonString(**dtype_field, "dtype");
  if (!dtype.ok()) return dtype.status();
  if (*dtype != "BF16") {
    return absl::InvalidArgumentError(
        absl::StrCat("dtype is ", Quoted(*dtype), "; allowed: BF16"));
  }

  const auto list = [&object](
                        const char* name, size_t low,
                        size_t high) -> absl::StatusOr<const pb::ListValue*> {
    const auto field = JsonField(object, name);
    if (!field.ok()) return field.status();
    if ((*field)->kind_case() != pb::Value::kListValue) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, " is no list; allowed: lists of numbers"));
    }
    const pb::ListValue& values = (*field)->list_value();
    const size_t size = static_cast<size_t>(values.values_size());
    if (size < low || size > high) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, " has ", size, " numbers; allowed: ", low, " .. ", high));
    }
    return &values;
  };
  Entry entry;
  const auto shape = list("shape", 0, kMaxSafetensorsRank);
  if (!shape.ok()) return shape.status();
  // 2^53: beyond it a JSON number is no longer exact.
  constexpr int64_t kMaxDimension = int64_t{1} << 53;
  for (const pb::Value& dimension : (*shape)->values()) {
    const absl::StatusOr<int64_t> n =
        JsonInteger(dimension, "a dimension of shape", 0, kMaxDimension);
    if (!n.ok()) return n.status();
    entry.shape.push_back(*n);
  }
  const absl::StatusOr<uint64_t> count =
      ElementCount(entry.shape, data_bytes / sizeof(Bf16));
  if (!count.ok()) return count.status();

  const auto offsets = list("data_offsets", 2, 2);
  if (!offsets.ok()) return offsets.status();
  uint64_t* const targets[] = {&entry.begin, &entry.end};
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<int64_t> offset = JsonInteger(
        (*offsets)->values(i), absl::StrCat("data_offsets[", i, "]"), 0,
        static_cast<int64_t>(data_bytes));
    if (!offset.ok()) return offset.status();
    *targets[i] = static_cast<uint64_t>(*offset);
  }
  const uint64_t bytes = *count * sizeof(Bf16);
  if (entry.end != entry.begin + bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("data_offsets are [", entry.begin, ", ", entry.end,
                     "]; allowed: what is ", bytes, " bytes apart, for shape ",
                     ShapeText(entry.shape)));
  }
  return entry;
}

absl::Status CheckMetadata(const pb::Value& value) {
  bool good = value.kind_case() == pb::Value::kStructValue;
  for (const auto& [name, text] : value.struct_value().fields()) {
    good = good && text.kind_case() == pb::Value::kStringValue;
  }
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", kMetadata, "\" is something else; allowed: an object of strings"));
}

absl::Status CheckNoGap(const std::map<std::string, Entry>& entries,
                        uint64_t data_bytes) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [name, entry] : entries) {
    ranges.push_back({entry.begin, entry.end});
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t covered = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != covered) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a tensor's data begin at byte ", begin,
          " of the data; allowed: ", covered, ", where the one before ends"));
    }
    covered = end;
  }
  if (covered != data_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensors end at byte ", covered,
                     " of the data; allowed: ", data_bytes, ", all of it"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  SafetensorsFile file(path);
  if (absl::Status status = file.ReadHeader(); !status.ok()) {
    return InFile(path, status);
  }
  return file;
}

absl::Status SafetensorsFile::ReadHeader() {
  const absl::StatusOr<uint64_t> size = RegularFileBytes(path_);
  if (!size.ok()) return size.status();
  const uint64_t file_bytes = *size;
  if (file_bytes < kLengthBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", file_bytes, " bytes; allowed: ", kLengthBytes,
        " and more, a safetensors file begins with its header's length"));
  }
  uint64_t length = 0;
  if (absl::Status status = ReadFileAt(
          path_, 0, reinterpret_cast<char*>(&length), sizeof(length));
      !status.ok()) {
    return status;
  }
  const uint64_t most =
      std::min(file_bytes - kLengthBytes, kMaxSafetensorsHeaderBytes);
  if (length > most) {
    return absl::InvalidArgumentError(
        absl::StrCat("header length is ", length, "; allowed: 0 .. ", most));
  }
  std::string text(length, '\0');
  if (absl::Status status =
          ReadFileAt(path_, kLengthBytes, text.data(), length);
      !status.ok()) {
    return status;
  }
  const absl::StatusOr<pb::Struct> header = ParseJsonObject(text);
  if (!header.ok()) {
    return absl::Status(header.status().code(),
                        absl::StrCat("header: ", header.status().message()));
  }

  const uint64_t data_begin = kLengthBytes + length;
  const uint64_t data_bytes = file_bytes - data_begin;
  std::map<std::string, Entry> entries;
  for (const auto& [name, value] : header->fields()) {
    if (name == kMetadata) {
      if (absl::Status status = CheckMetadata(value); !status.ok()) {
        return status;
      }
      continue;
    }
    absl::StatusOr<Entry> entry = ParseEntry(value, data_bytes);
    if (!entry.ok()) {
      return absl::Status(entry.status().code(),
                          absl::StrCat("tensor ", Quoted(name), ": ",
                                       entry.status().message()));
    }
    shapes_[name] = entry->shape;
    offsets_[name] = data_begin + entry->begin;
    entries[name] = *std::move(entry);
  }
  return CheckNoGap(entries, data_bytes);
}

absl::StatusOr<std::vector<int64_t>> SafetensorsFile::Shape(
    const std::string& name) const {
  const auto found = shapes_.find(name);
  if (found == shapes_.end()) {
    return InFile(path_, absl::InvalidArgumentError(absl::StrCat(
                             "there is no tensor ", Quoted(name))));
  }
  return found->second;
}

absl::StatusOr<std::vector<Bf16>> SafetensorsFile::Read(
    const std::string& name, const std::vector<int64_t>& shape) const {
  const absl::StatusOr<std::vector<int64_t>> own = Shape(name);
  if (!own.ok()) return own.status();
  if (*own != shape) {
    return InFile(path_,
                  absl::InvalidArgumentError(absl::StrCat(
                      "tensor ", Quoted(name), " has shape ", ShapeText(*own),
                      "; allowed: ", ShapeText(shape))));
  }
  // Open() has compared the shape with the file's size.
  uint64_t count = 1;
  for (const int64_t dimension : shape)
    count *= static_cast<uint64_t>(dimension);
  std::vector<Bf16> elements(count);
  if (absl::Status status = ReadFileAt(path_, offsets_.at(name),
                                       reinterpret_cast<char*>(elements.data()),
                                       count * sizeof(Bf16));
      !status.ok()) {
    return InFile(path_, absl::Status(status.code(),
                                      absl::StrCat("tensor ", Quoted(name),
                                                   ": ", status.message())));
  }
  return elements;
}

absl::Status WriteSafetensors(const std::string& path,
                              absl::Span<const SafetensorsTensor> tensors) {
  std::string header = "{";
  uint64_t offset = 0;
  std::set<std::string> names;
  for (const SafetensorsTensor& tensor : tensors) {
    const bool plain = std::all_of(
        tensor.name.begin(), tensor.name.end(), [](unsigned char c) {
          return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
        });
    if (tensor.name.empty() || !plain || tensor.name == kMetadata ||
        !names.insert(tensor.name).second) {
      return InFile(path, absl::InvalidArgumentError(absl::StrCat(
                              "a tensor's name is ", Quoted(tensor.name),
                              "; allowed: letters, digits, '.', '_', '-', and "
                              "each name once")));
    }
    const bool counts =
        tensor.shape.size() <= kMaxSafetensorsRank &&
        std::all_of(tensor.shape.begin(), tensor.shape.end(),
                    [](int64_t dimension) { return dimension >= 0; });
    const absl::StatusOr<uint64_t> count =
        counts ? ElementCount(tensor.shape, tensor.elements.size())
               : absl::InvalidArgumentError("");
    if (!count.ok() || *count != tensor.elements.size()) {
      return InFile(path, absl::InvalidArgumentError(absl::StrCat(
                              "tensor ", Quoted(tensor.name), " has shape ",
                              ShapeText(tensor.shape), "; allowed: up to ",
                              kMaxSafetensorsRank, " dimensions of ",
                              tensor.elements.size(), " elements")));
    }
    const uint64_t end = offset + *count * sizeof(Bf16);
    absl::StrAppend(&header, names.size() > 1 ? "," : "", "\"", tensor.name,
                    "\":{\"dtype\":\"BF16\",\"shape\":[",
                    absl::StrJoin(tensor.shape, ","), "],\"data_offsets\":[",
                    offset, ",", end, "]}");
    offset = end;
  }
  header += "}";
  // Data begin at a multiple of 8, as the format asks for.
  header.resize((header.size() + 7) / 8 * 8, ' ');

  const std::string temporary = path + ".tmp";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  const uint64_t length = header.size();
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out.write(header.data(), static_cast<std::streamsize>(header.size()));
  for (const SafetensorsTensor& tensor : tensors) {
    out.write(
        reinterpret_cast<const char*>(tensor.elements.data()),
        static_cast<std::streamsize>(tensor.elements.size() * sizeof(Bf16)));
  }
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(temporary, path, error);
  if (!out || error) {
    std::error_code ignored;
    std::filesystem::remove(temporary, ignored);
    return absl::PermissionDeniedError(
        absl::StrCat(path, ": cannot be written"));
  }
  return absl::OkStatus();
}

}  // namespace zyfa::models
