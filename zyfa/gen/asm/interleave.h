#ifndef ZYFA_GEN_ASM_INTERLEAVE_H_
#define ZYFA_GEN_ASM_INTERLEAVE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/gen/asm/instruction.h"

namespace zyfa::gen {

// A stream whose operations go behind the anchors of another one.
struct Filler {
  Stream stream;
  // Behind anchor i go after[i % after.size()] operations of the stream. Empty:
  // the stream is spread evenly over the anchors.
  std::vector<int> after;
};

enum class InterleaveCheck {
  // No register may be written by one stream and touched by another.
  kIndependent,
  // The result must equal main, then the fillers one after the other: only
  // pairs that the merge puts into the other order must be independent.
  kSequential,
  // The caller answers for the order.
  kNone,
};

struct InterleaveOptions {
  InterleaveCheck check = InterleaveCheck::kIndependent;
  // Operations of the main stream behind which fillers may go; by default the
  // matrix instructions.
  std::function<bool(const Instruction&)> anchor;
};

// Merges the fillers into `main`: behind each anchor come operations of the
// first filler, then of the second, and so on. Order inside each stream is
// kept; what is left goes to the end. With a single stream the result is that
// stream.
//
// SCC written and never read by either stream is no conflict. Errors
// (InvalidArgument), unless the check is kNone: a dependency as above, named
// with both instructions; a label, branch or barrier in a filler; an explicit
// wait in one stream for a counter which another stream raises.
absl::StatusOr<Stream> InterleaveStreams(const Stream& main,
                                         const std::vector<Filler>& fillers,
                                         const InterleaveOptions& options);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_INTERLEAVE_H_
