#include "zyfa/probe/fact.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/str_format.h"

namespace zyfa::probe {

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kNotOk:
      return "NOT OK";
    case Verdict::kInformative:
      break;
  }
  return "informative";
}

absl::StatusOr<std::vector<Fact>> AllFacts(Device& device) {
  std::vector<Fact> all;
  for (const auto facts :
       {VectorFacts, MatrixFacts, IntegerFacts, Int8MatrixFacts, RowSumFacts}) {
    absl::StatusOr<std::vector<Fact>> more = facts(device);
    if (!more.ok()) return more;
    all.insert(all.end(), std::make_move_iterator(more->begin()),
               std::make_move_iterator(more->end()));
  }
  return all;
}

bool AsNeeded(const std::vector<Fact>& facts) {
  return std::none_of(facts.begin(), facts.end(), [](const Fact& fact) {
    return fact.verdict == Verdict::kNotOk;
  });
}

std::string FactTable(const std::vector<Fact>& facts) {
  using Row = std::array<std::string, 4>;
  std::vector<Row> rows = {{"probe", "seen", "needed", "verdict"}};
  for (const Fact& f : facts) {
    rows.push_back({f.name, f.seen, f.needed, VerdictName(f.verdict)});
  }
  std::array<size_t, 3> widths = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string table;
  for (const Row& row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) {
      absl::StrAppendFormat(&table, "%-*s  ", static_cast<int>(widths[i]),
                            row[i]);
    }
    table += row[3] + "\n";
  }
  return table;
}

}  // namespace zyfa::probe
