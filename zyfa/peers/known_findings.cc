#include "zyfa/peers/known_findings.h"

#include <string>

#include "zyfa/emu/finding.h"
#include "zyfa/peers/aiter_kernel.h"

namespace zyfa::peers {
namespace {

bool StartsWith(const std::string& text, const char* prefix) {
  return text.rfind(prefix, 0) == 0;
}

}  // namespace

// All of these read V fragments (one operand of a 32x32x64 MFMA) ahead with
// ds_read_b64_tr_* and wait for lgkmcnt(8) before each use. That is right in
// fmha_v4 with FP8 V: four reads a fragment, three fragments ahead. Where it is
// not, only the MFMAs between read and use, 64 cycles each, let data arrive.
const char* Explain(const AiterKernel& kernel, const emu::Finding& finding) {
  if (finding.rule == "lds-race") {
    // Tiles come straight into LDS that slower waves of the same barrier
    // interval still read; similar speed and the way to memory hide it.
    if (finding.disassembly.find(" lds") != std::string::npos) {
      return "a load into a tile that slower waves still read (ISA 5.3)";
    }
    if (kernel.family == Family::kFmhaV4 &&
        kernel.query.format == Format::kE2m1 &&
        (StartsWith(finding.disassembly, "global_load_lds_") ||
         StartsWith(finding.disassembly, "ds_read_b32"))) {
      return "every wave loads the same scales to the same place";
    }
    return nullptr;
  }
  if (StartsWith(finding.rule, "hazard-matrix-result") &&
      kernel.family == Family::kFmhaV4 &&
      kernel.query.format == Format::kE2m3 &&
      kernel.value.format == Format::kE2m1) {
    // The smfmac of the row sums, a product that waits for it, two LDS reads,
    // then the sum's use: 7 wait states of 8 if the product's stall counts.
    return "row sums: one wait state short, the product between counted";
  }
  if (finding.rule != "waitcnt") return nullptr;
  const bool matrix = StartsWith(finding.disassembly, "v_mfma_");
  switch (kernel.family) {
    case Family::kFmhaV3:
      if (matrix && kernel.value.format == Format::kE4m3) {
        return "lgkmcnt(8) while only two fragments of four reads are ahead";
      }
      return nullptr;
    case Family::kFmhaV4:
      if (kernel.query.format != Format::kE2m3) return nullptr;
      if (matrix && kernel.value.format == Format::kE2m1) {
        return "lgkmcnt(8) for FP4 fragments, which take two reads each";
      }
      if (matrix) return "lgkmcnt(6) with four younger reads";
      if (StartsWith(finding.disassembly, "global_load_dword v") ||
          StartsWith(finding.disassembly, "v_mul_f32_e32 v")) {
        return "registers of a K fragment read ahead behind the last tile";
      }
      return nullptr;
    case Family::kMlaPaged:
      if (StartsWith(finding.disassembly, "v_mul_u32_u24_dpp")) {
        return "page numbers of a tile behind the last, which is not used";
      }
      return nullptr;
    case Family::kMlaPs:
      return nullptr;
  }
  return nullptr;
}

}  // namespace zyfa::peers
