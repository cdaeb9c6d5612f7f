#include "zyfa/emu/cycles/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"

namespace zyfa::emu {
namespace {

// Given, not fitted: the part's peak clock, and the clock that power is stated
// at.
constexpr ClockConstants kGiven = {.peak_ghz = 2.4,
                                   .reference_ghz = 2.0,
                                   .exponent = 0,
                                   .idle = 0,
                                   .matrix = 0,
                                   .flips = 0,
                                   .vector = 0,
                                   .lds = 0};

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

// The unknowns: logarithms of the constants, in the order of ClockPriors(), and
// of the flips that no source states.
ClockConstants ConstantsOf(const Vector& logs) {
  ClockConstants constants = kGiven;
  for (size_t i = 0; i < ClockPriors().size(); ++i) {
    constants.*ClockPriors()[i].field = std::exp(logs[i]);
  }
  return constants;
}

// The rows of the least squares: priors, then points.
Vector Residuals(const std::vector<ClockPoint>& given, const Vector& logs) {
  Vector rows;
  for (size_t i = 0; i < ClockPriors().size(); ++i) {
    const ClockPrior& prior = ClockPriors()[i];
    rows.push_back((logs[i] - std::log(prior.value)) / std::log(prior.factor));
  }
  rows.push_back((logs.back() - std::log(kUnknownFlips)) /
                 std::log(kUnknownFlipsFactor));
  const std::vector<ClockPoint> points =
      WithFlips(given, std::exp(logs.back()));
  const ClockConstants constants = ConstantsOf(logs);
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].use != ClockPoint::Use::kFit) continue;
    rows.push_back(
        std::log(ModelledValue(points, i, constants) / points[i].value) /
        points[i].error);
  }
  return rows;
}

double SumOfSquares(const Vector& rows) {
  double sum = 0;
  for (const double r : rows) sum += r * r;
  return sum;
}

// The inverse of a symmetric positive definite matrix.
Matrix Inverse(Matrix a) {
  const size_t n = a.size();
  Matrix inverse(n, Vector(n, 0));
  for (size_t i = 0; i < n; ++i) inverse[i][i] = 1;
  for (size_t p = 0; p < n; ++p) {
    const double pivot = a[p][p];
    for (size_t j = 0; j < n; ++j) {
      a[p][j] /= pivot;
      inverse[p][j] /= pivot;
    }
    for (size_t i = 0; i < n; ++i) {
      if (i == p) continue;
      const double factor = a[i][p];
      for (size_t j = 0; j < n; ++j) {
        a[i][j] -= factor * a[p][j];
        inverse[i][j] -= factor * inverse[p][j];
      }
    }
  }
  return inverse;
}

// Normal matrix and gradient of the rows at `logs`.
struct Normal {
  Matrix matrix;
  Vector gradient;
};
Normal NormalAt(const std::vector<ClockPoint>& points, const Vector& logs) {
  constexpr double kStep = 1e-6;
  const size_t n = logs.size();
  const Vector rows = Residuals(points, logs);
  Matrix columns;
  for (size_t i = 0; i < n; ++i) {
    Vector moved = logs;
    moved[i] += kStep;
    Vector column = Residuals(points, moved);
    for (size_t r = 0; r < rows.size(); ++r) {
      column[r] = (column[r] - rows[r]) / kStep;
    }
    columns.push_back(std::move(column));
  }
  Normal normal = {Matrix(n, Vector(n, 0)), Vector(n, 0)};
  for (size_t i = 0; i < n; ++i) {
    for (size_t r = 0; r < rows.size(); ++r) {
      normal.gradient[i] += columns[i][r] * rows[r];
      for (size_t j = 0; j < n; ++j) {
        normal.matrix[i][j] += columns[i][r] * columns[j][r];
      }
    }
  }
  return normal;
}

absl::Status LineError(size_t number, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("line ", number, " of the clock points: ", what));
}

