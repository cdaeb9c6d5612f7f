#ifndef ZYFA_GEN_ASM_REGISTERS_H_
#define ZYFA_GEN_ASM_REGISTERS_H_

#include <cstdint>
#include <string>

namespace zyfa::gen {

// kScalar covers the SGPRs s0..s101 and the special scalars, which are numbered
// as the hardware encodes them (CDNA4 ISA 3.6): VCC 106:107, M0 124, EXEC
// 126:127.
enum class RegisterFile : uint8_t { kScalar, kVgpr, kAgpr };

inline constexpr int kMaxSgprs = 102;
inline constexpr int kMaxArchVgprs = 256;   // v0..v255
inline constexpr int kMaxAccVgprs = 256;    // a0..a255
inline constexpr int kMaxTotalVgprs = 512;  // both together, one wave per SIMD
inline constexpr int kMaxLdsBytes = 163840;

// `count` consecutive registers of one file, starting at `first`. A range that
// came from a RegisterPool remembers which allocation it is part of, so that
// use after Free is found. Taking a part that is not inside the range gives a
// range that the assembler refuses, naming the instruction that used it.
template <RegisterFile kFile>
class RegisterRange {
 public:
  static constexpr RegisterFile kRegisterFile = kFile;

  // No register: refused wherever an operand is needed.
  constexpr RegisterRange() = default;
  // A range by number, belonging to no allocation.
  constexpr explicit RegisterRange(int first, int count = 1)
      : first_(first), count_(count) {}
  // For RegisterPool: `owner` is the allocation's id, greater than 0.
  constexpr RegisterRange(int first, int count, int owner)
      : first_(first), count_(count), owner_(owner) {}

  constexpr int first() const { return first_; }
  constexpr int count() const { return count_; }
  constexpr int owner() const { return owner_; }
  // False for a default-constructed range and for a part outside its whole.
  constexpr bool valid() const { return first_ >= 0 && count_ > 0; }

  // Registers offset .. offset+n-1 of this range.
  constexpr RegisterRange sub(int offset, int n) const {
    if (offset < 0 || n < 1 || offset + n > count_) {
      return RegisterRange(-1, n, owner_);
    }
    return RegisterRange(first_ + offset, n, owner_);
  }
  constexpr RegisterRange operator[](int i) const { return sub(i, 1); }

  friend constexpr bool operator==(const RegisterRange& a,
                                   const RegisterRange& b) {
    return a.first_ == b.first_ && a.count_ == b.count_;
  }

 private:
  int first_ = -1;
  int count_ = 0;
  int owner_ = 0;
};

using SReg = RegisterRange<RegisterFile::kScalar>;
using VReg = RegisterRange<RegisterFile::kVgpr>;
using AReg = RegisterRange<RegisterFile::kAgpr>;

inline constexpr SReg vcc(106, 2);
inline constexpr SReg vcc_lo(106);
inline constexpr SReg vcc_hi(107);
inline constexpr SReg m0(124);
inline constexpr SReg exec(126, 2);
inline constexpr SReg exec_lo(126);
inline constexpr SReg exec_hi(127);

// "v7", "s[4:7]", "vcc", "m0"; "v[?]" for an invalid range.
std::string RegisterText(RegisterFile file, int first, int count);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_REGISTERS_H_
