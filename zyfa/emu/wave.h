#ifndef ZYFA_EMU_WAVE_H_
#define ZYFA_EMU_WAVE_H_

#include <cstdint>
#include <string>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/matrix_model.h"

namespace zyfa::emu {

inline constexpr int kLanes = 64;
inline constexpr int kVgprs = 256;  // architectural; as many AGPRs follow

struct Group;  // the work-group: LDS, memory, barrier (see group.h)

// MODE register fields (hwreg 1), ISA 4.
struct Mode {
  uint32_t bits = 0;
  int round_f32() const { return bits & 3; }  // 0 nearest even
  int round_f16_f64() const { return bits >> 2 & 3; }
  bool denorm_in_f32() const { return bits >> 4 & 1; }  // keep denormal inputs
  bool denorm_out_f32() const {
    return bits >> 5 & 1;
  }  // keep denormal results
  bool denorm_in_f16_f64() const { return bits >> 6 & 1; }
  bool denorm_out_f16_f64() const { return bits >> 7 & 1; }
  bool dx10_clamp() const { return bits >> 8 & 1; }
  bool ieee() const { return bits >> 9 & 1; }
  bool fp16_ovfl() const { return bits >> 23 & 1; }
};

enum class WaveSignal : uint8_t { kNone, kBarrier, kEnd, kFault };

// Architectural state of one wave of 64 lanes.
struct Wave {
  // vgpr[n][lane]; rows 0..255 architectural, 256..511 accumulation registers.
  alignas(64) uint32_t vgpr[2 * kVgprs][kLanes];
  uint32_t sgpr[128];  // by hardware number; EXEC is kept in `exec` instead
  uint64_t exec = 0;
  uint64_t pc = 0;  // byte offset inside .text
  bool scc = false;
  Mode mode;
  MatrixModel matrix_model = MatrixModel::kExact;
  Group* group = nullptr;
  int index = 0;  // number of the wave in its work-group

  // Set by an instruction after which another wave may have to run.
  WaveSignal signal = WaveSignal::kNone;

  // A handler that meets a combination it has no semantics for sets this; the
  // run stops with it.
  std::string error;

  uint64_t vcc() const {
    return sgpr[kVccLo] | static_cast<uint64_t>(sgpr[kVccLo + 1]) << 32;
  }
  void set_vcc(uint64_t value) {
    sgpr[kVccLo] = static_cast<uint32_t>(value);
    sgpr[kVccLo + 1] = static_cast<uint32_t>(value >> 32);
  }
  // One scalar register by hardware number, EXEC and SCC included.
  uint32_t ReadScalar32(int number) const {
    if (number == kExecLo) return static_cast<uint32_t>(exec);
    if (number == kExecLo + 1) return static_cast<uint32_t>(exec >> 32);
    if (number >= kSrcSharedBase) return ReadSpecial32(number);
    return sgpr[number & 127];
  }
  uint64_t ReadScalar64(int number) const {
    if (number == kSrcSharedBase) return kSharedAperture;
    if (number == kSrcPrivateBase) return kPrivateAperture;
    if (number == kSrcSharedBase + 1) return kSharedAperture | 0xffffffffull;
    if (number == kSrcPrivateBase + 1) return kPrivateAperture | 0xffffffffull;
    return ReadScalar32(number) |
           static_cast<uint64_t>(ReadScalar32(number + 1)) << 32;
  }
  void WriteScalar32(int number, uint32_t value) {
    if (number == kExecLo) {
      exec = (exec & ~0xffffffffull) | value;
    } else if (number == kExecLo + 1) {
      exec = (exec & 0xffffffffull) | static_cast<uint64_t>(value) << 32;
    } else {
      sgpr[number & 127] = value;
    }
  }
  void WriteScalar64(int number, uint64_t value) {
    WriteScalar32(number, static_cast<uint32_t>(value));
    WriteScalar32(number + 1, static_cast<uint32_t>(value >> 32));
  }
  uint32_t ReadSpecial32(int number) const {
    if (number == kSrcVccz) return vcc() == 0 ? 1 : 0;
    if (number == kSrcExecz) return exec == 0 ? 1 : 0;
    if (number == kSrcScc) return scc ? 1 : 0;
    return 0;  // the apertures' low halves
  }
  // Row of a vector-register operand.
  static int Row(const Operand& operand) {
    return operand.index + (operand.kind == OperandKind::kAgpr ? kVgprs : 0);
  }
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_WAVE_H_
