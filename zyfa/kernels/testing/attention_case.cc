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
#include "zyfa/kernels/testing/error_limits.h"
#include "zyfa/kernels/testing/int8_codes.h"
#include "zyfa/launch/attention_params.h"
#include "zyfa/launch/plan.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/elementary.h"
#include "zyfa/numerics/random.h"
#include "zyfa/reference/attention.h"
#include "zyfa/reference/bf16_model.h"
#include "zyfa/reference/fp8_model.h"
#include "zyfa/reference/int8_model.h"
#include "zyfa/reference/tensor_view.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;
using numerics::E4m3;

constexpr float kLargestE4m3 = 448.0f;

bool IsFp8(const AttentionCase& c) {
  return c.variant.data_type == DataType::kFp8;
}
bool IsInt8(const AttentionCase& c) {
  return c.variant.data_type == DataType::kInt8;
}
bool Multiplies(const AttentionCase& c) {
  return c.variant.probability == Probability::kMultiply;
}

E4m3 ToE4m3(float x) {
  return E4m3::FromFloat(x, numerics::Overflow::kSaturate);
}

// A tensor in host memory exactly as it will lie in device memory.
class HostTensor {
 public:
  HostTensor(DataType type, const Layout& layout, int64_t batch, int64_t seqlen,
             int64_t heads, int64_t head_dim)
      : type_(type),
        batch_(batch),
        seqlen_(seqlen),
        heads_(heads),
        head_dim_(head_dim),
        lead_(layout.lead) {
    const int64_t row = row_bytes() + layout.row_padding;
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
            (heads - 1) * head_stride_ + row_bytes();
    }
    bytes_.assign(lead_ + end, 0xff);
  }

  uint8_t* Row(int64_t b, int64_t s, int64_t h) {
    return bytes_.data() + Offset(b, s, h);
  }
  const uint8_t* Row(int64_t b, int64_t s, int64_t h) const {
    return bytes_.data() + Offset(b, s, h);
  }

  // A row depends on its place alone, not on the tensor's size.
  std::vector<float> ValuesOfRow(const AttentionCase::Fill& fill, uint64_t seed,
                                 uint64_t stream, int64_t b, int64_t s,
                                 int64_t h) const {
    std::vector<float> row(head_dim_);
    numerics::FillGaussian(
        seed, stream + 4 * (s + (int64_t{1} << 32) * (h + 256 * b)), row);
    for (int64_t i = 0; fill && i < head_dim_; ++i) {
      row[i] = fill(b, s, h, i, row[i]);
    }
    return row;
  }

  void FillWith(const AttentionCase::Fill& fill, uint64_t seed,
                uint64_t stream) {
    for (int64_t b = 0; b < batch_; ++b) {
      for (int64_t s = 0; s < seqlen_; ++s) {
        for (int64_t h = 0; h < heads_; ++h) {
          const std::vector<float> values =
              ValuesOfRow(fill, seed, stream, b, s, h);
          uint8_t* const row = Row(b, s, h);
          for (int64_t i = 0; i < head_dim_; ++i) {
            const float x = values[i];
            if (type_ == DataType::kFp8) {
              row[i] = ToE4m3(x).code;
            } else {
              const Bf16 element = Bf16::FromFloat(x);
              std::memcpy(row + 2 * i, &element, 2);
            }
          }
        }
      }
    }
  }

  TensorView DeviceView(uint64_t address) const {
    return {type_,     address + lead_, batch_,      seqlen_,     heads_,
            head_dim_, batch_stride_,   seq_stride_, head_stride_};
  }
  reference::TensorView ReferenceView() const {
    static const uint16_t kNothing = 0;
    const uint8_t* data = bytes_.empty()
                              ? reinterpret_cast<const uint8_t*>(&kNothing)
                              : bytes_.data() + lead_;
    if (type_ == DataType::kInt8) {
      return reference::TensorView(reinterpret_cast<const int8_t*>(data),
                                   batch_stride_, seq_stride_, head_stride_);
    }
    if (type_ == DataType::kFp8) {
      return reference::TensorView(reinterpret_cast<const E4m3*>(data),
                                   batch_stride_, seq_stride_, head_stride_);
    }
    return reference::TensorView(reinterpret_cast<const Bf16*>(data),
                                 batch_stride_ / 2, seq_stride_ / 2,
                                 head_stride_ / 2);
  }
  // Dense [batch][seqlen][heads][head_dim], times the scale of the row.
  std::vector<double> Values(
      const std::function<double(int64_t batch, int64_t row, int64_t head)>&
          scale) const {
    std::vector<double> values;
    values.reserve(std::max<int64_t>(1, batch_ * seqlen_ * heads_ * head_dim_));
    std::vector<double> row(head_dim_);
    for (int64_t b = 0; b < batch_; ++b) {
      for (int64_t s = 0; s < seqlen_; ++s) {
        for (int64_t h = 0; h < heads_; ++h) {
          ReferenceView().LoadRow(b, s, h, head_dim_, row.data());
          for (double x : row) values.push_back(x * scale(b, s, h));
        }
      }
    }
    // There is data for a view to point at.
    if (values.empty()) values.push_back(0.0);
    return values;
  }
  int64_t row_bytes() const { return BytesPerElement(type_) * head_dim_; }

  std::vector<uint8_t>& bytes() { return bytes_; }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  int64_t Offset(int64_t b, int64_t s, int64_t h) const {
    return lead_ + b * batch_stride_ + s * seq_stride_ + h * head_stride_;
  }

  DataType type_;
  int64_t batch_, seqlen_, heads_, head_dim_, lead_;
  int64_t batch_stride_ = 0, seq_stride_ = 0, head_stride_ = 0;
  std::vector<uint8_t> bytes_;
};

