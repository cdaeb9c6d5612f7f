#include "zyfa/emu/launch_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace zyfa::emu {
namespace {

class ParseErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    absl::StrAppend(&text_, text_.empty() ? "" : "; ", line + 1, ":",
                    column + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::Status Invalid(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("launch: ", what));
}

std::string Resolve(const std::string& directory, const std::string& path) {
  return (std::filesystem::path(directory) / path).string();
}

absl::Status ReadExtent(const char* name, bool present, const Extent& extent,
                        uint32_t out[3]) {
  const bool given[3] = {extent.has_x(), extent.has_y(), extent.has_z()};
  const uint32_t values[3] = {extent.x(), extent.y(), extent.z()};
  for (int d = 0; d < 3; ++d) {
    out[d] = present && given[d] ? values[d] : 1;
    if (out[d] == 0) {
      return Invalid(absl::StrCat(name, ".", std::string(1, "xyz"[d]),
                                  " is 0, at least 1 is needed"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> PlaceBuffer(const Buffer& buffer,
                                     const std::string& directory,
                                     const std::string& where,
                                     DeviceMemory& memory) {
  if (buffer.fill() > 255) {
    return Invalid(absl::StrCat(where, ".fill is ", buffer.fill(),
                                ", a byte is 0 to 255"));
  }
  std::vector<uint8_t> content;
  if (buffer.has_file()) {
    absl::StatusOr<std::vector<uint8_t>> read =
        ReadBytes(Resolve(directory, buffer.file()));
    if (!read.ok()) return read.status();
    content = *std::move(read);
    if (content.size() > buffer.bytes()) {
      return Invalid(absl::StrCat(where, ".file ", buffer.file(), " has ",
                                  content.size(), " bytes, the buffer ",
                                  buffer.bytes()));
    }
  }
  absl::StatusOr<uint64_t> address = memory.Allocate(buffer.bytes());
  if (!address.ok()) return address;
  if (buffer.fill() != 0) {
    // Straight into place: the buffer may be much larger than its file.
    uint8_t* host = memory.Translate(*address, buffer.bytes());
    if (host != nullptr) {
      std::memset(host, static_cast<int>(buffer.fill()), buffer.bytes());
    }
  }
  absl::Status status = memory.Write(*address, content);
  if (!status.ok()) return status;
  return address;
}

// The argument's bytes.
absl::StatusOr<std::vector<uint8_t>> ArgumentBytes(
    const Argument& argument, const std::string& directory,
    const std::string& where, DeviceMemory& memory,
    std::vector<PreparedLaunch::Output>& outputs) {
  const auto bytes_of = [](auto value) {
    std::vector<uint8_t> bytes(sizeof(value));
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
  };
  switch (argument.value_case()) {
    case Argument::kU32:
      return bytes_of(argument.u32());
    case Argument::kI32:
      return bytes_of(argument.i32());
    case Argument::kF32:
      return bytes_of(argument.f32());
    case Argument::kU64:
      return bytes_of(argument.u64());
    case Argument::kBuffer:
      break;
    case Argument::VALUE_NOT_SET:
      return Invalid(absl::StrCat(
          where, " has no value: one of u32, i32, f32, u64, buffer is needed"));
  }
  const Buffer& buffer = argument.buffer();
  absl::StatusOr<uint64_t> address =
      PlaceBuffer(buffer, directory, where + ".buffer", memory);
  if (!address.ok()) return address.status();
  if (buffer.has_out()) {
    outputs.push_back(
        {Resolve(directory, buffer.out()), *address, buffer.bytes()});
  }
  return bytes_of(*address);
}

}  // namespace

absl::StatusOr<std::vector<uint8_t>> ReadBytes(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return absl::NotFoundError(absl::StrCat(path, " is no file"));
  }
  std::ifstream stream(path, std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(stream)),
                             std::istreambuf_iterator<char>());
  if (!stream.good() && !stream.eof()) {
    return absl::NotFoundError(absl::StrCat("cannot read ", path));
  }
  return bytes;
}

absl::Status WriteBytes(const std::string& path, const uint8_t* bytes,
                        size_t count) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(bytes),
               static_cast<std::streamsize>(count));
  stream.close();
  if (!stream) {
    return absl::PermissionDeniedError(absl::StrCat("cannot write ", path));
  }
  return absl::OkStatus();
}

absl::StatusOr<Launch> ReadLaunchFile(const std::string& path) {
  absl::StatusOr<std::vector<uint8_t>> bytes = ReadBytes(path);
  if (!bytes.ok()) return bytes.status();
  Launch launch;
  ParseErrors errors;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&errors);
  if (!parser.ParseFromString(std::string(bytes->begin(), bytes->end()),
                              &launch)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", errors.text()));
  }
  return launch;
}

