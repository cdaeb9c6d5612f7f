#ifndef ZYFA_GEN_ASM_OPERANDS_H_
#define ZYFA_GEN_ASM_OPERANDS_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "zyfa/gen/asm/registers.h"

namespace zyfa::gen {

// A constant: 32 bits with the way they are meant. The instruction prints the
// inline form (-16..64, +-0.5, +-1, +-2, +-4, 1/(2 pi)) where one exists and a
// 32-bit literal elsewhere.
class Imm {
 public:
  enum class Kind : uint8_t {
    kInteger,     // a number
    kFloat,       // the bits of an F32
    kBits,        // bits for any operand type
    kOutOfRange,  // did not fit into 32 bits; refused
  };

  // Any integer in [-2^31, 2^32).
  template <typename T>
    requires(std::integral<T> && !std::same_as<T, bool>)
  constexpr Imm(T value)
      : bits_(static_cast<uint32_t>(value)), kind_(KindOf(value)) {}
  // Say F32(x) or Bits(x): a bare float could be meant for a double or half.
  template <typename T>
    requires std::floating_point<T>
  Imm(T) = delete;

  constexpr Imm(Kind kind, uint32_t bits) : bits_(bits), kind_(kind) {}

  constexpr uint32_t bits() const { return bits_; }
  constexpr Kind kind() const { return kind_; }
  // Whether an instruction can encode it without a literal dword.
  bool IsInline() const;
  std::string Text() const;

 private:
  template <typename T>
  static constexpr Kind KindOf(T value) {
    if constexpr (std::is_signed_v<T>) {
      if (static_cast<int64_t>(value) < -(int64_t{1} << 31)) {
        return Kind::kOutOfRange;
      }
      if (static_cast<int64_t>(value) >= (int64_t{1} << 32)) {
        return Kind::kOutOfRange;
      }
    } else if (static_cast<uint64_t>(value) >= (uint64_t{1} << 32)) {
      return Kind::kOutOfRange;
    }
    return Kind::kInteger;
  }

  uint32_t bits_;
  Kind kind_;
};

// The F32 constant x. An F32 operand takes no plain integer other than 0,
// because 1 there would mean the denormal 2^-149.
Imm F32(float x);
// Raw bits, accepted by operands of every 32-bit type.
constexpr Imm Bits(uint32_t bits) { return Imm(Imm::Kind::kBits, bits); }

// "No address": the MUBUF form without a VGPR offset, the global form without
// an SGPR base.
struct Off {};
inline constexpr Off off{};

// A place in the code. Made by Assembler::NewLabel.
struct Label {
  int id = -1;
};

// Any operand of an instruction, after the typed classes below have checked
// what C++ can check.
struct Operand {
  enum class Kind : uint8_t { kNone, kRegister, kImm, kOff, kLabel };
  Kind kind = Kind::kNone;
  RegisterFile file = RegisterFile::kScalar;
  int first = -1;  // register number
  int count = 0;   // registers
  int owner = 0;   // allocation id, 0 for a range by number
  Imm imm = Imm(0);
  int label = -1;
  bool negate = false;
  bool absolute = false;

  bool IsRegister() const { return kind == Kind::kRegister; }
  bool IsRegister(RegisterFile f) const { return IsRegister() && file == f; }
  bool IsImm() const { return kind == Kind::kImm; }
  bool IsOff() const { return kind == Kind::kOff; }
  bool valid_register() const { return first >= 0 && count > 0; }

  template <RegisterFile kFile>
  static Operand Of(const RegisterRange<kFile>& r) {
    Operand o;
    o.kind = Kind::kRegister;
    o.file = kFile;
    o.first = r.first();
    o.count = r.count();
    o.owner = r.owner();
    return o;
  }
  static Operand Of(const Imm& imm);
  static Operand Of(Off);
  static Operand Of(Label label);
};

template <typename T>
concept ImmLike = std::convertible_to<T, Imm> && !std::same_as<T, bool> &&
                  (std::integral<T> || std::same_as<T, Imm>);

// Operand classes convert implicitly, so that a kernel names registers and
// numbers directly; what does not convert is an operand of the wrong class.

// Source of a scalar instruction: SGPRs, a special scalar or a constant.
class SSrc {
 public:
  SSrc(const SReg& r) : operand_(Operand::Of(r)) {}
  template <ImmLike T>
  SSrc(T value) : operand_(Operand::Of(Imm(value))) {}
  const Operand& operand() const { return operand_; }

