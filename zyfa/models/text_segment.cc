#include "zyfa/models/text_segment.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/models/regular_file.h"

namespace zyfa::models {

namespace {

// `at_end`: of the last tokens, else of the first.
absl::StatusOr<TextSegment> Read(const std::string& path, int64_t segment,
                                 int64_t tokens, int32_t bos, bool at_end) {
  if (tokens < 1 || tokens > kSegmentBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("tokens is ", tokens, "; allowed: 1 .. ", kSegmentBytes));
  }
  const absl::StatusOr<uint64_t> bytes = RegularFileBytes(path);
  if (!bytes.ok()) return InFile(path, bytes.status());
  const int64_t segments = static_cast<int64_t>(*bytes / kSegmentBytes);
  if (segment < 0 || segment >= segments) {
    return InFile(
        path,
        absl::InvalidArgumentError(absl::StrCat(
            "segment is ", segment, "; allowed: 0 and more, below ", segments,
            ", the number of ", kSegmentBytes, "-byte segments")));
  }
  std::string text(tokens, '\0');
  const int64_t offset =
      segment * kSegmentBytes + (at_end ? kSegmentBytes - tokens : 0);
  if (absl::Status status = ReadFileAt(path, offset, text.data(), tokens);
      !status.ok()) {
    return InFile(path, status);
  }
  TextSegment result;
  for (const char byte : text) {
    result.targets.push_back(static_cast<unsigned char>(byte));
  }
  result.tokens.push_back(bos);
  result.tokens.insert(result.tokens.end(), result.targets.begin(),
                       result.targets.end() - 1);
  return result;
}

}  // namespace

absl::StatusOr<TextSegment> ReadTextSegment(const std::string& path,
                                            int64_t segment, int64_t tokens,
                                            int32_t bos) {
  return Read(path, segment, tokens, bos, /*at_end=*/false);
}

absl::StatusOr<TextSegment> ReadTextSegmentEnd(const std::string& path,
                                               int64_t segment, int64_t tokens,
                                               int32_t bos) {
  return Read(path, segment, tokens, bos, /*at_end=*/true);
}

}  // namespace zyfa::models
