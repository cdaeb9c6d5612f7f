#include "zyfa/kernels/testing/attention_case.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/kernels/registry.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/plan.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/random.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/bf16_model.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;

// A tensor in host memory exactly as it will lie in device memory.
class HostTensor {
 public:
  HostTensor(const Layout& layout, int64_t batch, int64_t seqlen, int64_t heads,
             int64_t head_dim)
      : batch_(batch),
        seqlen_(seqlen),
        heads_(heads),
        head_dim_(head_dim),
        lead_(layout.lead) {
    const int64_t row = 2 * head_dim + layout.row_padding;
    if (layout.order == Layout::kBshd) {
      head_stride_ = row;
      seq_stride_ = heads * row;
      batch_stride_ = seqlen * seq_stride_ + layout.outer_padding;
    } else {
      seq_stride_ = row;
      head_stride_ = seqlen * row + layout.outer_padding;
      batch_stride_ = heads * head_stride_;
    }
    int64_t end = 0;
    if (batch > 0 && seqlen > 0 && heads > 0) {
      end = (batch - 1) * batch_stride_ + (seqlen - 1) * seq_stride_ +
            (heads - 1) * head_stride_ + 2 * head_dim;
    }
    bytes_.assign(lead_ + end, 0xff);
  }

  uint8_t* Row(int64_t b, int64_t s, int64_t h) {
    return bytes_.data() + lead_ + b * batch_stride_ + s * seq_stride_ +
           h * head_stride_;
  }

  void FillWith(const AttentionCase::Fill& fill, uint64_t seed,
                uint64_t stream) {
    std::vector<float> gaussian(head_dim_);
    std::vector<Bf16> row(head_dim_);
    for (int64_t b = 0; b < batch_; ++b) {
      for (int64_t s = 0; s < seqlen_; ++s) {
        for (int64_t h = 0; h < heads_; ++h) {
          // A row depends on its place alone, not on the tensor's size.
          numerics::FillGaussian(
              seed, stream + 4 * (s + (int64_t{1} << 32) * (h + 256 * b)),
              gaussian);
          for (int64_t i = 0; i < head_dim_; ++i) {
            row[i] = Bf16::FromFloat(fill ? fill(b, s, h, i, gaussian[i])
                                          : gaussian[i]);
          }
          std::memcpy(Row(b, s, h), row.data(), 2 * head_dim_);
        }
      }
    }
  }

  TensorView DeviceView(uint64_t address) const {
    return {DataType::kBf16, address + lead_, batch_,      seqlen_,     heads_,
            head_dim_,       batch_stride_,   seq_stride_, head_stride_};
  }
  reference::TensorView ReferenceView() const {
    static const Bf16 kNothing{};
    const Bf16* data =
        bytes_.empty() ? &kNothing
                       : reinterpret_cast<const Bf16*>(bytes_.data() + lead_);
    return reference::TensorView(data, batch_stride_ / 2, seq_stride_ / 2,
                                 head_stride_ / 2);
  }

  std::vector<uint8_t>& bytes() { return bytes_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  int64_t batch_, seqlen_, heads_, head_dim_, lead_;
  int64_t batch_stride_ = 0, seq_stride_ = 0, head_stride_ = 0;
  std::vector<uint8_t> bytes_;
};

struct Inputs {
  explicit Inputs(const AttentionCase& c)
      : query(c.query, c.batch, c.seqlen_q, c.heads_q, c.variant.head_dim_qk),
        key(c.key, c.batch, c.seqlen_kv, c.heads_kv, c.variant.head_dim_qk),
        value(c.value, c.batch, c.seqlen_kv, c.heads_kv, c.variant.head_dim_v) {
    query.FillWith(c.fill_query, c.seed, 0);
    key.FillWith(c.fill_key, c.seed, 1);
    value.FillWith(c.fill_value, c.seed, 2);
  }
  HostTensor query, key, value;
};

absl::StatusOr<uint64_t> Upload(emu::DeviceMemory& memory,
                                const std::vector<uint8_t>& bytes) {
  absl::StatusOr<uint64_t> address = memory.Allocate(bytes.size());
  if (!address.ok()) return address;
  const absl::Status status = memory.Write(*address, bytes);
  if (!status.ok()) return status;
  return address;
}

void Accumulate(const emu::RunReport& part, emu::RunReport& whole) {
  whole.instructions += part.instructions;
  for (const auto& [name, count] : part.instructions_by_class) {
    whole.instructions_by_class[name] += count;
  }
  whole.lds_passes += part.lds_passes;
  whole.lds_phases += part.lds_phases;
  whole.findings.insert(whole.findings.end(), part.findings.begin(),
                        part.findings.end());
}

}  // namespace

