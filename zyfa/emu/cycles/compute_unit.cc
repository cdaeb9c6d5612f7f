#include "zyfa/emu/cycles/compute_unit.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <utility>

#include "zyfa/emu/cycles/lds_unit.h"
#include "zyfa/emu/cycles/memory_unit.h"

namespace zyfa::emu {
namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
constexpr uint64_t kSlot = 4;

uint64_t Clocks(double value) { return static_cast<uint64_t>(value); }

// What the constants make of one instruction.
struct StepCost {
  uint64_t vector = kSlot;     // of the vector pipe
  uint64_t hold_vector = 0;    // matrix instruction: before ordinary VALU
  uint64_t hold_packed = 0;    // before packed fp32
  uint64_t hold_memory = 0;    // before LDS and vector memory
  uint64_t result = 0;         // matrix result: before it is read
  uint64_t result_addend = 0;  // before another matrix instruction adds to it
  HoldClass hold = HoldClass::kOrdinary;
};

uint64_t VectorClocks(const InstructionTime& time, const CycleConstants& c) {
  switch (time.rate) {
    case VectorRate::kOrdinary:
      return Clocks(c.vector_ordinary);
    case VectorRate::kTranscendental:
      return Clocks(c.vector_transcendental);
    case VectorRate::kPackedFp32:
      return Clocks(c.vector_packed_fp32);
    case VectorRate::kPermlaneSwap:
      return Clocks(c.vector_permlane_swap);
    case VectorRate::kConvertFp8:
      return Clocks(c.vector_convert_fp8);
    case VectorRate::kConvertInt:
      return Clocks(c.vector_convert_int);
    case VectorRate::kWideMultiply:
      return Clocks(c.vector_wide_multiply);
    case VectorRate::kMove64:
      return Clocks(c.vector_move64);
  }
  return kSlot;
}

StepCost CostOf(const InstructionTime& time, const CycleConstants& c) {
  StepCost cost;
  cost.hold = time.hold;
  if (time.hold == HoldClass::kConvertFp8) {
    cost.hold = c.convert_fp8_beside_matrix == 0 ? HoldClass::kPacked
                                                 : HoldClass::kOrdinary;
  }
  if (!time.matrix) {
    cost.vector = std::max(kSlot, VectorClocks(time, c));
    return cost;
  }
  const uint64_t passes = time.passes;
  const uint64_t to_end = passes + Clocks(c.hold_packed_slots);
  const bool wide = time.a_bytes >= 16;
  cost.hold_packed =
      kSlot * (to_end + (wide ? Clocks(c.hold_packed_wide_slots) : 0));
  uint64_t slots =
      Clocks(c.hold_base_slots) +
      Clocks(time.operand_bytes / std::max(1.0, c.hold_bytes_per_slot));
  if (time.sparse32) {
    slots = Clocks(c.hold_sparse_slots);
    cost.hold_memory = kSlot * slots;
  }
  if (time.slow_pipe) slots = to_end;
  cost.hold_vector = kSlot * slots;
  // Wait states of cdna4-timing 1.4: reads two or three beyond the passes (5,
  // 8, 12, 20), other addends (6, 10, 18).
  const uint64_t states = passes <= 2 ? 5 : passes + 4;
  cost.result = kSlot * (states + 1);
  cost.result_addend = kSlot * (passes + 3);
  return cost;
}

// A matrix result under way.
struct PendingResult {
  uint16_t first, end;
  uint32_t opcode;
  uint64_t readable, addable;
};

struct WaveRun {
  const std::vector<TraceEvent>* events = nullptr;
  const std::vector<uint32_t>* lines = nullptr;
  size_t position = 0;
  size_t line_position = 0;  // in `lines`
  uint32_t group = 0;        // index into the traces
  uint16_t number = 0;
  int simd = 0;
  int priority = 0;
  uint64_t age = 0;
  uint64_t last_issue = 0;  // the clock behind it; 0: none yet
  uint64_t next_issue = 0;  // no earlier
  uint64_t accounted = 0;   // waiting is charged up to here
  uint64_t fetched = 0;     // the line of the next instruction is there
  uint64_t line = kNever;   // that the instruction buffer holds
  uint64_t earliest = 0;    // of the next instruction, at the last look
  Stall reason = Stall::kIssue;
  uint64_t barrier_since = kNever;
  uint32_t barrier_step = 0;
  std::vector<PendingResult> results;
  std::deque<uint64_t> memory;   // completions, in order
  std::deque<uint64_t> lds;      // completions, in order
  std::vector<uint64_t> scalar;  // completions, of FLAT as well
};

struct Simd {
  std::vector<WaveRun*> waves;
  uint64_t next_turn = kNever;
  uint64_t vector_free = 0, matrix_free = 0;
  uint64_t hold_vector = 0, hold_packed = 0, hold_memory = 0;
  const WaveRun* holder = nullptr;
  double port_debt = 0;
  std::deque<std::pair<uint64_t, uint64_t>> lds_returns;
  bool last_useful = true;  // of its matrix instructions
  PipeClocks pipes;
};

struct GroupRun {
  std::vector<std::unique_ptr<WaveRun>> waves;
  int live = 0;
  int at_barrier = 0;
};

class ComputeUnit {
 public:
  ComputeUnit(absl::Span<const InstructionTime> instructions,
              absl::Span<const GroupTrace* const> traces,
              const ComputeUnitOptions& options)
      : instructions_(instructions),
        traces_(traces),
        options_(options),
        c_(options.constants),
        lds_(c_),
        memory_(c_),
        marked_(instructions.size(), false),
        scalar_there_(instructions.size(), options.warm_caches ? 0 : kNever) {
    costs_.reserve(instructions.size());
    uint64_t last_line = 0;
    for (const InstructionTime& time : instructions) {
      costs_.push_back(CostOf(time, c_));
      last_line = std::max(last_line, (time.address + time.size) / 128);
    }
    line_there_.assign(last_line + 2, options.warm_caches ? 0 : kNever);
    for (const uint32_t step : options.marked_steps) {
      if (step < marked_.size()) marked_[step] = true;
    }
    internal_ = std::max(kSlot, Clocks(c_.issue_internal));
    oldest_first_ = c_.issue_oldest_first != 0;
    shared_port_ = c_.issue_shared_memory_port != 0;
    hold_other_wave_ = c_.hold_other_wave != 0;
    report_.groups.resize(traces.size());
    report_.steps.resize(instructions.size());
    groups_.resize(traces.size());
  }

