#ifndef ZYFA_BENCH_LOSS_RECORDS_H_
#define ZYFA_BENCH_LOSS_RECORDS_H_

#include <vector>

#include "zyfa/bench/loss_study.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// Segments' losses as estimates of a record: KL, bits per byte and how many
// more these are than with `exact` attention, on the same segments.
void SetLoss(const std::vector<SegmentLoss>& losses,
             const std::vector<SegmentLoss>& exact, proto::ModelLoss& loss);

// How much more KL the one has than the other, on the same segments.
void SetDifference(const std::vector<SegmentLoss>& of,
                   const std::vector<SegmentLoss>& from,
                   proto::ModelLoss& loss);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LOSS_RECORDS_H_
