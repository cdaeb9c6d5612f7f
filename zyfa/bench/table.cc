#include "zyfa/bench/table.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace zyfa::bench {
namespace {

// A column: what it shows of a record; empty where the record has nothing.
struct Column {
  std::string title;
  std::function<std::string(const proto::Record&)> cell;
  bool left = false;  // text is flush left, figures flush right
};

// A pair of counts, or one of them if they are equal.
std::string Pair(int64_t a, int64_t b, const char* separator) {
  return a == b ? absl::StrCat(a) : absl::StrCat(a, separator, b);
}

// A count in four characters or so: 950, 12.3k, 4.56M.
std::string Count(uint64_t count) {
  double scaled = static_cast<double>(count);
  const char* unit = "";
  for (const char* next : {"k", "M", "G", "T"}) {
    if (scaled < 999.5) break;
    scaled /= 1000;
    unit = next;
  }
  if (*unit == '\0') return absl::StrCat(count);
  const int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f%s", decimals, scaled, unit);
}

std::string Source(const proto::Record& r) {
  if (!r.has_modelled()) return "";
  return r.modelled() ? "modelled" : "measured";
}

std::string OutcomeText(const proto::Record& r) {
  switch (r.outcome()) {
    case proto::OUTCOME_REFUSED:
      return "refused";
    case proto::OUTCOME_FAILED:
      return "FAILED";
    default:
      return "";
  }
}

// Instruction classes of any record, the usual ones first and in this order.
std::vector<std::string> InstructionClasses(
    const std::vector<proto::Record>& records) {
  std::set<std::string> present;
  for (const proto::Record& r : records) {
    for (const auto& [name, count] : r.instructions()) present.insert(name);
  }
  std::vector<std::string> classes;
  for (const char* name : {"mfma", "valu", "trans", "lds", "vmem", "salu",
                           "smem", "branch", "other"}) {
    if (present.erase(name)) classes.push_back(name);
  }
  classes.insert(classes.end(), present.begin(), present.end());
  return classes;
}

using Format = std::string (*)(double);

std::string Scientific(double value) { return absl::StrFormat("%.2e", value); }
std::string TwoDecimals(double value) { return absl::StrFormat("%.2f", value); }
std::string OneDecimal(double value) { return absl::StrFormat("%.1f", value); }
std::string ThreeDecimals(double value) {
  return absl::StrFormat("%.3f", value);
}
std::string FourDecimals(double value) {
  return absl::StrFormat("%.4f", value);
}
std::string Whole(double value) { return absl::StrFormat("%.0f", value); }
std::string Percent(double value) {
  return absl::StrFormat("%.1f%%", 100 * value);
}

// The column of an optional double.
Column Figure(std::string title, bool (proto::Record::*has)() const,
              double (proto::Record::*get)() const, Format format) {
  return {std::move(title), [=](const proto::Record& r) {
            return (r.*has)() ? format((r.*get)()) : std::string();
          }};
}

std::vector<Column> AllColumns(const std::vector<proto::Record>& records) {
  std::vector<Column> columns = {
      {"variant", [](const proto::Record& r) { return r.variant(); }, true},
      {"batch",
       [](const proto::Record& r) {
         return r.has_batch() ? absl::StrCat(r.batch()) : std::string();
       }},
      {"heads",
       [](const proto::Record& r) {
         if (!r.has_heads_q()) return std::string();
         return Pair(r.heads_q(), r.heads_kv(), "/");
       }},
      {"seqlen",
       [](const proto::Record& r) {
         if (!r.has_seqlen_q()) return std::string();
         return Pair(r.seqlen_q(), r.seqlen_kv(), " x ");
       }},
      {"device", [](const proto::Record& r) { return r.device(); }, true},
      {"figures", Source, true},
      {"outcome", OutcomeText, true},
      Figure("rel RMSE", &proto::Record::has_rel_rmse, &proto::Record::rel_rmse,
             Scientific),
      Figure("max error", &proto::Record::has_max_abs_error,
             &proto::Record::max_abs_error, Scientific),
      Figure("ms", &proto::Record::has_gpu_time_ms, &proto::Record::gpu_time_ms,
             FourDecimals),
      Figure("clocks", &proto::Record::has_clocks, &proto::Record::clocks,
             Whole),
      Figure("busy", &proto::Record::has_busy, &proto::Record::busy, Percent),
      Figure("useful", &proto::Record::has_useful_busy,
             &proto::Record::useful_busy, Percent),
      Figure("in groups", &proto::Record::has_useful_occupied,
             &proto::Record::useful_occupied, Percent),
      Figure("GHz", &proto::Record::has_clock_ghz, &proto::Record::clock_ghz,
             ThreeDecimals),
      Figure("TFLOP/s", &proto::Record::has_tflops, &proto::Record::tflops,
             TwoDecimals),
      Figure("peak", &proto::Record::has_peak_share, &proto::Record::peak_share,
             Percent),
      Figure("A+B flips/clk", &proto::Record::has_operand_flips_per_clock,
             &proto::Record::operand_flips_per_clock, OneDecimal),
      Figure("C flips/clk", &proto::Record::has_addend_flips_per_clock,
             &proto::Record::addend_flips_per_clock, OneDecimal),
  };
  for (const std::string& name : InstructionClasses(records)) {
    columns.push_back({name, [=](const proto::Record& r) {
                         const auto it = r.instructions().find(name);
                         return it == r.instructions().end()
                                    ? std::string()
                                    : Count(it->second);
                       }});
  }
  columns.push_back(Figure("wall s", &proto::Record::has_wall_seconds,
                           &proto::Record::wall_seconds, TwoDecimals));
  return columns;
}

// A column with its cells made and measured.
struct FilledColumn {
  std::vector<std::string> cells;  // the title first
  size_t width = 0;
  bool left = false;
};

std::vector<FilledColumn> Fill(const std::vector<proto::Record>& records) {
  std::vector<FilledColumn> filled;
  for (const Column& column : AllColumns(records)) {
    FilledColumn f = {.cells = {column.title}, .left = column.left};
    bool any = false;
    for (const proto::Record& r : records) {
      f.cells.push_back(column.cell(r));
      any |= !f.cells.back().empty();
    }
    if (!any) continue;
    for (const std::string& cell : f.cells) {
      f.width = std::max(f.width, cell.size());
    }
    filled.push_back(std::move(f));
  }
  return filled;
}

std::string Line(const std::vector<FilledColumn>& columns, size_t row) {
  std::string line;
  for (const FilledColumn& column : columns) {
    const std::string& cell = column.cells[row];
    const std::string padding(column.width - cell.size(), ' ');
    absl::StrAppend(&line, line.empty() ? "" : "  ",
                    column.left ? cell : padding, column.left ? padding : cell);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::string RenderTable(const std::vector<proto::Record>& records) {
  const std::vector<FilledColumn> columns = Fill(records);
  std::string table;
  for (size_t row = 0; row <= records.size(); ++row) {
    absl::StrAppend(&table, Line(columns, row), "\n");
  }
  bool modelled = false;
  for (const proto::Record& r : records) {
    modelled |= r.modelled();
    if (r.has_message()) {
      absl::StrAppend(
          &table, r.variant(),
          r.has_seqlen_q()
              ? absl::StrCat(" ", Pair(r.seqlen_q(), r.seqlen_kv(), " x "))
              : std::string(),
          ": ", r.message(), "\n");
    }
  }
  if (modelled) {
    absl::StrAppend(&table,
                    "modelled: not run on a GPU but executed by the emulator; "
                    "times are those of a cycle model; wall s is the host's "
                    "time.\n");
  }
  return table;
}

}  // namespace zyfa::bench
