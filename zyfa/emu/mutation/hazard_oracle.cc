#include "zyfa/emu/mutation/hazard_oracle.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "zyfa/emu/mutation/instruction_facts.h"

namespace zyfa::emu {
namespace {

using Facts = InstructionFacts;

// More than any row wants.
constexpr int kLookBack = 24;

template <class Set>
bool Meet(const Set& a, const Set& b) {
  return (a & b).any();
}

// An entry of a table with a column for each of 2, 4, 8 and 16 passes.
int ByPasses(const Facts& first, int two, int four, int eight, int sixteen) {
  switch (first.passes) {
    case 2:
      return two;
    case 4:
      return four;
    case 8:
      return eight;
    default:
      return sixteen;
  }
}

// The 4x4x4 form of the two F64 products.
bool SmallF64(const Facts& facts) { return facts.f64 && facts.passes == 2; }

// ISA 5.1: until a product's result is there for all but products.
int ResultStates(const Facts& first, int f64_small, int f64_large) {
  if (first.f64) return SmallF64(first) ? f64_small : f64_large;
  if (first.f32_input) return ByPasses(first, 4, 6, 10, 18);
  return ByPasses(first, 5, 8, 12, 20);
}

// One row: how many wait states it wants between the two, 0 if it is not about
// them.
struct Row {
  const char* name;
  int (*wanted)(const Facts& first, const Facts& second);
};

// ISA 5.1, then 5.2, in their order; the names are those of strict mode's
// rules. A VALU instruction is none of the products here, whose rows of their
// own want more.
constexpr Row kRows[] = {
    {"hazard-matrix-result",
     [](const Facts& first, const Facts& second) {
       if (!first.matrix || !(second.valu || second.memory) ||
           !Meet(first.writes, second.reads)) {
         return 0;
       }
       return second.memory ? ResultStates(first, 9, 18)
                            : ResultStates(first, 6, 19);
     }},
    {"hazard-matrix-result-overwritten",
     [](const Facts& first, const Facts& second) {
       if (!first.matrix || !(second.valu || second.memory) ||
           !Meet(first.writes, second.writes)) {
         return 0;
       }
       return ResultStates(first, 6, 11);
     }},
    {"hazard-matrix-source",
     [](const Facts& first, const Facts& second) {
       if (!first.matrix || !second.matrix ||
           !Meet(first.writes, second.sources)) {
         return 0;
       }
       return ResultStates(first, 6, 19);
     }},
    {"hazard-matrix-addend",
     [](const Facts& first, const Facts& second) {
       if (!first.matrix || !second.matrix ||
           !Meet(first.writes, second.addend)) {
         return 0;
       }
       if (first.writes == second.addend) {
         if (first.f64) return SmallF64(first) ? 4 : 0;
         return ByPasses(first, 2, 0, 0, 0);
       }
       if (first.f64) return 0;  // the tables do not say
       if (first.f32_input) return ByPasses(first, 2, 4, 8, 16);
       return ByPasses(first, 4, 6, 10, 18);
     }},
    {"hazard-matrix-addend-overwritten",
     [](const Facts& first, const Facts& second) {
       if (!first.matrix || !(second.valu || second.memory) ||
           !Meet(first.addend, second.writes)) {
         return 0;
       }
       if (first.f64 || first.f32_input) return 0;
       return ByPasses(first, 1, 3, 7, 15);
     }},
    {"hazard-valu-matrix-source",
     [](const Facts& first, const Facts& second) {
       const bool meet = first.valu && !first.dot && second.matrix &&
                         Meet(first.writes, second.reads);
       return meet ? 2 : 0;
     }},
    {"hazard-exec",
     [](const Facts& first, const Facts& second) {
       return first.writes_exec && second.matrix ? 4 : 0;
     }},
    {"hazard-dot-result",
     [](const Facts& first, const Facts& second) {
       if (!first.dot) return 0;
       const VectorSet used = first.name == second.name
                                  ? second.dot_sources
                                  : second.reads | second.writes;
       return Meet(first.writes, used) ? 3 : 0;
     }},
    {"hazard-trans-result",
     [](const Facts& first, const Facts& second) {
       const bool meet = first.trans && second.valu && !second.trans &&
                         Meet(first.writes, second.reads);
       return meet ? 1 : 0;
     }},
    {"hazard-placed-result",
     [](const Facts& first, const Facts& second) {
       // LLVM: what keeps a part of the result uses it.
       const bool meet = first.placed && second.valu &&
                         Meet(first.writes, second.reads | second.kept);
       return meet ? 1 : 0;
     }},
    {"hazard-partial-write",
     [](const Facts& first, const Facts& second) {
       const bool meet = first.scale_part >= 0 && second.scale_part >= 0 &&
                         first.scale_part != second.scale_part &&
                         Meet(first.writes, second.writes);
       return meet ? 1 : 0;
     }},
    {"hazard-permlane",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.valu && second.permlane && Meet(first.writes, second.reads);
       return meet ? 2 : 0;
     }},
    {"hazard-exec",
     [](const Facts& first, const Facts& second) {
       return first.writes_exec && second.permlane ? 4 : 0;
     }},
    {"hazard-dpp",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.valu && second.dpp && Meet(first.writes, second.reads);
       return meet ? 2 : 0;
     }},
    {"hazard-exec",
     [](const Facts& first, const Facts& second) {
       return first.writes_exec && second.dpp ? 5 : 0;
     }},
    {"hazard-readlane",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.valu && second.reads_lane && Meet(first.writes, second.reads);
       return meet ? 1 : 0;
     }},
    {"hazard-scalar-constant",
     [](const Facts& first, const Facts& second) {
       const bool meet = first.valu && second.valu &&
                         Meet(first.scalar_writes, second.constants);
       return meet ? 2 : 0;
     }},
    {"hazard-lane-select",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.valu && Meet(first.scalar_writes, second.lane_select);
       return meet ? 4 : 0;
     }},
    {"hazard-div-fmas",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.valu && Meet(first.scalar_writes, second.vcc_mask);
       return meet ? 4 : 0;
     }},
    {"hazard-exec",
     [](const Facts& first, const Facts& second) {
       const bool lane = second.reads_lane || second.writes_lane;
       return first.writes_exec && lane ? 4 : 0;
     }},
    {"hazard-scalar-address",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.valu && Meet(first.scalar_writes, second.scalar_address);
       return meet ? 5 : 0;
     }},
    {"hazard-vccz",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.valu && Meet(first.scalar_writes, second.vccz_of);
       return meet ? 5 : 0;
     }},
    {"hazard-execz",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.valu && Meet(first.scalar_writes, second.execz_of);
       return meet ? 5 : 0;
     }},
    {"hazard-m0",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           first.salu && first.scalar_writes[kM0] && second.uses_m0;
       return meet ? 1 : 0;
     }},
    {"hazard-setreg",
     [](const Facts& first, const Facts& second) {
       const bool meet =
           !first.setreg.empty() && first.setreg == second.any_hwreg;
       return meet ? 2 : 0;
     }},
    {"hazard-store-data-overwritten",
     [](const Facts& first, const Facts& second) {
       if (!Meet(first.store_data, second.writes)) return 0;
       return second.memory ? 1 : 2;
     }},
};