absl::StatusOr<PreparedLaunch> PrepareLaunch(const Launch& launch,
                                             const std::string& directory,
                                             DeviceMemory& memory) {
  PreparedLaunch prepared;
  if (launch.code_object().empty()) return Invalid("code_object is missing");
  if (launch.kernel().empty()) return Invalid("kernel is missing");
  prepared.kernel = launch.kernel();
  for (absl::Status status :
       {ReadExtent("grid", launch.has_grid(), launch.grid(),
                   prepared.shape.grid),
        ReadExtent("workgroup", launch.has_workgroup(), launch.workgroup(),
                   prepared.shape.workgroup)}) {
    if (!status.ok()) return status;
  }
  prepared.shape.dynamic_lds_bytes = launch.dynamic_lds_bytes();
  absl::StatusOr<std::vector<uint8_t>> code =
      ReadBytes(Resolve(directory, launch.code_object()));
  if (!code.ok()) return code.status();
  prepared.code_object = *std::move(code);

  constexpr uint32_t kMaxKernargBytes = 1 << 16;
  if (launch.kernarg_bytes() > kMaxKernargBytes) {
    return Invalid(absl::StrCat("kernarg_bytes is ", launch.kernarg_bytes(),
                                ", at most ", kMaxKernargBytes));
  }
  prepared.kernarg.resize(launch.kernarg_bytes());
  std::vector<bool> taken(launch.kernarg_bytes());
  for (int a = 0; a < launch.arg_size(); ++a) {
    const Argument& argument = launch.arg(a);
    const std::string where = absl::StrCat("arg[", a, "]");
    absl::StatusOr<std::vector<uint8_t>> bytes =
        ArgumentBytes(argument, directory, where, memory, prepared.outputs);
    if (!bytes.ok()) return bytes.status();
    const uint64_t end = uint64_t{argument.offset()} + bytes->size();
    if (end > prepared.kernarg.size()) {
      return Invalid(absl::StrCat(where, " at offset ", argument.offset(),
                                  " ends at byte ", end, ", kernarg_bytes is ",
                                  launch.kernarg_bytes()));
    }
    for (size_t i = 0; i < bytes->size(); ++i) {
      const size_t at = argument.offset() + i;
      if (taken[at]) {
        return Invalid(absl::StrCat(where, " at offset ", argument.offset(),
                                    " overlaps another argument"));
      }
      taken[at] = true;
      prepared.kernarg[at] = (*bytes)[i];
    }
  }
  return prepared;
}

absl::StatusOr<PreparedLaunch> LoadLaunch(const std::string& path,
                                          DeviceMemory& memory) {
  const absl::StatusOr<Launch> launch = ReadLaunchFile(path);
  if (!launch.ok()) return launch.status();
  return PrepareLaunch(
      *launch, std::filesystem::path(path).parent_path().string(), memory);
}

absl::Status WriteOutputs(const PreparedLaunch& prepared,
                          const DeviceMemory& memory) {
  for (const PreparedLaunch::Output& output : prepared.outputs) {
    const uint8_t* host = memory.Translate(output.address, output.bytes);
    if (host == nullptr && output.bytes > 0) {
      return absl::InternalError(
          absl::StrCat("no memory behind output ", output.path));
    }
    absl::Status status = WriteBytes(output.path, host, output.bytes);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace zyfa::emu
