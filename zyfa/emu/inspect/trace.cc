#include "zyfa/emu/inspect/trace.h"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/strict/register_name.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

struct TraceWriter::Target {
  std::FILE* file = nullptr;
  uint32_t group = 0;
  int wave = -1;
  ~Target() {
    if (file != nullptr) std::fclose(file);
  }
};

namespace {

// " v12 = 0x3f800000" of the first register that the instruction wrote.
std::string Result(const Instruction& inst, const Wave& wave) {
  for (const RegisterRange& range : inst.registers) {
    if (!range.write) continue;
    const std::string name = RegisterName(range.vector, range.first);
    if (!range.vector) {
      if (range.count < 2) {
        return absl::StrFormat(" %s = %#x", name,
                               wave.ReadScalar32(range.first));
      }
      return absl::StrFormat(" %s = %#x", name, wave.ReadScalar64(range.first));
    }
    if (wave.exec == 0) return "";
    const int lane = std::countr_zero(wave.exec);
    return absl::StrFormat(" %s[%d] = %#x", name, lane,
                           wave.vgpr[range.first][lane]);
  }
  return "";
}

}  // namespace

TraceWriter::TraceWriter(std::unique_ptr<Target> target)
    : target_(std::move(target)) {}
TraceWriter::~TraceWriter() = default;

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Open(
    const std::string& path, uint32_t group, int wave) {
  auto target = std::make_unique<Target>();
  target->file = std::fopen(path.c_str(), "w");
  if (target->file == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot write '", path, "': ", std::strerror(errno)));
  }
  target->group = group;
  target->wave = wave;
  return std::unique_ptr<TraceWriter>(new TraceWriter(std::move(target)));
}

std::unique_ptr<Observer> TraceWriter::Make(const Program& /*program*/,
                                            const KernelInfo& /*kernel*/) {
  // One host thread alone runs the group, so nobody else writes.
  class Tracer : public Observer {
   public:
    explicit Tracer(const Target& target) : target_(target) {}
    void StartGroup(Group& group, Wave* /*waves*/) override {
      wanted_ = group.linear_id == target_.group;
    }
    void After(const ProgramStep& step, Wave& wave) override {
      if (!wanted_ || (target_.wave >= 0 && wave.index != target_.wave)) return;
      absl::FPrintF(target_.file, "wave %d %8d %#06x  %s;%s\n", wave.index,
                    wave.group->issued[wave.index], step.inst->address,
                    step.inst->text, Result(*step.inst, wave));
    }

   private:
    const Target& target_;
    bool wanted_ = false;
  };
  return std::make_unique<Tracer>(*target_);
}

}  // namespace zyfa::emu