// Numbers of a head's tokens as a row of bytes.
HostTensor TokenTensor(const Layout& layout, int64_t batch, int64_t heads,
                       int64_t bytes) {
  return HostTensor(DataType::kInt8, layout, batch, 1, heads, bytes);
}

struct Inputs {
  explicit Inputs(const AttentionCase& c)
      : query(c.variant.data_type, c.query, c.batch, c.seqlen_q, c.heads_q,
              c.variant.head_dim_qk),
        key(c.variant.data_type, c.key, c.batch, c.seqlen_kv, c.heads_kv,
            c.variant.head_dim_qk),
        value(ValueType(c.variant), c.value, c.batch, c.seqlen_kv, c.heads_kv,
              c.variant.head_dim_v),
        shifts(TokenTensor(c.query_shift, c.batch, c.heads_q, c.seqlen_q)),
        multipliers(TokenTensor(c.key_multiplier, c.batch, c.heads_kv,
                                c.seqlen_kv * int64_t{sizeof(uint32_t)})) {
    if (IsInt8(c) && c.shift) {
      FillCodes(c);
    } else if (IsInt8(c)) {
      FillInt8(c);
    } else {
      query.FillWith(c.fill_query, c.seed, 0);
      key.FillWith(c.fill_key, c.seed, 1);
    }
    value.FillWith(c.fill_value, c.seed, 2);
  }

  void FillInt8(const AttentionCase& c) {
    const int64_t dim = c.variant.head_dim_qk;
    const int64_t ratio = c.heads_q / std::max<int64_t>(c.heads_kv, 1);
    for (int64_t b = 0; b < c.batch; ++b) {
      std::vector<double> steps;
      for (int64_t h = 0; h < c.heads_kv; ++h) {
        std::vector<float> values;
        for (int64_t s = 0; s < c.seqlen_kv; ++s) {
          const auto row = key.ValuesOfRow(c.fill_key, c.seed, 1, b, s, h);
          values.insert(values.end(), row.begin(), row.end());
        }
        // What Gaussian numbers stay below: a key's codes shall not depend on
        // how many there are.
        double largest = c.fill_key ? 0.0 : 6.0;
        for (const float x : values) {
          largest = std::max(largest, std::abs(double{x}));
        }
        const Int8Keys keys = MakeInt8Keys(values, dim, largest, Multiplies(c));
        steps.push_back(keys.step);
        for (int64_t s = 0; s < c.seqlen_kv; ++s) {
          std::memcpy(key.Row(b, s, h), keys.codes.data() + s * dim, dim);
          SetMultiplier(b, h, s, keys.multipliers[s]);
        }
      }
      for (int64_t h = 0; h < c.heads_q; ++h) {
        for (int64_t s = 0; s < c.seqlen_q; ++s) {
          const Int8Query row =
              MakeInt8Query(query.ValuesOfRow(c.fill_query, c.seed, 0, b, s, h),
                            c.Problem().softmax_scale, steps[h / ratio]);
          std::memcpy(query.Row(b, s, h), row.codes.data(), dim);
          shifts.Row(b, 0, h)[s] = row.shift;
        }
      }
    }
  }

