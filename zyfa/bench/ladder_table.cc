#include "zyfa/bench/ladder_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "zyfa/bench/rung.h"

namespace zyfa::bench {
namespace {

using Records = std::vector<proto::Record>;

// The record of a rung on an input; nullptr if there is none.
const proto::Record* Find(const Records& records, const std::string& input,
                          const Rung& rung) {
  for (const proto::Record& r : records) {
    if (r.input_distribution() == input &&
        r.quantisation() == rung.quantisation &&
        r.variant() == VariantName(rung.VariantFor(r.head_dim_qk()))) {
      return &r;
    }
  }
  return nullptr;
}

const Rung& Named(absl::string_view name) {
  return *std::find_if(std::begin(kRungs), std::end(kRungs),
                       [&](const Rung& rung) { return rung.name == name; });
}

// Inputs of records that have errors.
std::vector<std::string> Inputs(const Records& records) {
  std::vector<std::string> inputs;
  for (const proto::Record& r : records) {
    if (!r.has_total_rel_rmse()) continue;
    if (std::find(inputs.begin(), inputs.end(), r.input_distribution()) ==
        inputs.end()) {
      inputs.push_back(r.input_distribution());
    }
  }
  return inputs;
}

constexpr absl::string_view kMean = "mean";
constexpr absl::string_view kGaussian = "gaussian";

using Figure = std::optional<double> (*)(const proto::Record&);

template <auto kHas, auto kGet>
std::optional<double> Field(const proto::Record& r) {
  if (!(r.*kHas)()) return std::nullopt;
  return (r.*kGet)();
}
template <auto kGet>
std::optional<double> SlowPath(const proto::Record& r) {
  if (!r.has_slow_paths()) return std::nullopt;
  return (r.slow_paths().*kGet)();
}

constexpr Figure kTotal =
    Field<&proto::Record::has_total_rel_rmse, &proto::Record::total_rel_rmse>;
constexpr Figure kOfP =
    Field<&proto::Record::has_rel_rmse, &proto::Record::rel_rmse>;
constexpr Figure kOfExactP = Field<&proto::Record::has_exact_p_rel_rmse,
                                   &proto::Record::exact_p_rel_rmse>;
constexpr Figure kOfValue =
    Field<&proto::Record::has_value_rel_rmse, &proto::Record::value_rel_rmse>;

// Errors and slow paths.
class InputTables {
 public:
  InputTables(const Records& records, std::vector<std::string> inputs)
      : records_(records), inputs_(std::move(inputs)) {
    if (inputs_.size() > 1) columns_ = {std::string(kMean)};
    columns_.insert(columns_.begin(), inputs_.begin(), inputs_.end());
  }

  std::string Render() {
    const Rung& lean = Named("FP8 lean");
    const Rung& shift = Named("INT8 shift");
    const Rung& multiplier = Named("INT8 multiplier");
    Title("Total error");
    for (const Rung& rung : kRungs) Line(rung.name, rung, kTotal);
    Line("V in e4m3 alone", shift, kOfValue);
    Quotient("INT8 shift / FP8 lean", shift, kTotal, lean, kTotal);
    Quotient("INT8 multiplier / shift", multiplier, kTotal, shift, kTotal);
    Title("Error of P alone");
    for (const Rung& rung : kRungs) Line(rung.name, rung, kOfP);
    for (const Rung* rung : {&lean, &shift, &multiplier}) {
      Quotient(absl::StrCat(rung->name, " / exact P"), *rung, kOfP, *rung,
               kOfExactP);
    }
    Title("Rises + moves of 1000");
    for (const Rung* rung : {&shift, &multiplier}) {
      Sum(absl::StrCat(rung->name, ", wave"), *rung,
          SlowPath<&proto::SlowPaths::wave_rises>,
          SlowPath<&proto::SlowPaths::wave_moves>);
      Sum(absl::StrCat(rung->name, ", group"), *rung,
          SlowPath<&proto::SlowPaths::group_rises>,
          SlowPath<&proto::SlowPaths::group_moves>);
    }
    return std::move(text_);
  }

