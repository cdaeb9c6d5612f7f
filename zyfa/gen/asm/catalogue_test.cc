// Compares everything that the assembler can print with what LLVM makes of it:
// the catalogue is assembled by the build, disassembled here by LLVM's MC
// library, and must come back as the same text with the same register effects.

#include "zyfa/gen/asm/catalogue.h"

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/gen/asm/llvm_disassembler.h"

namespace zyfa::gen {
namespace {

const Catalogue& OurCatalogue() {
  static const Catalogue& catalogue = *new Catalogue([] {
    absl::StatusOr<Catalogue> built = BuildCatalogue();
    EXPECT_TRUE(built.ok()) << built.status();
    return built.ok() ? *std::move(built) : Catalogue();
  }());
  return catalogue;
}

const std::vector<LlvmInstruction>& Assembled() {
  static const auto& assembled = *new std::vector<LlvmInstruction>([] {
    auto result = DisassembleFile("zyfa/gen/asm/catalogue_code.co");
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : std::vector<LlvmInstruction>();
  }());
  return assembled;
}

std::vector<Instruction> Operations() {
  std::vector<Instruction> result;
  for (const Instruction& inst : OurCatalogue().stream.instructions()) {
    if (inst.IsOperation()) result.push_back(inst);
  }
  return result;
}

// Spelling only: encoding suffixes, number bases, defaults that one side writes
// out, the two's complement of 16-bit fields.
std::string Normalised(std::string text) {
  struct Rule {
    std::regex what;
    const char* with;
  };
  static const auto& rules = *new std::vector<Rule>{
      {std::regex("[ \t]+"), " "},
      {std::regex("^ "), ""},
      {std::regex("_(e32|e64|dpp|sdwa)(?= |$)"), ""},
      {std::regex(" op_sel_hi:\\[0,0,0\\]"), ""},
      {std::regex("hwreg\\(HW_REG_(\\w+), 0, 32\\)"), "hwreg(HW_REG_$1)"},
      {std::regex(" expcnt\\(7\\)"), ""},
      {std::regex(" lgkmcnt\\(15\\)"), ""},
      // Branch targets are numbers without symbols.
      {std::regex("^(s_c?branch\\w*) .*"), "$1"},
  };
  static const auto& number = *new std::regex("-?0x[0-9a-f]+");
  for (const Rule& rule : rules) {
    text = std::regex_replace(text, rule.what, rule.with);
  }
  std::string decimal;
  auto from = text.cbegin();
  for (std::sregex_iterator m(text.begin(), text.end(), number), end; m != end;
       ++m) {
    decimal.append(from, (*m)[0].first);
    decimal += std::to_string(std::stoll((*m)[0].str(), nullptr, 16));
    from = (*m)[0].second;
  }
  decimal.append(from, text.cend());
  if (decimal.rfind("s_", 0) == 0 && decimal.find("k_i32 ") < 9) {
    const size_t at = decimal.find(", ") + 2;
    const int field = std::stoi(decimal.substr(at));
    decimal.resize(at);
    decimal += std::to_string(static_cast<int16_t>(field));
  }
  return decimal;
}

std::set<int> Set(const UnitRanges& ranges) {
  std::set<int> units;
  for (const UnitRange& r : ranges) {
    for (int u = r.first; u < r.first + r.count; ++u) {
      if (u != kModeUnit) units.insert(u);
    }
  }
  return units;
}

std::string Text(const std::set<int>& units) {
  std::string text;
  for (int u : units) text += UnitText({u, 1}) + " ";
  return text;
}

TEST(CatalogueTest, HasEveryOpcode) {
  std::set<Opcode> seen;
  for (const Instruction& inst : Operations()) seen.insert(inst.opcode);
  for (const OpcodeInfo& info : AllOpcodes()) {
    EXPECT_TRUE(seen.count(info.opcode)) << info.name;
  }
  EXPECT_GT(AllOpcodes().size(), 300u);
}

TEST(CatalogueTest, ComesBackAsTheSameText) {
  const std::vector<Instruction> ours = Operations();
  ASSERT_EQ(ours.size(), Assembled().size());
  for (size_t i = 0; i < ours.size(); ++i) {
    const std::string text = FormatInstruction(ours[i], {".Lstart"});
    EXPECT_EQ(Normalised(text), Normalised(Assembled()[i].text)) << text;
  }
}

// NeedsVop3 decides which constants are allowed, so it must agree with the
// assembler's choice.
TEST(CatalogueTest, EncodingIsTheExpectedOne) {
  const std::vector<Instruction> ours = Operations();
  ASSERT_EQ(ours.size(), Assembled().size());
  for (size_t i = 0; i < ours.size(); ++i) {
    const Format format = ours[i].info().format;
    if (format != Format::kVop1 && format != Format::kVop2 &&
        format != Format::kVopc) {
      continue;
    }
    const bool e64 =
        Assembled()[i].opcode_name.find("_e64") != std::string::npos;
    EXPECT_EQ(NeedsVop3(ours[i]), e64)
        << Assembled()[i].opcode_name << ": " << Assembled()[i].text;
  }
}

TEST(CatalogueTest, RegisterSetsAreThoseOfLlvm) {
  const std::vector<Instruction> ours = Operations();
  ASSERT_EQ(ours.size(), Assembled().size());
  const std::set<int> exec_units = {kScalarUnit + 126, kScalarUnit + 127};
  for (size_t i = 0; i < ours.size(); ++i) {
    const LlvmInstruction& llvm = Assembled()[i];
    std::set<int> reads = Set(ours[i].reads);
    reads.merge(Set(ours[i].keeps));
    std::set<int> llvm_reads = llvm.reads;
    const std::set<int> writes = Set(ours[i].writes);
    // LLVM's disassembler names the old value of some destinations only.
    for (size_t k = 0; k < ours[i].operands.size(); ++k) {
      const OperandSpec& spec = ours[i].info().operands[k];
      const bool plain = spec.access == OperandAccess::kWrite &&
                         ours[i].info().format != Format::kDpp;
      if (!spec.Writes() || plain) continue;
      for (int u : Set({UnitsOf(ours[i].operands[k])})) {
        reads.erase(u);
        llvm_reads.erase(u);
      }
    }
    // LLVM lists EXEC for every vector instruction, also where lanes that are
    // off take part all the same.
    for (int u : exec_units) {
      reads.erase(u);
      llvm_reads.erase(u);
    }
    // LDS operations of gfx9 ignore M0; the disassembler names older ones.
    if (ours[i].info().IsDs()) llvm_reads.erase(kScalarUnit + m0.first());
    EXPECT_EQ(Text(reads), Text(llvm_reads)) << llvm.text;
    EXPECT_EQ(Text(writes), Text(llvm.writes)) << llvm.text;
  }
}

}  // namespace
}  // namespace zyfa::gen