absl::StatusOr<ClockPoint> ParseLine(const std::string& line, size_t number,
                                     const std::vector<ClockPoint>& earlier) {
  std::vector<std::string> fields = absl::StrSplit(line, '|');
  if (fields.size() != 10) {
    return LineError(number, absl::StrCat(fields.size(), " fields, not 10"));
  }
  for (std::string& field : fields) absl::StripAsciiWhitespace(&field);
  ClockPoint point;
  point.name = fields[0];
  point.source = fields[9];
  const struct {
    const char* name;
    const std::string& text;
    double* target;
    double low, high;
  } numbers[] = {
      {"value", fields[1], &point.value, 0, 10},
      {"error", fields[3], &point.error, 1e-3, 1},
      {"matrix", fields[4], &point.activity.matrix_busy, 0, 1},
      {"vector", fields[5], &point.activity.vector_busy, 0, 1},
      {"lds", fields[6], &point.activity.lds_busy, 0, 1},
      {"flips", fields[7], &point.activity.flips_per_clock, 0, 1024},
  };
  point.flips_unknown = fields[7] == "?";
  for (const auto& n : numbers) {
    if (n.text == "?" && point.flips_unknown) continue;
    if (!absl::SimpleAtod(n.text, n.target) ||
        !(*n.target >= n.low && *n.target <= n.high)) {
      return LineError(
          number, absl::StrCat(n.name, " is '", n.text, "'; allowed is ", n.low,
                               " to ", n.high));
    }
  }
  const std::pair<const char*, ClockPoint::Use> uses[] = {
      {"fit", ClockPoint::Use::kFit},
      {"check", ClockPoint::Use::kCheck},
      {"input", ClockPoint::Use::kInput}};
  const auto* const use =
      std::find_if(std::begin(uses), std::end(uses),
                   [&fields](const auto& u) { return fields[8] == u.first; });
  if (use == std::end(uses)) {
    return LineError(number, absl::StrCat("use is '", fields[8],
                                          "'; allowed are fit, check, input"));
  }
  point.use = use->second;
  if (point.use != ClockPoint::Use::kInput && point.value == 0) {
    return LineError(number, "value is 0");
  }
  if (!fields[2].empty()) {
    const auto other = std::find_if(
        earlier.begin(), earlier.end(),
        [&fields](const ClockPoint& p) { return p.name == fields[2]; });
    if (other == earlier.end()) {
      return LineError(
          number, absl::StrCat("over is '", fields[2], "', no point above it"));
    }
    point.over = static_cast<int>(other - earlier.begin());
  }
  return point;
}

double PercentOff(const std::vector<ClockPoint>& points, size_t index,
                  const ClockConstants& constants) {
  return 100 *
         (ModelledValue(points, index, constants) / points[index].value - 1);
}

}  // namespace

const std::vector<ClockPrior>& ClockPriors() {
  static const auto& priors = *new std::vector<ClockPrior>{
      {"exponent", &ClockConstants::exponent, 1.5, 1.25,
       "power ~ f V^2: 1 at constant voltage, 3 if voltage follows the clock; "
       "the voltage of such parts moves by a third of the clock's change or "
       "less"},
      {"idle", &ClockConstants::idle, 0.3, 1.4,
       "clock tree and everything that is not gated: a quarter to a half of "
       "what busy parts draw"},
      {"matrix", &ClockConstants::matrix, 0.4, 2, "weak"},
      {"flips", &ClockConstants::flips, 0.15, 2, "weak"},
      {"vector", &ClockConstants::vector, 0.2, 2, "weak"},
      {"lds", &ClockConstants::lds, 0.4, 2, "weak"},
  };
  return priors;
}

absl::StatusOr<std::vector<ClockPoint>> ParseClockPoints(
    const std::string& text) {
  std::vector<ClockPoint> points;
  size_t number = 0;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    absl::StatusOr<ClockPoint> point = ParseLine(line, number, points);
    if (!point.ok()) return point.status();
    points.push_back(*std::move(point));
  }
  return points;
}

double ModelledValue(const std::vector<ClockPoint>& points, size_t index,
                     const ClockConstants& constants) {
  ClockConstants unlimited = constants;
  unlimited.peak_ghz = 1e9;
  const double clock = ModelledClockGhz(points[index].activity, unlimited);
  if (points[index].over < 0) return clock;
  return clock / ModelledClockGhz(
                     points[static_cast<size_t>(points[index].over)].activity,
                     unlimited);
}

std::vector<ClockPoint> WithFlips(std::vector<ClockPoint> points,
                                  double flips) {
  for (ClockPoint& point : points) {
    if (!point.flips_unknown) continue;
    point.activity.flips_per_clock = flips;
    point.flips_unknown = false;
  }
  return points;
}