// Takes out what another instruction has overwritten since.
void Overwrite(const ScalarSet& written, Facts& facts) {
  facts.constants &= ~written;
  facts.lane_select &= ~written;
  facts.vcc_mask &= ~written;
  facts.vccz_of &= ~written;
  facts.execz_of &= ~written;
  facts.scalar_address &= ~written;
}

}  // namespace

std::vector<OracleViolation> FindViolations(
    const std::vector<const Instruction*>& trace) {
  std::map<const Instruction*, Facts> known;
  std::vector<const Facts*> facts;
  facts.reserve(trace.size());
  for (const Instruction* inst : trace) {
    auto found = known.find(inst);
    if (found == known.end()) {
      found = known.emplace(inst, FactsOf(inst->text)).first;
    }
    facts.push_back(&found->second);
  }
  std::vector<OracleViolation> violations;
  std::set<std::pair<uint64_t, std::string>> told;
  for (size_t second = 0; second < trace.size(); ++second) {
    Facts reader = *facts[second];
    int between = 0;
    for (size_t first = second; first-- > 0 && between < kLookBack;) {
      for (const Row& row : kRows) {
        const int wanted = row.wanted(*facts[first], reader);
        if (wanted <= between ||
            !told.emplace(trace[second]->address, row.name).second) {
          continue;
        }
        violations.push_back({first, second, wanted, between, row.name});
      }
      Overwrite(facts[first]->scalar_writes, reader);
      between += facts[first]->states;
    }
  }
  return violations;
}

}  // namespace zyfa::emu
