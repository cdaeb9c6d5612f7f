#ifndef ZYFA_EMU_INSPECT_TRACE_H_
#define ZYFA_EMU_INSPECT_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "zyfa/emu/observer.h"

namespace zyfa::emu {

// Writes a line an instruction, in the order in which they ran: wave, how many
// it has issued, byte of .text, disassembly, and what the first written
// register holds then (vector registers: in the first active lane).
class TraceWriter : public ObserverFactory {
 public:
  // Of one work-group (by its number, x fastest); `wave` -1: all its waves.
  // InvalidArgument if the file cannot be written.
  static absl::StatusOr<std::unique_ptr<TraceWriter>> Open(
      const std::string& path, uint32_t group, int wave);
  ~TraceWriter() override;
  std::unique_ptr<Observer> Make(const Program& program,
                                 const KernelInfo& kernel) override;

 private:
  struct Target;
  explicit TraceWriter(std::unique_ptr<Target> target);
  std::unique_ptr<Target> target_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_INSPECT_TRACE_H_