absl::StatusOr<ClockFit> FitClock(const std::vector<ClockPoint>& points) {
  const size_t n = ClockPriors().size() + 1;
  Vector logs;
  for (const ClockPrior& prior : ClockPriors()) {
    logs.push_back(std::log(prior.value));
  }
  logs.push_back(std::log(kUnknownFlips));
  // Levenberg and Marquardt: a step that does not help is shortened.
  double damping = 1e-3;
  double sum = SumOfSquares(Residuals(points, logs));
  bool settled = false;
  for (int round = 0; round < 200 && !settled; ++round) {
    Normal normal = NormalAt(points, logs);
    for (size_t i = 0; i < n; ++i) normal.matrix[i][i] *= 1 + damping;
    const Matrix inverse = Inverse(std::move(normal.matrix));
    Vector moved = logs;
    double longest = 0;
    for (size_t i = 0; i < n; ++i) {
      double step = 0;
      for (size_t j = 0; j < n; ++j) {
        step -= inverse[i][j] * normal.gradient[j];
      }
      moved[i] += step;
      longest = std::max(longest, std::abs(step));
    }
    settled = longest < 1e-7;
    const double next = SumOfSquares(Residuals(points, moved));
    if (next <= sum) {
      sum = next;
      logs = moved;
      damping /= 4;
    } else {
      damping *= 8;
    }
  }
  if (!settled) {
    return absl::FailedPreconditionError(
        "the fit of the clock does not settle");
  }
  ClockFit fit;
  fit.constants = ConstantsOf(logs);
  const Matrix covariance = Inverse(NormalAt(points, logs).matrix);
  for (size_t i = 0; i < n; ++i) {
    fit.fitted.push_back(
        {std::exp(logs[i]), std::exp(std::sqrt(covariance[i][i]))});
  }
  fit.unknown_flips = fit.fitted.back();
  fit.fitted.pop_back();
  const std::vector<ClockPoint> filled =
      WithFlips(points, fit.unknown_flips.value);
  double squares = 0;
  int count = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i].use != ClockPoint::Use::kFit) continue;
    const double percent = PercentOff(filled, i, fit.constants);
    squares += percent * percent;
    ++count;
  }
  fit.rms_percent = std::sqrt(squares / std::max(1, count));
  return fit;
}

std::string ClockFitPage(const std::vector<ClockPoint>& given,
                         const ClockFit& fit) {
  const std::vector<ClockPoint> points =
      WithFlips(given, fit.unknown_flips.value);
  std::string page =
      "# The clock model's fit\n\n"
      "Written by `bazel run //zyfa/emu/cycles:clock_fit > "
      "docs/clock-fit.md`;\n"
      "[clock-model.md](clock-model.md) says what it means. Everything is "
      "modelled.\n\n"
      "| constant | value | one sigma | before any point | why |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (size_t i = 0; i < fit.fitted.size(); ++i) {
    const ClockPrior& prior = ClockPriors()[i];
    const FittedConstant& c = fit.fitted[i];
    absl::StrAppendFormat(&page,
                          "| %s | %.3f | %.3f to %.3f | %.2f, %.2f to %.2f | "
                          "%s |\n",
                          prior.name, c.value, c.value / c.factor,
                          c.value * c.factor, prior.value,
                          prior.value / prior.factor,
                          prior.value * prior.factor, prior.reason);
  }
  const FittedConstant& unknown = fit.unknown_flips;
  absl::StrAppendFormat(
      &page,
      "| flips of the toggling loop | %.0f | %.0f to %.0f | %.0f, %.0f to %.0f "
      "| not published: 170 to 256 if values are random, less if few bits "
      "change |\n",
      unknown.value, unknown.value / unknown.factor,
      unknown.value * unknown.factor, kUnknownFlips,
      kUnknownFlips / kUnknownFlipsFactor, kUnknownFlips * kUnknownFlipsFactor);
  absl::StrAppendFormat(
      &page,
      "\nRelative residuals of the points in the fit: %.1f %% RMS. `flips` "
      "of the table\nbelow: live flips of A and B a clock.\n\n"
      "| point | published | modelled | off | allowed | matrix | vector | LDS "
      "| flips | use | source |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
      fit.rms_percent);
  for (size_t i = 0; i < points.size(); ++i) {
    const ClockPoint& p = points[i];
    const double modelled = ModelledValue(points, i, fit.constants);
    const bool input = p.use == ClockPoint::Use::kInput;
    absl::StrAppendFormat(
        &page,
        "| %s | %s | %.3f | %s | %s | %.3f | %.3f | %.3f | %.1f | %s | %s |\n",
        p.name,
        input
            ? "-"
            : absl::StrFormat("%.3f%s", p.value, p.over < 0 ? "" : " (ratio)"),
        modelled,
        input
            ? "-"
            : absl::StrFormat("%+.1f %%", PercentOff(points, i, fit.constants)),
        input ? "-" : absl::StrFormat("%.0f %%", 100 * p.error),
        p.activity.matrix_busy, p.activity.vector_busy, p.activity.lds_busy,
        p.activity.flips_per_clock,
        input                            ? "input"
        : p.use == ClockPoint::Use::kFit ? "fit"
                                         : "check",
        p.source);
  }
  return page;
}

}  // namespace zyfa::emu
