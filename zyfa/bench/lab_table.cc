#include "zyfa/bench/lab_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "zyfa/bench/contender.h"
#include "zyfa/bench/layer_inputs.h"

namespace zyfa::bench {
namespace {

using proto::InputStatistics;
using proto::Record;
using Records = std::vector<Record>;

// A layer is one of sinks if a head of it gives key 0 this much.
constexpr double kSinkMass = 0.3;

using Figure = std::function<std::optional<double>(const Record&)>;

template <auto kHas, auto kGet>
std::optional<double> Field(const Record& r) {
  if (!(r.*kHas)()) return std::nullopt;
  return (r.*kGet)();
}
const Figure kKernel = Field<&Record::has_rel_rmse, &Record::rel_rmse>;
const Figure kTotal =
    Field<&Record::has_total_rel_rmse, &Record::total_rel_rmse>;
const Figure kRow99 =
    Field<&Record::has_p99_row_rel_rmse, &Record::p99_row_rel_rmse>;
const Figure kExactP =
    Field<&Record::has_exact_p_rel_rmse, &Record::exact_p_rel_rmse>;
const Figure kValue =
    Field<&Record::has_value_rel_rmse, &Record::value_rel_rmse>;

template <auto kGet>
std::optional<double> SlowPath(const Record& r) {
  if (!r.has_slow_paths()) return std::nullopt;
  return (r.slow_paths().*kGet)();
}
template <auto kGet>
std::optional<double> Statistic(const Record& r) {
  if (!r.has_input_statistics()) return std::nullopt;
  return (r.input_statistics().*kGet)();
}

// Which record of a source a line is about.
using Choice = std::function<bool(const Record&)>;

Choice OfContender(const Contender& contender) {
  return [contender](const Record& r) {
    return r.variant() == VariantOf(contender, r.head_dim_qk()) &&
           r.quantisation() == Quantisation(contender.preparation);
  };
}

const Contender& Named(absl::string_view name) {
  return *std::find_if(std::begin(kContenders), std::end(kContenders),
                       [&](const Contender& c) { return c.name == name; });
}

Choice OfName(absl::string_view name) { return OfContender(Named(name)); }

Choice AiterKernel(const Preparation& preparation) {
  return [preparation](const Record& r) {
    return r.computed_by() == "kernel" &&
           absl::StartsWith(r.variant(), "AITER") &&
           r.quantisation() == Quantisation(preparation);
  };
}

std::string GroupOf(const std::string& source) {
  return std::vector<std::string>(absl::StrSplit(source, " layer"))[0];
}

// What a ratio must not exceed: the geometric mean of all, the worst, and that
// of each layer of sinks.
struct Bar {
  std::optional<double> mean = std::nullopt;
  std::optional<double> worst = std::nullopt;
  std::optional<double> sinks = std::nullopt;
};

class Lab {
 public:
  explicit Lab(const Records& records) : records_(records) {
    for (const Record& r : records) {
      if (std::find(sources_.begin(), sources_.end(), r.source()) !=
          sources_.end()) {
        continue;
      }
      sources_.push_back(r.source());
      columns_.push_back({ColumnName(r.source()), {r.source()}});
    }
    std::vector<Column> means;
    for (const std::string& source : sources_) {
      const std::string group = GroupOf(source);
      if (means.empty() || means.back().name != group) {
        means.push_back({group, {}});
      }
      means.back().sources.push_back(source);
    }
    if (sources_.size() < 2) return;
    const bool several = means.size() > 1;
    for (Column& mean : means) {
      if (several && mean.sources.size() < 2) continue;
      mean.name = absl::StrCat("mean ", mean.name);
      columns_.push_back(std::move(mean));
    }
    if (several) columns_.push_back({"mean", sources_});
  }

  std::string Render() {
    for (const auto& [study, render] :
         {std::pair(proto::STUDY_LAYERS, &Lab::Layers),
          {proto::STUDY_STAGES, &Lab::Stages},
          {proto::STUDY_PREPARATION, &Lab::Preparations},
          {proto::STUDY_STATISTICS, &Lab::Statistics}}) {
      study_ = study;
      const bool any =
          std::any_of(records_.begin(), records_.end(),
                      [&](const Record& r) { return r.study() == study_; });
      if (any) (this->*render)();
    }
    return std::move(text_);
  }

