#include "zyfa/emu/mutation/late_loads.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

constexpr uint32_t kGarbage = 0x7fc0dead;  // as floats of any width: NaN

// Registers that a load has yet to bring, and the numbers that the counters
// must reach. Its own memory of these: the wait state forgets a load that was
// reported.
struct Late {
  RegisterRange range;
  uint32_t vm = 0, ds = 0, any = 0;
  std::vector<uint32_t> values;

  bool Retired(const WaitState& waits) const {
    return vm <= waits.vm_retired && ds <= waits.ds_retired &&
           any <= waits.any_retired;
  }
};

Late LatestLoads(const WaitState& waits, const RegisterRange& range) {
  Late late;
  late.range = range;
  for (int r = range.first; r < range.first + range.count; ++r) {
    if (range.vector) {
      late.vm = std::max(late.vm, waits.vgpr_vm[r]);
      late.ds = std::max(late.ds, waits.vgpr_ds[r]);
      late.any = std::max(late.any, waits.vgpr_any[r]);
    } else {
      late.any = std::max(late.any, waits.sgpr_any[r & 127]);
    }
  }
  return late;
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
                                if (!load.Retired(waits)) return false;
                                Deliver(load, wave);
                                return true;
                              }),
               late.end());
  }

  void After(const ProgramStep& step, Wave& wave) override {
    const WaitState& waits = WaitsOf(wave);
    for (const RegisterRange& range : step.inst->registers) {
      if (!range.write) continue;
      Late late = LatestLoads(waits, range);
      if (!late.Retired(waits)) Withhold(std::move(late), wave);
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

  void Withhold(Late load, Wave& wave) {
    const RegisterRange range = load.range;
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
