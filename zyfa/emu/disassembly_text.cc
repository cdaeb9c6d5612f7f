#include "zyfa/emu/disassembly_text.h"

#include <charconv>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace zyfa::emu {
namespace {

bool ConsumePrefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool ConsumeSuffix(std::string_view& text, std::string_view suffix) {
  if (text.size() < suffix.size() ||
      text.substr(text.size() - suffix.size()) != suffix) {
    return false;
  }
  text.remove_suffix(suffix.size());
  return true;
}

// Decimal or 0x..., with an optional minus sign.
std::optional<int64_t> ParseInteger(std::string_view text) {
  const bool minus = ConsumePrefix(text, "-");
  const int base = ConsumePrefix(text, "0x") ? 16 : 10;
  uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() ||
      end != text.data() + text.size()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(minus ? -value : value);
}

struct NamedScalar {
  std::string_view name;
  uint16_t index;
  uint16_t count;
};

// ISA table of scalar sources, names as LLVM prints them.
constexpr NamedScalar kNamedScalars[] = {
    {"flat_scratch", 102, 2},
    {"flat_scratch_lo", 102, 1},
    {"flat_scratch_hi", 103, 1},
    {"xnack_mask", 104, 2},
    {"xnack_mask_lo", 104, 1},
    {"xnack_mask_hi", 105, 1},
    {"vcc", kVccLo, 2},
    {"vcc_lo", kVccLo, 1},
    {"vcc_hi", kVccLo + 1, 1},
    {"m0", kM0, 1},
    {"exec", kExecLo, 2},
    {"exec_lo", kExecLo, 1},
    {"exec_hi", kExecLo + 1, 1},
    {"src_shared_base", kSrcSharedBase, 2},
    {"src_shared_limit", kSrcSharedBase + 1, 2},
    {"src_private_base", kSrcPrivateBase, 2},
    {"src_private_limit", kSrcPrivateBase + 1, 2},
    {"src_vccz", kSrcVccz, 1},
    {"src_execz", kSrcExecz, 1},
    {"src_scc", kSrcScc, 1},
};

// v3, v[0:3], a..., s..., ttmp...
bool ParseRegister(std::string_view text, Operand& operand) {
  for (const NamedScalar& scalar : kNamedScalars) {
    if (text == scalar.name) {
      operand.kind = OperandKind::kScalar;
      operand.index = scalar.index;
      operand.count = scalar.count;
      return true;
    }
  }
  uint16_t base = 0;
  if (ConsumePrefix(text, "ttmp")) {
    operand.kind = OperandKind::kScalar;
    base = 108;
  } else if (ConsumePrefix(text, "v")) {
    operand.kind = OperandKind::kVgpr;
  } else if (ConsumePrefix(text, "a")) {
    operand.kind = OperandKind::kAgpr;
  } else if (ConsumePrefix(text, "s")) {
    operand.kind = OperandKind::kScalar;
  } else {
    return false;
  }
  std::optional<int64_t> first, last;
  if (ConsumePrefix(text, "[")) {
    if (!ConsumeSuffix(text, "]")) return false;
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    first = ParseInteger(text.substr(0, colon));
    last = ParseInteger(text.substr(colon + 1));
  } else {
    first = last = ParseInteger(text);
  }
  if (!first || !last || *first < 0 || *last < *first || *last > 255) {
    return false;
  }
  operand.index = static_cast<uint16_t>(base + *first);
  operand.count = static_cast<uint16_t>(*last - *first + 1);
  return true;
}

bool ParseOperand(std::string_view text, Operand& operand) {
  if (text == "off") return true;  // kNone
  // lit(...): a literal whose value an inline constant has as well.
  if (ConsumePrefix(text, "lit(") && !ConsumeSuffix(text, ")")) return false;
  // Numbers first: "-1" is a number, "-v1" a negated register.
  if (text.find('.') != std::string_view::npos) {
    const std::string copy(text);
    char* end = nullptr;
    const double value = std::strtod(copy.c_str(), &end);
    if (*end == '\0') {
      operand.kind = OperandKind::kFloat;
      operand.real = value;
      return true;
    }
  }
  if (std::optional<int64_t> value = ParseInteger(text)) {
    operand.kind = OperandKind::kInteger;
    operand.integer = *value;
    return true;
  }
  if (text.size() > 5 && ConsumePrefix(text, "neg(")) {
    operand.negate = true;
    return ConsumeSuffix(text, ")") && ParseOperand(text, operand);
  }
  if (text.size() > 6 && ConsumePrefix(text, "sext(")) {
    operand.sign_extend = true;
    return ConsumeSuffix(text, ")") && ParseOperand(text, operand);
  }
  if (ConsumePrefix(text, "-")) operand.negate = true;
  if (ConsumePrefix(text, "|")) {
    operand.absolute = true;
    if (!ConsumeSuffix(text, "|")) return false;
    return ParseOperand(text, operand);
  }
  return ParseRegister(text, operand);
}

// "[1,0,1]" of bits, entry i to bit i.
bool ParseBits(std::string_view text, uint8_t& bits) {
  if (!ConsumePrefix(text, "[") || !ConsumeSuffix(text, "]")) return false;
  bits = 0;
  for (int i = 0; i < 8; ++i) {
    if (text.empty() || (text[0] != '0' && text[0] != '1')) return false;
    bits |= static_cast<uint8_t>((text[0] - '0') << i);
    text.remove_prefix(1);
    if (text.empty()) return true;
    if (!ConsumePrefix(text, ",")) return false;
  }
  return false;
}

bool ParseQuadPerm(std::string_view text, uint8_t& pattern) {
  if (text.size() != 9 || text.front() != '[' || text.back() != ']') {
    return false;
  }
  pattern = 0;
  for (int i = 0; i < 4; ++i) {
    const char digit = text[1 + 2 * i];
    if (digit < '0' || digit > '3') return false;
    if (i < 3 && text[2 + 2 * i] != ',') return false;
    pattern |= static_cast<uint8_t>((digit - '0') << (2 * i));
  }
  return true;
}

bool ParseSelect(std::string_view text, SdwaSelect& select) {
  static constexpr std::string_view kNames[] = {
      "DWORD", "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (text == kNames[i]) {
      select = static_cast<SdwaSelect>(i);
      return true;
    }
  }
  return false;
}

