#ifndef ZYFA_BENCH_LOSS_TABLE_H_
#define ZYFA_BENCH_LOSS_TABLE_H_

#include <string>
#include <vector>

#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// Records of whole models as tables for people, two for each model: losses, and
// paired differences. Every figure is a field of a record.
std::string RenderLoss(const std::vector<proto::Record>& records);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LOSS_TABLE_H_