  void FillCodes(const AttentionCase& c) {
    const auto fill = [&](const AttentionCase::Fill& codes, uint64_t stream,
                          int64_t seqlen, int64_t heads, HostTensor& tensor,
                          auto set_token) {
      for (int64_t b = 0; b < c.batch; ++b) {
        for (int64_t h = 0; h < heads; ++h) {
          for (int64_t s = 0; s < seqlen; ++s) {
            uint8_t* to = tensor.Row(b, s, h);
            for (const float x :
                 tensor.ValuesOfRow(codes, c.seed, stream, b, s, h)) {
              *to++ = static_cast<uint8_t>(static_cast<int8_t>(x));
            }
            set_token(b, h, s);
          }
        }
      }
    };
    fill(c.fill_query, 0, c.seqlen_q, c.heads_q, query,
         [&](int64_t b, int64_t h, int64_t s) {
           shifts.Row(b, 0, h)[s] = c.shift(b, h, s);
         });
    fill(c.fill_key, 1, c.seqlen_kv, c.heads_kv, key,
         [&](int64_t b, int64_t h, int64_t s) {
           const bool multiplies = Multiplies(c) && c.multiplier;
           SetMultiplier(b, h, s, multiplies ? c.multiplier(b, h, s) : 1);
         });
  }

  uint8_t Shift(int64_t b, int64_t h, int64_t s) const {
    return shifts.Row(b, 0, h)[s];
  }
  uint32_t Multiplier(int64_t b, int64_t h, int64_t s) const {
    uint32_t m = 0;
    std::memcpy(&m, multipliers.Row(b, 0, h) + sizeof(m) * s, sizeof(m));
    return m;
  }
  void SetMultiplier(int64_t b, int64_t h, int64_t s, uint32_t m) {
    std::memcpy(multipliers.Row(b, 0, h) + sizeof(m) * s, &m, sizeof(m));
  }

  HostTensor query, key, value;
  // INT8.
  HostTensor shifts, multipliers;
};

absl::StatusOr<uint64_t> Upload(emu::DeviceMemory& memory,
                                const std::vector<uint8_t>& bytes) {
  absl::StatusOr<uint64_t> address = memory.Allocate(bytes.size());
  if (!address.ok()) return address;
  const absl::Status status = memory.Write(*address, bytes);
  if (!status.ok()) return status;
  return address;
}

// Value of a scale for head `head` of `heads`.
float ScaleOf(const CaseScale& scale, int64_t batch, int64_t head,
              int64_t heads) {
  if (!scale.value) return 1.0f;
  const int64_t ratio = scale.heads == 0 ? 1 : heads / scale.heads;
  switch (scale.form) {
    case CaseScale::kByHead:
      return scale.value(0, head / ratio);
    case CaseScale::kByBatchAndHead:
      return scale.value(batch, head / ratio);
    default:
      return scale.value(0, 0);
  }
}

// The scale as the launcher takes it, uploaded if it is a tensor.
absl::StatusOr<Scale> MakeScale(const CaseScale& scale, int64_t batch,
                                int64_t heads, emu::DeviceMemory& memory) {
  if (scale.form == CaseScale::kNumber) {
    return Scale(ScaleOf(scale, 0, 0, heads));
  }
  if (scale.heads != 0) heads = scale.heads;
  if (scale.form != CaseScale::kByBatchAndHead) batch = 1;
  if (scale.form == CaseScale::kTensor) heads = 1;
  std::vector<float> values;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      values.push_back(scale.value ? scale.value(b, h) : 1.0f);
    }
  }
  std::vector<uint8_t> bytes(4 * values.size());
  std::memcpy(bytes.data(), values.data(), bytes.size());
  const absl::StatusOr<uint64_t> address = Upload(memory, bytes);
  if (!address.ok()) return address.status();
  return Scale(DenseScales(*address, batch, heads));
}

