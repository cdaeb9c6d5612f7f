#include "zyfa/gen/asm/hazards.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/asm/hazard_rules.h"

namespace zyfa::gen {
namespace {

// Wait states that a single s_nop can give.
constexpr int kMaxNopStates = 16;

// A produced register that is still too young for somebody.
struct Pending {
  int rule = 0;
  UnitRange units;
  Opcode opcode = Opcode::s_nop;
  int states = 0;  // wanted between producer and consumer
  int age = 0;     // wait states since

  bool SameBut(const Pending& o) const {
    return rule == o.rule && units == o.units && opcode == o.opcode &&
           states == o.states;
  }
};

struct Young {
  std::vector<Pending> pending;

  bool Merge(const Young& o) {
    bool changed = false;
    for (const Pending& p : o.pending) {
      auto mine = std::find_if(pending.begin(), pending.end(),
                               [&](const Pending& q) { return q.SameBut(p); });
      if (mine == pending.end()) {
        pending.push_back(p);
        changed = true;
      } else if (p.age < mine->age) {
        mine->age = p.age;
        changed = true;
      }
    }
    return changed;
  }

  void Age(int states) {
    for (Pending& p : pending) p.age += states;
    std::erase_if(pending, [](const Pending& p) { return p.age >= p.states; });
  }

  void Add(const Pending& p) {
    auto mine = std::find_if(pending.begin(), pending.end(),
                             [&](const Pending& q) { return q.SameBut(p); });
    if (mine == pending.end()) {
      pending.push_back(p);
    } else {
      mine->age = 0;
    }
  }
};

bool Related(HazardRelation relation, const Pending& p, const UnitRange& units,
             Opcode opcode) {
  if (!p.units.Overlaps(units)) return false;
  switch (relation) {
    case HazardRelation::kOverlap:
      return true;
    case HazardRelation::kSame:
      return p.units == units;
    case HazardRelation::kOverlapNotSame:
      return !(p.units == units);
    case HazardRelation::kOtherOpcode:
      return p.opcode != opcode;
    case HazardRelation::kSameOpcode:
      return p.opcode == opcode;
  }
  return true;
}

struct Need {
  int states = 0;
  const char* why = "";
};

// What one instruction means to every rule, found once.
struct RuleSets {
  std::vector<UnitRanges> produced, consumed;
  std::vector<int> states;
};

RuleSets SetsOf(const Instruction& inst) {
  RuleSets sets;
  for (const HazardRule& rule : HazardRules()) {
    sets.produced.push_back(rule.produced(inst));
    sets.consumed.push_back(rule.consumed(inst));
    sets.states.push_back(HazardStates(rule, inst));
  }
  return sets;
}

Need NeedOf(const Instruction& inst, const RuleSets& sets, const Young& young) {
  Need need;
  const std::vector<HazardRule>& rules = HazardRules();
  for (const Pending& p : young.pending) {
    for (const UnitRange& units : sets.consumed[p.rule]) {
      const int missing = p.states - p.age;
      if (missing > need.states &&
          Related(rules[p.rule].relation, p, units, inst.opcode)) {
        need = {missing, rules[p.rule].name};
      }
    }
  }
  return need;
}

// Moves over one instruction; returns the wait states that it needs in front.
Need Step(const Instruction& inst, const RuleSets& sets, Young& young) {
  if (!inst.IsOperation()) return {};
  const Need need = NeedOf(inst, sets, young);
  const bool nop = inst.opcode == Opcode::s_nop;
  young.Age(need.states +
            (nop ? static_cast<int>(inst.operands[0].imm.bits()) + 1 : 1));
  for (size_t r = 0; r < sets.produced.size(); ++r) {
    if (sets.states[r] == 0) continue;
    for (const UnitRange& units : sets.produced[r]) {
      young.Add({static_cast<int>(r), units, inst.opcode, sets.states[r], 0});
    }
  }
  return need;
}

void AppendNops(const Need& need, const Instruction& user,
                std::vector<Instruction>& out) {
  for (int left = need.states; left > 0; left -= kMaxNopStates) {
    Instruction nop;
    nop.opcode = Opcode::s_nop;
    nop.operands = {Operand::Of(Imm(std::min(left, kMaxNopStates) - 1))};
    nop.inserted = true;
    nop.number = user.number;
    nop.section = user.section;
    nop.comment = absl::StrCat("wait: ", need.why);
    out.push_back(std::move(nop));
  }
}

}  // namespace

void InsertWaitStates(std::vector<Instruction>& program,
                      const std::vector<BasicBlock>& blocks) {
  std::vector<RuleSets> sets;
  for (const Instruction& inst : program) {
    sets.push_back(inst.IsOperation() ? SetsOf(inst) : RuleSets());
  }
  std::vector<bool> reached;
  const std::vector<Young> in = ForwardFlow<Young>(
      blocks, Young(),
      [&](const BasicBlock& block, Young& young) {
        for (int i = block.begin; i < block.end; ++i) {
          Step(program[i], sets[i], young);
        }
      },
      &reached);
  std::vector<Instruction> result;
  for (size_t b = 0; b < blocks.size(); ++b) {
    Young young = in[b];
    for (int i = blocks[b].begin; i < blocks[b].end; ++i) {
      const Need need = Step(program[i], sets[i], young);
      if (reached[b]) AppendNops(need, program[i], result);
      result.push_back(program[i]);
    }
  }
  program = std::move(result);
}

}  // namespace zyfa::gen
