// What the rule for the reference of the INT8 kernels costs
// (docs/int8-rule.md): the error that P adds, in units of the one of exact P,
// and how often waves and work-groups move the base or raise e; for the
// kernels' rule and others, on synthetic heads or on captured layers, causal.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/models/captured_layer.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/real_like.h"
#include "zyfa/reference/fp8_tensors.h"
#include "zyfa/reference/int8_rule_figures.h"
#include "zyfa/reference/int8_slow_paths.h"
#include "zyfa/reference/int8_tensors.h"
#include "zyfa/variant/int8_rule.h"

ABSL_FLAG(int64_t, seqlen, 16384,
          "tokens of a head, of a captured one the first; 1024 to 1048576");
ABSL_FLAG(std::string, sets, "G,M,X,V,D,E",
          "synthetic heads: Gaussian (G) or like real ones (numerics 8)");
ABSL_FLAG(std::string, layers, "",
          "directory with layer_0.safetensors and so on, as "
          "//zyfa/models:capture writes them; instead of --sets");
ABSL_FLAG(int, heads, 2,
          "how many heads of a set, or of a layer, spread evenly; 1 to 64");
ABSL_FLAG(bool, parts, false,
          "compare with rules that differ in one part, not with whole ones");
ABSL_FLAG(int, groups, 4, "how many work-groups (256 rows) of a head");

