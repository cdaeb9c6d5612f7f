#include "zyfa/emu/mutation/instruction_facts.h"

#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <regex>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace zyfa::emu {
namespace {

constexpr int kVcc = 106, kM0Number = 124, kExec = 126;
constexpr int kVccz = 251, kExecz = 252;

struct Registers {
  bool vector = false;
  int first = 0, count = 0;
};

struct Line {
  std::string mnemonic;
  std::vector<std::string> operands, modifiers;
  bool Has(absl::string_view modifier) const {
    for (const std::string& word : modifiers) {
      if (word == modifier) return true;
    }
    return false;
  }
  // What follows "key:", "" if there is none.
  std::string Value(absl::string_view key) const {
    for (absl::string_view word : modifiers) {
      if (absl::ConsumePrefix(&word, key) && absl::ConsumePrefix(&word, ":")) {
        return std::string(word);
      }
    }
    return "";
  }
};

// "mnemonic op, op, op modifier modifier:[1,0]".
Line Split(absl::string_view text) {
  Line line;
  const std::pair<absl::string_view, absl::string_view> halves =
      absl::StrSplit(text, absl::MaxSplits(' ', 1));
  line.mnemonic = std::string(halves.first);
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : halves.second) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      pieces.emplace_back();
    } else if (c == ' ' && depth > 0) {
      // hwreg(HW_REG_MODE, 0, 4) stays one word.
    } else {
      pieces.back() += c;
    }
  }
  for (const std::string& piece : pieces) {
    const std::vector<std::string> words =
        absl::StrSplit(piece, ' ', absl::SkipEmpty());
    for (size_t i = 0; i < words.size(); ++i) {
      (i == 0 ? line.operands : line.modifiers).push_back(words[i]);
    }
  }
  return line;
}

std::optional<Registers> ParseRegisters(std::string operand) {
  static const std::regex kDecoration("^(-|\\||sext\\(|neg\\()*|[|)]*$");
  operand = std::regex_replace(operand, kDecoration, "");
  static const struct {
    const char* name;
    int first, count;
  } kNamed[] = {
      {"flat_scratch", 102, 2},
      {"flat_scratch_lo", 102, 1},
      {"flat_scratch_hi", 103, 1},
      {"xnack_mask", 104, 2},
      {"xnack_mask_lo", 104, 1},
      {"xnack_mask_hi", 105, 1},
      {"vcc", kVcc, 2},
      {"vcc_lo", kVcc, 1},
      {"vcc_hi", kVcc + 1, 1},
      {"m0", kM0Number, 1},
      {"exec", kExec, 2},
      {"exec_lo", kExec, 1},
      {"exec_hi", kExec + 1, 1},
      {"src_vccz", kVccz, 1},
      {"src_execz", kExecz, 1},
  };
  for (const auto& named : kNamed) {
    if (operand == named.name) {
      return Registers{false, named.first, named.count};
    }
  }
  static const std::regex kRegister(
      "(v|a|s|ttmp)(?:([0-9]+)|\\[([0-9]+):([0-9]+)\\])");
  std::smatch match;
  if (!std::regex_match(operand, match, kRegister)) return std::nullopt;
  const bool tuple = match[3].matched;
  const int first = std::atoi(match[tuple ? 3 : 2].str().c_str());
  const int last = tuple ? std::atoi(match[4].str().c_str()) : first;
  const std::string file = match[1];
  const int base = file == "a" ? 256 : file == "ttmp" ? 108 : 0;
  return Registers{file == "v" || file == "a", base + first, last - first + 1};
}

// Adds the registers that an operand names to the set of their file.
void Add(const std::string& operand, VectorSet* vectors, ScalarSet* scalars) {
  const std::optional<Registers> named = ParseRegisters(operand);
  if (!named) return;
  for (int i = named->first; i < named->first + named->count; ++i) {
    if (named->vector && vectors != nullptr) vectors->set(i);
    if (!named->vector && scalars != nullptr) scalars->set(i);
  }
}

bool StartsWithAny(absl::string_view name,
                   std::initializer_list<absl::string_view> prefixes) {
  for (const absl::string_view prefix : prefixes) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  return false;
}

// ISA 1.1. A tile takes half the passes of its width, twice as many if F32 goes
// in or if the instruction computes several tiles.
int Passes(const Line& line, int rows, bool blocks, const std::string& type) {
  if (rows == 4) return 2;
  int passes = rows / 4;
  if (type == "f8f6f4") {
    const auto wide = [&](const char* key) {
      const std::string format = line.Value(key);
      return format.empty() || format == "0" || format == "1";
    };
    if (wide("cbsz") || wide("blgp")) passes *= 2;
  } else if (type == "f32" || blocks) {
    passes *= 2;
  }
  return passes;
}