  ComputeUnitReport Run() {
    for (int i = 0; i < options_.resident; ++i) StartGroup(0);
    while (true) {
      Simd* simd = nullptr;
      int number = 0;
      for (int s = 0; s < kSimds; ++s) {
        if (simds_[s].next_turn == kNever) continue;
        if (simd == nullptr || simds_[s].next_turn < simd->next_turn) {
          simd = &simds_[s];
          number = s;
        }
      }
      if (simd == nullptr) break;
      Turn(*simd, number, simd->next_turn);
    }
    for (size_t s = 0; s < kSimds; ++s) report_.pipes[s] = simds_[s].pipes;
    return std::move(report_);
  }

 private:
  // SIMD s has its turns at clocks of s modulo 4.
  static uint64_t AtTurn(int simd, uint64_t time) {
    const uint64_t offset = static_cast<uint64_t>(simd);
    if (time <= offset) return offset;
    return (time - offset + kSlot - 1) / kSlot * kSlot + offset;
  }

  // The next group that has anything to do. Its first wave goes to the SIMD
  // with the fewest, wave w to the w-th behind.
  void StartGroup(uint64_t time) {
    while (next_group_ < traces_.size() && !StartNext(time)) {
    }
  }

  bool StartNext(uint64_t time) {
    const size_t index = next_group_++;
    GroupRun& group = groups_[index];
    const GroupTrace& trace = *traces_[index];
    report_.groups[index].start = report_.groups[index].end = time;
    size_t first = 0;
    for (size_t s = 1; s < kSimds; ++s) {
      if (simds_[s].waves.size() < simds_[first].waves.size()) first = s;
    }
    for (size_t w = 0; w < trace.waves.size(); ++w) {
      if (trace.waves[w].events.empty()) continue;
      auto wave = std::make_unique<WaveRun>();
      wave->events = &trace.waves[w].events;
      wave->lines = &trace.waves[w].lines;
      wave->group = static_cast<uint32_t>(index);
      wave->number = static_cast<uint16_t>(w);
      wave->simd = static_cast<int>((first + w) % kSimds);
      wave->age = age_++;
      wave->next_issue = wave->accounted = AtTurn(wave->simd, time);
      Simd& simd = simds_[wave->simd];
      simd.waves.push_back(wave.get());
      FetchNext(*wave, wave->next_issue, true);
      simd.next_turn = std::min(simd.next_turn, wave->next_issue);
      group.waves.push_back(std::move(wave));
      ++group.live;
    }
    return group.live > 0;
  }