namespace zyfa::bench {
namespace {

using numerics::RealLikeHead;
using reference::Int8RuleCounts;
using reference::Int8RuleFigures;
using reference::Int8RuleStudy;
using reference::Int8Tensors;

constexpr uint64_t kFirstSeed = 100;
constexpr int64_t kLeastSeqlen = 1024;
constexpr int64_t kLargestSeqlen = 1048576;
constexpr int kLargestHeads = 64;
// No maximum of these heads weighs that much.
constexpr float kNoMoves = 0x1p40f;

struct NamedRule {
  const char* name;
  Int8Rule rule;
};

std::vector<NamedRule> Rules(bool parts) {
  std::vector<NamedRule> rules = {{"kernels'", {}}};
  const auto add = [&](const char* name) -> Int8Rule& {
    return rules.emplace_back(NamedRule{name, {}}).rule;
  };
  if (parts) {
    add("probe 32").probe_keys = 32;
    add("probe 128").probe_keys = 128;
    add("start 2").start = 2;
    add("start 6").start = 6;
    add("floor 2").floor = 2;
    add("floor 7").floor = 7;
    add("overshoot 0").overshoot = 0;
    add("overshoot 3").overshoot = 3;
    add("slack 6").slack = 6;
    add("slack 10").slack = 10;
    add("share 1/16").move_share = 0.0625f;
    add("share 1").move_share = 1.0f;
    add("first distance 0").least_distance = 0;
    add("first distance 16").least_distance = 16;
    add("start of move 4").start_of_move = 4;
    add("period 4").period = 4;
    add("period 32").period = 32;
    add("no early fall").early_falls = 0;
    return rules;
  }
  add("no probe").probe_keys = 0;
  add("no moves").move_share = kNoMoves;
  Int8Rule& near = add("slack 6, period 16");
  near.slack = 6;
  near.period = 16;
  // A reference that rises and falls from tile 0's maximum (int8-qk 2.3).
  add("rises and falls") = {.probe_keys = 0,
                            .start = 0,
                            .floor = 100,
                            .overshoot = 3,
                            .slack = 5,
                            .move_share = kNoMoves,
                            .period = 32,
                            .early_falls = 0};
  return rules;
}

// Heads that are one line.
struct Source {
  std::string name;
  int head_dim_qk = 0;
  std::vector<RealLikeHead> heads = {};
};

absl::StatusOr<Source> SetOf(absl::string_view set, int64_t seqlen, int heads) {
  Source source = {.name = std::string(set), .head_dim_qk = 128};
  for (int head = 0; head < heads; ++head) {
    auto made = reference::MakeHead(set, seqlen, 128, 128, kFirstSeed + head);
    if (!made.ok()) return made.status();
    source.heads.push_back(*std::move(made));
  }
  return source;
}

std::vector<float> HeadOf(const std::vector<numerics::Bf16>& tensor,
                          int64_t seqlen, int64_t heads, int64_t head,
                          int64_t dim) {
  std::vector<float> result;
  result.reserve(seqlen * dim);
  for (int64_t i = 0; i < seqlen; ++i) {
    const numerics::Bf16* row = tensor.data() + (i * heads + head) * dim;
    for (int64_t d = 0; d < dim; ++d) result.push_back(row[d].ToFloat());
  }
  return result;
}

absl::StatusOr<Source> LayerOf(const std::filesystem::path& path,
                               int64_t seqlen, int heads) {
  const auto layer = models::ReadCapturedLayer(path.string());
  if (!layer.ok()) return layer.status();
  if (seqlen > layer->seqlen) {
    return absl::InvalidArgumentError(
        absl::StrCat("--seqlen=", seqlen, "; allowed: up to the ",
                     layer->seqlen, " tokens of ", path.string()));
  }
  Source source = {.name = path.stem().string(),
                   .head_dim_qk = static_cast<int>(layer->head_dim_qk)};
  const int64_t count = std::min<int64_t>(heads, layer->heads_q);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t head = (2 * i + 1) * layer->heads_q / (2 * count);
    const int64_t kv_head = head / (layer->heads_q / layer->heads_kv);
    source.heads.push_back(
        {HeadOf(layer->query, seqlen, layer->heads_q, head, layer->head_dim_qk),
         HeadOf(layer->key, seqlen, layer->heads_kv, kv_head,
                layer->head_dim_qk),
         HeadOf(layer->value, seqlen, layer->heads_kv, kv_head,
                layer->head_dim_v)});
  }
  return source;
}

std::string Rates(const Int8RuleCounts& counts) {
  return absl::StrFormat(" %6.1f %6.1f %6.1f", counts.Moves(), counts.Rises(),
                         counts.Changes());
}

// A line for each rule.
absl::Status Print(const Source& source, bool multiplies, int groups) {
  const std::vector<NamedRule> rules = Rules(absl::GetFlag(FLAGS_parts));
  std::vector<Int8RuleFigures> figures(rules.size());
  for (const RealLikeHead& head : source.heads) {
    auto tensors = Int8Tensors::Quantise(head, source.head_dim_qk, multiplies);
    if (!tensors.ok()) return tensors.status();
    const auto study = Int8RuleStudy::Make(*std::move(tensors), groups);
    if (!study.ok()) return study.status();
    for (size_t i = 0; i < rules.size(); ++i) {
      const auto of_head = study->Measure(rules[i].rule);
      if (!of_head.ok()) return of_head.status();
      figures[i] += *of_head;
    }
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    const Int8RuleFigures& f = figures[i];
    std::cout << absl::StrFormat("%-8s %-10s %-18s %6.4f %6.3f", source.name,
                                 multiplies ? "multiplier" : "shift",
                                 rules[i].name, f.Error(), f.ErrorOverExact())
              << " |" << Rates(f.paths.wave) << " |"
              << Rates(f.paths.wave_inner) << " |" << Rates(f.paths.group)
              << " |" << Rates(f.paths.group_inner) << "\n";
  }
  std::cout.flush();
  return absl::OkStatus();
}

absl::Status PrintForms(const absl::StatusOr<Source>& source, int groups) {
  if (!source.ok()) return source.status();
  for (bool multiplies : {false, true}) {
    const absl::Status status = Print(*source, multiplies, groups);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Run() {
  const int64_t seqlen = absl::GetFlag(FLAGS_seqlen);
  if (seqlen < kLeastSeqlen || seqlen > kLargestSeqlen) {
    return absl::InvalidArgumentError(absl::StrCat("--seqlen=", seqlen,
                                                   "; allowed: ", kLeastSeqlen,
                                                   " .. ", kLargestSeqlen));
  }
  const int heads = absl::GetFlag(FLAGS_heads);
  if (heads < 1 || heads > kLargestHeads) {
    return absl::InvalidArgumentError(
        absl::StrCat("--heads=", heads, "; allowed: 1 .. ", kLargestHeads));
  }
  const int groups = absl::GetFlag(FLAGS_groups);
  const std::filesystem::path directory = absl::GetFlag(FLAGS_layers);
  std::cout << absl::StrFormat(
      "S = %d. Error of P, over that of exact P; of 1000 pairs of a wave and "
      "a tile,\nof inner ones, of pairs of a work-group and a tile, of inner "
      "ones: those with\nmoves, with rises, with either\n",
      seqlen);
  if (directory.empty()) {
    for (absl::string_view set :
         absl::StrSplit(absl::GetFlag(FLAGS_sets), ',')) {
      const absl::Status status = PrintForms(SetOf(set, seqlen, heads), groups);
      if (!status.ok()) return status;
    }
    return cli::FlushOutput();
  }
  for (int layer = 0;; ++layer) {
    const std::filesystem::path path =
        directory / absl::StrCat("layer_", layer, ".safetensors");
    std::error_code error;
    if (layer > 0 && !std::filesystem::exists(path, error)) break;
    const absl::Status status =
        PrintForms(LayerOf(path, seqlen, heads), groups);
    if (!status.ok()) return status;
  }
  return cli::FlushOutput();
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Prints what the rule for the reference of the INT8 kernels costs, and "
      "others.\nStatus: 0, or 1 (a flag cannot be parsed) or 2.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  const absl::Status status = positional.size() > 1
                                  ? absl::InvalidArgumentError(absl::StrCat(
                                        "unexpected argument '", positional[1],
                                        "'; allowed are flags, see --help"))
                                  : zyfa::bench::Run();
  if (!status.ok()) {
    std::cerr << "int8_rule_error: " << status.message() << "\n";
    return 2;
  }
  return 0;
}