 private:
  // NaN if there is none.
  double Of(const std::string& column, const Rung& rung, Figure figure) const {
    double sum = 0.0;
    int count = 0;
    for (const std::string& input : inputs_) {
      if (column != input && column != kMean) continue;
      const proto::Record* record = Find(records_, input, rung);
      if (record == nullptr) continue;
      sum += figure(*record).value_or(NAN);
      ++count;
    }
    return sum / count;
  }

  using Cell = std::function<std::string(const std::string& column)>;
  void Add(absl::string_view name, const Cell& cell) {
    absl::StrAppendFormat(&text_, "%-28s", name);
    for (const std::string& column : columns_) {
      absl::StrAppendFormat(&text_, " %14s", cell(column));
    }
    absl::StrAppend(&text_, "\n");
  }
  void Title(absl::string_view name) {
    absl::StrAppend(&text_, "\n");
    Add(name, [](const std::string& column) { return column; });
  }
  void Line(absl::string_view name, const Rung& rung, Figure figure) {
    Add(name, [&](const std::string& column) {
      return absl::StrFormat("%.5f", Of(column, rung, figure));
    });
  }
  void Quotient(absl::string_view name, const Rung& a, Figure of_a,
                const Rung& b, Figure of_b) {
    Add(name, [&](const std::string& column) {
      return absl::StrFormat("%.3f", Of(column, a, of_a) / Of(column, b, of_b));
    });
  }
  void Sum(absl::string_view name, const Rung& rung, Figure a, Figure b) {
    Add(name, [&](const std::string& column) {
      return absl::StrFormat("%.1f + %.1f", Of(column, rung, a),
                             Of(column, rung, b));
    });
  }

  const Records& records_;
  std::vector<std::string> inputs_;
  std::vector<std::string> columns_;
  std::string text_;
};

// What a table of speed has in common.
std::string SpeedTitle(const proto::Record& r) {
  const bool gaussian = absl::StartsWith(r.input_distribution(), kGaussian);
  return absl::StrCat("Modelled, ", r.head_dim_qk(), ", ",
                      gaussian ? kGaussian : r.input_distribution());
}

void AddSpeed(const Records& records, std::string& text) {
  std::string title;
  double lean_clocks = NAN;
  for (const proto::Record& r : records) {
    if (!r.has_clocks()) continue;
    if (SpeedTitle(r) != title) {
      title = SpeedTitle(r);
      const std::string lean =
          VariantName(Named("FP8 lean").VariantFor(r.head_dim_qk()));
      for (const proto::Record& other : records) {
        if (other.has_clocks() && other.variant() == lean &&
            SpeedTitle(other) == title) {
          lean_clocks = other.clocks();
        }
      }
      absl::StrAppendFormat(&text, "\n%-34s %10s %9s %9s %6s %9s %9s %6s %7s\n",
                            title, "vector clk", "clocks", "over lean",
                            "useful", "in groups", "flips/clk", "GHz",
                            "TFLOP/s");
    }
    absl::StrAppendFormat(
        &text, "%-34s %10s %9.0f %9.3f %5.1f%% %8.1f%% %9.0f %6.3f %7.0f\n",
        r.variant(),
        r.has_vector_clocks_per_score()
            ? absl::StrCat(r.vector_clocks_per_score())
            : std::string(),
        r.clocks(), r.clocks() / lean_clocks, 100 * r.useful_busy(),
        100 * r.useful_occupied(), r.operand_flips_per_clock(), r.clock_ghz(),
        r.tflops());
  }
}

}  // namespace

std::string RenderLadder(const Records& records) {
  std::string text;
  const std::vector<std::string> inputs = Inputs(records);
  if (!inputs.empty()) text = InputTables(records, inputs).Render();
  AddSpeed(records, text);
  return text;
}

}  // namespace zyfa::bench