 private:
  struct Column {
    std::string name;
    std::vector<std::string> sources;
  };
  // What a line has for a source.
  using Cell = std::function<std::optional<double>(const std::string& source)>;

  static std::string ColumnName(const std::string& source) {
    const std::vector<std::string> parts = absl::StrSplit(source, " layer");
    return absl::StrCat(parts[0], parts.size() > 1 ? parts[1] : "");
  }

  Cell Of(const Choice& choice, const Figure& figure,
          proto::Study study) const {
    return [this, choice, figure,
            study](const std::string& source) -> std::optional<double> {
      for (const Record& r : records_) {
        if (r.study() != study || r.source() != source || !choice(r)) continue;
        if (const std::optional<double> x = figure(r); x.has_value()) return x;
      }
      return std::nullopt;
    };
  }
  Cell Of(const Choice& choice, const Figure& figure) const {
    return Of(choice, figure, study_);
  }

  static Cell Quotient(const Cell& a, const Cell& b) {
    return [a, b](const std::string& source) -> std::optional<double> {
      const auto x = a(source), y = b(source);
      if (!x.has_value() || !y.has_value()) return std::nullopt;
      return *x / *y;
    };
  }

  // Nothing if a source has none.
  static std::optional<double> Mean(const Cell& cell, const Column& column,
                                    bool geometric) {
    double sum = 0.0;
    for (const std::string& source : column.sources) {
      const auto x = cell(source);
      if (!x.has_value()) return std::nullopt;
      sum += geometric ? std::log(*x) : *x;
    }
    sum /= static_cast<double>(column.sources.size());
    return geometric ? std::exp(sum) : sum;
  }

  bool Any(const Cell& cell) const {
    return std::any_of(
        sources_.begin(), sources_.end(),
        [&](const std::string& s) { return cell(s).has_value(); });
  }

  void Title(absl::string_view title) {
    absl::StrAppendFormat(&text_, "\n%-36s", title);
    for (const Column& column : columns_) {
      absl::StrAppendFormat(&text_, " %9s", column.name);
    }
    absl::StrAppend(&text_, "\n");
  }

  // A line that no source has anything for is left out.
  void Line(absl::string_view name, const Cell& cell, int digits = 5,
            bool geometric = false, absl::string_view behind = "") {
    if (!Any(cell)) return;
    absl::StrAppendFormat(&text_, "%-36s", name);
    for (const Column& column : columns_) {
      const auto x = Mean(cell, column, geometric);
      absl::StrAppendFormat(
          &text_, " %9s",
          x.has_value() ? absl::StrFormat("%.*f", digits, *x) : "-");
    }
    absl::StrAppend(&text_, behind, "\n");
  }

  double Worst(const Cell& cell) const {
    double worst = -INFINITY;
    for (const std::string& s : sources_) {
      worst = std::max(worst, cell(s).value_or(-INFINITY));
    }
    return worst;
  }
  double MeanOfAll(const Cell& cell) const {
    return Mean(cell, {"", sources_}, true).value_or(NAN);
  }

  std::vector<std::string> SinkLayers() const {
    const Cell mass = Of([](const Record&) { return true; },
                         Statistic<&InputStatistics::largest_sink_mass>,
                         proto::STUDY_STATISTICS);
    std::vector<std::string> layers;
    for (const std::string& s : sources_) {
      if (mass(s).value_or(0.0) >= kSinkMass) layers.push_back(s);
    }
    return layers;
  }

  void Ratio(absl::string_view name, const Cell& a, const Cell& b,
             const Bar& bar = {}) {
    const Cell ratio = Quotient(a, b);
    if (!Any(ratio)) return;
    std::string behind = absl::StrFormat("  worst %.3f", Worst(ratio));
    const auto check = [&](absl::string_view what, double got, double limit) {
      absl::StrAppendFormat(&behind, "; bar: %s <= %.2f, %s", what, limit,
                            got <= limit ? "met" : "not met");
    };
    if (bar.mean.has_value()) check("mean", MeanOfAll(ratio), *bar.mean);
    if (bar.worst.has_value()) check("worst", Worst(ratio), *bar.worst);
    if (bar.sinks.has_value()) {
      for (const std::string& s : SinkLayers()) {
        if (const auto x = ratio(s); x.has_value()) {
          check(ColumnName(s), *x, *bar.sinks);
        }
      }
    }
    Line(name, ratio, 3, true, behind);
  }

