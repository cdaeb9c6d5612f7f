#include "zyfa/emu/strict/propagation_rule.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <optional>

namespace zyfa::emu {
namespace {

bool HasPrefix(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool HasPrefixOf(std::string_view text,
                 std::initializer_list<std::string_view> prefixes) {
  return std::any_of(
      prefixes.begin(), prefixes.end(),
      [text](std::string_view prefix) { return HasPrefix(text, prefix); });
}

bool MovesBits(std::string_view name) {
  return HasPrefixOf(
      name,
      {"v_mov_",       "v_accvgpr_",   "v_not_",         "v_and_",
       "v_or_",        "v_or3_",       "v_xor_",         "v_xnor_",
       "v_lshlrev_",   "v_lshrrev_",   "v_ashrrev_",     "v_lshl_or_",
       "v_bitop3_",    "v_bfe_",       "v_bfi_",         "v_bfrev_",
       "v_alignbit_",  "v_alignbyte_", "v_perm_",        "v_permlane",
       "v_cndmask_",   "v_swap_",      "v_readlane_",    "v_readfirstlane_",
       "v_writelane_", "v_pk_mov_",    "v_pack_b32_f16", "v_pk_lshlrev_",
       "v_pk_lshrrev", "v_pk_ashrrev", "s_mov_",         "s_movk_",
       "s_cmov",       "s_cselect_",   "s_and_",         "s_andn1_",
       "s_andn2_",     "s_or_",        "s_orn1_",        "s_orn2_",
       "s_xor_",       "s_xnor_",      "s_nand_",        "s_nor_",
       "s_not_",       "s_lshl_",      "s_lshr_",        "s_ashr_",
       "s_bfe_",       "s_brev_",      "s_bitset",       "s_pack_",
       "s_bitcmp",     "s_sext_",      "s_wqm_",         "s_bitreplicate_",
       "s_quadmask_"});
}

bool SumsIntegers(std::string_view name) {
  if (HasPrefixOf(name,
                  {"v_mul_lo_u32", "v_lshl_add_", "v_add_lshl_", "v_add3_",
                   "v_xad_",       "v_mad_u64_",  "v_mad_i64_",  "v_mad_u32_",
                   "v_mad_i32_",   "v_mul_u32_",  "v_mul_i32_",  "s_add_",
                   "s_addc_",      "s_addk_",     "s_sub_",      "s_subb_",
                   "s_mul_i32",    "s_mulk_",     "s_lshl1_add", "s_lshl2_add",
                   "s_lshl3_add",  "s_lshl4_add"})) {
    return true;
  }
  static constexpr std::string_view kNames[] = {
      "v_add_u32",     "v_add_i32",        "v_sub_u32",       "v_sub_i32",
      "v_subrev_u32",  "v_add_co_u32",     "v_addc_co_u32",   "v_sub_co_u32",
      "v_subb_co_u32", "v_subbrev_co_u32", "v_subrev_co_u32",
  };
  return std::find(std::begin(kNames), std::end(kNames), name) !=
         std::end(kNames);
}

bool SumsHalves(std::string_view name) {
  const bool sums =
      HasPrefixOf(name, {"v_add_", "v_sub_", "v_subrev_", "v_mul_lo_",
                         "v_mad_u16", "v_mad_i16", "v_mad_legacy_", "v_pk_add_",
                         "v_pk_sub_", "v_pk_mul_lo_", "v_pk_mad_"});
  return sums && (name.substr(name.size() - 4) == "_u16" ||
                  name.substr(name.size() - 4) == "_i16");
}

// Of one word of a mnemonic.
std::optional<Spread> SpreadOfWord(std::string_view word) {
  struct Type {
    std::string_view name;
    Spread spread;
  };
  static constexpr Type kTypes[] = {
      {"f16", Spread::kHalves},  {"bf16", Spread::kHalves},
      {"i16", Spread::kHalves},  {"u16", Spread::kHalves},
      {"b16", Spread::kHalves},  {"fp8", Spread::kBytes},
      {"bf8", Spread::kBytes},   {"i8", Spread::kBytes},
      {"u8", Spread::kBytes},    {"fp4", Spread::kBytes},
      {"fp6", Spread::kSixBits}, {"bf6", Spread::kSixBits},
      {"f64", Spread::kPairs},   {"i64", Spread::kPairs},
      {"u64", Spread::kPairs},   {"b64", Spread::kPairs},
      {"f32", Spread::kWords},   {"i32", Spread::kWords},
      {"u32", Spread::kWords},   {"b32", Spread::kWords}};
  for (const Type& type : kTypes) {
    if (word == type.name) return type.spread;
  }
  return std::nullopt;
}

// By the first type that a mnemonic names: that of the result.
Spread SpreadOfType(std::string_view name) {
  if (HasPrefixOf(name, {"v_sad_", "v_msad_", "v_mqsad_u32"})) {
    return Spread::kWords;
  }
  if (HasPrefixOf(name, {"v_qsad_", "v_mqsad_"})) return Spread::kPairs;
  while (!name.empty()) {
    const size_t end = std::min(name.find('_'), name.size());
    const std::optional<Spread> spread = SpreadOfWord(name.substr(0, end));
    if (spread.has_value()) return *spread;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return Spread::kWords;
}

// By the last type that a mnemonic names: that of the sources.
Spread SpreadOfSource(std::string_view name) {
  const std::string_view word = name.substr(name.rfind('_') + 1);
  if (HasPrefix(word, "ubyte") || word == "f8f6f4") return Spread::kBytes;
  if (word == "u24" || word == "i24") return Spread::kWords;
  return SpreadOfWord(word).value_or(Spread::kBits);
}

void SetControl(std::string_view name, PropagationRule& rule) {
  const auto set = [&rule](std::initializer_list<int> positions,
                           uint32_t bits) {
    std::copy(positions.begin(), positions.end(), rule.control);
    rule.control_bits = bits;
  };
  const std::string_view width = name.substr(name.size() - 2);
  const uint32_t shift = width == "64" ? 0x3f : width == "16" ? 0xf : 0x1f;
  if (HasPrefixOf(name, {"v_lshlrev_", "v_lshrrev_", "v_ashrrev_", "s_bitset",
                         "s_bitcmp"})) {
    return set({1}, shift);
  }
  if (HasPrefixOf(name, {"v_pk_lshlrev", "v_pk_lshrrev", "v_pk_ashrrev"})) {
    return set({1}, 0x000f000f);
  }
  if (HasPrefixOf(name, {"v_lshl_or_", "v_lshl_add_", "s_lshl_", "s_lshr_",
                         "s_ashr_"})) {
    return set({2}, shift);
  }
  if (HasPrefixOf(name, {"v_add_lshl_", "v_ashr_pk_"})) return set({3}, shift);
  if (HasPrefix(name, "v_bfe_")) return set({2, 3}, 0x1f);
  if (HasPrefix(name, "s_bfe_")) return set({2}, 0x7f0000 | shift);
  if (HasPrefix(name, "v_alignbit_")) return set({3}, 0x1f);
  if (HasPrefix(name, "v_alignbyte_")) return set({3}, 3);
  if (HasPrefix(name, "v_perm_b32")) return set({3}, ~0u);
  // Which byte is written.
  if (HasPrefixOf(name, {"v_cvt_pk_u8_", "v_cvt_pkaccum_u8_"})) {
    return set({2}, 3);
  }
  // Random bits that only some values round by; the largest of three decides
  // what the others are for; a carry that a rounded half may lose; only extreme
  // values of one source ask for another's.
  if (HasPrefixOf(name, {"v_cvt_sr_", "v_cvt_scalef32_sr_"})) {
    return set({2}, ~0u);
  }
  if (HasPrefixOf(name, {"v_cube", "v_lerp_u8"})) return set({1, 2, 3}, ~0u);
  if (HasPrefix(name, "v_div_scale_")) return set({2, 3, 4}, ~0u);
  // Indices that choose among values that may be equal in a trial.
  if (HasPrefix(name, "v_smfmac_")) return set({3}, ~0u);
  if (HasPrefix(name, "v_trig_preop_")) return set({1, 2}, ~0u);
}

// Where SDWA takes the low bits of a source from.
int SelectedShift(SdwaSelect select) {
  switch (select) {
    case SdwaSelect::kByte1:
      return 8;
    case SdwaSelect::kByte2:
    case SdwaSelect::kWord1:
      return 16;
    case SdwaSelect::kByte3:
      return 24;
    default:
      return 0;
  }
}

Spread SpreadOf(const Instruction& inst) {
  const std::string_view name = inst.mnemonic;
  Spread spread = SpreadOfType(name);
  if (MovesBits(name)) {
    spread = Spread::kBits;
  } else if (SumsIntegers(name)) {
    spread = inst.mods.clamp ? Spread::kWords : Spread::kUpward;
  } else if (SumsHalves(name)) {
    spread = inst.mods.clamp ? Spread::kHalves : Spread::kUpwardHalves;
  }
  // Bytes and halves that SDWA does not write keep what they are.
  if (inst.mods.sdwa && spread != Spread::kBits) {
    switch (inst.mods.dst_sel) {
      case SdwaSelect::kDword:
        break;
      case SdwaSelect::kWord0:
      case SdwaSelect::kWord1:
        return Spread::kHalves;
      default:
        return Spread::kBytes;
    }
  }
  return spread;
}

}  // namespace

PropagationRule PropagationRuleOf(const Instruction& inst) {
  const std::string_view name = inst.mnemonic;
  PropagationRule rule;
  rule.spread = SpreadOf(inst);
  rule.moves_bits = MovesBits(name);
  rule.source = SumsIntegers(name) || SumsHalves(name) ? Spread::kBits
                                                       : SpreadOfSource(name);
  if (HasPrefixOf(name, {"v_dot", "v_mfma_", "v_smfmac_"})) {
    rule.accumulator =
        rule.source == Spread::kPairs ? Spread::kPairs : Spread::kWords;
  } else if (HasPrefixOf(name, {"v_pk_fmac_", "v_fmac_", "v_mac_"})) {
    rule.accumulator = rule.source;
  }
  if (HasPrefix(name, "v_fma_mix")) {
    rule.source = inst.mods.op_sel_hi != 0 ? Spread::kHalves : Spread::kWords;
  }
  SetControl(name, rule);
  if (inst.mods.sdwa && rule.control[0] == 1) {
    rule.control_bits <<= SelectedShift(inst.mods.src_sel[0]);
  }
  const InstructionClass c = inst.instruction_class;
  rule.lane_wise =
      (c == InstructionClass::kValu || c == InstructionClass::kTrans) &&
      inst.mods.dpp == DppControl::kNone &&
      !HasPrefixOf(name, {"v_readlane_", "v_readfirstlane_", "v_writelane_",
                          "v_permlane"});
  return rule;
}

SccRule SccRuleOf(std::string_view name) {
  if (name.find("_saveexec_") != std::string_view::npos ||
      name.find("_wrexec_") != std::string_view::npos) {
    return SccRule::kExecNotZero;
  }
  if (HasPrefix(name, "s_bitcmp")) return SccRule::kBit;
  if (HasPrefixOf(name,
                  {"s_add_", "s_addc_", "s_addk_", "s_sub_", "s_subb_",
                   "s_lshl1_add", "s_lshl2_add", "s_lshl3_add", "s_lshl4_add",
                   "s_min_", "s_max_", "s_cmp_", "s_cmpk_"})) {
    return SccRule::kSources;
  }
  if (HasPrefixOf(name, {"s_absdiff_", "s_abs_", "s_and_", "s_or_", "s_xor_",
                         "s_andn2_", "s_orn2_", "s_nand_", "s_nor_", "s_xnor_",
                         "s_not_", "s_lshl_", "s_lshr_", "s_ashr_", "s_bfe_",
                         "s_wqm_", "s_quadmask_", "s_bcnt"})) {
    return SccRule::kNonZero;
  }
  return SccRule::kKept;
}

bool ReadsScc(const Instruction& inst) {
  for (const Operand& operand : inst.operands) {
    if (operand.kind == OperandKind::kScalar && operand.index == kSrcScc) {
      return true;
    }
  }
  return HasPrefixOf(inst.mnemonic,
                     {"s_addc_", "s_subb_", "s_cselect_", "s_cmov"});
}

}  // namespace zyfa::emu
