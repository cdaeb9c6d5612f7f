#include "zyfa/emu/cycles/view_text.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/cycles/stall.h"

namespace zyfa::emu {
namespace {

using Row = std::vector<std::string>;

// Columns two blanks apart; those named in `left` start at one place, others
// end at one.
std::string Aligned(const std::vector<Row>& rows,
                    const std::vector<size_t>& left) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], row[c].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string fill(widths[c] - row[c].size(), ' ');
      const bool at_left = std::find(left.begin(), left.end(), c) != left.end();
      absl::StrAppend(&line, c == 0 ? "" : "  ", at_left ? "" : fill, row[c],
                      at_left ? fill : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    absl::StrAppend(&text, line, "\n");
  }
  return text;
}

std::string Fixed(double value) { return absl::StrFormat("%.1f", value); }

std::string Share(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return absl::StrFormat(
      "%.1f%%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string Percent(double share) {
  return absl::StrFormat("%.1f%%", 100 * share);
}

double Quotient(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

using Stalls = std::array<uint64_t, kStalls>;

uint64_t Sum(const Stalls& stall) {
  return std::accumulate(stall.begin(), stall.end(), uint64_t{0});
}

// "barrier 71%, matrix pipe 20%"
std::string MainReasons(const Stalls& stall) {
  std::vector<size_t> order(kStalls);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&stall](size_t a, size_t b) {
    return stall[a] > stall[b];
  });
  const uint64_t sum = Sum(stall);
  std::string text;
  for (size_t i = 0; i < 2; ++i) {
    const uint64_t clocks = stall[order[i]];
    if (clocks == 0) break;
    absl::StrAppendFormat(&text, "%s%s %.0f%%", i == 0 ? "" : ", ",
                          StallName(static_cast<Stall>(order[i])),
                          100 * Quotient(clocks, sum));
  }
  return text;
}

}  // namespace

SteadyState MeanSteadyState(const ComputeUnitReport& report, uint32_t head) {
  SteadyState mean;
  double clocks = 0;
  for (uint32_t group = 0; group < report.groups.size(); ++group) {
    const SteadyState state = SteadyStateOf(report, head, group);
    const double own =
        state.clocks_per_pass * static_cast<double>(state.passes);
    mean.passes += state.passes;
    clocks += own;
    mean.matrix_busy += own * state.matrix_busy;
    mean.useful_busy += own * state.useful_busy;
    mean.vector_busy += own * state.vector_busy;
  }
  if (mean.passes == 0) return {};
  mean.clocks_per_pass = clocks / static_cast<double>(mean.passes);
  mean.matrix_busy /= clocks;
  mean.useful_busy /= clocks;
  mean.vector_busy /= clocks;
  return mean;
}

std::string RegionTable(const RegionAccount& account,
                        absl::Span<const SteadyState> steady) {
  std::vector<Row> rows = {{"region", "clocks", "passes", "clk/pass",
                            "instr/pass", "matrix", "useful", "vector",
                            "own matrix", "own vector"}};
  for (size_t r = 0; r < account.regions().size(); ++r) {
    const RegionUse& use = account.use()[r];
    if (use.instructions == 0) continue;
    rows.push_back({account.regions()[r].name,
                    Fixed(Quotient(use.clocks, account.wave_count())),
                    Fixed(Quotient(use.passes, account.wave_count())),
                    Fixed(Quotient(use.clocks, use.passes)),
                    Fixed(Quotient(use.instructions, use.passes)),
                    Share(use.pipes.matrix, use.clocks),
                    Share(use.pipes.useful, use.clocks),
                    Share(use.pipes.vector, use.clocks),
                    Share(use.own.matrix, use.clocks),
                    Share(use.own.vector, use.clocks)});
    if (r >= steady.size() || steady[r].passes == 0) continue;
    const SteadyState& state = steady[r];
    rows.push_back({"  steady state", "", "", Fixed(state.clocks_per_pass), "",
                    Percent(state.matrix_busy), Percent(state.useful_busy),
                    Percent(state.vector_busy)});
  }
  return Aligned(rows, {0});
}

std::string StallTable(const std::string& kind,
                       absl::Span<const StallRow> rows) {
  Stalls total = {};
  for (const StallRow& row : rows) {
    for (size_t i = 0; i < kStalls; ++i) total[i] += row.use.stall[i];
  }
  Row head = {kind, "clocks", "issuing"};
  for (size_t i = 0; i < kStalls; ++i) {
    if (total[i] != 0) head.push_back(StallName(static_cast<Stall>(i)));
  }
  std::vector<Row> table = {head};
  for (const StallRow& row : rows) {
    const auto scaled = [&row](uint64_t clocks) {
      return Fixed(static_cast<double>(clocks) / row.divisor);
    };
    Row cells = {row.name, scaled(row.use.clocks), scaled(4 * row.use.issued)};
    for (size_t i = 0; i < kStalls; ++i) {
      if (total[i] != 0) cells.push_back(scaled(row.use.stall[i]));
    }
    table.push_back(std::move(cells));
  }
  return Aligned(table, {0});
}

std::vector<StallRow> RowsOfWaves(absl::Span<const WaveUse> waves,
                                  double divisor) {
  std::vector<StallRow> rows;
  for (size_t w = 0; w < waves.size(); ++w) {
    if (waves[w].issued == 0) continue;
    rows.push_back({absl::StrCat(w), waves[w], divisor});
  }
  return rows;
}

std::vector<StallRow> RowsOfRegions(const RegionAccount& account) {
  std::vector<StallRow> rows;
  for (size_t r = 0; r < account.regions().size(); ++r) {
    const RegionUse& use = account.use()[r];
    if (use.instructions == 0) continue;
    WaveUse sum;
    for (const WaveUse& wave : account.WavesIn(account.regions()[r])) {
      sum.clocks += wave.clocks;
      sum.issued += wave.issued;
      for (size_t i = 0; i < kStalls; ++i) sum.stall[i] += wave.stall[i];
    }
    rows.push_back(
        {account.regions()[r].name, sum, static_cast<double>(use.passes)});
  }
  return rows;
}

std::string TopTable(const ComputeUnitReport& report,
                     absl::Span<const InstructionTime> instructions,
                     size_t count) {
  std::vector<size_t> order(report.steps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&report](size_t a, size_t b) {
    return Sum(report.steps[a].stall) > Sum(report.steps[b].stall);
  });
  std::vector<Row> rows = {{"stall clk", "issued", "clk/issue", "address",
                            "main reasons", "instruction"}};
  for (size_t i = 0; i < order.size() && i < count; ++i) {
    const StepClocks& step = report.steps[order[i]];
    const uint64_t stall = Sum(step.stall);
    if (stall == 0) break;
    const InstructionTime& time = instructions[order[i]];
    rows.push_back({absl::StrCat(stall), absl::StrCat(step.issued),
                    Fixed(Quotient(stall, step.issued)),
                    absl::StrFormat("%#x", time.address),
                    MainReasons(step.stall), time.text});
  }
  return Aligned(rows, {4, 5});
}

}  // namespace zyfa::emu