 private:
  Operand operand_;
};

// Source of a vector instruction: VGPRs, SGPRs or a constant, possibly negated
// (-x) or without its sign (abs(x)). AGPRs are no VALU sources on gfx950.
class VSrc {
 public:
  VSrc(const VReg& r) : operand_(Operand::Of(r)) {}
  VSrc(const SReg& r) : operand_(Operand::Of(r)) {}
  template <ImmLike T>
  VSrc(T value) : operand_(Operand::Of(Imm(value))) {}
  const Operand& operand() const { return operand_; }

  VSrc operator-() const {
    VSrc r = *this;
    r.operand_.negate = !r.operand_.negate;
    return r;
  }
  friend VSrc abs(VSrc x) {
    x.operand_.negate = false;
    x.operand_.absolute = true;
    return x;
  }

 private:
  Operand operand_;
};

inline VSrc operator-(const VReg& r) { return -VSrc(r); }
inline VSrc operator-(const SReg& r) { return -VSrc(r); }
inline VSrc abs(const VReg& r) { return abs(VSrc(r)); }
inline VSrc abs(const SReg& r) { return abs(VSrc(r)); }

// Data of memory and matrix instructions: architectural or accumulation VGPRs.
class DataReg {
 public:
  DataReg(const VReg& r) : operand_(Operand::Of(r)) {}
  DataReg(const AReg& r) : operand_(Operand::Of(r)) {}
  const Operand& operand() const { return operand_; }

 private:
  Operand operand_;
};

// Addend of a matrix instruction: like its result, or an inline constant.
class MfmaAddend {
 public:
  MfmaAddend(const VReg& r) : operand_(Operand::Of(r)) {}
  MfmaAddend(const AReg& r) : operand_(Operand::Of(r)) {}
  template <ImmLike T>
  MfmaAddend(T value) : operand_(Operand::Of(Imm(value))) {}
  const Operand& operand() const { return operand_; }

 private:
  Operand operand_;
};

// Per-lane byte offset of a buffer instruction (printed with `offen`), or
// `off`.
class BufferAddress {
 public:
  BufferAddress(const VReg& r) : operand_(Operand::Of(r)) {}
  BufferAddress(Off o) : operand_(Operand::Of(o)) {}
  const Operand& operand() const { return operand_; }

 private:
  Operand operand_;
};

// Base of a global instruction: an SGPR pair (the VGPR address is then a 32-bit
// offset) or `off` (the VGPR address is a 64-bit pair).
class GlobalBase {
 public:
  GlobalBase(const SReg& r) : operand_(Operand::Of(r)) {}
  GlobalBase(Off o) : operand_(Operand::Of(o)) {}
  const Operand& operand() const { return operand_; }

 private:
  Operand operand_;
};

// Data-parallel-primitive lane selection inside rows of 16 lanes
// (cdna4-isa 2.4).
class Dpp {
 public:
  static Dpp QuadPerm(int lane0, int lane1, int lane2, int lane3);
  static Dpp RowShl(int n);  // 1..15
  static Dpp RowShr(int n);  // 1..15
  static Dpp RowRor(int n);  // 1..15
  static Dpp RowMirror();
  static Dpp RowHalfMirror();
  static Dpp RowBcast15();
  static Dpp RowBcast31();
  static Dpp RowNewBcast(int lane);  // 0..15
  static Dpp WaveShl1();
  static Dpp WaveRol1();
  static Dpp WaveShr1();
  static Dpp WaveRor1();

  // Rows (groups of 16 lanes) and banks (groups of 4 in a row) that are
  // written.
  Dpp row_mask(int mask) const;
  Dpp bank_mask(int mask) const;
  // Lanes whose source lane does not exist or is off get 0 instead of staying
  // unwritten.
  Dpp zero_invalid() const;

  bool valid() const { return valid_; }
  // Whether the written value may keep part of the old destination.
  bool keeps_destination() const;
  std::string Text() const;

 private:
  explicit Dpp(std::string control, bool valid = true);
  std::string control_;
  int row_mask_ = 0xf;
  int bank_mask_ = 0xf;
  bool zero_invalid_ = false;
  bool valid_ = true;
};

// Part of the source dword that an SDWA conversion reads.
enum class SdwaSelect : uint8_t {
  kNone,
  kByte0,
  kByte1,
  kByte2,
  kByte3,
  kWord0,
  kWord1,
};

// Counters of s_waitcnt; a counter that is not given stays unlimited.
struct WaitCounts {
  static constexpr int kMaxVmcnt = 63;
  static constexpr int kMaxExpcnt = 7;
  static constexpr int kMaxLgkmcnt = 15;
  int vmcnt = kMaxVmcnt;
  int lgkmcnt = kMaxLgkmcnt;
  int expcnt = kMaxExpcnt;
};

// Hardware registers of s_setreg / s_getreg.
enum class HwReg : uint8_t { kMode, kStatus, kHwId, kXccId };

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_OPERANDS_H_