  void Layers() {
    Title("Error of the kernel alone");
    for (const Contender& c : kContenders) {
      Line(c.name, Of(OfContender(c), kKernel));
    }
    Line("AITER v3, kernel", Of(AiterKernel(kFp8Prepared), kKernel));
    Line("AITER v3, kernel, as is", Of(AiterKernel(kFp8AsIs), kKernel));

    Title("99th percentile of row errors");
    for (const Contender& c : kContenders) {
      Line(c.name, Of(OfContender(c), kRow99));
    }
    Line("AITER v3, kernel", Of(AiterKernel(kFp8Prepared), kRow99));
    Line("AITER v3, kernel, as is", Of(AiterKernel(kFp8AsIs), kRow99));

    Title("Total error");
    for (const Contender& c : kContenders) {
      Line(c.name, Of(OfContender(c), kTotal));
    }
    Line("AITER v3, kernel", Of(AiterKernel(kFp8Prepared), kTotal));
    Line("AITER v3, kernel, as is", Of(AiterKernel(kFp8AsIs), kTotal));
    Line("V in e4m3 alone", Of(OfName("INT8 shift"), kValue));

    Title("Ratios, kernel alone");
    const auto kernel = [&](absl::string_view name) {
      return Of(OfName(name), kKernel);
    };
    const Bar lean_exact = {.mean = 1.25, .worst = 1.36};
    const Bar aiter = {.mean = .75, .worst = 1.0, .sinks = .4};
    const Bar integer = {.mean = .8};
    Ratio("lean / exact", kernel("FP8 lean"), kernel("FP8 exact"), lean_exact);
    Ratio("lean / exact, as is", kernel("FP8 lean, as is"),
          kernel("FP8 exact, as is"), lean_exact);
    Ratio("lean / AITER-like", kernel("FP8 lean"), kernel("AITER-like"), aiter);
    Ratio("lean / AITER-like, as is", kernel("FP8 lean, as is"),
          kernel("AITER-like, as is"), aiter);
    Ratio("lean / AITER v3's kernel", kernel("FP8 lean"),
          Of(AiterKernel(kFp8Prepared), kKernel));
    Ratio("lean / AITER v3's kernel, as is", kernel("FP8 lean, as is"),
          Of(AiterKernel(kFp8AsIs), kKernel));
    Ratio("AITER v3's kernel / its model",
          Of(AiterKernel(kFp8Prepared), kKernel), kernel("AITER-like"));
    Ratio("CK-like / AITER-like", kernel("CK-like"), kernel("AITER-like"));
    Ratio("lean / CK-like", kernel("FP8 lean"), kernel("CK-like"));
    Ratio("exact / CK-like", kernel("FP8 exact"), kernel("CK-like"));
    Ratio("exact, real / integer maximum", kernel("FP8 exact"),
          kernel("FP8 exact, integer maximum"), integer);
    Ratio("lean, real / integer maximum", kernel("FP8 lean"),
          kernel("FP8 lean, integer maximum"), integer);
    Ratio("p99 of rows, lean / AITER-like", Of(OfName("FP8 lean"), kRow99),
          Of(OfName("AITER-like"), kRow99));
    for (const char* name : {"INT8 shift", "INT8 multiplier"}) {
      Ratio(absl::StrCat(name, " / exact P"), kernel(name),
            Of(OfName(name), kExactP));
    }

    Title("Ratios, total error");
    const auto total = [&](absl::string_view name) {
      return Of(OfName(name), kTotal);
    };
    Ratio("lean / AITER-like as is", total("FP8 lean"),
          total("AITER-like, as is"));
    Ratio("INT8 shift / FP8 lean", total("INT8 shift"), total("FP8 lean"));
    Ratio("INT8 multiplier / INT8 shift", total("INT8 multiplier"),
          total("INT8 shift"));
    Ratio("BF16 / FP8 lean", total("BF16"), total("FP8 lean"));

    Title("Slow paths of 1000");
    for (const char* name : {"INT8 shift", "INT8 multiplier"}) {
      const std::pair<const char*, Figure> kPaths[] = {
          {"wave, rises", SlowPath<&proto::SlowPaths::wave_rises>},
          {"wave, moves", SlowPath<&proto::SlowPaths::wave_moves>},
          {"group, rises", SlowPath<&proto::SlowPaths::group_rises>},
          {"group, moves", SlowPath<&proto::SlowPaths::group_moves>}};
      for (const auto& [path, figure] : kPaths) {
        Line(absl::StrCat(name, ", ", path), Of(OfName(name), figure), 1);
      }
    }
  }

