#ifndef ZYFA_BENCH_CAPTURED_TABLE_H_
#define ZYFA_BENCH_CAPTURED_TABLE_H_

#include <string>
#include <vector>

#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// Records of study CAPTURED_SPEED as a table for people, a line each, in their
// order: a record with a source beside the one without of its variant and
// length, which has Gaussian inputs. Every figure is a field of a record or the
// quotient of two.
std::string RenderCaptured(const std::vector<proto::Record>& records);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_CAPTURED_TABLE_H_
