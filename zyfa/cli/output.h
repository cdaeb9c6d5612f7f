#ifndef ZYFA_CLI_OUTPUT_H_
#define ZYFA_CLI_OUTPUT_H_

#include "absl/status/status.h"

namespace zyfa::cli {

// OK if all that was written to standard output got there, which a full disk
// shows only now. For the end of main().
absl::Status FlushOutput();

}  // namespace zyfa::cli

#endif  // ZYFA_CLI_OUTPUT_H_
