#ifndef ZYFA_BENCH_OPEN_RECORDS_H_
#define ZYFA_BENCH_OPEN_RECORDS_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "zyfa/proto/record_file.h"

namespace zyfa::bench {

// The file of --records, which --append adds to; nothing if `path` is empty.
// Errors of RecordFile::Open(); InvalidArgument if there is nothing to append
// to.
absl::StatusOr<std::optional<proto::RecordFile>> OpenRecords(
    const std::string& path, bool append);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_OPEN_RECORDS_H_
