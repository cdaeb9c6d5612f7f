#include "zyfa/emu/cycles/phases_replay.h"

#include "gtest/gtest.h"

namespace zyfa::emu {

PhasesReplay::PhasesReplay(const std::string& kernel, uint32_t items,
                           uint32_t passes)
    : device_("phases"), kernel_(device_.code().FindKernel(kernel)) {
  RunOptions options;
  options.observers.push_back(&recorder_);
  const auto report = device_.Run(
      kernel, Shape(1, items),
      Kernarg().Add(uint64_t{0}).Add(uint64_t{0}).Add(passes).Add(uint32_t{0}),
      options);
  EXPECT_TRUE(report.ok() && !report->has_errors()) << report.status();
  loops_ = FindLoops(recorder_.groups().at(0));
  phases_ = PhasesBySymbol(device_.code(), *kernel_);
}

ComputeUnitReport PhasesReplay::Run(IssueListener* listener) const {
  ComputeUnitOptions options;
  options.auxiliary = recorder_.auxiliary();
  options.marked_steps = {loops_.at(0).head};
  options.listener = listener;
  const GroupTrace* trace = &recorder_.groups().at(0);
  return RunComputeUnit(recorder_.instructions(), {&trace, 1}, options);
}

}  // namespace zyfa::emu