  void Stages() {
    for (const Contender& c : kContenders) {
      const Choice of_contender = OfContender(c);
      bool titled = false;
      for (const char* stage :
           {"query", "key", "value", "inputs", "p", "rest", "total"}) {
        const Cell cell = Of(
            [&](const Record& r) {
              return of_contender(r) && r.stage() == stage;
            },
            [](const Record& r) {
              const auto total = kTotal(r);
              return total.has_value() ? total : kKernel(r);
            });
        if (!Any(cell)) continue;
        if (!titled) Title(absl::StrCat("Error by stage, ", c.name));
        titled = true;
        Line(stage, cell);
      }
    }
  }

  void Preparations() {
    const struct {
      const char* name;
      DataType type;
      bool kernel;
    } kKinds[] = {{"Total error, FP8 lean", DataType::kFp8, true},
                  {"Error of the inputs alone, FP8", DataType::kFp8, false},
                  {"Total error, INT8", DataType::kInt8, true}};
    const std::pair<ScalesOf, const char*> kScales[] = {
        {ScalesOf::kTensor, "a tensor"},
        {ScalesOf::kHead, "a head"},
        {ScalesOf::kToken, "a token"}};
    for (const auto& kind : kKinds) {
      Title(kind.name);
      for (const auto& [scales, of] : kScales) {
        for (const auto& [steps, mean, rotate] :
             {std::tuple("none", false, false),
              {"rotated", false, true},
              {"mean key removed", true, false},
              {"both", true, true}}) {
          const std::string quantisation =
              Quantisation({kind.type, mean, rotate, scales});
          Line(absl::StrCat("scales of ", of, ", ", steps),
               Of(
                   [&](const Record& r) {
                     return r.quantisation() == quantisation &&
                            r.has_stage() != kind.kernel;
                   },
                   kTotal));
        }
      }
      if (kind.type == DataType::kFp8 && kind.kernel) {
        absl::StrAppend(
            &text_,
            "No FP8 kernel takes scales of tokens; of INT8 only the "
            "multiplier form does, for K.\n");
      }
    }
  }

  void Statistics() {
    Title("Inputs");
    const Choice all = [](const Record&) { return true; };
    const std::tuple<const char*, Figure, int> kLines[] = {
        {"blocks 8 binades under the maximum",
         Statistic<&InputStatistics::low_block_share>, 3},
        {"their probability", Statistic<&InputStatistics::low_block_mass>, 4},
        {"mass on key 0", Statistic<&InputStatistics::sink_mass>, 4},
        {"the same, of one head",
         Statistic<&InputStatistics::largest_sink_mass>, 4},
        {"Q, largest channel / median",
         Statistic<&InputStatistics::query_outlier_ratio>, 2},
        {"K, largest channel / median",
         Statistic<&InputStatistics::key_outlier_ratio>, 2},
        {"V, largest channel / median",
         Statistic<&InputStatistics::value_outlier_ratio>, 2},
        {"mean key / keys without it",
         Statistic<&InputStatistics::key_mean_ratio>, 2}};
    for (const auto& [name, figure, digits] : kLines) {
      Line(name, Of(all, figure), digits);
    }
  }

  const Records& records_;
  std::vector<std::string> sources_;
  std::vector<Column> columns_;
  proto::Study study_ = proto::STUDY_UNSPECIFIED;
  std::string text_;
};

}  // namespace

std::string RenderLab(const Records& records) { return Lab(records).Render(); }

}  // namespace zyfa::bench
