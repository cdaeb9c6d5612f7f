#ifndef ZYFA_EMU_INSPECT_BREAKPOINT_H_
#define ZYFA_EMU_INSPECT_BREAKPOINT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// What to show: a run of registers, or bytes of LDS.
struct DumpRange {
  enum class Kind { kVector, kAccumulation, kScalar, kLds };
  Kind kind = Kind::kScalar;
  uint32_t first = 0, last = 0;  // both included
};

// "v0:7,a3,s0:15,lds0:255". InvalidArgument says what is allowed.
absl::StatusOr<std::vector<DumpRange>> ParseDump(const std::string& text);

// Takes a wave's state down before it executes the instruction at `pc` for the
// `hit`th time; the run goes on.
class Breakpoint : public ObserverFactory {
 public:
  struct Place {
    uint64_t pc = 0;  // byte of .text
    uint64_t hit = 1;
    uint32_t group = 0;  // number of the work-group, x fastest
    int wave = 0;
  };
  Breakpoint(const Place& place, std::vector<DumpRange> ranges)
      : place_(place), ranges_(std::move(ranges)) {}
  std::unique_ptr<Observer> Make(const Program& program,
                                 const KernelInfo& kernel) override;
  // After the run: registers as text, "" if the wave never came there.
  const std::string& text() const { return text_; }

 private:
  Place place_;
  std::vector<DumpRange> ranges_;
  std::string text_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_INSPECT_BREAKPOINT_H_
