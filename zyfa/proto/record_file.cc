#include "zyfa/proto/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"

namespace zyfa::proto {
namespace {

namespace fs = std::filesystem;

absl::Status Annotate(const absl::Status& status, const std::string& path) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat("records file '", path,
                                                  "': ", status.message()));
}

// OK if `path` is a regular file or nothing at all.
absl::Status CheckKind(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found ||
      fs::is_regular_file(status)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      error ? error.message() : std::string("is not a regular file"));
}

absl::StatusOr<std::string> ReadBytes(const std::string& path) {
  if (absl::Status status = CheckKind(path); !status.ok()) return status;
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return absl::ErrnoToStatus(errno, "cannot be opened");
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) return absl::DataLossError("cannot be read");
  return bytes;
}

// A file of its own beside `path`, for a rename onto it.
class TemporaryFile {
 public:
  static absl::StatusOr<TemporaryFile> Create(const std::string& path) {
    std::string name = absl::StrCat(path, ".", getpid(), ".tmp");
    const int fd =
        open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
      return absl::ErrnoToStatus(errno, "no file can be made in its directory");
    }
    return TemporaryFile(std::move(name), fd);
  }

  TemporaryFile(TemporaryFile&& other)
      : name_(std::exchange(other.name_, "")),
        fd_(std::exchange(other.fd_, -1)) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (fd_ >= 0) close(fd_);
    if (!name_.empty()) unlink(name_.c_str());
  }

  absl::Status Write(const std::string& bytes) {
    for (size_t done = 0; done < bytes.size();) {
      const ssize_t n = write(fd_, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return absl::ErrnoToStatus(errno, "cannot be written");
      done += n;
    }
    return absl::OkStatus();
  }

  // Gives the file the name `path` and, if it replaces one, its access rights.
  absl::Status RenameTo(const std::string& path) {
    struct stat old;
    if ((stat(path.c_str(), &old) == 0 && fchmod(fd_, old.st_mode) != 0) ||
        fsync(fd_) != 0 || rename(name_.c_str(), path.c_str()) != 0) {
      return absl::ErrnoToStatus(errno, "cannot be replaced");
    }
    name_.clear();
    return absl::OkStatus();
  }

 private:
  TemporaryFile(std::string name, int fd) : name_(std::move(name)), fd_(fd) {}

  std::string name_;
  int fd_;
};

}  // namespace

absl::StatusOr<std::vector<Record>> ReadRecords(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadBytes(path);
  if (!bytes.ok()) return Annotate(bytes.status(), path);
  absl::StatusOr<std::vector<Record>> records =
      DecodeRecords(*bytes, RecordFormatOf(path));
  if (!records.ok()) return Annotate(records.status(), path);
  return records;
}

absl::StatusOr<RecordFile> RecordFile::Open(const std::string& path,
                                            RecordFileMode mode) {
  if (path.empty()) {
    return absl::InvalidArgumentError("records file has no name");
  }
  if (absl::Status status = CheckKind(path); !status.ok()) {
    return Annotate(status, path);
  }
  // Through a symbolic link, so that the rename replaces its target.
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("records file '", path, "': ", error.message()));
  }
  RecordFile file(resolved.string(), RecordFormatOf(path));
  if (absl::StatusOr<TemporaryFile> probe = TemporaryFile::Create(file.path_);
      !probe.ok()) {
    return Annotate(probe.status(), path);
  }
  if (mode == RecordFileMode::kAppend && fs::exists(resolved, error)) {
    absl::StatusOr<std::string> bytes = ReadBytes(file.path_);
    if (!bytes.ok()) return Annotate(bytes.status(), path);
    if (absl::Status status = DecodeRecords(*bytes, file.format_).status();
        !status.ok()) {
      return Annotate(status, path);
    }
    file.bytes_ = *std::move(bytes);
    if (file.format_ == RecordFormat::kJsonLines && !file.bytes_.empty() &&
        file.bytes_.back() != '\n') {
      file.bytes_ += '\n';
    }
  }
  return file;
}

absl::Status RecordFile::Add(const Record& record) {
  std::string bytes = bytes_;
  absl::Status status = EncodeRecord(record, format_, bytes);
  if (!status.ok()) return Annotate(status, path_);
  absl::StatusOr<TemporaryFile> file = TemporaryFile::Create(path_);
  if (!file.ok()) return Annotate(file.status(), path_);
  status = file->Write(bytes);
  if (status.ok()) status = file->RenameTo(path_);
  if (!status.ok()) return Annotate(status, path_);
  bytes_ = std::move(bytes);
  return absl::OkStatus();
}

}  // namespace zyfa::proto
