#ifndef ZYFA_EMU_OBSERVER_H_
#define ZYFA_EMU_OBSERVER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "zyfa/emu/finding.h"
#include "zyfa/emu/instruction.h"

namespace zyfa::emu {

struct Group;
struct KernelInfo;
struct ProgramStep;
struct Wave;
class Program;

enum class AccessKind : uint8_t {
  kRead,
  kWrite,
  kAtomic,    // reads and writes in one
  kDmaWrite,  // LDS written by a load straight into it
};

// What one instruction accesses in LDS: `bytes` from address[lane] + offset on,
// for every lane of `lanes`. All of it lies in the work-group's LDS.
struct LdsAccess {
  AccessKind kind = AccessKind::kRead;
  uint32_t bytes = 0;
  uint64_t lanes = 0;
  const uint32_t* address = nullptr;
  uint32_t offset = 0;
};

// The same for device memory; lanes of `clipped` access 4 * dwords[lane] bytes.
// `scoped`: with sc0 or sc1, which is what compilers make of atomic loads and
// stores (ISA 3.4).
struct MemoryAccess {
  AccessKind kind = AccessKind::kRead;
  uint32_t bytes = 0;
  uint64_t lanes = 0;
  const uint64_t* address = nullptr;
  uint64_t clipped = 0;
  const uint8_t* dwords = nullptr;
  bool scoped = false;
};

// Watches work-groups while they run, one after the other on one host thread.
// It may report findings (Group::Note) but must not change what it sees: a run
// gives the same bits with and without observers.
class Observer {
 public:
  virtual ~Observer() = default;
  // The waves stand as they start; waves[0 .. group.wave_count).
  virtual void StartGroup(Group& /*group*/, Wave* /*waves*/) {}
  // Around the handler. wave.pc names the instruction before and its successor
  // after; accesses are told between the two, before registers change.
  virtual void Before(const ProgramStep& /*step*/, Wave& /*wave*/) {}
  virtual void After(const ProgramStep& /*step*/, Wave& /*wave*/) {}
  virtual void AccessLds(const Instruction& /*inst*/, Wave& /*wave*/,
                         const LdsAccess& /*access*/) {}
  virtual void AccessMemory(const Instruction& /*inst*/, Wave& /*wave*/,
                            const MemoryAccess& /*access*/) {}
  // Every wave that has not ended stands at an s_barrier, which now opens.
  virtual void OpenBarrier(Group& /*group*/, Wave* /*waves*/) {}
  // All waves have ended without a fault.
  virtual void EndGroup(Group& /*group*/, Wave* /*waves*/) {}
};

// Makes one observer for each host thread of a run; called on these threads.
class ObserverFactory {
 public:
  virtual ~ObserverFactory() = default;
  virtual std::unique_ptr<Observer> Make(const Program& program,
                                         const KernelInfo& kernel) = 0;
  // After all groups: what can only be said of the launch as a whole.
  virtual std::vector<Finding> Finish() { return {}; }
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_OBSERVER_H_