template <typename T>
bool ParseNumber(std::string_view text, int64_t low, int64_t high, T& out) {
  const std::optional<int64_t> value = ParseInteger(text);
  if (!value || *value < low || *value > high) return false;
  out = static_cast<T>(*value);
  return true;
}

bool SetDpp(DppControl control, std::string_view value, int64_t low,
            int64_t high, Modifiers& mods) {
  mods.dpp = control;
  return ParseNumber(value, low, high, mods.dpp_value);
}

bool ParseModifierWithValue(std::string_view name, std::string_view value,
                            uint32_t word, Modifiers& mods) {
  if (name == "offset") {
    if (value.substr(0, 8) == "swizzle(") {
      mods.offset = static_cast<int32_t>(word & 0xffff);
      return true;
    }
    return ParseNumber(value, -(1 << 24), 1 << 24, mods.offset);
  }
  if (name == "offset0") return ParseNumber(value, 0, 255, mods.offset0);
  if (name == "offset1") return ParseNumber(value, 0, 255, mods.offset1);
  if (name == "op_sel") {
    mods.has_op_sel = true;
    return ParseBits(value, mods.op_sel);
  }
  if (name == "op_sel_hi") {
    mods.has_op_sel_hi = true;
    return ParseBits(value, mods.op_sel_hi);
  }
  if (name == "neg_lo") return ParseBits(value, mods.neg_lo);
  if (name == "neg_hi") return ParseBits(value, mods.neg_hi);
  // F64 matrix instructions: BLGP holds the negations of A, B and C.
  if (name == "neg") return ParseBits(value, mods.blgp);
  if (name == "cbsz") return ParseNumber(value, 0, 7, mods.cbsz);
  if (name == "abid") return ParseNumber(value, 0, 15, mods.abid);
  if (name == "blgp") return ParseNumber(value, 0, 7, mods.blgp);
  if (name == "bitop3") return ParseNumber(value, 0, 255, mods.bitop3);
  if (name == "mul") {
    if (value != "2" && value != "4") return false;
    mods.omod = value == "2" ? 1 : 2;
    return true;
  }
  if (name == "div") {
    mods.omod = 3;
    return value == "2";
  }
  if (name == "quad_perm") {
    mods.dpp = DppControl::kQuadPerm;
    return ParseQuadPerm(value, mods.dpp_value);
  }
  if (name == "row_shl") return SetDpp(DppControl::kRowShl, value, 1, 15, mods);
  if (name == "row_shr") return SetDpp(DppControl::kRowShr, value, 1, 15, mods);
  if (name == "row_ror") return SetDpp(DppControl::kRowRor, value, 1, 15, mods);
  if (name == "row_newbcast") {
    return SetDpp(DppControl::kRowNewBcast, value, 0, 15, mods);
  }
  if (name == "row_bcast") {
    return SetDpp(value == "15" ? DppControl::kRowBcast15
                                : DppControl::kRowBcast31,
                  value, 15, 31, mods) &&
           (value == "15" || value == "31");
  }
  if (name == "wave_shl")
    return SetDpp(DppControl::kWaveShl, value, 1, 1, mods);
  if (name == "wave_rol")
    return SetDpp(DppControl::kWaveRol, value, 1, 1, mods);
  if (name == "wave_shr")
    return SetDpp(DppControl::kWaveShr, value, 1, 1, mods);
  if (name == "wave_ror")
    return SetDpp(DppControl::kWaveRor, value, 1, 1, mods);
  if (name == "row_mask") return ParseNumber(value, 0, 15, mods.row_mask);
  if (name == "bank_mask") return ParseNumber(value, 0, 15, mods.bank_mask);
  if (name == "bound_ctrl") {
    mods.bound_ctrl = true;
    return value == "0" || value == "1";  // one meaning, two spellings
  }
  if (name == "dst_sel") return ParseSelect(value, mods.dst_sel);
  if (name == "src0_sel") return ParseSelect(value, mods.src_sel[0]);
  if (name == "src1_sel") return ParseSelect(value, mods.src_sel[1]);
  if (name == "dst_unused") {
    if (value == "UNUSED_PAD") {
      mods.dst_unused = SdwaUnused::kPad;
    } else if (value == "UNUSED_SEXT") {
      mods.dst_unused = SdwaUnused::kSext;
    } else if (value == "UNUSED_PRESERVE") {
      mods.dst_unused = SdwaUnused::kPreserve;
    } else {
      return false;
    }
    return true;
  }
  return false;
}