  const TraceEvent& Next(const WaveRun& wave) const {
    return (*wave.events)[wave.position];
  }

  // Notes when the line of the wave's next instruction is in the cache.
  void FetchNext(WaveRun& wave, uint64_t now, bool jumped) {
    if (wave.position >= wave.events->size()) return;
    const InstructionTime& next = instructions_[Next(wave).step];
    const uint64_t last = (next.address + next.size - 1) / 128;
    if (last == wave.line && !jumped) return;
    // Without a jump the line of its first byte is there.
    for (uint64_t line = jumped ? next.address / 128 : last; line <= last;
         ++line) {
      if (line_there_[line] == kNever) {
        line_there_[line] = now + Clocks(c_.fetch_miss);
      }
      wave.fetched = std::max(wave.fetched, line_there_[line]);
    }
    wave.line = last;
  }

  void Charge(WaveRun& wave, uint64_t until) {
    if (until <= wave.accounted) return;
    ChargeTo(wave, Next(wave).step, wave.reason, wave.accounted,
             until - wave.accounted);
    wave.accounted = until;
  }
  void ChargeTo(const WaveRun& wave, uint32_t step, Stall reason, uint64_t from,
                uint64_t clocks) {
    if (clocks == 0) return;
    report_.steps[step].stall[static_cast<size_t>(reason)] += clocks;
    if (options_.listener != nullptr) {
      options_.listener->Wait({from, clocks, step, wave.group, wave.number,
                               static_cast<uint16_t>(wave.simd)},
                              reason, from, clocks);
    }
  }

  static void Raise(uint64_t time, Stall reason, WaveRun& wave) {
    if (time > wave.earliest) {
      wave.earliest = time;
      wave.reason = reason;
    }
  }

  // Sets `earliest` and `reason` of the wave's next instruction.
  void Look(WaveRun& wave, Simd& simd, uint64_t now) {
    wave.earliest = wave.next_issue;
    wave.reason = Stall::kIssue;
    if (wave.barrier_since != kNever) {
      wave.earliest = kNever;
      return;
    }
    Raise(wave.fetched, Stall::kFetch, wave);
    const InstructionTime& time = instructions_[Next(wave).step];
    const StepCost& cost = costs_[Next(wave).step];
    RaiseForResults(wave, time, now);
    switch (time.issue) {
      case IssueKind::kVector:
        RaiseForVector(wave, simd, time, cost);
        break;
      case IssueKind::kLds:
        Raise(lds_.FreeAt(wave.simd, now), Stall::kLdsQueue, wave);
        RaiseForMemoryHold(wave, simd);
        RaiseForLgkmTop(wave, now);
        break;
      case IssueKind::kMemory:
        Raise(memory_.FreeAt(wave.simd, now), Stall::kMemoryQueue, wave);
        RaiseForMemoryHold(wave, simd);
        while (!wave.memory.empty() && wave.memory.front() <= now) {
          wave.memory.pop_front();
        }
        if (wave.memory.size() >= 63) {
          Raise(wave.memory[wave.memory.size() - 63], Stall::kMemoryQueue,
                wave);
        }
        if (time.flat) RaiseForLgkmTop(wave, now);
        break;
      case IssueKind::kScalar:
        if (time.scalar_load) RaiseForLgkmTop(wave, now);
        break;
      case IssueKind::kInternal:
        if (time.control == ControlKind::kWaitcnt) {
          RaiseForWait(wave, time, now);
        }
        break;
      case IssueKind::kBranch:
        break;
    }
  }

