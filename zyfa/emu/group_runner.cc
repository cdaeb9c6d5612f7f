#include "zyfa/emu/group_runner.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/strict/register_name.h"

namespace zyfa::emu {
GroupRunner::GroupRunner(
    const LaunchState& launch, const Program& program,
    const RunOptions& options, DeviceMemory& memory, uint64_t text_address,
    const std::atomic<uint64_t>& stop_after,
    const std::vector<std::unique_ptr<Observer>>& observers)
    : launch_(launch),
      program_(program),
      options_(options),
      stop_after_(stop_after),
      group_(std::make_unique<Group>()) {
  const uint32_t* size = launch.shape.workgroup;
  for (const auto& observer : observers) {
    group_->observers.push_back(observer.get());
  }
  group_->memory = &memory;
  group_->text_address = text_address;
  group_->dma_lands_at_wait = options.dma_landing == DmaLanding::kAtWait;
  group_->kernel = launch.kernel->name;
  group_->lds_bytes = launch.kernel->lds_bytes + launch.shape.dynamic_lds_bytes;
  group_->lds = std::make_unique_for_overwrite<uint8_t[]>(kMaxLdsBytes + 64);
  group_->wave_count =
      static_cast<int>((size[0] * size[1] * size[2] + kLanes - 1) / kLanes);
  // A stack of unknown depth gets what the runtime gives by default.
  constexpr uint32_t kUsesDynamicStack = 1 << 11;
  constexpr uint32_t kDynamicStackBytes = 1024;
  group_->private_bytes =
      launch.kernel->private_bytes +
      ((launch.kernel->properties & kUsesDynamicStack) != 0 ? kDynamicStackBytes
                                                            : 0);
  for (int w = 0; w < group_->wave_count; ++w) {
    group_->scratch.push_back(
        std::make_unique<uint8_t[]>(uint64_t{group_->private_bytes} * kLanes));
  }
  waves_ = std::make_unique_for_overwrite<Wave[]>(
      static_cast<size_t>(group_->wave_count));
}

void GroupRunner::Start(uint64_t linear_id) {
  const uint32_t* grid = launch_.shape.grid;
  group_->linear_id = static_cast<uint32_t>(linear_id);
  group_->id[0] = static_cast<uint32_t>(linear_id % grid[0]);
  group_->id[1] = static_cast<uint32_t>(linear_id / grid[0] % grid[1]);
  group_->id[2] = static_cast<uint32_t>(linear_id / grid[0] / grid[1]);
  group_->counters = Counters();
  group_->findings.clear();
  std::fill_n(reinterpret_cast<uint32_t*>(group_->lds.get()),
              (kMaxLdsBytes + 64) / 4, kGarbageLds);
  for (int w = 0; w < group_->wave_count; ++w) {
    StartWave(launch_, *group_, w, waves_[static_cast<size_t>(w)]);
    state_[w] = State::kReady;
  }
  faulted_ = false;
  for (Observer* observer : group_->observers) {
    observer->StartGroup(*group_, waves_.get());
  }
}

void GroupRunner::NoteOutstanding(const ProgramStep& step, Wave& wave) {
  WaitState& waits = group_->waits[wave.index];
  for (const RegisterRange& range : step.inst->registers) {
    if (!waits.Conflicts(range, step.writer)) continue;
    if (!group_->Wants("waitcnt", *step.inst)) {
      waits.Forget(range);
      continue;
    }
    int offset = 0;
    RegisterRange one = range;
    one.count = 1;
    for (; offset + 1 < range.count; ++offset) {
      one.first = static_cast<uint16_t>(range.first + offset);
      if (waits.Conflicts(one, step.writer)) break;
    }
    // Hardware goes on, with a value that depends on time. Here it is that of
    // the load.
    group_->Note(
        Severity::kError, "waitcnt", *step.inst, wave, -1,
        RegisterName(range.vector, range.first + offset),
        absl::StrCat(range.write ? "overwrites " : "reads ",
                     RegisterName(range.vector, range.first + offset),
                     ", the destination of a load that no s_waitcnt has "
                     "retired"));
    waits.Forget(range);
  }
}

template <bool kObserved>
void GroupRunner::RunWave(Wave& wave, uint64_t count) {
  Group& group = *group_;
  const WaitState& waits = group.waits[wave.index];
  uint64_t& issued = group.issued[wave.index];
  const uint64_t end = std::min(issued + count, options_.instruction_budget);
  while (issued < end) {
    const ProgramStep* const step = program_.At(wave.pc);
    if (step == nullptr) {
      Instruction nowhere;
      nowhere.address = wave.pc;
      nowhere.text = "(no instruction)";
      group.Report(Severity::kError, "program-counter", nowhere, wave, -1,
                   absl::StrFormat("no instruction starts at byte %#x of .text",
                                   wave.pc));
      return;
    }
    if (step->handler == nullptr) {
      group.Report(Severity::kError, "unsupported-instruction", *step->inst,
                   wave, -1, "the emulator has no semantics for it");
      return;
    }
    if (step->beyond_registers) {
      group.Report(Severity::kError, "register-out-of-range", *step->inst, wave,
                   -1,
                   absl::StrCat("the kernel allocates ", launch_.kernel->vgprs,
                                " vector registers, AGPRs from ",
                                launch_.kernel->accum_offset));
      return;
    }
    if (waits.outstanding()) NoteOutstanding(*step, wave);
    if constexpr (kObserved) {
      for (Observer* observer : group.observers) observer->Before(*step, wave);
    }
    wave.pc = step->next_pc;
    ++group.counters.by_class[step->instruction_class];
    ++issued;
    step->handler(*step->inst, wave);
    if constexpr (kObserved) {
      for (Observer* observer : group.observers) observer->After(*step, wave);
    }
    if (!wave.error.empty()) {
      group.Report(Severity::kError, "unsupported-instruction", *step->inst,
                   wave, -1, wave.error);
      return;
    }
    if (wave.signal != WaveSignal::kNone) return;
  }
  if (issued >= options_.instruction_budget) {
    Instruction here;
    here.address = wave.pc;
    const ProgramStep* const step = program_.At(wave.pc);
    here.text = step == nullptr ? "(no instruction)" : step->inst->text;
    group.Report(Severity::kError, "instruction-budget", here, wave, -1,
                 absl::StrCat("the wave has issued ", issued,
                              " instructions and has not ended"));
  }
}

bool GroupRunner::RunRound() {
  // Long enough to cost nothing, short enough to notice a stop.
  constexpr uint64_t kAloneSlice = 1 << 16;
  const bool rotate = options_.wave_order == WaveOrder::kRotate;
  const uint64_t slice =
      rotate ? static_cast<uint64_t>(std::max(1, options_.rotate_instructions))
             : kAloneSlice;
  for (int i = 0; i < group_->wave_count; ++i) {
    const int w = options_.wave_order == WaveOrder::kAloneReversed
                      ? group_->wave_count - 1 - i
                      : i;
    if (state_[w] != State::kReady) continue;
    Wave& wave = waves_[static_cast<size_t>(w)];
    if (group_->observers.empty()) {
      RunWave<false>(wave, slice);
    } else {
      RunWave<true>(wave, slice);
    }
    switch (wave.signal) {
      case WaveSignal::kFault:
        faulted_ = true;
        return false;
      case WaveSignal::kBarrier:
        state_[w] = State::kAtBarrier;
        break;
      case WaveSignal::kEnd:
        state_[w] = State::kEnded;
        break;
      case WaveSignal::kNone:
        // Alone means that no other wave runs before this one stops.
        if (!rotate) return true;
        break;
    }
    wave.signal = WaveSignal::kNone;
  }
  return true;
}

bool GroupRunner::OpenBarrier() {
  bool waiting = false;
  for (int w = 0; w < group_->wave_count; ++w) {
    if (state_[w] == State::kReady) return true;
    waiting |= state_[w] == State::kAtBarrier;
  }
  if (waiting) {
    for (Observer* observer : group_->observers) {
      observer->OpenBarrier(*group_, waves_.get());
    }
  }
  for (int w = 0; w < group_->wave_count; ++w) {
    if (state_[w] == State::kAtBarrier) state_[w] = State::kReady;
  }
  return waiting;
}

bool GroupRunner::Run(uint64_t linear_id) {
  Start(linear_id);
  do {
    if (linear_id > stop_after_.load(std::memory_order_relaxed)) return false;
    if (!RunRound()) return true;
  } while (OpenBarrier());
  for (Observer* observer : group_->observers) {
    observer->EndGroup(*group_, waves_.get());
  }
  return true;
}

}  // namespace zyfa::emu