void AddMatrix(const Line& line, InstructionFacts& facts) {
  facts.matrix = true;
  static const std::regex kShape(
      "v_s?mfma[a-z]*_(?:scale_)?[a-z0-9]+_([0-9]+)x[0-9]+x[0-9]+(_[0-9]+b)?_"
      "(.*)");
  std::smatch match;
  if (std::regex_match(facts.name, match, kShape)) {
    const std::string type = match[3];
    facts.f64 = type == "f64";
    facts.f32_input = type == "f32";
    facts.passes =
        Passes(line, std::atoi(match[1].str().c_str()), match[2].matched, type);
  }
  const bool sparse = absl::StartsWith(facts.name, "v_smfmac_");
  for (size_t i = 0; i < line.operands.size(); ++i) {
    const std::string& operand = line.operands[i];
    if (i == 0) Add(operand, &facts.writes, nullptr);
    const bool addend = i == (sparse ? 0 : 3);
    if (addend) Add(operand, &facts.addend, nullptr);
    if (i > 0 && !addend) Add(operand, &facts.sources, nullptr);
  }
  facts.reads = facts.sources | facts.addend;
}

// The entries of op_sel beyond the sources' own, as a number; 0 without any.
int DestinationSelect(const Line& line, size_t sources) {
  std::string list = line.Value("op_sel");
  if (list.empty()) return 0;
  const std::vector<std::string> entries =
      absl::StrSplit(list.substr(1, list.size() - 2), ',');
  // These choose among the four bytes of their destination, in entries 2 and 3
  // however many sources there are.
  static const std::regex kBytes(
      "v_cvt_scalef32_(sr_fp8|sr_bf8|pk_fp4|sr_pk_fp4)_.*");
  const size_t from = std::regex_match(line.mnemonic, kBytes) ? 2 : sources;
  int select = 0;
  for (size_t i = from; i < entries.size(); ++i) {
    if (entries[i] == "1") select |= 1 << (i - from);
  }
  return select;
}

void AddValu(const Line& line, InstructionFacts& facts) {
  const std::string& name = facts.name;
  facts.valu = true;
  static const std::regex kTrans("v_(exp|log|rcp|rsq|sqrt|sin|cos)_.*");
  facts.trans = std::regex_match(name, kTrans);
  facts.dot = absl::StartsWith(name, "v_dot");
  facts.dpp = absl::StrContains(line.mnemonic, "_dpp") ||
              !line.Value("row_mask").empty();
  facts.permlane = absl::StartsWith(name, "v_permlane");
  facts.reads_lane = StartsWithAny(name, {"v_readlane", "v_readfirstlane"});
  facts.writes_lane = absl::StartsWith(name, "v_writelane");
  facts.writes_exec = absl::StartsWith(name, "v_cmpx_");
  if (facts.writes_exec) Add("exec", nullptr, &facts.scalar_writes);
  if (absl::StartsWith(name, "v_div_fmas_")) {
    Add("vcc", nullptr, &facts.vcc_mask);
  }

  const bool swap = absl::StrContains(name, "swap");
  const bool carry_out =
      absl::StrContains(name, "_co_u32") ||
      StartsWithAny(name, {"v_div_scale_", "v_mad_u64_u32", "v_mad_i64_i32"});
  // The operand that chooses or carries a bit a lane.
  size_t mask = 0;
  if (StartsWithAny(name, {"v_addc_co", "v_subb_co", "v_subbrev_co"})) mask = 4;
  if (absl::StartsWith(name, "v_cndmask_")) mask = 3;
  const bool lane_operand = name == "v_readlane_b32" || facts.writes_lane;
  const size_t destinations = swap || carry_out ? 2 : 1;
  for (size_t i = 0; i < line.operands.size(); ++i) {
    const std::string& operand = line.operands[i];
    if (i < destinations) Add(operand, &facts.writes, &facts.scalar_writes);
    if (i < destinations && !swap) continue;
    Add(operand, &facts.reads, nullptr);
    if (facts.dot && i <= 2) Add(operand, &facts.dot_sources, nullptr);
    if (lane_operand && i == 2) {
      Add(operand, nullptr, &facts.lane_select);
    } else if (mask == 0 || i != mask) {
      Add(operand, nullptr, &facts.constants);
    }
  }
  if (facts.constants[kVccz]) Add("vcc", nullptr, &facts.vccz_of);
  if (facts.constants[kExecz]) Add("exec", nullptr, &facts.execz_of);
  // The destination is the addend.
  static const std::regex kAccumulates("v_(pk_)?f?mac_.*|v_dot[0-9]+c_.*");
  if (std::regex_match(name, kAccumulates)) facts.reads |= facts.writes;

  const size_t sources = line.operands.size() > destinations
                             ? line.operands.size() - destinations
                             : 0;
  // v_pk_*, v_fma_mix* and v_dot* have one op_sel entry a source and no more.
  const int select = DestinationSelect(line, sources);
  static const std::regex kUpper("WORD_1|BYTE_[123]");
  facts.placed = select != 0 || std::regex_match(line.Value("dst_sel"), kUpper);
  static const std::regex kScaleParts(
      "v_cvt_scalef32_(pk|sr|sr_pk)_(fp8|bf8|fp4)_.*");
  if (std::regex_match(name, kScaleParts)) facts.scale_part = select;
  static const std::regex kBytes("v_cvt_(pk|sr)_(fp8|bf8)_.*");
  if (select != 0 || facts.scale_part >= 0 || std::regex_match(name, kBytes) ||
      line.Has("dst_unused:UNUSED_PRESERVE")) {
    facts.kept = facts.writes;
  }
}

