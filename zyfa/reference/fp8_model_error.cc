// Error of the FP8 numeric model against float64 attention on the same
// quantised inputs, and how often the reference of its rows moves; causal, one
// head a seed, head dim 128. Arguments: what to measure, and sequence lengths.
//
//   errors  relative RMSE for all rules by which the reference may move, and
//           the models of two published kernels; 96 random rows of each of 6
//           heads
//   moves   of the pairs of 32 rows (a wave) and a tile of keys, those in which
//           a row moves its reference; a row's first tile does not count

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/random.h"
#include "zyfa/reference/fp8_model.h"
#include "zyfa/reference/fp8_tensors.h"
#include "zyfa/reference/problem.h"

namespace zyfa::reference {
namespace {

constexpr const char* kSets[] = {"G", "M", "X", "V", "D", "E"};
constexpr int kSetCount = 6;
constexpr uint64_t kFirstSeed = 100;
constexpr int kHeads = 6;
constexpr int kMeasuredRows = 96;
constexpr int kWaveRows = 32;
constexpr int kMeasuredWaves = 32;
constexpr int64_t kLeastSeqlen = kWaveRows * kMeasuredWaves;
constexpr int64_t kLargestSeqlen = 1048576;

struct Line {
  std::string name;
  Fp8ModelOptions options;
};

struct Rule {
  const char* name;
  float move_share;
  float lazy_binades;
};
constexpr Rule kRules[] = {
    {"always", 0.0f, 0.0f},        {"share 1/16", 1.0f / 16, 0.0f},
    {"share 1/8", 1.0f / 8, 0.0f}, {"share 1/4", 1.0f / 4, 0.0f},
    {"share 1/2", 1.0f / 2, 0.0f}, {"lazy 1", 0.0f, 1.0f},
    {"lazy 2", 0.0f, 2.0f},        {"lazy 4", 0.0f, 4.0f},
};

// The rules with both kinds of probabilities, exact before lean.
std::vector<Line> RuleLines() {
  std::vector<Line> lines;
  for (Probability probability : {Probability::kExact, Probability::kLean}) {
    for (const Rule& rule : kRules) {
      Line& line = lines.emplace_back();
      line.name = std::string(probability == Probability::kExact ? "exact, "
                                                                 : "lean, ") +
                  rule.name;
      line.options.probability = probability;
      line.options.move_share = rule.move_share;
      line.options.lazy_binades = rule.lazy_binades;
    }
  }
  return lines;
}

// Models of the published descriptions (numerics 1): exact P, no power of two
// of a tile, an unrounded sum.
Line PublishedLine(const char* name, int headroom) {
  Line line;
  line.name = name;
  line.options.probability = Probability::kExact;
  line.options.move_share = 0.0f;
  line.options.block_maximum = false;
  line.options.rounded_sum = false;
  line.options.headroom = headroom;
  return line;
}

// The error of a line on one head.
using Errors = std::array<std::array<double, kHeads>, kSetCount>;

absl::StatusOr<std::vector<Errors>> MeasureErrors(
    const std::vector<Line>& lines, int64_t seqlen) {
  std::vector<Errors> errors(lines.size());
  for (int set = 0; set < kSetCount; ++set) {
    for (int head = 0; head < kHeads; ++head) {
      const auto tensors =
          MakeFp8Tensors(kSets[set], seqlen, 128, 128, kFirstSeed + head);
      if (!tensors.ok()) return tensors.status();
      numerics::RandomSequence random(kFirstSeed + head, 1000);
      AttentionOptions attention;
      attention.rows.emplace();
      for (int i = 0; i < kMeasuredRows; ++i) {
        attention.rows->push_back(seqlen / 16 +
                                  random.Index(seqlen - seqlen / 16));
      }
      std::sort(attention.rows->begin(), attention.rows->end());
      const auto exact = tensors->Float64(attention);
      if (!exact.ok()) return exact.status();
      for (size_t i = 0; i < lines.size(); ++i) {
        Fp8ModelOptions options = lines[i].options;
        options.attention = attention;
        const auto model = tensors->Model(options);
        if (!model.ok()) return model.status();
        const auto metrics =
            numerics::CompareToReference(model->output, exact->output, 128);
        if (!metrics.ok()) return metrics.status();
        errors[i][set][head] = metrics->relative_rmse;
      }
    }
  }
  return errors;
}

void PrintSets(const char* title, int64_t seqlen) {
  std::printf("\n%s, S = %lld\n%-20s", title, static_cast<long long>(seqlen),
              "");
  for (const char* set : kSets) std::printf(" %9s", set);
}

// Geometric mean over heads, then over sets; the largest of a head.
void PrintRatios(const std::string& name, const Errors& a, const Errors& b,
                 std::initializer_list<int> sets_of_mean) {
  std::printf("%-20s", name.c_str());
  std::array<double, kSetCount> logs{};
  double worst_head = 0.0;
  for (int set = 0; set < kSetCount; ++set) {
    for (int head = 0; head < kHeads; ++head) {
      const double ratio = a[set][head] / b[set][head];
      logs[set] += std::log(ratio) / kHeads;
      worst_head = std::max(worst_head, ratio);
    }
    std::printf(" %9.3f", std::exp(logs[set]));
  }
  double mean = 0.0;
  for (int set : sets_of_mean) mean += logs[set];
  std::printf(" %9.3f %9.3f %9.3f\n",
              std::exp(mean / static_cast<double>(sets_of_mean.size())),
              std::exp(*std::max_element(logs.begin(), logs.end())),
              worst_head);
}

absl::Status PrintErrors(int64_t seqlen, Fp8Output output) {
  std::vector<Line> lines = RuleLines();
  const int rules = static_cast<int>(std::size(kRules));
  const size_t aiter = lines.size();
  lines.push_back(PublishedLine("AITER-like", 0));
  lines.push_back(PublishedLine("CK-like", 8));
  if (output == Fp8Output::kFloat32) {
    Line& product = lines.emplace_back();
    product.name = "exact, in product";
    product.options.probability = Probability::kExact;
    product.options.subtract_in_product = true;
  }
  for (Line& line : lines) line.options.output = output;
  const auto errors = MeasureErrors(lines, seqlen);
  if (!errors.ok()) return errors.status();

  const std::string format =
      output == Fp8Output::kFloat32 ? "float32 output" : "bf16 output";
  PrintSets(("Relative RMSE, " + format + ", mean over heads").c_str(), seqlen);
  std::printf("\n");
  for (size_t i = 0; i < lines.size(); ++i) {
    std::printf("%-20s", lines[i].name.c_str());
    for (const auto& heads : (*errors)[i]) {
      double sum = 0.0;
      for (double x : heads) sum += x;
      std::printf(" %9.5f", sum / kHeads);
    }
    std::printf("\n");
  }
  PrintSets(("Lean / exact by the same rule, " + format).c_str(), seqlen);
  std::printf(" %9s %9s %9s\n", "mean", "worst", "of heads");
  for (int i = 0; i < rules; ++i) {
    PrintRatios(kRules[i].name, (*errors)[rules + i], (*errors)[i],
                {0, 1, 2, 3, 4, 5});
  }
  PrintSets(("Over AITER-like, mean over M, X, V, D, " + format).c_str(),
            seqlen);
  std::printf(" %9s %9s %9s\n", "mean", "worst", "of heads");
  for (size_t i = 0; i < lines.size(); ++i) {
    PrintRatios(lines[i].name, (*errors)[i], (*errors)[aiter], {1, 2, 3, 4});
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

// Waves spread evenly over the sequence.
absl::Status PrintMoves(int64_t seqlen) {
  std::vector<int64_t> rows;
  int64_t pairs = 0;
  for (int64_t i = 0; i < kMeasuredWaves; ++i) {
    const int64_t waves = seqlen / kWaveRows;
    const int64_t wave = (2 * i + 1) * waves / (2 * kMeasuredWaves);
    for (int64_t r = 0; r < kWaveRows; ++r) {
      rows.push_back(wave * kWaveRows + r);
    }
    pairs += (wave * kWaveRows + kWaveRows - 1) / kKeyTile;
  }
  const std::vector<Line> lines = RuleLines();
  std::vector<std::array<double, kSetCount>> shares(lines.size());
  for (int set = 0; set < kSetCount; ++set) {
    const auto tensors =
        MakeFp8Tensors(kSets[set], seqlen, 128, 128, kFirstSeed);
    if (!tensors.ok()) return tensors.status();
    for (size_t i = 0; i < lines.size(); ++i) {
      std::set<std::pair<int64_t, int64_t>> moves;
      std::mutex mutex;
      Fp8ModelOptions options = lines[i].options;
      options.attention.rows = rows;
      options.on_tile = [&](const Fp8Tile& tile) {
        if (!tile.moved || tile.first_key == 0) return;
        const std::lock_guard<std::mutex> lock(mutex);
        moves.emplace(tile.position / kWaveRows, tile.first_key);
      };
      const auto model = tensors->Model(options);
      if (!model.ok()) return model.status();
      shares[i][set] =
          static_cast<double>(moves.size()) / static_cast<double>(pairs);
    }
  }
  PrintSets(("Pairs of wave and tile with a move, percent of " +
             std::to_string(pairs))
                .c_str(),
            seqlen);
  std::printf("\n");
  for (size_t i = 0; i < lines.size(); ++i) {
    std::printf("%-20s", lines[i].name.c_str());
    for (double share : shares[i]) std::printf(" %9.2f", 100.0 * share);
    std::printf("\n");
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what != "errors" && what != "moves") {
    std::fprintf(stderr, "the first argument is '%s'; allowed: errors, moves\n",
                 what.c_str());
    return 2;
  }
  std::vector<int64_t> seqlens;
  for (int i = 2; i < argc; ++i) {
    int64_t seqlen = 0;
    if (!absl::SimpleAtoi(argv[i], &seqlen) || seqlen < kLeastSeqlen ||
        seqlen > kLargestSeqlen) {
      std::fprintf(stderr,
                   "seqlen is '%s'; allowed: numbers from %lld to %lld\n",
                   argv[i], static_cast<long long>(kLeastSeqlen),
                   static_cast<long long>(kLargestSeqlen));
      return 2;
    }
    seqlens.push_back(seqlen);
  }
  if (seqlens.empty()) seqlens = {2048};
  for (int64_t seqlen : seqlens) {
    absl::Status status;
    if (what == "moves") {
      status = PrintMoves(seqlen);
    } else {
      status = PrintErrors(seqlen, Fp8Output::kFloat32);
      if (status.ok()) status = PrintErrors(seqlen, Fp8Output::kBf16);
    }
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace zyfa::reference

int main(int argc, char** argv) { return zyfa::reference::Main(argc, argv); }
