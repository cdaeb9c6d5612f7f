#ifndef ZYFA_BENCH_TABLE_H_
#define ZYFA_BENCH_TABLE_H_

#include <string>
#include <vector>

#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// The records as a table for people: a line each, columns that no record fills
// left out; below it the reasons of refused and failed cases, and what
// "modelled" means where there is such a line. Every figure is a field of a
// record, and whether it is modelled or measured stands beside it.
std::string RenderTable(const std::vector<proto::Record>& records);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_TABLE_H_