void AddLds(const Line& line, InstructionFacts& facts) {
  facts.memory = true;
  const std::string& name = facts.name;
  const bool returns =
      absl::StrContains(name, "_rtn") ||
      StartsWithAny(name, {"ds_read", "ds_bpermute", "ds_permute", "ds_swizzle",
                           "ds_append", "ds_consume"});
  for (size_t i = 0; i < line.operands.size(); ++i) {
    Add(line.operands[i], returns && i == 0 ? &facts.writes : &facts.reads,
        nullptr);
  }
  facts.uses_m0 = absl::StrContains(name, "addtid");
}

void AddVmem(const Line& line, InstructionFacts& facts) {
  facts.memory = true;
  const std::string& name = facts.name;
  const bool buffer = StartsWithAny(name, {"buffer_", "tbuffer_"});
  const bool to_lds = absl::StrContains(name, "_load_lds_") || line.Has("lds");
  const bool atomic = absl::StrContains(name, "_atomic_");
  const bool returns =
      atomic ? line.Has("sc0") : absl::StrContains(name, "_load_") && !to_lds;
  for (size_t i = 0; i < line.operands.size(); ++i) {
    const bool result = returns && i == 0;
    if (result) Add(line.operands[i], &facts.writes, nullptr);
    // A buffer atomic returns into its data.
    if (!result || (atomic && buffer)) {
      Add(line.operands[i], &facts.reads, &facts.scalar_address);
    }
  }
  facts.uses_m0 = to_lds;
  if (absl::StrContains(name, "_store_")) {
    const size_t data = buffer ? 0 : 1;
    VectorSet registers;
    if (data < line.operands.size()) {
      Add(line.operands[data], &registers, nullptr);
    }
    const bool exempt =
        buffer && line.operands.size() > 3 && ParseRegisters(line.operands[3]);
    if (registers.count() > 2 && !exempt) facts.store_data = registers;
  }
}

void AddScalar(const Line& line, const std::string& text,
               InstructionFacts& facts) {
  const std::string& name = facts.name;
  facts.salu = !StartsWithAny(name, {"s_load", "s_buffer", "s_scratch", "s_mem",
                                     "s_atomic", "s_dcache"});
  if (name == "s_nop" && !line.operands.empty()) {
    std::string immediate = line.operands[0];
    const size_t edited = text.find("edited to ");
    if (edited != std::string::npos) immediate = text.substr(edited + 10);
    const auto value = std::strtoul(immediate.c_str(), nullptr, 0);
    facts.states = static_cast<int>(value & 15) + 1;
  }
  facts.uses_m0 = StartsWithAny(name, {"s_sendmsg", "s_movrel"});
  const bool setreg = absl::StartsWith(name, "s_setreg");
  for (absl::string_view operand : line.operands) {
    if (!absl::ConsumePrefix(&operand, "hwreg(")) continue;
    facts.any_hwreg =
        std::string(operand.substr(0, operand.find_first_of(",)")));
    if (setreg) facts.setreg = facts.any_hwreg;
  }
  // Everything else writes its first operand.
  if (line.operands.empty() ||
      StartsWithAny(
          name, {"s_cmp_", "s_bitcmp", "s_set", "s_nop", "s_cbranch",
                 "s_branch", "s_wait", "s_sleep", "s_send", "s_store",
                 "s_scratch_store", "s_buffer_store", "s_movreld", "s_atomic",
                 "s_buffer_atomic", "s_dcache", "s_rfe", "s_trap"})) {
    return;
  }
  Add(line.operands[0], nullptr, &facts.scalar_writes);
}

}  // namespace

InstructionFacts FactsOf(const std::string& text) {
  const Line line = Split(text.substr(0, text.find(" (edited to")));
  InstructionFacts facts;
  static const std::regex kEncoding("(_e32|_e64|_dpp|_sdwa)+$");
  facts.name = std::regex_replace(line.mnemonic, kEncoding, "");
  if (StartsWithAny(facts.name, {"v_mfma_", "v_smfmac_"})) {
    AddMatrix(line, facts);
  } else if (absl::StartsWith(facts.name, "v_")) {
    AddValu(line, facts);
  } else if (absl::StartsWith(facts.name, "ds_")) {
    AddLds(line, facts);
  } else if (absl::StartsWith(facts.name, "s_")) {
    AddScalar(line, text, facts);
  } else if (StartsWithAny(facts.name, {"buffer_", "tbuffer_", "global_",
                                        "flat_", "scratch_"})) {
    AddVmem(line, facts);
  }
  return facts;
}

}  // namespace zyfa::emu
