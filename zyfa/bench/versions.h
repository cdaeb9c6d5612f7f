#ifndef ZYFA_BENCH_VERSIONS_H_
#define ZYFA_BENCH_VERSIONS_H_

#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// What this program and its kernels were built with.
proto::Versions BuildVersions();

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_VERSIONS_H_
