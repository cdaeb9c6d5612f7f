#ifndef ZYFA_BENCH_MIX_CLOCKS_H_
#define ZYFA_BENCH_MIX_CLOCKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "zyfa/bench/mixed_attention.h"
#include "zyfa/launch/device.h"
#include "zyfa/variant/variant.h"

namespace zyfa::bench {

// Modelled: launches one after another.
struct AttentionTime {
  double clocks = 0;
  double milliseconds = 0;  // launch overhead included

  AttentionTime& operator+=(const AttentionTime& other);
};

// A forward pass, as far as its attention goes.
struct PassShape {
  int64_t layers = 0;
  int64_t heads = 0;  // a layer, each with a KV head of its own
  int32_t batch = 0;
  int32_t tokens = 0;
};

// The cycle model's time of causal kernels on Gaussian inputs, each launch
// modelled once.
class MixClocks {
 public:
  // `emulator` must outlive this. `threads`: 0 is one a core.
  MixClocks(Device& emulator, int threads)
      : emulator_(emulator), threads_(threads) {}

  // All layers of a pass: a launch of the kernel `chosen` for a layer's chosen
  // heads and one of `other` for its others, where there are any. Errors are
  // the launch's.
  absl::StatusOr<AttentionTime> OfPass(const PassShape& pass,
                                       const HeadSet& chosen_heads,
                                       const Variant& chosen,
                                       const Variant& other);

 private:
  absl::StatusOr<AttentionTime> OfLaunch(const Variant& variant, int32_t heads,
                                         const PassShape& pass);

  Device& emulator_;
  int threads_;
  std::map<std::string, AttentionTime> launches_;
};

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_MIX_CLOCKS_H_
