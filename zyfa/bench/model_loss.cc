// What attention does to whole models: KL divergence from the exact model and
// from the one with bf16 attention, by the way attention is computed.

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "zyfa/bench/head_ranking.h"
#include "zyfa/bench/loss_attention.h"
#include "zyfa/bench/loss_options.h"
#include "zyfa/bench/loss_records.h"
#include "zyfa/bench/loss_study.h"
#include "zyfa/bench/loss_table.h"
#include "zyfa/bench/mix_clocks.h"
#include "zyfa/bench/mixed_attention.h"
#include "zyfa/bench/open_records.h"
#include "zyfa/bench/progress.h"
#include "zyfa/bench/versions.h"
#include "zyfa/cli/output.h"
#include "zyfa/cli/spell_flags.h"
#include "zyfa/cli/working_directory.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/device.h"
#include "zyfa/launch/open_device.h"
#include "zyfa/models/text_segment.h"
#include "zyfa/models/transformer.h"
#include "zyfa/proto/record_file.h"

ABSL_FLAG(std::string, models,
          "zyfa/models/testdata/gqa,zyfa/models/testdata/mla",
          "directories with config.json and model.safetensors, by comma");
ABSL_FLAG(std::string, text, "",
          "file of text in segments of 16384 bytes; empty: val_256k.txt beside "
          "each model's directory");
ABSL_FLAG(std::string, segments, "16", "segments, from the first one on");
ABSL_FLAG(std::string, tokens, "2048",
          "tokens from each segment's start, 1 to 16384");
ABSL_FLAG(std::string, attentions,
          "bf16_other,fp8_lean,fp8_lean:as_is,fp8_lean:rotated,fp8_lean:mean,"
          "fp8_exact,fp8_exact:as_is,fp8_exact:rotated,fp8_exact:mean,"
          "aiter_like,aiter_like:as_is,aiter_like:rotated,aiter_like:mean,"
          "ck_like,int8_shift,int8_shift:as_is,int8_shift:rotated,"
          "int8_shift:mean,int8_multiply,int8_multiply:as_is,"
          "int8_multiply:rotated,int8_multiply:mean",
          absl::StrCat("by comma, beside float32 and bf16, which always run: ",
                       zyfa::bench::kLossAttentionNames,
                       " on the emulator, for some hundred tokens"));
ABSL_FLAG(std::string, comparisons,
          "bf16_other-bf16,fp8_lean-fp8_exact,fp8_lean-aiter_like,"
          "fp8_exact-aiter_like,ck_like-aiter_like,fp8_lean-fp8_lean:as_is,"
          "fp8_lean-fp8_lean:rotated,fp8_lean-fp8_lean:mean,"
          "fp8_exact-fp8_exact:as_is,aiter_like-aiter_like:as_is,"
          "fp8_lean:as_is-fp8_exact:as_is,fp8_lean:as_is-aiter_like:as_is,"
          "int8_shift-fp8_lean,int8_shift:as_is-fp8_lean:as_is,"
          "int8_shift:as_is-fp8_lean,int8_shift-int8_shift:as_is,"
          "int8_shift-int8_shift:rotated,int8_shift-int8_shift:mean,"
          "int8_multiply-int8_shift,int8_multiply-int8_multiply:as_is,"
          "int8_multiply-bf16",
          "paired differences of KL, by comma: A-B of --attentions; others are "
          "left out");
ABSL_FLAG(std::string, bf16_shares, "0,0.25,0.5,0.75,0.9",
          "shares of heads, the most sensitive ones, that run in bf16 where "
          "the others are --mixed, by comma, 0 and more and below 1, rounded "
          "to whole heads; empty: none");
ABSL_FLAG(std::string, mixed, "fp8_lean", "one of --attentions, for that");
ABSL_FLAG(std::string, ranking_segments, "0,8",
          "segments whose last tokens tell how sensitive a head is: KL with "
          "this head alone in --mixed and all others exact");
ABSL_FLAG(std::string, ranking_tokens, "1024", "how many tokens for that");
ABSL_FLAG(std::string, clock_batch, "16",
          "batch of the pass whose attention's clocks are modelled; 0: none");
ABSL_FLAG(std::string, clock_tokens, "16384", "tokens of that pass");
ABSL_FLAG(std::string, threads, "0", "host threads; 0: one a core");
ABSL_FLAG(std::string, records, "",
          "file for the records: JSON lines, or length-delimited binary if its "
          "name ends in .binpb");
ABSL_FLAG(bool, append, false,
          "add to the file of --records instead of replacing it");

