#ifndef ZYFA_EMU_WAIT_STATE_H_
#define ZYFA_EMU_WAIT_STATE_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "zyfa/emu/instruction.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// A load straight into LDS whose data has left memory but is not in LDS yet.
struct PendingDma {
  uint32_t sequence = 0;     // of WaitState::vm_issued
  uint32_t lds_address = 0;  // of lane 0
  uint32_t lane_stride = 4;  // bytes of LDS between lanes
  uint32_t dwords = 1;       // written per lane
  uint64_t lanes = 0;        // that write
  uint32_t data[kLanes][4];
};

// What a wave's memory instructions have not been waited for (ISA 4.4). The
// emulator writes registers when it issues a load; this state tells which of
// them the hardware would not have written yet.
//
// A register's entry is the number, in issue order, of the last load into it;
// it is outstanding while that number is greater than the retired one.
struct WaitState {
  static constexpr uint32_t kMaxVm = 63;  // counter widths: issue stalls there
  static constexpr uint32_t kMaxLgkm = 15;

  uint32_t vm_issued = 0, vm_retired = 0;    // in order
  uint32_t ds_issued = 0, ds_retired = 0;    // in order among themselves
  uint32_t any_issued = 0, any_retired = 0;  // scalar and flat: no order
  uint32_t vgpr_vm[2 * kVgprs];
  uint32_t vgpr_ds[2 * kVgprs];
  uint32_t vgpr_any[2 * kVgprs];
  uint32_t sgpr_any[128];
  // Ring of those not landed, in issue order: at most one a vmcnt count, as
  // issue stalls beyond. Empty under DmaLanding::kAtIssue.
  static constexpr uint32_t kDmaSlots = kMaxVm + 1;
  std::vector<PendingDma> dma;
  uint32_t first_dma = 0, end_dma = 0;

  void Reset() {
    vm_issued = vm_retired = ds_issued = ds_retired = 0;
    any_issued = any_retired = 0;
    std::memset(vgpr_vm, 0, sizeof(vgpr_vm));
    std::memset(vgpr_ds, 0, sizeof(vgpr_ds));
    std::memset(vgpr_any, 0, sizeof(vgpr_any));
    std::memset(sgpr_any, 0, sizeof(sgpr_any));
    first_dma = end_dma = 0;
    dma.resize(kDmaSlots);
  }

  bool outstanding() const {
    return vm_issued != vm_retired || ds_issued != ds_retired ||
           any_issued != any_retired;
  }

  // Whether a load into a register of `range` has not been waited for. A load
  // may overwrite the destination of an earlier one of the same in-order kind:
  // `same_kind` names the writer's kind for that.
  enum class Kind { kNone, kVm, kDs };
  bool Conflicts(const RegisterRange& range, Kind writer) const {
    const int end = range.first + range.count;
    if (!range.vector) {
      for (int r = range.first; r < end; ++r) {
        if (sgpr_any[r & 127] > any_retired) return true;
      }
      return false;
    }
    const bool skip_vm = range.write && writer == Kind::kVm;
    const bool skip_ds = range.write && writer == Kind::kDs;
    bool conflict = false;
    for (int r = range.first; r < end; ++r) {
      conflict |= (!skip_vm && vgpr_vm[r] > vm_retired) |
                  (!skip_ds && vgpr_ds[r] > ds_retired) |
                  (vgpr_any[r] > any_retired);
    }
    return conflict;
  }

  // Takes the registers of `range` for waited for: one report a load is enough.
  void Forget(const RegisterRange& range) {
    for (int r = range.first; r < range.first + range.count; ++r) {
      if (range.vector) {
        vgpr_vm[r] = vgpr_ds[r] = vgpr_any[r] = 0;
      } else {
        sgpr_any[r & 127] = 0;
      }
    }
  }

  // Issue of one vector memory instruction; returns its number.
  uint32_t IssueVm() {
    ++vm_issued;
    if (vm_issued - vm_retired > kMaxVm) vm_retired = vm_issued - kMaxVm;
    return vm_issued;
  }
  uint32_t IssueDs() {
    ++ds_issued;
    if (ds_issued - ds_retired > kMaxLgkm) ds_retired = ds_issued - kMaxLgkm;
    return ds_issued;
  }
  uint32_t IssueUnordered() { return ++any_issued; }
  // FLAT stalls when the counter is full, and compilers count on the oldest
  // being back by then.
  uint32_t IssueFlat() {
    ++any_issued;
    if (any_issued - any_retired > kMaxLgkm)
      any_retired = any_issued - kMaxLgkm;
    return any_issued;
  }

  void WaitVm(uint32_t count) {
    vm_retired = std::max(vm_retired, vm_issued - std::min(vm_issued, count));
  }
  // DS retires in order, so whatever else is outstanding at most `count` DS
  // instructions are left; scalar loads are only known done at zero.
  void WaitLgkm(uint32_t count) {
    ds_retired = std::max(ds_retired, ds_issued - std::min(ds_issued, count));
    if (count == 0) any_retired = any_issued;
  }
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_WAIT_STATE_H_