  void RaiseForResults(WaveRun& wave, const InstructionTime& time,
                       uint64_t now) {
    if (wave.results.empty()) return;
    std::erase_if(wave.results, [now](const PendingResult& result) {
      return result.readable <= now;
    });
    for (const PendingResult& result : wave.results) {
      for (const TimedRange& range : time.ranges) {
        if (range.first >= result.end || result.first >= range.end) continue;
        const bool same =
            range.first == result.first && range.end == result.end;
        if (time.matrix && same && time.opcode == result.opcode &&
            range.use != TimedUse::kMatrixAB) {
          continue;  // the accumulator stays in the pipe
        }
        // A matrix instruction writes where its addend was, or later.
        const bool late = range.use == TimedUse::kMatrixC ||
                          (time.matrix && range.use == TimedUse::kWrite);
        Raise(late ? result.addable : result.readable, Stall::kMatrixResult,
              wave);
      }
    }
  }

  bool Holds(const Simd& simd, const WaveRun& wave) const {
    return hold_other_wave_ || simd.holder == &wave;
  }

  void RaiseForMemoryHold(WaveRun& wave, const Simd& simd) {
    if (Holds(simd, wave)) Raise(simd.hold_memory, Stall::kMatrixHold, wave);
  }

  void RaiseForVector(WaveRun& wave, const Simd& simd,
                      const InstructionTime& time, const StepCost& cost) {
    Raise(simd.vector_free, Stall::kVectorPipe, wave);
    if (time.matrix) {
      Raise(simd.matrix_free, Stall::kMatrixPipe, wave);
      return;
    }
    if (!Holds(simd, wave)) return;
    Raise(cost.hold == HoldClass::kPacked ? simd.hold_packed : simd.hold_vector,
          Stall::kMatrixHold, wave);
  }

  void DropDone(WaveRun& wave, uint64_t now) {
    while (!wave.lds.empty() && wave.lds.front() <= now) wave.lds.pop_front();
    std::erase_if(wave.scalar, [now](uint64_t done) { return done <= now; });
  }

  // When at most `allowed` LDS and scalar operations are outstanding.
  uint64_t LgkmReached(WaveRun& wave, size_t allowed, uint64_t now) {
    DropDone(wave, now);
    const size_t count = wave.lds.size() + wave.scalar.size();
    if (count <= allowed) return 0;
    if (wave.scalar.empty()) return wave.lds[count - allowed - 1];
    std::vector<uint64_t> done(wave.lds.begin(), wave.lds.end());
    done.insert(done.end(), wave.scalar.begin(), wave.scalar.end());
    std::sort(done.begin(), done.end());
    return done[count - allowed - 1];
  }

  void RaiseForLgkmTop(WaveRun& wave, uint64_t now) {
    Raise(LgkmReached(wave, 14, now), Stall::kLdsQueue, wave);
  }

  void RaiseForWait(WaveRun& wave, const InstructionTime& time, uint64_t now) {
    if (time.vmcnt != 0xffff) {
      while (!wave.memory.empty() && wave.memory.front() <= now) {
        wave.memory.pop_front();
      }
      if (wave.memory.size() > time.vmcnt) {
        Raise(wave.memory[wave.memory.size() - time.vmcnt - 1],
              Stall::kWaitMemory, wave);
      }
    }
    if (time.lgkmcnt != 0xffff) {
      Raise(LgkmReached(wave, time.lgkmcnt, now), Stall::kWaitLds, wave);
    }
  }

