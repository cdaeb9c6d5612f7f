#include "zyfa/bench/loss_table.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace zyfa::bench {
namespace {

using proto::ModelLoss;
using proto::Record;

// "3.142 +- 0.021", in thousandths; without an error if it has none.
std::string Thousandths(double value, bool has_error, double error) {
  if (!has_error) return absl::StrFormat("%.4f", 1e3 * value);
  return absl::StrFormat("%.4f +- %.4f", 1e3 * value, 1e3 * error);
}

// What is done to Q and K before they are quantised.
std::string Prepared(const Record& r) {
  const absl::string_view text = r.quantisation();
  const size_t end = text.find(": ");
  if (end == absl::string_view::npos) return "";
  const size_t steps = text.substr(0, end).rfind("; ");
  return steps == absl::string_view::npos ? "as is"
                                          : std::string(text.substr(0, steps));
}

std::string Share(const ModelLoss& loss) {
  if (!loss.has_bf16_head_share()) return "";
  return absl::StrFormat("%.1f%%", 100 * loss.bf16_head_share());
}

void AddLosses(const std::vector<const Record*>& records, std::string& text) {
  absl::StrAppendFormat(&text, "%-29s %-36s %-9s %6s %18s %18s %9s %19s",
                        "attention", "prepared", "by", "bf16", "KL",
                        "KL from bf16", "bits/byte", "added bits/byte");
  const bool clocks = std::any_of(
      records.begin(), records.end(),
      [](const Record* r) { return r->model_loss().has_attention_clocks(); });
  if (clocks) absl::StrAppendFormat(&text, " %11s %9s", "M clocks", "ms");
  absl::StrAppend(&text, "\n");
  for (const Record* r : records) {
    const ModelLoss& loss = r->model_loss();
    if (!loss.has_kl()) continue;
    absl::StrAppendFormat(
        &text, "%-29s %-36s %-9s %6s %18s %18s %9.5f %19s", r->variant(),
        Prepared(*r), r->computed_by(), Share(loss),
        Thousandths(loss.kl(), loss.has_kl_standard_error(),
                    loss.kl_standard_error()),
        Thousandths(loss.kl_to_bf16(), loss.has_kl_to_bf16_standard_error(),
                    loss.kl_to_bf16_standard_error()),
        loss.bits_per_byte(),
        Thousandths(loss.added_bits_per_byte(),
                    loss.has_added_bits_per_byte_standard_error(),
                    loss.added_bits_per_byte_standard_error()));
    if (loss.has_attention_clocks()) {
      absl::StrAppendFormat(&text, " %11.4f %9.4f",
                            loss.attention_clocks() / 1e6, r->gpu_time_ms());
    }
    absl::StrAppend(&text, "\n");
  }
}

void AddDifferences(const std::vector<const Record*>& records,
                    std::string& text) {
  bool first = true;
  for (const Record* r : records) {
    const ModelLoss& loss = r->model_loss();
    if (!loss.has_kl_difference()) continue;
    if (first) {
      absl::StrAppendFormat(&text, "\n%-29s %-36s %-9s %6s %18s   %s\n",
                            "attention", "prepared", "by", "bf16", "KL more",
                            "than");
      first = false;
    }
    absl::StrAppendFormat(&text, "%-29s %-36s %-9s %6s %18s   %s\n",
                          r->variant(), Prepared(*r), r->computed_by(),
                          Share(loss),
                          Thousandths(loss.kl_difference(),
                                      loss.has_kl_difference_standard_error(),
                                      loss.kl_difference_standard_error()),
                          loss.compared_to());
  }
}

}  // namespace

std::string RenderLoss(const std::vector<Record>& records) {
  std::vector<std::string> models;
  for (const Record& r : records) {
    const std::string& model = r.model_loss().model();
    if (std::find(models.begin(), models.end(), model) == models.end()) {
      models.push_back(model);
    }
  }
  std::string text;
  for (const std::string& model : models) {
    std::vector<const Record*> of_model;
    for (const Record& r : records) {
      if (r.model_loss().model() == model) of_model.push_back(&r);
    }
    const ModelLoss& loss = of_model.front()->model_loss();
    absl::StrAppendFormat(
        &text,
        "\n%s, %d tokens of %d segments. Thousandths: of nats a token from "
        "float32 attention and from bf16's, of bits a byte; +- one standard "
        "error over segments.\n",
        model, loss.tokens_per_segment(), loss.segments());
    for (const Record* r : of_model) {
      if (!r->model_loss().has_attention_clocks()) continue;
      absl::StrAppendFormat(
          &text,
          "Modelled clocks and ms: attention of all layers, batch %d of %d "
          "tokens.\n",
          r->batch(), r->seqlen_q());
      break;
    }
    AddLosses(of_model, text);
    AddDifferences(of_model, text);
  }
  return text;
}

}  // namespace zyfa::bench
