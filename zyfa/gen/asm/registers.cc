#include "zyfa/gen/asm/registers.h"

#include "absl/strings/str_cat.h"

namespace zyfa::gen {
namespace {

// Special scalars by hardware number and width, empty if there is none.
std::string SpecialScalarText(int first, int count) {
  if (count == 2) {
    if (first == vcc.first()) return "vcc";
    if (first == exec.first()) return "exec";
  }
  if (count == 1) {
    if (first == vcc_lo.first()) return "vcc_lo";
    if (first == vcc_hi.first()) return "vcc_hi";
    if (first == m0.first()) return "m0";
    if (first == exec_lo.first()) return "exec_lo";
    if (first == exec_hi.first()) return "exec_hi";
  }
  return "";
}

}  // namespace

std::string RegisterText(RegisterFile file, int first, int count) {
  const char* letter = file == RegisterFile::kScalar ? "s"
                       : file == RegisterFile::kVgpr ? "v"
                                                     : "a";
  if (first < 0 || count < 1) return absl::StrCat(letter, "[?]");
  if (file == RegisterFile::kScalar) {
    std::string special = SpecialScalarText(first, count);
    if (!special.empty()) return special;
  }
  if (count == 1) return absl::StrCat(letter, first);
  return absl::StrCat(letter, "[", first, ":", first + count - 1, "]");
}

}  // namespace zyfa::gen