  // Issue ports: LDS and vector memory may be one.
  uint32_t PortOf(IssueKind kind) const {
    if (kind == IssueKind::kInternal) return 0;
    if (kind == IssueKind::kMemory && shared_port_) kind = IssueKind::kLds;
    return 1u << static_cast<int>(kind);
  }

  void Turn(Simd& simd, int number, uint64_t now) {
    ready_.clear();
    for (WaveRun* wave : simd.waves) {
      if (wave->barrier_since != kNever) continue;
      if (wave->next_issue > now) {
        wave->earliest = wave->next_issue;
        continue;
      }
      Charge(*wave, now);
      Look(*wave, simd, now);
      if (wave->earliest <= now) ready_.push_back(wave);
    }
    if (ready_.size() > 1) {
      std::sort(ready_.begin(), ready_.end(),
                [this](const WaveRun* a, const WaveRun* b) {
                  if (a->priority != b->priority) {
                    return a->priority > b->priority;
                  }
                  if (!oldest_first_ && a->last_issue != b->last_issue) {
                    return a->last_issue < b->last_issue;
                  }
                  return a->age < b->age;
                });
    }
    uint32_t taken = 0;
    for (WaveRun* wave : ready_) {
      const uint32_t port = PortOf(instructions_[Next(*wave).step].issue);
      if ((taken & port) != 0) {
        wave->reason = Stall::kIssue;
        wave->earliest = now + kSlot;
        continue;
      }
      taken |= port;
      Issue(*wave, simd, now);
    }
    std::erase_if(simd.waves, [](const WaveRun* wave) {
      return wave->position >= wave->events->size();
    });
    uint64_t next = kNever;
    for (const WaveRun* wave : simd.waves) {
      if (wave->barrier_since != kNever) continue;
      next = std::min(next, std::max(wave->earliest, wave->next_issue));
    }
    simd.next_turn =
        next == kNever ? kNever : std::max(now + kSlot, AtTurn(number, next));
    for (; ended_groups_ > 0; --ended_groups_) {
      StartGroup(now + std::max(kSlot, Clocks(c_.group_dispatch)));
    }
  }

