#include "zyfa/emu/cycles/constants_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/cycles/constants.h"

namespace zyfa::emu {

std::string ConstantsMarkdown() {
  std::string text =
      "| constant | default | range | how it is known | source |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const CycleConstant& row : CycleConstantTable()) {
    const std::string range =
        row.low == row.high ? ""
                            : absl::StrFormat("%g to %g", row.low, row.high);
    absl::StrAppendFormat(&text, "| `%s` | %g | %s | %s | %s |\n", row.name,
                          row.value, range, ConfidenceName(row.confidence),
                          row.source);
  }
  return text;
}

}  // namespace zyfa::emu
