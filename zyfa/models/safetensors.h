#ifndef ZYFA_MODELS_SAFETENSORS_H_
#define ZYFA_MODELS_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::models {

// Files of named bf16 tensors in the safetensors format: 8 bytes, the length of
// the header (little-endian); the header, a JSON object of
//   "name": {"dtype": "BF16", "shape": [..], "data_offsets": [begin, end]}
// and perhaps "__metadata__", an object of strings; then the data, row-major.

inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 1 << 20;
inline constexpr size_t kMaxSafetensorsRank = 8;

class SafetensorsFile {
 public:
  // Reads and checks the header: every tensor is BF16, lies in the file and has
  // as many bytes as its shape says; together they cover the data without gap
  // or overlap. NotFound if `path` is no regular file that can be read, else
  // InvalidArgument or DataLoss; each names the file, the tensor, the value and
  // what is allowed. What is allocated is bounded by the file's size and by
  // kMaxSafetensorsHeaderBytes, whatever the header says.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  const std::string& path() const { return path_; }

  // Shapes by name.
  const std::map<std::string, std::vector<int64_t>>& shapes() const {
    return shapes_;
  }

  // The shape of a tensor; InvalidArgument if there is none of that name.
  absl::StatusOr<std::vector<int64_t>> Shape(const std::string& name) const;

  // The elements of a tensor, which must have that shape: InvalidArgument if
  // there is none of that name or it has another; DataLoss if the file has
  // become shorter.
  absl::StatusOr<std::vector<numerics::Bf16>> Read(
      const std::string& name, const std::vector<int64_t>& shape) const;

 private:
  explicit SafetensorsFile(const std::string& path) : path_(path) {}

  absl::Status ReadHeader();

  std::string path_;
  std::map<std::string, std::vector<int64_t>> shapes_;
  std::map<std::string, uint64_t> offsets_;  // in the file, in bytes
};

struct SafetensorsTensor {
  std::string name;
  std::vector<int64_t> shape;
  absl::Span<const numerics::Bf16> elements;
};

// Writes such a file, or replaces it in one step. InvalidArgument, before
// anything is written, if a name is empty, repeated or has other characters
// than letters, digits, '.', '_' and '-', or a shape does not fit its elements.
absl::Status WriteSafetensors(const std::string& path,
                              absl::Span<const SafetensorsTensor> tensors);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_SAFETENSORS_H_
