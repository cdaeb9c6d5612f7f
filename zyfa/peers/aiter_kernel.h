#ifndef ZYFA_PEERS_AITER_KERNEL_H_
#define ZYFA_PEERS_AITER_KERNEL_H_

#include <string>
#include <vector>

#include "zyfa/reference/problem.h"

namespace zyfa::peers {

// Element format of one operand.
enum class Format { kBf16, kE4m3, kInt8, kE2m3, kE2m1 };

// Which elements share a scale, and what the scale is.
enum class Scaling {
  kNone,
  kPerTensor,   // one float
  kPerChannel,  // a float for each head and column
  kPerBlock,    // an E8M0 byte for 32 elements along the dot product
};

struct OperandFormat {
  Format format = Format::kBf16;
  Scaling scaling = Scaling::kNone;
  bool operator==(const OperandFormat&) const = default;
};

// What selects a kernel's argument block and the meaning of its operands.
enum class Family {
  kFmhaV3,    // fmha_v3_fwd: 656 bytes (the BF16 kernels read the first 512)
  kFmhaV4,    // fmha_v4_fwd: the same block, more formats, no LSE
  kMlaPs,     // mla_pfl_qh192_vh128: work lists, paged K and V
  kMlaPaged,  // mla_pfl_bf16_a16w16: one latent K/V of 576 for all heads
};

// One code object of ROCm/aiter's hsa/gfx950 that computes forward attention.
struct AiterKernel {
  const char* folder = "";  // below hsa/gfx950
  const char* file = "";
  const char* symbol = "";  // the kernel's name in the metadata
  Family family = Family::kFmhaV3;
  OperandFormat query, key, value;
  int head_dim_qk = 128;
  int head_dim_v = 128;
  reference::Mask mask = reference::Mask::kFull;
  bool group = false;    // sequences of different lengths behind each other
  int query_tile = 256;  // query rows a work-group
  int threads = 512;     // of a work-group
  int head_ratio = 0;    // query heads a key head; 0: any
  // Keys must be a multiple of this. fmha_v4 with a tiled K or V and a buffer
  // descriptor of keys * seq_stride bytes loses the rest of a partial tile.
  int key_multiple = 1;
};

// All kernels of fmha_v3_fwd, fmha_v4_fwd and the prefill kernels of mla: the
// manifests (fmha_fwd.csv, fmha_v4_fwd.csv, mla_asm.csv) and launchers of
// commit e4048607.
const std::vector<AiterKernel>& AiterKernels();

// "fmha_v3_fwd/fwd_hd128_bf16": folder and file without ".co". Unique, unlike
// the kernel's symbol.
std::string Name(const AiterKernel& kernel);

// "fmha_v3_fwd__fwd_hd128_bf16.co": the file's name in a flat folder.
std::string FlatFileName(const AiterKernel& kernel);

// nullptr if there is none of that flat file name.
const AiterKernel* FindByFlatFileName(const std::string& file_name);

const char* ToString(Format format);

// "bf16", "e4m3/e4m3/e2m1": the operands' formats.
std::string FormatsName(const AiterKernel& kernel);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_AITER_KERNEL_H_
