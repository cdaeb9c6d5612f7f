#ifndef ZYFA_MODELS_TEXT_SEGMENT_H_
#define ZYFA_MODELS_TEXT_SEGMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace zyfa::models {

// A text is cut into segments of so many bytes, each on its own.
inline constexpr int64_t kSegmentBytes = 16384;

// The start of a segment as a model takes it: tokens bos, b0, b1 ..; targets
// b0, b1, b2 .. .
struct TextSegment {
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;
};

// The first `tokens` of segment `segment` of the file at `path`. NotFound if
// there is no such file; InvalidArgument if `tokens` is not in 1 ..
// kSegmentBytes or the file has no such segment.
absl::StatusOr<TextSegment> ReadTextSegment(const std::string& path,
                                            int64_t segment, int64_t tokens,
                                            int32_t bos);

// The same of its last `tokens`, as if the text began with them.
absl::StatusOr<TextSegment> ReadTextSegmentEnd(const std::string& path,
                                               int64_t segment, int64_t tokens,
                                               int32_t bos);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_TEXT_SEGMENT_H_
