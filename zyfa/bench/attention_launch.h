#ifndef ZYFA_BENCH_ATTENTION_LAUNCH_H_
#define ZYFA_BENCH_ATTENTION_LAUNCH_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "zyfa/bench/sweep.h"

namespace zyfa::bench {

// Writes one launch of a kernel with Gaussian inputs as files that the tools of
// zyfa/emu take: in the folder `directory`, which is made if need be,
// kernel.co, query.bin, key.bin, value.bin, of INT8 kernels query_shift.bin and
// key_multiplier.bin, and launch.textproto (zyfa/emu/launch.proto). The output
// goes to output.bin there. `seed`: of the inputs. InvalidArgument if
// the kernel cannot do the case or needs more than one launch for it,
// PermissionDenied if a file cannot be written.
absl::Status WriteAttentionLaunch(const Case& c, uint32_t seed,
                                  const std::string& directory);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_ATTENTION_LAUNCH_H_
