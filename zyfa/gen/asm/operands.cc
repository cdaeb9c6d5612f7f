#include "zyfa/gen/asm/operands.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace zyfa::gen {
namespace {

struct InlineFloat {
  float value;
  const char* text;
};

// CDNA4 ISA 3.6, source operands 240..248.
constexpr InlineFloat kInlineFloats[] = {
    {0.5f, "0.5"},   {-0.5f, "-0.5"}, {1.0f, "1.0"},
    {-1.0f, "-1.0"}, {2.0f, "2.0"},   {-2.0f, "-2.0"},
    {4.0f, "4.0"},   {-4.0f, "-4.0"}, {0.15915494f, "0.15915494"},
};

const char* InlineFloatText(uint32_t bits) {
  for (const InlineFloat& f : kInlineFloats) {
    if (std::bit_cast<uint32_t>(f.value) == bits) return f.text;
  }
  return nullptr;
}

bool IsInlineInteger(uint32_t bits) {
  const int32_t value = static_cast<int32_t>(bits);
  return value >= -16 && value <= 64;
}

}  // namespace

Imm F32(float x) { return Imm(Imm::Kind::kFloat, std::bit_cast<uint32_t>(x)); }

bool Imm::IsInline() const {
  return kind_ != Kind::kOutOfRange &&
         (IsInlineInteger(bits_) || InlineFloatText(bits_) != nullptr);
}

std::string Imm::Text() const {
  if (kind_ == Kind::kOutOfRange) return "<more than 32 bits>";
  if (IsInlineInteger(bits_)) return absl::StrCat(static_cast<int32_t>(bits_));
  const char* text = InlineFloatText(bits_);
  if (text != nullptr && kind_ != Kind::kInteger) return text;
  return absl::StrFormat("0x%x", bits_);
}

Operand Operand::Of(const Imm& imm) {
  Operand o;
  o.kind = Kind::kImm;
  o.imm = imm;
  return o;
}

Operand Operand::Of(Off) {
  Operand o;
  o.kind = Kind::kOff;
  return o;
}

Operand Operand::Of(Label label) {
  Operand o;
  o.kind = Kind::kLabel;
  o.label = label.id;
  return o;
}

Dpp::Dpp(std::string control, bool valid)
    : control_(std::move(control)), valid_(valid) {}

Dpp Dpp::QuadPerm(int lane0, int lane1, int lane2, int lane3) {
  auto ok = [](int lane) { return lane >= 0 && lane <= 3; };
  return Dpp(absl::StrCat("quad_perm:[", lane0, ",", lane1, ",", lane2, ",",
                          lane3, "]"),
             ok(lane0) && ok(lane1) && ok(lane2) && ok(lane3));
}
Dpp Dpp::RowShl(int n) {
  return Dpp(absl::StrCat("row_shl:", n), n >= 1 && n <= 15);
}
Dpp Dpp::RowShr(int n) {
  return Dpp(absl::StrCat("row_shr:", n), n >= 1 && n <= 15);
}
Dpp Dpp::RowRor(int n) {
  return Dpp(absl::StrCat("row_ror:", n), n >= 1 && n <= 15);
}
Dpp Dpp::RowMirror() { return Dpp("row_mirror"); }
Dpp Dpp::RowHalfMirror() { return Dpp("row_half_mirror"); }
Dpp Dpp::RowBcast15() { return Dpp("row_bcast:15"); }
Dpp Dpp::RowBcast31() { return Dpp("row_bcast:31"); }
Dpp Dpp::RowNewBcast(int lane) {
  return Dpp(absl::StrCat("row_newbcast:", lane), lane >= 0 && lane <= 15);
}
Dpp Dpp::WaveShl1() { return Dpp("wave_shl:1"); }
Dpp Dpp::WaveRol1() { return Dpp("wave_rol:1"); }
Dpp Dpp::WaveShr1() { return Dpp("wave_shr:1"); }
Dpp Dpp::WaveRor1() { return Dpp("wave_ror:1"); }

Dpp Dpp::row_mask(int mask) const {
  Dpp r = *this;
  r.row_mask_ = mask;
  r.valid_ = valid_ && mask >= 0 && mask <= 15;
  return r;
}
Dpp Dpp::bank_mask(int mask) const {
  Dpp r = *this;
  r.bank_mask_ = mask;
  r.valid_ = valid_ && mask >= 0 && mask <= 15;
  return r;
}
Dpp Dpp::zero_invalid() const {
  Dpp r = *this;
  r.zero_invalid_ = true;
  return r;
}

bool Dpp::keeps_destination() const {
  return row_mask_ != 0xf || bank_mask_ != 0xf || !zero_invalid_;
}

std::string Dpp::Text() const {
  return absl::StrFormat("%s row_mask:0x%x bank_mask:0x%x%s", control_,
                         row_mask_, bank_mask_,
                         zero_invalid_ ? " bound_ctrl:1" : "");
}

}  // namespace zyfa::gen