  void Issue(WaveRun& wave, Simd& simd, uint64_t now) {
    const TraceEvent event = Next(wave);
    const InstructionTime& time = instructions_[event.step];
    const StepCost& cost = costs_[event.step];
    ++report_.instructions;
    ++report_.steps[event.step].issued;
    report_.clocks = std::max(report_.clocks, now);
    if (marked_[event.step]) {
      PipeClocks pipes = simd.pipes;
      const uint64_t ahead =
          simd.matrix_free > now ? simd.matrix_free - now : 0;
      pipes.matrix -= std::min(pipes.matrix, ahead);
      if (simd.last_useful) pipes.useful -= std::min(pipes.useful, ahead);
      report_.marks[static_cast<size_t>(wave.simd)].push_back(
          {now, wave.group, wave.number, event.step, pipes});
    }
    uint64_t busy = kSlot;
    wave.last_issue = now + 1;
    wave.next_issue = wave.accounted = now + kSlot;
    Stall behind = Stall::kNop;
    bool jumped = false;
    switch (time.issue) {
      case IssueKind::kVector:
        busy = time.matrix ? IssueMatrix(wave, simd, event, time, cost, now)
                           : IssueVector(simd, time, cost, now);
        behind = Stall::kMatrixPipe;
        break;
      case IssueKind::kLds:
        IssueLds(wave, simd, event, time, now);
        break;
      case IssueKind::kMemory: {
        const absl::Span<const uint32_t> lines(
            wave.lines->data() + wave.line_position, event.load);
        wave.line_position += event.load;
        const uint64_t done =
            memory_.Issue(wave.simd, now, time.store, lines, time.dwords);
        const uint64_t last = wave.memory.empty() ? 0 : wave.memory.back();
        wave.memory.push_back(std::max(done, last));
        // FLAT counts as an LDS access as well, in no order with the others.
        if (time.flat) wave.scalar.push_back(wave.memory.back());
        if (time.to_lds) lds_.ArriveAt(done, 256u * time.dwords);
        wave.next_issue = now + std::max(kSlot, Clocks(c_.memory_issue));
        behind = Stall::kMemoryQueue;
        break;
      }
      case IssueKind::kScalar:
        if (time.scalar_load) {
          uint64_t& there = scalar_there_[event.step];
          if (there == kNever) there = now + Clocks(c_.scalar_load_cold);
          wave.scalar.push_back(std::max(now + Clocks(c_.scalar_load), there));
        }
        break;
      case IssueKind::kBranch: {
        jumped = wave.position + 1 < wave.events->size() &&
                 (*wave.events)[wave.position + 1].step != event.step + 1;
        const uint64_t clocks =
            Clocks(jumped ? c_.branch_taken : c_.branch_not_taken);
        wave.next_issue = now + std::max(kSlot, clocks);
        behind = Stall::kBranch;
        break;
      }
      case IssueKind::kInternal:
        IssueInternal(wave, event, time, now);
        break;
    }
    if (options_.listener != nullptr) {
      options_.listener->Issue({now, busy, event.step, wave.group, wave.number,
                                static_cast<uint16_t>(wave.simd)});
    }
    ++wave.position;
    if (wave.position >= wave.events->size()) {
      EndWave(wave, now);
      return;
    }
    if (wave.barrier_since == kNever) {
      wave.next_issue = AtTurn(wave.simd, wave.next_issue);
      ChargeTo(wave, event.step, behind, wave.accounted,
               wave.next_issue - wave.accounted);
      wave.accounted = wave.next_issue;
    }
    wave.earliest = wave.next_issue;
    FetchNext(wave, now, jumped);
  }

  uint64_t IssueMatrix(WaveRun& wave, Simd& simd, const TraceEvent& event,
                       const InstructionTime& time, const StepCost& cost,
                       uint64_t now) {
    uint64_t start = now;
    // In a stream the pipe came free with this turn.
    const bool idle = simd.holder == nullptr || simd.matrix_free + kSlot <= now;
    if (time.scaled && idle) start += Clocks(c_.matrix_scaled_idle);
    const uint64_t busy = kSlot * time.passes;
    simd.matrix_free = start + busy;
    simd.vector_free = std::max(simd.vector_free, start + kSlot);
    simd.hold_vector = std::max(simd.hold_vector, start + cost.hold_vector);
    simd.hold_packed = std::max(simd.hold_packed, start + cost.hold_packed);
    simd.hold_memory = std::max(simd.hold_memory, start + cost.hold_memory);
    simd.holder = &wave;
    simd.pipes.matrix += busy;
    const bool auxiliary = event.step < options_.auxiliary.size() &&
                           options_.auxiliary[event.step];
    if (!auxiliary) simd.pipes.useful += busy;
    simd.last_useful = !auxiliary;
    wave.next_issue = start + kSlot;
    for (const TimedRange& range : time.ranges) {
      if (range.use != TimedUse::kWrite) continue;
      std::erase_if(wave.results, [&range](const PendingResult& result) {
        return result.first == range.first && result.end == range.end;
      });
      wave.results.push_back({range.first, range.end, time.opcode,
                              start + cost.result, start + cost.result_addend});
    }
    return busy;
  }

  uint64_t IssueVector(Simd& simd, const InstructionTime& time,
                       const StepCost& cost, uint64_t now) {
    simd.vector_free = now + cost.vector;
    simd.pipes.vector += cost.vector;
    if (time.three_source) {
      while (!simd.lds_returns.empty() &&
             simd.lds_returns.front().second <= now) {
        simd.lds_returns.pop_front();
      }
      if (!simd.lds_returns.empty() && simd.lds_returns.front().first <= now) {
        simd.port_debt += c_.port_three_source_lds;
      }
      if (simd.matrix_free > now) {
        simd.port_debt += c_.port_three_source_matrix;
      }
      const auto slots = static_cast<uint64_t>(simd.port_debt) / kSlot;
      simd.port_debt -= static_cast<double>(slots * kSlot);
      simd.vector_free += slots * kSlot;
    }
    return cost.vector;
  }

