#include "zyfa/emu/strict/strict.h"

#include <utility>
#include <vector>

#include "zyfa/emu/strict/control.h"
#include "zyfa/emu/strict/hazards.h"
#include "zyfa/emu/strict/lds_races.h"
#include "zyfa/emu/strict/undefined_values.h"

namespace zyfa::emu {
namespace {

// All checks of one host thread, in a fixed order.
class StrictObserver : public Observer {
 public:
  explicit StrictObserver(std::vector<std::unique_ptr<Observer>> checks)
      : checks_(std::move(checks)) {}
  void StartGroup(Group& group, Wave* waves) override {
    for (auto& check : checks_) check->StartGroup(group, waves);
  }
  void Before(const ProgramStep& step, Wave& wave) override {
    for (auto& check : checks_) check->Before(step, wave);
  }
  void After(const ProgramStep& step, Wave& wave) override {
    for (auto& check : checks_) check->After(step, wave);
  }
  void AccessLds(const Instruction& inst, Wave& wave,
                 const LdsAccess& access) override {
    for (auto& check : checks_) check->AccessLds(inst, wave, access);
  }
  void AccessMemory(const Instruction& inst, Wave& wave,
                    const MemoryAccess& access) override {
    for (auto& check : checks_) check->AccessMemory(inst, wave, access);
  }
  void OpenBarrier(Group& group, Wave* waves) override {
    for (auto& check : checks_) check->OpenBarrier(group, waves);
  }
  void EndGroup(Group& group, Wave* waves) override {
    for (auto& check : checks_) check->EndGroup(group, waves);
  }

 private:
  std::vector<std::unique_ptr<Observer>> checks_;
};

}  // namespace

StrictMode::StrictMode() = default;
StrictMode::~StrictMode() = default;

std::unique_ptr<Observer> StrictMode::Make(const Program& program,
                                           const KernelInfo& kernel) {
  std::vector<std::unique_ptr<Observer>> checks;
  checks.push_back(MakeControl());
  checks.push_back(MakeHazards(program));
  checks.push_back(MakeLdsRaces());
  checks.push_back(memory_races_.Make(program));
  checks.push_back(MakeUndefinedValues(program, kernel));
  return std::make_unique<StrictObserver>(std::move(checks));
}

std::vector<Finding> StrictMode::Finish() { return memory_races_.Finish(); }

}  // namespace zyfa::emu