bool ParseModifier(std::string_view text, uint32_t word, Modifiers& mods) {
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    return ParseModifierWithValue(text.substr(0, colon), text.substr(colon + 1),
                                  word, mods);
  }
  bool* flag = text == "offen"   ? &mods.offen
               : text == "idxen" ? &mods.idxen
               : text == "lds"   ? &mods.lds
               : text == "gds"   ? &mods.gds
               : text == "sc0"   ? &mods.sc0
               : text == "sc1"   ? &mods.sc1
               : text == "nt"    ? &mods.nt
               : text == "clamp" ? &mods.clamp
                                 : nullptr;
  if (flag != nullptr) {
    *flag = true;
    return true;
  }
  if (text == "row_mirror") {
    mods.dpp = DppControl::kRowMirror;
    return true;
  }
  if (text == "row_half_mirror") {
    mods.dpp = DppControl::kRowHalfMirror;
    return true;
  }
  return false;
}

// Parts of `text` between separators that stand outside brackets.
std::vector<std::string_view> SplitOutsideBrackets(std::string_view text,
                                                   char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (depth == 0 && text[i] == separator)) {
      std::string_view part = text.substr(start, i - start);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      if (!part.empty()) parts.push_back(part);
      start = i + 1;
    } else if (text[i] == '(' || text[i] == '[') {
      ++depth;
    } else if (text[i] == ')' || text[i] == ']') {
      --depth;
    }
  }
  return parts;
}

// SOPK is 1011 in the top four bits, SOPP 101111111 in the top nine; SOP1 and
// SOPC share SOPK's top bits.
bool IsSopp(uint32_t word) { return word >> 23 == 0x17f; }
bool IsSopk(uint32_t word) {
  return word >> 28 == 0xb && word >> 23 != 0x17f && word >> 23 != 0x17d &&
         word >> 23 != 0x17e;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

}  // namespace