absl::StatusOr<TokenView> UploadTokens(emu::DeviceMemory& memory,
                                       const HostTensor& tokens,
                                       int64_t seqlen) {
  const absl::StatusOr<uint64_t> address = Upload(memory, tokens.bytes());
  if (!address.ok()) return address.status();
  const TensorView view = tokens.DeviceView(*address);
  return TokenView{view.address, view.batch,        view.heads,
                   seqlen,       view.batch_stride, view.head_stride};
}

absl::Status SetInt8(const AttentionCase& c, const Inputs& inputs,
                     emu::DeviceMemory& memory, AttentionParams& params) {
  absl::StatusOr<TokenView> tokens =
      UploadTokens(memory, inputs.shifts, c.seqlen_q);
  if (!tokens.ok()) return tokens.status();
  params.query_shift = *tokens;
  if (!Multiplies(c)) return absl::OkStatus();
  tokens = UploadTokens(memory, inputs.multipliers, c.seqlen_kv);
  if (!tokens.ok()) return tokens.status();
  params.key_multiplier = *tokens;
  return absl::OkStatus();
}

absl::Status SetScales(const AttentionCase& c, emu::DeviceMemory& memory,
                       AttentionParams& params) {
  const struct {
    const CaseScale& from;
    int64_t heads;
    std::optional<Scale>& to;
  } kScales[] = {{c.query_descale, c.heads_q, params.query_descale},
                 {c.key_descale, c.heads_kv, params.key_descale},
                 {c.value_descale, c.heads_kv, params.value_descale},
                 {c.output_scale, 1, params.output_scale}};
  for (const auto& s : kScales) {
    if (&s.from == &c.output_scale && !c.output_fp8) continue;
    if (IsInt8(c) &&
        (&s.from == &c.query_descale || &s.from == &c.key_descale)) {
      continue;
    }
    absl::StatusOr<Scale> scale = MakeScale(s.from, c.batch, s.heads, memory);
    if (!scale.ok()) return scale.status();
    s.to = *scale;
  }
  return absl::OkStatus();
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

namespace {

// e4m3 numbers of key channels, most of which the query weighs by 448 and the
// others by 1, whose sum is a whole number.
constexpr int kHeavyChannels = 104;
float QueryOfChannel(int64_t channel) {
  return channel < kHeavyChannels ? kLargestE4m3 : 1.0f;
}

std::vector<float> KeyOfScore(double score) {
  std::vector<float> key(128);
  double rest = score;
  for (int i = 0; i < 128; ++i) {
    const float x =
        ToE4m3(static_cast<float>(rest / QueryOfChannel(i))).ToFloat();
    // Smaller ones are left to the light channels.
    if (std::abs(x) < 1) continue;
    key[i] = std::abs(x) < 8 ? std::trunc(x) : x;
    rest -= static_cast<double>(key[i]) * QueryOfChannel(i);
  }
  return key;
}

// As near as all codes together come to it: with all of Q alike, keys' codes
// add up to it.
void SetInt8Scores(AttentionCase& c, std::function<double(int64_t key)> score) {
  double largest = 0;
  for (int64_t key = 0; key < c.seqlen_kv; ++key) {
    largest = std::max(largest, std::abs(score(key)));
  }
  if (largest == 0) largest = 1;
  c.fill_query = [](int64_t, int64_t, int64_t, int64_t channel, float) {
    return channel < 128 ? 1.0f : 0.0f;
  };
  c.fill_key = [score, largest](int64_t, int64_t row, int64_t, int64_t channel,
                                float) {
    if (channel >= 128) return 0.0f;
    const double codes = std::nearbyint(score(row) / largest * 127 * 128);
    const double each = std::floor(codes / 128);
    const double more = channel < codes - 128 * each ? 1 : 0;
    return static_cast<float>((each + more) * largest / 127 / 128);
  };
}

}  // namespace

void SetScores(AttentionCase& c, std::function<double(int64_t key)> score) {
  c.few_scores = true;
  if (IsInt8(c)) {
    SetInt8Scores(c, std::move(score));
    return;
  }
  if (!IsFp8(c)) {
    c.fill_query = [](int64_t, int64_t, int64_t, int64_t channel, float) {
      return channel == 0 ? 1.0f : 0.0f;
    };
    c.fill_key = [score](int64_t, int64_t row, int64_t, int64_t channel,
                         float) {
      return channel == 0 ? static_cast<float>(score(row)) : 0.0f;
    };
    return;
  }
  c.fill_query = [](int64_t, int64_t, int64_t, int64_t channel, float) {
    return channel < 128 ? QueryOfChannel(channel) : 0.0f;
  };
  auto keys = std::make_shared<std::map<int64_t, std::vector<float>>>();
  c.fill_key = [score, keys](int64_t, int64_t row, int64_t, int64_t channel,
                             float) {
    std::vector<float>& key = (*keys)[row];
    if (key.empty()) key = KeyOfScore(std::round(score(row)));
    return channel < 128 ? key[channel] : 0.0f;
  };
}

void SetMovingMaximum(AttentionCase& c, float level, float step) {
  c.softmax_scale = 1.0f;
  if (IsPersistent(c.variant)) {
    SetScores(c, [level, step](int64_t key) {
      return double{level} + (key == 555 ? step : 0);
    });
    return;
  }
  c.few_scores = true;
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
  HostTensor output(c.output_fp8 ? DataType::kFp8 : DataType::kBf16, c.output,
                    c.batch, c.seqlen_q, c.heads_q, c.variant.head_dim_v);
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
  if (!IsInt8(c)) params.softmax_scale = c.softmax_scale;
  params.mask = c.variant.mask;
  params.variant = VariantName(c.variant);
  if (IsPersistent(c.variant)) {
    absl::Status set = SetScales(c, memory, params);
    if (set.ok() && IsInt8(c)) set = SetInt8(c, inputs, memory, params);
    if (!set.ok()) return set;
  }

  LaunchTarget target;
  target.compute_units = c.compute_units;
  const absl::StatusOr<AttentionPlan> plan = PlanAttention(params, target);
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
        uint8_t* const row = output.Row(b, s, h);
        for (int64_t i = 0; i < dim; ++i) {
          if (c.output_fp8) {
            outcome.output[at + i] = Bf16::FromFloat(E4m3{row[i]}.ToFloat());
          } else {
            std::memcpy(&outcome.output[at + i], row + 2 * i, 2);
          }
        }
        std::memset(row, 0xff, output.row_bytes());
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

namespace {

// Reference(), with a softmax scale that is `factor` times as large.
absl::StatusOr<reference::AttentionResult> ScaledReference(
    const AttentionCase& c, double factor) {
  const Inputs inputs(c);
  reference::AttentionProblem problem = c.Problem();
  problem.softmax_scale *= factor;
  if (!IsPersistent(c.variant)) {
    return reference::Attention(problem, inputs.query.ReferenceView(),
                                inputs.key.ReferenceView(),
                                inputs.value.ReferenceView());
  }
  const auto scaled = [](const HostTensor& tensor, const CaseScale& scale,
                         int64_t heads) {
    return tensor.Values([&](int64_t b, int64_t, int64_t h) {
      return double{ScaleOf(scale, b, h, heads)};
    });
  };
  std::vector<double> query, key;
  if (IsInt8(c)) {
    problem.softmax_scale = factor;
    query = inputs.query.Values([&](int64_t b, int64_t s, int64_t h) {
      return std::ldexp(numerics::kLn2, -inputs.Shift(b, h, s) - 3);
    });
    key = inputs.key.Values([&](int64_t b, int64_t s, int64_t h) {
      return static_cast<double>(inputs.Multiplier(b, h, s));
    });
  } else {
    query = scaled(inputs.query, c.query_descale, c.heads_q);
    key = scaled(inputs.key, c.key_descale, c.heads_kv);
  }
  const std::vector<double> value =
      scaled(inputs.value, c.value_descale, c.heads_kv);
  using reference::TensorView;
  return reference::Attention(
      problem,
      TensorView::Dense(query.data(), c.seqlen_q, c.heads_q,
                        c.variant.head_dim_qk),
      TensorView::Dense(key.data(), c.seqlen_kv, c.heads_kv,
                        c.variant.head_dim_qk),
      TensorView::Dense(value.data(), c.seqlen_kv, c.heads_kv,
                        c.variant.head_dim_v));
}

}  // namespace

absl::StatusOr<reference::AttentionResult> Reference(const AttentionCase& c) {
  return ScaledReference(c, 1.0);
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

absl::StatusOr<reference::AttentionResult> CodeModel(const AttentionCase& c) {
  const Inputs inputs(c);
  const auto descale = [](const CaseScale& scale, int64_t heads) {
    return [&scale, heads](int64_t batch, int64_t head) {
      return ScaleOf(scale, batch, head, heads);
    };
  };
  const auto output_format =
      c.output_fp8 ? reference::Fp8Output::kE4m3 : reference::Fp8Output::kBf16;
  if (IsInt8(c)) {
    reference::Int8ModelOptions options;
    options.shift = [&](int64_t b, int64_t h, int64_t s) {
      return inputs.Shift(b, h, s);
    };
    if (Multiplies(c)) {
      options.multiplier = [&](int64_t b, int64_t h, int64_t s) {
        return inputs.Multiplier(b, h, s);
      };
    }
    options.value_descale = descale(c.value_descale, c.heads_kv);
    options.output = output_format;
    options.output_scale = ScaleOf(c.output_scale, 0, 0, 1);
    return reference::Int8Attention(c.Problem(), inputs.query.ReferenceView(),
                                    inputs.key.ReferenceView(),
                                    inputs.value.ReferenceView(), options);
  }
  reference::Fp8ModelOptions options;
  options.probability = c.variant.probability;
  options.query_descale = descale(c.query_descale, c.heads_q);
  options.key_descale = descale(c.key_descale, c.heads_kv);
  options.value_descale = descale(c.value_descale, c.heads_kv);
  options.output = output_format;
  options.output_scale = ScaleOf(c.output_scale, 0, 0, 1);
  return reference::Fp8Attention(c.Problem(), inputs.query.ReferenceView(),
                                 inputs.key.ReferenceView(),
                                 inputs.value.ReferenceView(), options);
}

namespace {

std::string Compare(const AttentionCase& c, const AttentionOutcome& got) {
  const absl::StatusOr<reference::AttentionResult> want = Reference(c);
  if (!want.ok()) return want.status().ToString();
  std::vector<double> expected = want->output;
  if (c.output_fp8) {
    for (double& x : expected) {
      x = std::clamp(x * ScaleOf(c.output_scale, 0, 0, 1),
                     double{-kLargestE4m3}, double{kLargestE4m3});
    }
  }
  const absl::StatusOr<numerics::ErrorMetrics> error =
      numerics::CompareToReference(std::span<const Bf16>(got.output),
                                   std::span<const double>(expected),
                                   c.variant.head_dim_v);
  if (!error.ok()) return error.status().ToString();
  ErrorLimits limits;
  if (IsPersistent(c.variant)) {
    const absl::StatusOr<reference::AttentionResult> doubled =
        std::abs(c.Problem().softmax_scale) < 1e38 ? ScaledReference(c, 2.0)
                                                   : want;
    if (!doubled.ok()) return doubled.status().ToString();
    limits = Fp8ErrorLimits({.probability = c.variant.probability,
                             .output_fp8 = c.output_fp8,
                             .few_scores = c.few_scores,
                             .lse = want->lse,
                             .lse_of_doubled = doubled->lse});
  }
  if (!(error->relative_rmse <= limits.relative_rmse) ||
      !(error->worst_row_relative_rmse <= limits.worst_row)) {
    const int64_t row = error->worst_row;
    return absl::StrFormat(
        "relative RMSE %g (limit %g), worst row (batch %d, query %d, head %d) "
        "%g (limit %g)",
        error->relative_rmse, limits.relative_rmse,
        row / c.heads_q / c.seqlen_q, row / c.heads_q % c.seqlen_q,
        row % c.heads_q, error->worst_row_relative_rmse, limits.worst_row);
  }
  for (size_t i = 0; i < got.lse.size(); ++i) {
    const double w = want->lse[i];
    const double g = got.lse[i];
    const double limit = limits.lse.empty() ? 1e-4 : limits.lse[i];
    const bool same =
        std::isinf(w) ? g == w : std::abs(g - w) <= limit + 1e-6 * std::abs(w);
    if (!same) {
      return absl::StrFormat("LSE of row %d is %g, not %g within %g",
                             static_cast<int64_t>(i), g, w, limit);
    }
  }
  return "";
}

}  // namespace

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
  const std::string difference = Compare(c, *got);
  return difference.empty() ? "" : fail(difference);
}

}  // namespace zyfa::testing
