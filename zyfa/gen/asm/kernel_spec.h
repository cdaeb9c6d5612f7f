#ifndef ZYFA_GEN_ASM_KERNEL_SPEC_H_
#define ZYFA_GEN_ASM_KERNEL_SPEC_H_

#include <string>
#include <vector>

#include "zyfa/gen/asm/registers.h"

namespace zyfa::gen {

// One kernel argument as the metadata lists it.
struct KernelArg {
  enum class Kind { kByValue, kGlobalBuffer };
  std::string name;
  int offset = 0;  // bytes from the kernel argument pointer
  int size = 0;    // bytes
  Kind kind = Kind::kByValue;
};

// What the pass over outstanding memory operations does with a missing wait.
enum class WaitPolicy {
  kInsert,  // put the weakest sufficient s_waitcnt before the instruction
  kCheck,   // report an error that names the instruction
};

// Everything about a kernel that is not code: descriptor and metadata.
struct KernelSpec {
  std::string name;
  // Printed as a comment at the top, one line each.
  std::vector<std::string> description;

  std::vector<KernelArg> args;
  int kernarg_bytes = 0;
  int lds_bytes = 0;
  int workgroup_size = 256;  // work-items, 1..1024

  // Work-group ids handed over in SGPRs, directly behind the argument pointer.
  bool workgroup_id_x = true;
  bool workgroup_id_y = false;
  bool workgroup_id_z = false;
  // v0 holds x = [9:0]; with 1 also y = [19:10]; with 2 also z = [29:20].
  int workitem_id_dimensions = 0;

  // MODE register at entry. Denormals: 0 flush, 3 keep. Round: 0 nearest even.
  int denorm_mode_32 = 0;
  int denorm_mode_16_64 = 3;
  int round_mode_32 = 0;
  int round_mode_16_64 = 0;
  bool ieee_mode = false;
  bool dx10_clamp = false;
  bool fp16_overflow = false;  // saturate FP8/BF8 conversions

  // Architectural and accumulation VGPRs together: 512 lets one wave run on a
  // SIMD, 256 two, 168 three, 128 four.
  int max_vgprs = kMaxTotalVgprs;

  WaitPolicy wait_policy = WaitPolicy::kInsert;
};

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_KERNEL_SPEC_H_