namespace zyfa::bench {
namespace {

// An attention, or a mix of two by heads, and what came of it.
struct Row {
  LossAttention attention;
  std::optional<double> share = {};  // of heads in bf16, as it is
  HeadSet bf16_heads = {};
  std::vector<SegmentLoss> losses = {};  // by segment
};

// By which a difference says what it is taken to.
std::string NameOf(const Row& row, int head_dim_qk) {
  std::string name = VariantOf(row.attention, head_dim_qk);
  const Preparation& p = row.attention.contender.preparation;
  if (p.data_type != DataType::kBf16) {
    absl::StrAppend(&name, p.subtract_mean && p.rotate ? ""
                           : p.subtract_mean           ? ", mean key removed"
                           : p.rotate                  ? ", rotated"
                                                       : ", as is");
  }
  if (row.attention.computed_by == ComputedBy::kKernel) {
    absl::StrAppend(&name, ", kernel");
  }
  return name;
}

class Study {
 public:
  Study(const LossOptions& options, std::optional<proto::RecordFile> file,
        Device& emulator, Device& timed_emulator)
      : options_(options),
        file_(std::move(file)),
        emulator_(emulator),
        clocks_(timed_emulator, options.threads) {}

  absl::Status Run() {
    // A flag that is wrong shows before hours of work.
    for (const std::string& directory : options_.models) {
      const auto model = models::Transformer::Load(directory);
      if (!model.ok()) return model.status();
      absl::Status status =
          ReadText(directory, options_.segments - 1, *model).status();
      if (!status.ok()) return status;
    }
    for (const std::string& directory : options_.models) {
      absl::Status status = OfModel(directory);
      if (!status.ok()) {
        return absl::Status(status.code(),
                            absl::StrCat(directory, ": ", status.message()));
      }
    }
    return absl::OkStatus();
  }

  const std::vector<proto::Record>& records() const { return records_; }
  const std::string& rankings() const { return rankings_; }

 private:
  std::string TextPath(const std::string& directory) const {
    if (!options_.text.empty()) return options_.text;
    return (std::filesystem::path(directory) / ".." / "val_256k.txt").string();
  }

  absl::StatusOr<models::TextSegment> ReadText(
      const std::string& directory, int64_t segment,
      const models::Transformer& model) const {
    return models::ReadTextSegment(TextPath(directory), segment,
                                   options_.tokens, model.config().bos);
  }

  models::AttentionFunction Attention(const Row& row) {
    models::AttentionFunction attention =
        MakeAttention(row.attention, options_.threads, &emulator_);
    if (row.bf16_heads.empty()) return attention;
    return MixedAttention(
        row.bf16_heads,
        MakeAttention(options_.attentions[1], options_.threads, &emulator_),
        std::move(attention));
  }

  absl::Status OfModel(const std::string& directory) {
    const std::time_t start = std::time(nullptr);
    const auto model = models::Transformer::Load(directory);
    if (!model.ok()) return model.status();
    // Of a path that ends in '/', too.
    const std::filesystem::path path =
        std::filesystem::path(directory).lexically_normal();
    const std::string name =
        (path.has_filename() ? path : path.parent_path()).filename().string();
    rows_.clear();
    for (const LossAttention& attention : options_.attentions) {
      rows_.push_back({.attention = attention});
    }
    absl::Status status = AddMixes(directory, name, *model);
    if (status.ok()) status = RunSegments(directory, name, *model);
    if (!status.ok()) return status;
    for (const Row& row : rows_) {
      auto record = RecordOf(row, name, *model, start);
      if (!record.ok()) return record.status();
      status = Add(*std::move(record));
      if (!status.ok()) return status;
    }
    return AddDifferences(name, *model);
  }

