#include "zyfa/emu/mutation/executed_trace.h"

#include <utility>

#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

struct ExecutedTrace::Record {
  // By the place in the program's steps. An edited instruction dies with the
  // program, hence the copies.
  std::map<size_t, Instruction> copies;
  std::map<int, std::vector<const Instruction*>> traces;
  std::vector<bool> executed;  // by the same place
  std::vector<uint64_t> addresses;
};

ExecutedTrace::ExecutedTrace(std::set<int> waves) : waves_(std::move(waves)) {}
ExecutedTrace::~ExecutedTrace() = default;

std::unique_ptr<Observer> ExecutedTrace::Make(const Program& program,
                                              const KernelInfo& /*kernel*/) {
  class Recorder : public Observer {
   public:
    Recorder(const Program& program, const std::set<int>& waves, Record& record)
        : program_(program), waves_(waves), record_(record) {}
    void StartGroup(Group& group, Wave* /*waves*/) override {
      traced_ = group.linear_id == 0;
    }
    void Before(const ProgramStep& step, Wave& wave) override {
      const size_t place = program_.IndexOf(step);
      if (!record_.executed[place]) {
        record_.executed[place] = true;
        record_.addresses.push_back(step.inst->address);
      }
      if (!traced_ || !waves_.contains(wave.index)) return;
      const auto copy = record_.copies.try_emplace(place, *step.inst).first;
      record_.traces[wave.index].push_back(&copy->second);
    }

   private:
    const Program& program_;
    const std::set<int>& waves_;
    Record& record_;
    bool traced_ = false;
  };
  auto record = std::make_unique<Record>();
  record->executed.resize(program.steps().size());
  auto recorder = std::make_unique<Recorder>(program, waves_, *record);
  const std::lock_guard<std::mutex> lock(mutex_);
  records_.push_back(std::move(record));
  return recorder;
}

std::vector<const Instruction*> ExecutedTrace::Trace(int wave) const {
  // One host thread alone ran work-group 0.
  for (const auto& record : records_) {
    const auto found = record->traces.find(wave);
    if (found != record->traces.end()) return found->second;
  }
  return {};
}

std::set<uint64_t> ExecutedTrace::ExecutedAddresses() const {
  std::set<uint64_t> addresses;
  for (const auto& record : records_) {
    addresses.insert(record->addresses.begin(), record->addresses.end());
  }
  return addresses;
}

}  // namespace zyfa::emu
