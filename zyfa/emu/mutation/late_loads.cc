#include "zyfa/emu/mutation/late_loads.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kGarbage = 0x7fc0dead;  // as floats of any width: NaN

// Registers that a load has yet to bring.
struct Late {
  RegisterRange range;
  std::vector<uint32_t> values;
};

bool Outstanding(const WaitState& waits, const RegisterRange& range) {
  return waits.Conflicts(range, WaitState::Kind::kNone);
}

class Adversary : public Observer {
 public:
  void StartGroup(Group& group, Wave* /*waves*/) override {
    late_.assign(static_cast<size_t>(group.wave_count), {});
  }

  void Before(const ProgramStep& /*step*/, Wave& wave) override {
    auto& late = late_[static_cast<size_t>(wave.index)];
    const WaitState& waits = WaitsOf(wave);
    late.erase(std::remove_if(late.begin(), late.end(),
                              [&](const Late& load) {
                                if (Outstanding(waits, load.range)) {
                                  return false;
                                }
                                Deliver(load, wave);
                                return true;
                              }),
               late.end());
  }

  void After(const ProgramStep& step, Wave& wave) override {
    const WaitState& waits = WaitsOf(wave);
    for (RegisterRange range : step.inst->registers) {
      if (!range.write) continue;
      range.write = false;
      if (Outstanding(waits, range)) Withhold(range, wave);
    }
  }

 private:
  static void Deliver(const Late& load, Wave& wave) {
    const RegisterRange& range = load.range;
    if (range.vector) {
      std::memcpy(wave.vgpr[range.first], load.values.data(),
                  load.values.size() * 4);
      return;
    }
    for (int i = 0; i < range.count; ++i) {
      wave.WriteScalar32(range.first + i, load.values[static_cast<size_t>(i)]);
    }
  }

  void Withhold(const RegisterRange& range, Wave& wave) {
    Late load;
    load.range = range;
    if (range.vector) {
      uint32_t* const first = wave.vgpr[range.first];
      const size_t count = size_t{range.count} * kLanes;
      load.values.assign(first, first + count);
      std::fill_n(first, count, kGarbage);
    } else {
      for (int i = 0; i < range.count; ++i) {
        load.values.push_back(wave.ReadScalar32(range.first + i));
        wave.WriteScalar32(range.first + i, kGarbage);
      }
    }
    late_[static_cast<size_t>(wave.index)].push_back(std::move(load));
  }

  std::vector<std::vector<Late>> late_;  // by wave
};

}  // namespace

std::unique_ptr<Observer> LateLoads::Make(const Program& /*program*/,
                                          const KernelInfo& /*kernel*/) {
  return std::make_unique<Adversary>();
}

}  // namespace zyfa::emu