  absl::Status AddMixes(const std::string& directory, const std::string& name,
                        const models::Transformer& model) {
    if (!options_.mixed.has_value()) return absl::OkStatus();
    rows_[*options_.mixed].share = 0.0;
    if (options_.bf16_shares.empty()) return absl::OkStatus();
    std::vector<models::TextSegment> texts;
    for (const int64_t segment : options_.ranking_segments) {
      auto text = models::ReadTextSegmentEnd(TextPath(directory), segment,
                                             options_.ranking_tokens,
                                             model.config().bos);
      if (!text.ok()) return text.status();
      texts.push_back(*std::move(text));
    }
    Progress progress(
        isatty(STDERR_FILENO) ? &std::cerr : nullptr,
        static_cast<int>(model.config().layers * model.config().heads_q));
    int done = 0;
    const auto ranking = RankHeads(
        model, texts, Attention(rows_[0]), Attention(rows_[*options_.mixed]),
        options_.threads,
        [&] { progress.Show(done++, absl::StrCat(name, " ranking heads")); });
    if (!ranking.ok()) return ranking.status();
    absl::StrAppend(&rankings_, "\n", name, ": ", RankedBy(),
                    ":\nlayer.head, thousandths of nats a token: ",
                    absl::StrJoin(*ranking, ", ",
                                  [](std::string* out, const RankedHead& r) {
                                    absl::StrAppendFormat(
                                        out, "%d.%d %.4f", r.head.layer,
                                        r.head.head, 1e3 * r.kl);
                                  }),
                    "\n");
    for (const double share : options_.bf16_shares) {
      Row row = {.attention = options_.attentions[*options_.mixed],
                 .bf16_heads = FirstHeads(*ranking, share)};
      row.share = static_cast<double>(row.bf16_heads.size()) /
                  static_cast<double>(ranking->size());
      if (row.share != rows_.back().share) rows_.push_back(std::move(row));
    }
    return absl::OkStatus();
  }

  // What told how sensitive heads are.
  std::string RankedBy() const {
    const bool apart =
        options_.tokens + options_.ranking_tokens <= models::kSegmentBytes ||
        std::all_of(options_.ranking_segments.begin(),
                    options_.ranking_segments.end(),
                    [&](int64_t s) { return s >= options_.segments; });
    return absl::StrCat(
        "heads ranked on the last ", options_.ranking_tokens,
        " tokens of segments ", absl::StrJoin(options_.ranking_segments, ", "),
        apart ? ", apart from" : ", among", " those of the figures");
  }

  absl::Status RunSegments(const std::string& directory,
                           const std::string& name,
                           const models::Transformer& model) {
    std::vector<models::AttentionFunction> attentions;
    for (const Row& row : rows_) attentions.push_back(Attention(row));
    Progress progress(isatty(STDERR_FILENO) ? &std::cerr : nullptr,
                      static_cast<int>(options_.segments * rows_.size()));
    int done = 0;
    for (int64_t segment = 0; segment < options_.segments; ++segment) {
      const auto text = ReadText(directory, segment, model);
      if (!text.ok()) return text.status();
      const auto losses = MeasureSegment(
          model, *text, attentions, options_.threads, [&](size_t row) {
            progress.Show(done++, absl::StrCat(name, " segment ", segment, " ",
                                               rows_[row].attention.name));
          });
      if (!losses.ok()) return losses.status();
      for (size_t i = 0; i < rows_.size(); ++i) {
        rows_[i].losses.push_back((*losses)[i]);
      }
    }
    return absl::OkStatus();
  }

  // What all records of a row have.
  proto::Record Describe(const Row& row, const std::string& name,
                         int head_dim_qk) const {
    proto::Record record;
    record.set_study(proto::STUDY_MODEL_LOSS);
    record.set_variant(VariantOf(row.attention, head_dim_qk));
    record.set_quantisation(QuantisationOf(row.attention));
    record.set_computed_by(ComputedByName(row.attention));
    record.mutable_versions()->set_host_compiler(
        BuildVersions().host_compiler());
    record.set_outcome(proto::OUTCOME_OK);
    proto::ModelLoss& loss = *record.mutable_model_loss();
    loss.set_model(name);
    loss.set_tokens_per_segment(static_cast<int32_t>(options_.tokens));
    if (row.share.has_value()) loss.set_bf16_head_share(*row.share);
    if (!row.bf16_heads.empty()) record.set_source(RankedBy());
    return record;
  }

  absl::StatusOr<proto::Record> RecordOf(const Row& row,
                                         const std::string& name,
                                         const models::Transformer& model,
                                         std::time_t start) {
    const int dim = static_cast<int>(model.config().head_dim_qk);
    proto::Record record = Describe(row, name, dim);
    record.mutable_start_time()->set_seconds(start);
    double seconds = 0;
    for (const SegmentLoss& loss : row.losses) seconds += loss.seconds;
    record.set_wall_seconds(seconds);
    record.set_host_threads(
        options_.threads > 0
            ? options_.threads
            : static_cast<int>(std::thread::hardware_concurrency()));
    SetLoss(row.losses, rows_[0].losses, *record.mutable_model_loss());
    const auto kernel = KernelOf(row.attention, dim);
    if (!kernel.has_value()) return record;
    if (row.attention.computed_by == ComputedBy::kKernel) {
      record.set_code_object_sha256(std::string(FindKernel(*kernel)->digest));
    }
    if (options_.clock_batch == 0) return record;
    const auto time = clocks_.OfPass(
        {.layers = model.config().layers,
         .heads = model.config().heads_q,
         .batch = options_.clock_batch,
         .tokens = options_.clock_tokens},
        row.bf16_heads, *KernelOf(options_.attentions[1], dim), *kernel);
    if (!time.ok()) return time.status();
    record.set_device("emulator");
    record.set_modelled(true);
    record.set_batch(options_.clock_batch);
    record.set_seqlen_q(options_.clock_tokens);
    record.set_seqlen_kv(options_.clock_tokens);
    record.set_heads_q(static_cast<int32_t>(model.config().heads_q));
    record.set_heads_kv(record.heads_q());
    record.set_gpu_time_ms(time->milliseconds);
    record.mutable_model_loss()->set_attention_clocks(time->clocks);
    return record;
  }

