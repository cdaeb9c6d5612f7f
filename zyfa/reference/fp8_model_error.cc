// Error of the FP8 numeric model against float64 attention on the same
// quantised inputs, and how often the reference of its rows moves; causal, one
// head a seed, head dim 128. Arguments: what to measure, and sequence lengths.
//
//   errors  relative RMSE for all rules by which the reference may move, and
//           the models of two published kernels; 96 random rows of each of 6
//           heads
//   moves   of the pairs of 32 rows (a wave) and a tile of keys, those in which
//           a row moves its reference, and those that must look closer: a row
//           exceeds what would have moved it when the wave last looked. The
//           first tile does not count. 32 waves of each of 3 heads

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
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
#include "zyfa/reference/published_fp8.h"

namespace zyfa::reference {
namespace {

constexpr const char* kSets[] = {"G", "M", "X", "V", "D", "E"};
constexpr int kSetCount = 6;
constexpr uint64_t kFirstSeed = 100;
constexpr int kHeads = 6;
constexpr int kMeasuredRows = 96;
constexpr int kWaveRows = 32;
constexpr int kMeasuredWaves = 32;
constexpr int kHeadsOfMoves = 3;
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
  lines.push_back({"AITER-like", AiterLikeFp8()});
  lines.push_back({"CK-like", CkLikeFp8()});
  if (output == Fp8Output::kFloat32) {
    Line& by_fma = lines.emplace_back();
    by_fma.name = "exact, by fma";
    by_fma.options.probability = Probability::kExact;
    by_fma.options.subtract_in_product = false;
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

// What a row did in a tile, if it saw any of it.
struct RowTile {
  bool seen = false;
  bool moved = false;
  float distance = 0.0f;
  float slack = 0.0f;
};
using WaveTile = std::array<RowTile, kWaveRows>;

struct Counts {
  double moves = 0.0;
  double looks = 0.0;
};

// Waves spread evenly over the sequence.
std::vector<int64_t> MeasuredWaves(int64_t seqlen) {
  const int64_t waves = seqlen / kWaveRows;
  std::vector<int64_t> result;
  for (int64_t i = 0; i < kMeasuredWaves; ++i) {
    result.push_back((2 * i + 1) * waves / (2 * kMeasuredWaves));
  }
  return result;
}

// Tiles of a wave behind the first one.
int64_t FurtherTiles(int64_t wave) {
  return ((wave + 1) * kWaveRows - 1) / kKeyTile;
}

// `tiles` of a wave in order, the first one included.
Counts CountMoves(const std::vector<WaveTile>& tiles) {
  Counts counts;
  std::array<float, kWaveRows> threshold{};
  for (size_t tile = 0; tile < tiles.size(); ++tile) {
    bool looks = tile == 0, moves = false;
    for (int r = 0; r < kWaveRows; ++r) {
      const RowTile& row = tiles[tile][r];
      if (!row.seen) continue;
      looks |= row.distance > threshold[r];
      moves |= row.moved;
    }
    if (!looks) continue;
    for (int r = 0; r < kWaveRows; ++r) {
      const RowTile& row = tiles[tile][r];
      // A row that moved weighs less than its new reference.
      threshold[r] = row.moved ? 0.0f : row.slack;
    }
    counts.looks += tile > 0;
    counts.moves += tile > 0 && moves;
  }
  return counts;
}

absl::StatusOr<Counts> CountMoves(const Fp8Tensors& tensors,
                                  Fp8ModelOptions options) {
  const int64_t seqlen = tensors.problem.seqlen_q;
  options.attention.rows.emplace();
  std::map<int64_t, std::vector<WaveTile>> waves;
  for (int64_t wave : MeasuredWaves(seqlen)) {
    waves[wave].resize(FurtherTiles(wave) + 1);
    for (int64_t r = 0; r < kWaveRows; ++r) {
      options.attention.rows->push_back(wave * kWaveRows + r);
    }
  }
  // Every call has a place of its own.
  options.on_tile = [&](const Fp8Tile& tile) {
    WaveTile& wave =
        waves.at(tile.position / kWaveRows)[tile.first_key / kKeyTile];
    wave[tile.position % kWaveRows] = {true, tile.moved, tile.distance,
                                       tile.slack};
  };
  const auto model = tensors.Model(options);
  if (!model.ok()) return model.status();
  Counts sum;
  for (const auto& [wave, tiles] : waves) {
    const Counts counts = CountMoves(tiles);
    sum.moves += counts.moves;
    sum.looks += counts.looks;
  }
  return sum;
}

absl::Status PrintMoves(int64_t seqlen) {
  int64_t pairs = 0;
  for (int64_t wave : MeasuredWaves(seqlen)) pairs += FurtherTiles(wave);
  pairs *= kHeadsOfMoves;
  const std::vector<Line> lines = RuleLines();
  std::vector<std::array<Counts, kSetCount>> counts(lines.size());
  for (int set = 0; set < kSetCount; ++set) {
    for (int head = 0; head < kHeadsOfMoves; ++head) {
      const auto tensors =
          MakeFp8Tensors(kSets[set], seqlen, 128, 128, kFirstSeed + head);
      if (!tensors.ok()) return tensors.status();
      for (size_t i = 0; i < lines.size(); ++i) {
        const auto count = CountMoves(*tensors, lines[i].options);
        if (!count.ok()) return count.status();
        counts[i][set].moves += count->moves;
        counts[i][set].looks += count->looks;
      }
    }
  }
  for (const auto& [title, number] :
       {std::pair("Waves and tiles with a move", &Counts::moves),
        {"Waves and tiles with a closer look", &Counts::looks}}) {
    PrintSets(
        (std::string(title) + ", percent of " + std::to_string(pairs)).c_str(),
        seqlen);
    std::printf("\n");
    for (size_t i = 0; i < lines.size(); ++i) {
      std::printf("%-20s", lines[i].name.c_str());
      for (const Counts& count : counts[i]) {
        std::printf(" %9.2f",
                    100.0 * count.*number / static_cast<double>(pairs));
      }
      std::printf("\n");
    }
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