std::string AttentionCase::Name() const {
  return absl::StrFormat("%s b=%d hq=%d hkv=%d sq=%d skv=%d seed=%d",
                         VariantName(variant), batch, heads_q, heads_kv,
                         seqlen_q, seqlen_kv, seed);
}

void SetNegativeLogits(AttentionCase& c) {
  c.fill_query = [](int64_t, int64_t, int64_t, int64_t, float g) {
    return 0.5f + std::abs(g);
  };
  c.fill_key = [](int64_t, int64_t, int64_t, int64_t, float g) {
    return -0.5f - std::abs(g);
  };
}

void SetMovingMaximum(AttentionCase& c, float level, float step) {
  c.softmax_scale = 1.0f;
  // Two channels: a bf16 number alone cannot hold level + step.
  c.fill_query = [](int64_t, int64_t, int64_t, int64_t channel, float) {
    return channel < 2 ? 1.0f : 0.0f;
  };
  c.fill_key = [level, step](int64_t, int64_t row, int64_t, int64_t channel,
                             float) {
    return channel == 0 ? level : channel == 1 && row == 555 ? step : 0.0f;
  };
}

reference::AttentionProblem AttentionCase::Problem() const {
  reference::AttentionProblem p;
  p.batch = batch;
  p.heads_q = heads_q;
  p.heads_kv = heads_kv;
  p.seqlen_q = seqlen_q;
  p.seqlen_kv = seqlen_kv;
  p.head_dim_qk = variant.head_dim_qk;
  p.head_dim_v = variant.head_dim_v;
  p.mask = variant.mask == Mask::kCausal ? reference::Mask::kCausal
                                         : reference::Mask::kFull;
  p.softmax_scale =
      softmax_scale.has_value()
          ? *softmax_scale
          : 1.0f / std::sqrt(static_cast<float>(variant.head_dim_qk));
  return p;
}

const emu::CodeObject& LinkedKernel(const Variant& variant) {
  static std::mutex* mutex = new std::mutex;
  static auto* loaded =
      new std::map<std::string, std::unique_ptr<emu::CodeObject>>;
  std::lock_guard<std::mutex> lock(*mutex);
  std::unique_ptr<emu::CodeObject>& code = (*loaded)[VariantName(variant)];
  if (code == nullptr) {
    code = emu::CodeObject::Load(FindKernel(variant)->code_object).value();
  }
  return *code;
}

absl::StatusOr<AttentionOutcome> RunCase(const AttentionCase& c,
                                         const emu::RunOptions& options,
                                         const emu::CodeObject* code) {
  Inputs inputs(c);
  HostTensor output(c.output, c.batch, c.seqlen_q, c.heads_q,
                    c.variant.head_dim_v);
  std::vector<uint8_t> lse_bytes(
      c.want_lse ? 4 * c.batch * c.heads_q * c.seqlen_q : 0, 0xff);

  emu::DeviceMemory memory;
  AttentionParams params;
  absl::StatusOr<uint64_t> address = Upload(memory, inputs.query.bytes());
  if (!address.ok()) return address.status();
  params.query = inputs.query.DeviceView(*address);
  address = Upload(memory, inputs.key.bytes());
  if (!address.ok()) return address.status();
  params.key = inputs.key.DeviceView(*address);
  address = Upload(memory, inputs.value.bytes());
  if (!address.ok()) return address.status();
  params.value = inputs.value.DeviceView(*address);
  const absl::StatusOr<uint64_t> output_address =
      Upload(memory, output.bytes());
  if (!output_address.ok()) return output_address.status();
  params.output = output.DeviceView(*output_address);
  const absl::StatusOr<uint64_t> lse_address = Upload(memory, lse_bytes);
  if (!lse_address.ok()) return lse_address.status();
  if (c.want_lse) {
    params.lse = DenseLse(*lse_address, c.batch, c.heads_q, c.seqlen_q);
  }
  params.softmax_scale = c.softmax_scale;
  params.mask = c.variant.mask;
  params.variant = VariantName(c.variant);

  const absl::StatusOr<AttentionPlan> plan = PlanAttention(params);
  if (!plan.ok()) return plan.status();
  if (code == nullptr) code = &LinkedKernel(c.variant);
  AttentionOutcome outcome;
  for (int64_t i = 0; i < PieceCount(*plan); ++i) {
    const AttentionPiece piece = MakePiece(*plan, i);
    emu::LaunchShape shape;
    std::copy_n(piece.shape.grid, 3, shape.grid);
    std::copy_n(piece.shape.block, 3, shape.workgroup);
    absl::StatusOr<emu::RunReport> report = emu::Run(
        *code, std::string(plan->kernel->symbol), shape,
        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(&piece.args),
                            sizeof(piece.args)),
        memory, options);
    if (!report.ok()) return report.status();
    Accumulate(*report, outcome.report);
  }

  absl::Status status =
      memory.Read(*output_address, absl::MakeSpan(output.bytes()));
  if (!status.ok()) return status;
  status = memory.Read(*lse_address, absl::MakeSpan(lse_bytes));
  if (!status.ok()) return status;
  // Take the rows out and leave what was there before: all else must be too.
  const int64_t dim = c.variant.head_dim_v;
  outcome.output.resize(c.batch * c.seqlen_q * c.heads_q * dim);
  int64_t at = 0;
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t s = 0; s < c.seqlen_q; ++s) {
      for (int64_t h = 0; h < c.heads_q; ++h, at += dim) {
        std::memcpy(&outcome.output[at], output.Row(b, s, h), 2 * dim);
        std::memset(output.Row(b, s, h), 0xff, 2 * dim);
      }
    }
  }
  outcome.wrote_outside =
      std::any_of(output.bytes().begin(), output.bytes().end(),
                  [](uint8_t byte) { return byte != 0xff; });
  outcome.lse.resize(lse_bytes.size() / 4);
  std::memcpy(outcome.lse.data(), lse_bytes.data(), lse_bytes.size());
  return outcome;
}

