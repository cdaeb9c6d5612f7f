#ifndef ZYFA_GEN_ASM_ALLOCATOR_H_
#define ZYFA_GEN_ASM_ALLOCATOR_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "zyfa/gen/asm/registers.h"

namespace zyfa::gen {

// One named range for the time between Alloc and Free.
struct Allocation {
  int id = 0;  // greater than 0
  RegisterFile file = RegisterFile::kScalar;
  std::string name;
  int first = 0;
  int count = 0;
  bool live = true;
  bool initialised = false;  // by the hardware at kernel entry
};

// All allocations of one kernel; ids are positions + 1.
class AllocationTable {
 public:
  int Add(Allocation a);
  const Allocation* Find(int id) const;
  Allocation* Find(int id);
  const std::vector<Allocation>& all() const { return all_; }
  // The live allocation that contains register `r`, or nullptr.
  const Allocation* LiveAt(RegisterFile file, int r) const;
  // The allocation that last contained register `r`, live or freed, or nullptr.
  const Allocation* LastAt(RegisterFile file, int r) const;

 private:
  std::vector<Allocation> all_;
};

template <typename Reg>
class RegisterPool;

// A register range that is freed at the end of the scope.
template <typename Reg>
class ScopedRegister : public Reg {
 public:
  ScopedRegister(Reg reg, RegisterPool<Reg>* pool) : Reg(reg), pool_(pool) {}
  ScopedRegister(ScopedRegister&& o) noexcept
      : Reg(o), pool_(std::exchange(o.pool_, nullptr)) {}
  ScopedRegister& operator=(ScopedRegister&&) = delete;
  ~ScopedRegister() {
    if (pool_ != nullptr) pool_->Free(*this);
  }

 private:
  RegisterPool<Reg>* pool_;
};

// Hands out registers of one file by name. Lowest free range first, so the same
// calls always give the same registers. Errors (pool exhausted, overlap, double
// free, a name in use) go to the assembler and end the kernel's generation with
// a message that names the ranges; the returned range is then invalid.
template <typename Reg>
class RegisterPool {
 public:
  using ErrorSink = std::function<void(std::string)>;

  // Registers 0 .. limit-1 may be handed out.
  RegisterPool(AllocationTable* table, int limit, ErrorSink error)
      : table_(table), limit_(limit), error_(std::move(error)) {}
  RegisterPool(const RegisterPool&) = delete;
  RegisterPool& operator=(const RegisterPool&) = delete;

  // `align` 0 takes what instructions require of a tuple of this size: VGPRs
  // and AGPRs even from two registers up; SGPRs 2 for pairs, 4 from four up.
  Reg Alloc(const std::string& name, int count = 1, int align = 0);
  // At a fixed place.
  Reg AllocAt(const std::string& name, int first, int count = 1);
  // The range must be a whole allocation, as Alloc returned it.
  void Free(const Reg& reg);
  ScopedRegister<Reg> Scoped(const std::string& name, int count = 1,
                             int align = 0) {
    return ScopedRegister<Reg>(Alloc(name, count, align), this);
  }

  // One more than the highest register ever handed out.
  int peak() const { return peak_; }
  int limit() const { return limit_; }
  // Registers that are not handed out now.
  int available() const;

 private:
  Reg Take(const std::string& name, int first, int count);
  std::string LiveText() const;

  AllocationTable* table_;
  int limit_;
  int peak_ = 0;
  ErrorSink error_;
};

using SgprPool = RegisterPool<SReg>;
using VgprPool = RegisterPool<VReg>;
using AgprPool = RegisterPool<AReg>;
using ScopedSReg = ScopedRegister<SReg>;
using ScopedVReg = ScopedRegister<VReg>;
using ScopedAReg = ScopedRegister<AReg>;

extern template class RegisterPool<SReg>;
extern template class RegisterPool<VReg>;
extern template class RegisterPool<AReg>;

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_ALLOCATOR_H_
