// Breaks a kernel on purpose: changes or drops one kind of line of an assembly
// file, so that a test can show that it notices.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

ABSL_FLAG(std::string, in, "", "assembly file");
ABSL_FLAG(std::string, out, "", "file to write");
ABSL_FLAG(std::string, section, "",
          "only lines behind the banner that contains this text, up to the "
          "next banner; empty: all lines");
ABSL_FLAG(std::string, line, "", "change lines that contain this text");
ABSL_FLAG(int, count, 1, "how many such lines there are, at least");
ABSL_FLAG(bool, first_only, false, "change the first such line only");
ABSL_FLAG(std::string, replace, "", "text to replace; empty: drop the line");
ABSL_FLAG(std::string, with, "", "replacement");

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  std::ifstream in(absl::GetFlag(FLAGS_in));
  std::stringstream text;
  text << in.rdbuf();
  const std::string wanted_section = absl::GetFlag(FLAGS_section);
  const std::string replace = absl::GetFlag(FLAGS_replace);
  bool in_section = wanted_section.empty();
  int changed = 0;
  std::string result;
  for (absl::string_view line : absl::StrSplit(text.str(), '\n')) {
    if (absl::StrContains(line, "// ----") && !wanted_section.empty()) {
      in_section = absl::StrContains(line, wanted_section);
    }
    const bool hit = in_section &&
                     absl::StrContains(line, absl::GetFlag(FLAGS_line)) &&
                     !(absl::GetFlag(FLAGS_first_only) && changed > 0);
    if (hit && replace.empty()) {
      ++changed;
      continue;
    }
    std::string kept(line);
    if (hit) {
      changed += absl::StrReplaceAll({{replace, absl::GetFlag(FLAGS_with)}},
                                     &kept) > 0;
    }
    absl::StrAppend(&result, kept, "\n");
  }
  if (changed < absl::GetFlag(FLAGS_count)) {
    std::fprintf(stderr, "mutate_assembly: only %d lines match '%s'\n", changed,
                 absl::GetFlag(FLAGS_line).c_str());
    return 1;
  }
  std::ofstream(absl::GetFlag(FLAGS_out)) << result;
  return 0;
}