  void IssueLds(WaveRun& wave, Simd& simd, const TraceEvent& event,
                const InstructionTime& time, uint64_t now) {
    const LdsUnit::Service service =
        lds_.Issue(wave.simd, now, event.load & 0xffff, event.load >> 16,
                   !time.lds_returns);
    const uint64_t last = wave.lds.empty() ? 0 : wave.lds.back();
    wave.lds.push_back(std::max(service.done, last));
    if (time.lds_returns) {
      simd.lds_returns.emplace_back(service.first_data, service.done);
    }
  }

  void IssueInternal(WaveRun& wave, const TraceEvent& event,
                     const InstructionTime& time, uint64_t now) {
    wave.next_issue = now + internal_;
    switch (time.control) {
      case ControlKind::kNop:
      case ControlKind::kSleep:
        wave.next_issue = std::max(wave.next_issue, now + kSlot * time.states);
        break;
      case ControlKind::kSetprio:
        wave.priority = time.priority;
        break;
      case ControlKind::kBarrier:
        // A trace that ends here: nobody is left to wait.
        if (wave.position + 1 == wave.events->size()) break;
        wave.barrier_since = now + kSlot;
        wave.barrier_step = event.step;
        ++groups_[wave.group].at_barrier;
        OpenBarrier(groups_[wave.group], now);
        break;
      default:
        break;
    }
  }

  void OpenBarrier(GroupRun& group, uint64_t now) {
    if (group.at_barrier == 0 || group.at_barrier < group.live) return;
    group.at_barrier = 0;
    const uint64_t release = now + Clocks(c_.barrier_release);
    for (const std::unique_ptr<WaveRun>& wave : group.waves) {
      if (wave->barrier_since == kNever) continue;
      wave->next_issue =
          std::max(AtTurn(wave->simd, release), wave->barrier_since);
      ChargeTo(*wave, wave->barrier_step, Stall::kBarrier, wave->barrier_since,
               wave->next_issue - wave->barrier_since);
      wave->accounted = wave->earliest = wave->next_issue;
      wave->barrier_since = kNever;
      Simd& simd = simds_[wave->simd];
      simd.next_turn = std::min(simd.next_turn, wave->next_issue);
    }
  }

  void EndWave(WaveRun& wave, uint64_t now) {
    GroupRun& group = groups_[wave.group];
    --group.live;
    if (group.live > 0) {
      OpenBarrier(group, now);
      return;
    }
    report_.groups[wave.group].end = now + kSlot;
    ++ended_groups_;
  }

  absl::Span<const InstructionTime> instructions_;
  absl::Span<const GroupTrace* const> traces_;
  const ComputeUnitOptions& options_;
  const CycleConstants& c_;
  LdsUnit lds_;
  MemoryUnit memory_;
  std::vector<StepCost> costs_;
  std::vector<bool> marked_;
  std::vector<uint64_t> scalar_there_;  // what a step loads, in the cache
  std::vector<uint64_t> line_there_;
  uint64_t internal_ = kSlot;
  bool oldest_first_ = true, shared_port_ = true, hold_other_wave_ = true;
  int ended_groups_ = 0;  // in this turn
  uint64_t age_ = 0;
  size_t next_group_ = 0;
  std::array<Simd, kSimds> simds_;
  std::vector<GroupRun> groups_;
  std::vector<WaveRun*> ready_;
  ComputeUnitReport report_;
};

}  // namespace

ComputeUnitReport RunComputeUnit(absl::Span<const InstructionTime> instructions,
                                 absl::Span<const GroupTrace* const> traces,
                                 const ComputeUnitOptions& options) {
  return ComputeUnit(instructions, traces, options).Run();
}

}  // namespace zyfa::emu
