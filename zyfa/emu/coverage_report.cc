#include "zyfa/emu/coverage_report.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "zyfa/emu/handlers.h"
#include "zyfa/emu/instruction_set.h"
#include "zyfa/emu/semantics.h"
#include "zyfa/emu/vector/handlers.h"

namespace zyfa::emu {
namespace {

struct Absence {
  std::string_view begin;  // of the mnemonics it is about
  std::string_view why;
};
constexpr std::string_view kImages =
    "typed buffer formats: graphics and images only";
constexpr std::string_view kScalarStores =
    "scalar stores and atomics: LLVM selects none for gfx950";
constexpr std::string_view kDebugger =
    "debugger, trap handler and context switch";
constexpr std::string_view kOldBranches =
    "branch stack of older graphics compilers";
constexpr std::string_view kOrdered =
    "counters of a whole wave: reached by __builtin_amdgcn_ds_append and "
    "_consume only";
constexpr std::string_view kGws =
    "global wave sync: needs a resource of the driver";
constexpr std::string_view kRareLds =
    "LDS operations that LLVM selects for no HIP source";
constexpr std::string_view kHost =
    "talks to the host or the scheduler; no service behind it here";
constexpr Absence kAbsences[] = {
    {"buffer_load_format_", kImages},
    {"buffer_store_format_", kImages},
    {"tbuffer_", kImages},
    {"s_atomic_", kScalarStores},
    {"s_buffer_atomic_", kScalarStores},
    {"s_buffer_store_", kScalarStores},
    {"s_store_", kScalarStores},
    {"s_scratch_", kScalarStores},
    {"s_dcache_discard", kScalarStores},
    {"s_atc_probe", kScalarStores},
    {"s_cbranch_cdbg", kDebugger},
    {"s_endpgm_saved", kDebugger},
    {"s_rfe_", kDebugger},
    {"s_setkill", kDebugger},
    {"s_sethalt", kDebugger},
    {"s_endpgm_ordered_ps_done", "pixel shaders"},
    {"s_cbranch_g_fork", kOldBranches},
    {"s_cbranch_i_fork", kOldBranches},
    {"s_cbranch_join", kOldBranches},
    {"s_setvskip", kOldBranches},
    {"s_sendmsg", kHost},
    {"ds_append", kOrdered},
    {"ds_consume", kOrdered},
    {"ds_gws_", kGws},
    {"ds_cmpst_", kRareLds},
    {"ds_condxchg32_", kRareLds},
    {"ds_mskor_", kRareLds},
    {"ds_read_addtid_", kRareLds},
    {"ds_write_addtid_", kRareLds},
    {"ds_wrap_", kRareLds},
    {"ds_wrxchg2", kRareLds},
    {"scratch_load_lds_", "scratch straight into LDS: LLVM never selects it"},
    {"v_mfma_ld_scale_b32",
     "half of the scaled matrix instructions, which are emulated whole"},
    {"v_screen_partition_4se_b32", "rasteriser"},
};

struct Group {
  std::set<std::string> exact;
  std::map<std::string_view, std::set<std::string>> approximate;  // by reason
};

// "v_add_f16", "v_add_f32" as `v_add_{f16,f32}`.
std::string Braces(const std::set<std::string>& mnemonics) {
  std::map<std::string, std::vector<std::string>> by_stem;
  for (const std::string& name : mnemonics) {
    const size_t at = name.rfind('_');
    by_stem[name.substr(0, at)].push_back(name.substr(at + 1));
  }
  std::vector<std::string> words;
  for (const auto& [stem, ends] : by_stem) {
    words.push_back(
        ends.size() == 1
            ? absl::StrCat("`", stem, "_", ends[0], "`")
            : absl::StrCat("`", stem, "_{", absl::StrJoin(ends, ","), "}`"));
  }
  return absl::StrJoin(words, " ");
}

std::string Backquoted(std::string_view targets) {
  std::string text = "`";
  for (const char c : targets) {
    if (c == ',') {
      text += "`,";
    } else if (c == ' ') {
      text += " `";
    } else {
      text += c;
    }
  }
  return text + "`";
}

std::string Table(
    std::string_view head,
    const std::map<std::string_view, std::set<std::string>>& rows) {
  std::string text =
      absl::StrCat("| ", std::string(head), " | Why |\n|---|---|\n");
  for (const auto& [why, names] : rows) {
    absl::StrAppend(&text, "| ", Braces(names), " | ", std::string(why),
                    " |\n");
  }
  return text + "\n";
}

constexpr std::string_view kIntroduction =
    R"(# Instructions of the emulator

What the emulator does with each instruction of gfx950. `//zyfa/emu:coverage`
prints this page and `//zyfa/emu:coverage_test` compares; do not edit it. The
list of mnemonics is what LLVM's disassembler knows of gfx950; the rest is
declared next to the handlers.

- *Exact*: results are the hardware's as far as the source says.
- *Approximate*: they may differ, for the reason given.
- *Absent*: a kernel that reaches one is stopped with its name.

Sources: *pseudocode* is the vendor's, instruction by instruction; *ISA guide*
AMD's CDNA4 guide; *ISA facts* and *numerics* the project's references, by
section; *LLVM* what its code generator relies on. Encodings of a mnemonic
(_e32, _e64, SDWA, DPP) have one meaning; SDWA and DPP are tested in
`//zyfa/emu/vector:cross_lane_test`. Every vector mnemonic but
`v_nop` and `v_clrexcp` is also executed by `//zyfa/emu/vector:code_sets_test`, in
scalar and in AVX2 code.

)";

}  // namespace