absl::StatusOr<reference::AttentionResult> Reference(const AttentionCase& c) {
  const Inputs inputs(c);
  return reference::Attention(c.Problem(), inputs.query.ReferenceView(),
                              inputs.key.ReferenceView(),
                              inputs.value.ReferenceView());
}

absl::StatusOr<reference::AttentionResult> Model(const AttentionCase& c,
                                                 double rescale_binades) {
  const Inputs inputs(c);
  reference::Bf16ModelOptions options;
  options.rescale_binades = rescale_binades;
  return reference::Bf16Attention(c.Problem(), inputs.query.ReferenceView(),
                                  inputs.key.ReferenceView(),
                                  inputs.value.ReferenceView(), options);
}

std::string Verify(const AttentionCase& c, const emu::RunOptions& options,
                   const emu::CodeObject* code) {
  const auto fail = [&](const std::string& what) {
    return absl::StrCat(c.Name(), ": ", what);
  };
  const absl::StatusOr<AttentionOutcome> got = RunCase(c, options, code);
  if (!got.ok()) return fail(got.status().ToString());
  if (!got->report.findings.empty()) {
    const emu::Finding& f = got->report.findings[0];
    return fail(absl::StrCat("finding ", f.rule, " at 0x", absl::Hex(f.pc),
                             " '", f.disassembly, "' wave ", f.wave, " lane ",
                             f.lane, ": ", f.detail));
  }
  if (got->wrote_outside) return fail("wrote outside the rows of the output");
  const absl::StatusOr<reference::AttentionResult> want = Reference(c);
  if (!want.ok()) return fail(want.status().ToString());

  const absl::StatusOr<numerics::ErrorMetrics> error =
      numerics::CompareToReference(std::span<const Bf16>(got->output),
                                   std::span<const double>(want->output),
                                   c.variant.head_dim_v);
  if (!error.ok()) return fail(error.status().ToString());
  // Two roundings to bf16 (2^-9 at most each) of which one averages out; rows
  // whose values cancel are relatively worse.
  if (!(error->relative_rmse <= 4e-3) ||
      !(error->worst_row_relative_rmse <= 2e-2)) {
    const int64_t row = error->worst_row;
    return fail(absl::StrFormat(
        "relative RMSE %g, worst row (batch %d, query %d, head %d) %g",
        error->relative_rmse, row / c.heads_q / c.seqlen_q,
        row / c.heads_q % c.seqlen_q, row % c.heads_q,
        error->worst_row_relative_rmse));
  }
  for (size_t i = 0; i < got->lse.size(); ++i) {
    const double w = want->lse[i];
    const double g = got->lse[i];
    const bool same =
        std::isinf(w) ? g == w : std::abs(g - w) <= 1e-4 + 1e-6 * std::abs(w);
    if (!same) {
      return fail(absl::StrFormat("LSE of row %d is %g, not %g",
                                  static_cast<int64_t>(i), g, w));
    }
  }
  return "";
}

}  // namespace zyfa::testing
