#ifndef ZYFA_BENCH_LADDER_TABLE_H_
#define ZYFA_BENCH_LADDER_TABLE_H_

#include <string>
#include <vector>

#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// The ladder as tables for people, a line for each rung that has a record
// (rung.h): errors with a column for each input_distribution, in order of
// appearance and their mean behind them, slow paths likewise, then speed by
// head dim. Every figure is a field of a record, such a mean or the quotient of
// two. Tables without figures are left out.
std::string RenderLadder(const std::vector<proto::Record>& records);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LADDER_TABLE_H_
