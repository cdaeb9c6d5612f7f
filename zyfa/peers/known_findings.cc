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

const char* Explain(const AiterKernel& kernel, const emu::Finding& finding) {
  if (finding.rule != "waitcnt") return nullptr;
  if (StartsWith(finding.disassembly, "v_mfma_")) {
    // fmha_v4 reads three V fragments ahead and waits for lgkmcnt(8): the two
    // youngest may be missing. fmha_v3 has the same wait after reading only two
    // ahead, and the last tile of the FP6 kernels waits for lgkmcnt(6) where 4
    // reads follow: one fragment that the next MFMA uses may be missing. Only
    // the MFMAs between, 64 cycles each, make it come in time.
    if (kernel.family == Family::kFmhaV3 &&
        kernel.query.format == Format::kE4m3) {
      return "lgkmcnt(8) with two fragments of four reads outstanding";
    }
    if (kernel.family == Family::kFmhaV4 &&
        kernel.query.format == Format::kE2m3) {
      return "last tile: lgkmcnt(6) with four younger reads";
    }
  }
  if (kernel.family == Family::kFmhaV4 &&
      kernel.query.format == Format::kE2m3 &&
      (StartsWith(finding.disassembly, "global_load_dword v") ||
       StartsWith(finding.disassembly, "v_mul_f32_e32 v"))) {
    // The end overwrites the registers of a K fragment that was read ahead for
    // a tile that does not come, and never waits for that read.
    return "K read ahead behind the last tile, never waited for";
  }
  if (kernel.family == Family::kMlaPaged &&
      StartsWith(finding.disassembly, "v_mul_u32_u24_dpp")) {
    // Addresses of a tile behind the last one, which is not read.
    return "page numbers of a tile that is never used";
  }
  return nullptr;
}

}  // namespace zyfa::peers