InstructionClass ClassOf(const std::string& mnemonic) {
  static constexpr std::string_view kTrans[] = {
      "v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"};
  const std::string_view name = mnemonic;
  if (StartsWith(name, "v_")) {
    if (StartsWith(name, "v_mfma_") || StartsWith(name, "v_smfmac_")) {
      return InstructionClass::kMfma;
    }
    for (std::string_view prefix : kTrans) {
      if (StartsWith(name, prefix)) return InstructionClass::kTrans;
    }
    return InstructionClass::kValu;
  }
  if (StartsWith(name, "ds_")) return InstructionClass::kLds;
  if (StartsWith(name, "buffer_") || StartsWith(name, "global_") ||
      StartsWith(name, "flat_") || StartsWith(name, "scratch_") ||
      StartsWith(name, "tbuffer_")) {
    return InstructionClass::kVmem;
  }
  if (StartsWith(name, "s_load_") || StartsWith(name, "s_buffer_") ||
      StartsWith(name, "s_store_") || StartsWith(name, "s_scratch_") ||
      StartsWith(name, "s_dcache_") || StartsWith(name, "s_atc_") ||
      StartsWith(name, "s_atomic_") || StartsWith(name, "s_memtime") ||
      StartsWith(name, "s_memrealtime")) {
    return InstructionClass::kSmem;
  }
  if (StartsWith(name, "s_branch") || StartsWith(name, "s_cbranch_") ||
      StartsWith(name, "s_setpc_") || StartsWith(name, "s_swappc_") ||
      StartsWith(name, "s_call_")) {
    return InstructionClass::kBranch;
  }
  static constexpr std::string_view kOther[] = {
      "s_waitcnt",      "s_nop",          "s_barrier",   "s_endpgm",
      "s_sleep",        "s_setprio",      "s_trap",      "s_sethalt",
      "s_sendmsg",      "s_icache_inv",   "s_wakeup",    "s_setkill",
      "s_incperflevel", "s_decperflevel", "s_ttracedata"};
  for (std::string_view prefix : kOther) {
    if (StartsWith(name, prefix)) return InstructionClass::kOther;
  }
  if (StartsWith(name, "s_")) return InstructionClass::kSalu;
  return InstructionClass::kOther;
}

bool ParseDisassembly(uint32_t word, Instruction& inst) {
  std::string_view text = inst.text;
  const size_t space = text.find(' ');
  std::string_view name = text.substr(0, space);
  text = space == std::string_view::npos ? std::string_view()
                                         : text.substr(space + 1);
  if (ConsumeSuffix(name, "_e64")) {
    inst.e64 = true;
  } else if (ConsumeSuffix(name, "_sdwa")) {
    inst.mods.sdwa = true;
  } else if (!ConsumeSuffix(name, "_e32")) {
    ConsumeSuffix(name, "_dpp");
  }
  inst.mnemonic = std::string(name);
  inst.instruction_class = ClassOf(inst.mnemonic);
  if (StartsWith(name, "v_") && !inst.e64 && inst.size == 8 &&
      word >> 26 == 0x34) {
    inst.e64 = true;  // instructions that exist as VOP3 only print no suffix
  }

  Operand immediate;
  immediate.kind = OperandKind::kInteger;
  immediate.integer = word & 0xffff;
  if (name == "s_waitcnt") {
    inst.operands = {immediate};
    return true;
  }
  const bool has_immediate = IsSopp(word) || IsSopk(word);
  const std::vector<std::string_view> segments =
      SplitOutsideBrackets(text, ',');
  for (size_t s = 0; s < segments.size(); ++s) {
    const std::vector<std::string_view> words =
        SplitOutsideBrackets(segments[s], ' ');
    size_t next = 0;
    Operand operand;
    if (has_immediate &&
        (StartsWith(words[0], "hwreg(") || StartsWith(words[0], "sendmsg("))) {
      inst.operands.push_back(immediate);
      next = 1;
    } else if (StartsWith(words[0], "gpr_idx(")) {
      // Four bits, in an SOPC's second source field or an SOPP's immediate.
      immediate.integer = IsSopp(word) ? word & 15 : word >> 8 & 15;
      inst.operands.push_back(immediate);
      next = 1;
    } else if (ParseOperand(words[0], operand)) {
      inst.operands.push_back(operand);
      next = 1;
    } else if (segments.size() != 1) {
      return false;
    }
    if (next < words.size() && s + 1 != segments.size()) return false;
    for (; next < words.size(); ++next) {
      if (!ParseModifier(words[next], word, inst.mods)) return false;
    }
  }
  return true;
}

}  // namespace zyfa::emu