  absl::Status AddDifferences(const std::string& name,
                              const models::Transformer& model) {
    std::vector<std::pair<size_t, size_t>> pairs = options_.comparisons;
    for (size_t i = options_.attentions.size(); i < rows_.size(); ++i) {
      pairs.push_back({i, *options_.mixed});
    }
    const int dim = static_cast<int>(model.config().head_dim_qk);
    for (const auto& [of, from] : pairs) {
      proto::Record record = Describe(rows_[of], name, dim);
      proto::ModelLoss& loss = *record.mutable_model_loss();
      loss.set_compared_to(NameOf(rows_[from], dim));
      SetDifference(rows_[of].losses, rows_[from].losses, loss);
      absl::Status status = Add(std::move(record));
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Add(proto::Record record) {
    records_.push_back(std::move(record));
    return file_.has_value() ? file_->Add(records_.back()) : absl::OkStatus();
  }

  LossOptions options_;
  std::optional<proto::RecordFile> file_;
  Device& emulator_;
  MixClocks clocks_;
  std::vector<Row> rows_;  // of the model under way
  std::vector<proto::Record> records_;
  std::string rankings_;
};

absl::Status Main() {
  const absl::StatusOr<LossOptions> options =
      ParseLossFlags({.models = absl::GetFlag(FLAGS_models),
                      .text = absl::GetFlag(FLAGS_text),
                      .segments = absl::GetFlag(FLAGS_segments),
                      .tokens = absl::GetFlag(FLAGS_tokens),
                      .attentions = absl::GetFlag(FLAGS_attentions),
                      .comparisons = absl::GetFlag(FLAGS_comparisons),
                      .bf16_shares = absl::GetFlag(FLAGS_bf16_shares),
                      .mixed = absl::GetFlag(FLAGS_mixed),
                      .ranking_segments = absl::GetFlag(FLAGS_ranking_segments),
                      .ranking_tokens = absl::GetFlag(FLAGS_ranking_tokens),
                      .clock_batch = absl::GetFlag(FLAGS_clock_batch),
                      .clock_tokens = absl::GetFlag(FLAGS_clock_tokens),
                      .threads = absl::GetFlag(FLAGS_threads)});
  if (!options.ok()) return options.status();
  absl::StatusOr<std::optional<proto::RecordFile>> file =
      OpenRecords(absl::GetFlag(FLAGS_records), absl::GetFlag(FLAGS_append));
  if (!file.ok()) return file.status();
  // Launches of one that models time give no results.
  const auto emulator = OpenDevice("emulator");
  if (!emulator.ok()) return emulator.status();
  const auto timed_emulator = OpenDevice("emulator");
  if (!timed_emulator.ok()) return timed_emulator.status();
  Study study(*options, *std::move(file), **emulator, **timed_emulator);
  absl::Status status = study.Run();
  std::cout << RenderLoss(study.records()) << study.rankings();
  status.Update(cli::FlushOutput());
  return status;
}

}  // namespace
}  // namespace zyfa::bench

int main(int argc, char** argv) {
  zyfa::cli::EnterUserDirectory();
  absl::SetProgramUsageMessage(
      "Whole models by the way attention is computed: KL divergence of the "
      "next token's distribution from the model with float32 attention (online "
      "softmax; 1e-12 from float64) and from the one with bf16 attention, bits "
      "per byte, and modelled clocks (docs/accuracy.md).\nStatus: 0 if all was "
      "measured, 1 if a flag cannot be parsed, 2 if not.");
  zyfa::cli::SpellFlags(argc, argv);
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() > 1) {
    std::cerr << "model_loss: unexpected argument '" << positional[1]
              << "'; allowed are flags, see --help\n";
    return 2;
  }
  const absl::Status status = zyfa::bench::Main();
  if (!status.ok()) {
    std::cerr << "model_loss: " << status.message() << "\n";
    return 2;
  }
  return 0;
}
