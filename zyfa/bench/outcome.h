#ifndef ZYFA_BENCH_OUTCOME_H_
#define ZYFA_BENCH_OUTCOME_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// How a benchmark ends: the records as a table on standard output, what kept it
// from going on, if anything, on standard error behind the program's name.
// Returns the exit status: 0 if every record is well, 1 if one is not, 2 if
// `status` is not or the table could not be written.
int PrintOutcome(const std::string& program,
                 const std::vector<proto::Record>& records,
                 const absl::Status& status);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_OUTCOME_H_
