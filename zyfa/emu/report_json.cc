#include "zyfa/emu/report_json.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace zyfa::emu {
namespace {

std::string Quote(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

const char* SeverityName(Severity severity) {
  return severity == Severity::kError ? "error" : "warning";
}

}  // namespace

std::string ReportToJson(const RunReport& report) {
  std::string json = "{\n";
  const auto number = [&json](const char* name, uint64_t value) {
    absl::StrAppend(&json, "  \"", name, "\": ", value, ",\n");
  };
  number("instructions", report.instructions);
  absl::StrAppend(&json, "  \"instructions_by_class\": {");
  const char* separator = "";
  for (const auto& [name, count] : report.instructions_by_class) {
    absl::StrAppend(&json, separator, Quote(name), ": ", count);
    separator = ", ";
  }
  absl::StrAppend(&json, "},\n");
  number("waves", report.waves);
  number("global_bytes_read", report.global_bytes_read);
  number("global_bytes_written", report.global_bytes_written);
  number("lds_bytes_read", report.lds_bytes_read);
  number("lds_bytes_written", report.lds_bytes_written);
  number("clipped_dwords", report.clipped_dwords);
  number("lds_passes", report.lds_passes);
  number("lds_conflict_passes", report.lds_passes - report.lds_phases);
  absl::StrAppendFormat(&json, "  \"wall_seconds\": %.6f,\n",
                        report.wall_seconds);
  absl::StrAppend(&json, "  \"findings\": [");
  separator = "\n";
  for (const Finding& f : report.findings) {
    absl::StrAppendFormat(
        &json,
        "%s    {\"severity\": \"%s\", \"rule\": %s, \"kernel\": %s, "
        "\"pc\": %d, \"disassembly\": %s, \"workgroup\": [%d, %d, %d], "
        "\"wave\": %d, \"lane\": %d, \"registers\": %s, \"detail\": %s}",
        separator, SeverityName(f.severity), Quote(f.rule), Quote(f.kernel),
        f.pc, Quote(f.disassembly), f.workgroup[0], f.workgroup[1],
        f.workgroup[2], f.wave, f.lane, Quote(f.registers), Quote(f.detail));
    separator = ",\n";
  }
  absl::StrAppend(&json, report.findings.empty() ? "]\n}\n" : "\n  ]\n}\n");
  return json;
}

std::string FindingToText(const Finding& f) {
  std::string text =
      absl::StrFormat("%s [%s] %s+%#x work-group (%d, %d, %d) wave %d",
                      SeverityName(f.severity), f.rule, f.kernel, f.pc,
                      f.workgroup[0], f.workgroup[1], f.workgroup[2], f.wave);
  if (f.lane >= 0) absl::StrAppend(&text, " lane ", f.lane);
  absl::StrAppend(&text, ": ", f.disassembly, ": ");
  if (!f.registers.empty()) absl::StrAppend(&text, f.registers, ": ");
  absl::StrAppend(&text, f.detail);
  return text;
}

}  // namespace zyfa::emu
