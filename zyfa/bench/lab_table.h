#ifndef ZYFA_BENCH_LAB_TABLE_H_
#define ZYFA_BENCH_LAB_TABLE_H_

#include <string>
#include <vector>

#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// Records of the studies of attention calls as tables for people: a column a
// source, in order of appearance, behind them means of those that share all of
// their name up to " layer", and of all. Means of errors are arithmetic, of
// ratios geometric. Every figure is a field of a record, such a mean or the
// quotient of two. Bars of the project stand beside their ratios. Studies
// without records are left out.
std::string RenderLab(const std::vector<proto::Record>& records);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LAB_TABLE_H_