std::string_view ReasonForAbsence(std::string_view mnemonic) {
  for (const Absence& absence : kAbsences) {
    if (mnemonic.starts_with(absence.begin)) return absence.why;
  }
  return {};
}

absl::StatusOr<std::string> CoverageReport() {
  auto all = EnumerateInstructionSet();
  if (!all.ok()) return all.status();
  std::map<std::string_view, std::pair<const Subject*, Group>> subjects;
  std::map<std::string_view, std::set<std::string>> absent;  // by reason
  size_t exact = 0, approximate = 0, missing = 0;
  for (auto& [mnemonic, examples] : *all) {
    std::optional<Semantics> semantics;
    for (Instruction& inst : examples) {
      if (!semantics.has_value()) semantics = FindSemantics(inst);
    }
    if (!semantics.has_value()) {
      const std::string_view why = ReasonForAbsence(mnemonic);
      if (why.empty()) {
        return absl::FailedPreconditionError(absl::StrCat(
            mnemonic, " is not emulated and no reason is given; example: ",
            examples[0].text));
      }
      absent[why].insert(mnemonic);
      ++missing;
      continue;
    }
    auto& [subject, group] = subjects[semantics->subject->title];
    subject = semantics->subject;
    if (semantics->approximation.empty()) {
      group.exact.insert(mnemonic);
      ++exact;
    } else {
      group.approximate[semantics->approximation].insert(mnemonic);
      ++approximate;
    }
  }
  for (const Absence& absence : kAbsences) {
    const auto group = absent.find(absence.why);
    bool used = false;
    if (group != absent.end()) {
      for (const std::string& name : group->second) {
        used = used || name.starts_with(absence.begin);
      }
    }
    if (!used) {
      return absl::FailedPreconditionError(
          absl::StrCat("a reason is given for ", std::string(absence.begin),
                       ", but none is absent"));
    }
  }
  for (const std::string& name : VectorMnemonics()) {
    if (!all->contains(name)) {
      return absl::FailedPreconditionError(
          absl::StrCat("handler of ", name, ", which gfx950 does not have"));
    }
  }

  std::string text = absl::StrCat(
      std::string(kIntroduction), "| Exact | Approximate | Absent | All |\n",
      "|---|---|---|---|\n| ", exact, " | ", approximate, " | ", missing, " | ",
      all->size(), " |\n\n");
  for (const auto& [title, entry] : subjects) {
    const auto& [subject, group] = entry;
    absl::StrAppend(&text, "## ", std::string(title),
                    "\n\nSource: ", std::string(subject->source),
                    ". Tests: ", Backquoted(subject->tests), ".\n\n");
    if (!group.exact.empty()) {
      absl::StrAppend(&text, "Exact (", group.exact.size(),
                      "): ", Braces(group.exact), "\n\n");
    }
    if (!group.approximate.empty()) {
      absl::StrAppend(&text, Table("Approximate", group.approximate));
    }
  }
  absl::StrAppend(&text, "## Absent\n\n", Table("Absent", absent));
  text.pop_back();
  return text;
}

}  // namespace zyfa::emu
