#include "zyfa/launch/fp8_forward.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <utility>

#include "absl/types/span.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/elementary.h"
#include "zyfa/reference/attention.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;
using numerics::E4m3;

constexpr int64_t kValueDim = 128;

template <typename T>
absl::Span<const uint8_t> Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()),
          values.size() * sizeof(T)};
}

template <typename T>
std::vector<uint8_t> Copy(const std::vector<T>& values) {
  const absl::Span<const uint8_t> bytes = Bytes(values);
  return {bytes.begin(), bytes.end()};
}

template <typename T>
absl::StatusOr<std::vector<T>> Download(Device& device,
                                        const DeviceBuffer& buffer) {
  std::vector<T> values(buffer.size() / sizeof(T));
  absl::Status status = device.CopyFromDevice(
      {reinterpret_cast<uint8_t*>(values.data()), buffer.size()},
      buffer.address());
  if (!status.ok()) return status;
  return values;
}

// Device memory of a call, freed with it. The first error stays.
class Memory {
 public:
  explicit Memory(Device& device) : device_(device) {}

  const DeviceBuffer& Add(absl::Span<const uint8_t> bytes) {
    buffers_.push_back(std::make_unique<DeviceBuffer>());
    auto buffer = DeviceBuffer::Create(device_, bytes.size());
    status_.Update(buffer.status());
    if (buffer.ok()) {
      status_.Update(device_.CopyToDevice(buffer->address(), bytes));
      *buffers_.back() = *std::move(buffer);
    }
    return *buffers_.back();
  }
  const absl::Status& status() const { return status_; }

 private:
  Device& device_;
  absl::Status status_;
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
};

std::vector<E4m3> Normal(int64_t count, uint32_t seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  std::vector<E4m3> values(static_cast<size_t>(count));
  for (E4m3& value : values) {
    value = E4m3::FromFloat(normal(bits), numerics::Overflow::kSaturate);
  }
  return values;
}

// Scales of a tensor: numbers, and how they are given.
struct Scales {
  int64_t batch = 1, heads = 1;  // of the tensor of scales
  int64_t heads_each = 1;        // heads that share one
  std::vector<float> values = {1};

  float At(int64_t b, int64_t head) const {
    const int64_t h = heads == 1 ? 0 : head / heads_each;
    return values[static_cast<size_t>((batch == 1 ? 0 : b) * heads + h)];
  }
};

// No two alike, and every third one negative.
Scales MakeScales(ScaleForm form, float unit, const Fp8Forward& c,
                  int64_t heads) {
  Scales scales;
  if (form == ScaleForm::kNone) return scales;
  if (form == ScaleForm::kPerBatch || form == ScaleForm::kPerBatchHead ||
      form == ScaleForm::kPerBatchKvHead) {
    scales.batch = c.batch;
  }
  if (form == ScaleForm::kPerHead || form == ScaleForm::kPerBatchHead) {
    scales.heads = heads;
  }
  if (form == ScaleForm::kPerKvHead || form == ScaleForm::kPerBatchKvHead) {
    scales.heads = c.heads_kv;
    scales.heads_each = heads / c.heads_kv;
  }
  scales.values.clear();
  for (int64_t i = 0; i < scales.batch * scales.heads; ++i) {
    const float sign = i % 3 == 1 ? -1.0f : 1.0f;
    scales.values.push_back(sign * unit *
                            std::exp2(static_cast<float>(i % 5) * 0.5f));
  }
  return scales;
}

std::optional<Scale> Argument(ScaleForm form, const Scales& scales,
                              Memory& memory) {
  if (form == ScaleForm::kNone) return std::nullopt;
  if (form == ScaleForm::kNumber) return scales.values[0];
  const uint64_t address = memory.Add(Bytes(scales.values)).address();
  if (form == ScaleForm::kOneElement) return ScaleView{.address = address};
  return DenseScales(address, scales.batch, scales.heads);
}

std::vector<double> RealNumbers(const std::vector<E4m3>& codes, int64_t batch,
                                int64_t heads, int64_t head_dim,
                                const Scales& scales) {
  std::vector<double> real(codes.size());
  const int64_t entry = static_cast<int64_t>(codes.size()) / batch;
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    real[i] = double{codes[i].ToFloat()} *
              double{scales.At(at / entry, at / head_dim % heads)};
  }
  return real;
}

struct Codes {
  std::vector<E4m3> query, key, value;
};

Codes MakeCodes(const Fp8Forward& c) {
  return {Normal(c.batch * c.seqlen_q * c.heads_q * c.head_dim_qk, 1),
          Normal(c.batch * c.seqlen_kv * c.heads_kv * c.head_dim_qk, 2),
          Normal(c.batch * c.seqlen_kv * c.heads_kv * kValueDim, 3)};
}

// Q or K: a tensor's bytes and what it stands for.
struct Operand {
  std::vector<uint8_t> codes;
  std::vector<double> real;
};

// Numbers of tokens, [batch][heads][seqlen].
template <typename T>
using Tokens = std::vector<T>;

// Gaussian codes. They stand for themselves times the unit of their token's
// number.
template <typename T>
Operand MakeInt8(int64_t seqlen, int64_t heads, int64_t head_dim, uint32_t seed,
                 const Tokens<T>& tokens,
                 const std::function<double(T)>& unit) {
  std::mt19937 bits(seed);
  std::normal_distribution<double> normal(0, 40);
  Operand operand;
  const auto rows = static_cast<int64_t>(tokens.size());
  for (int64_t i = 0; i < rows * head_dim; ++i) {
    const int64_t token = i / head_dim;  // [batch][seqlen][heads]
    const int64_t b = token / heads / seqlen, s = token / heads % seqlen;
    const int64_t at = (b * heads + token % heads) * seqlen + s;
    const double code = std::clamp(std::nearbyint(normal(bits)), -128.0, 127.0);
    operand.codes.push_back(static_cast<uint8_t>(static_cast<int8_t>(code)));
    operand.real.push_back(code * unit(tokens[static_cast<size_t>(at)]));
  }
  return operand;
}

// Q and K of an INT8 call. Scores have standard deviations of .3 to 3.
struct Int8Operands {
  Tokens<uint8_t> shifts;
  Tokens<uint32_t> multipliers;
  Operand query, key;
};

Int8Operands MakeInt8Operands(const Fp8Forward& c) {
  Int8Operands o;
  const bool multiply = c.scores == ScoreForm::kInt8Multiply;
  std::mt19937 bits(4);
  for (int64_t i = 0; i < c.batch * c.heads_q * c.seqlen_q; ++i) {
    o.shifts.push_back(static_cast<uint8_t>((multiply ? 16 : 9) + bits() % 4));
  }
  for (int64_t i = 0; i < c.batch * c.heads_kv * c.seqlen_kv; ++i) {
    const auto m = static_cast<uint32_t>(1 + bits() % 255);
    o.multipliers.push_back(multiply ? m : 1);
  }
  o.query = MakeInt8<uint8_t>(
      c.seqlen_q, c.heads_q, c.head_dim_qk, 1, o.shifts,
      [](uint8_t n) { return std::ldexp(numerics::kLn2, -n - 3); });
  o.key = MakeInt8<uint32_t>(c.seqlen_kv, c.heads_kv, c.head_dim_qk, 2,
                             o.multipliers, [](uint32_t m) { return m; });
  return o;
}

reference::AttentionProblem ProblemOf(const Fp8Forward& c) {
  reference::AttentionProblem problem;
  problem.batch = c.batch;
  problem.heads_q = c.heads_q;
  problem.heads_kv = c.heads_kv;
  problem.seqlen_q = c.seqlen_q;
  problem.seqlen_kv = c.seqlen_kv;
  problem.head_dim_qk = c.head_dim_qk;
  problem.head_dim_v = kValueDim;
  problem.mask = c.mask == Mask::kCausal ? reference::Mask::kCausal
                                         : reference::Mask::kFull;
  problem.softmax_scale = c.scores == ScoreForm::kFp8
                              ? 1 / std::sqrt(static_cast<float>(c.head_dim_qk))
                              : 1.0;
  return problem;
}

template <typename T>
reference::TensorView Dense(const std::vector<T>& data, int64_t seqlen,
                            int64_t heads, int64_t head_dim) {
  return reference::TensorView::Dense(data.data(), seqlen, heads, head_dim);
}

absl::Status Expect(const Fp8Forward& c, const std::vector<double>& q,
                    const std::vector<double>& k, const std::vector<double>& v,
                    Fp8ForwardResult& result) {
  auto expected = reference::Attention(
      ProblemOf(c), Dense(q, c.seqlen_q, c.heads_q, c.head_dim_qk),
      Dense(k, c.seqlen_kv, c.heads_kv, c.head_dim_qk),
      Dense(v, c.seqlen_kv, c.heads_kv, kValueDim));
  if (!expected.ok()) return expected.status();
  result.expected_output = std::move(expected->output);
  result.expected_lse = std::move(expected->lse);
  return absl::OkStatus();
}

void Compare(const Fp8Forward& c, Fp8ForwardResult& result) {
  const auto heads = static_cast<size_t>(c.batch * c.heads_q);
  std::vector<double> errors(heads), norms(heads);
  const int64_t entry = c.seqlen_q * c.heads_q * kValueDim;
  for (size_t i = 0; i < result.output.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto head = static_cast<size_t>(at / entry * c.heads_q +
                                          at / kValueDim % c.heads_q);
    const double expected = result.expected_output[i];
    const double d = result.output[i] - expected;
    errors[head] += d * d;
    norms[head] += expected * expected;
  }
  for (size_t h = 0; h < heads; ++h) {
    const double error = std::sqrt(errors[h] / norms[h]);
    // So that a NaN is the worst.
    if (!(error <= result.worst_head)) result.worst_head = error;
  }
  for (size_t i = 0; i < result.lse.size(); ++i) {
    const double expected = result.expected_lse[i];
    if (std::isinf(expected) && result.lse[i] == expected) continue;
    const double d = std::fabs(result.lse[i] - expected);
    if (!(d <= result.worst_lse)) result.worst_lse = d;
  }
}

}  // namespace

absl::StatusOr<Fp8ForwardResult> RunFp8Forward(const Fp8Forward& c,
                                               Device& device,
                                               const Forward& forward) {
  const auto [q, k, v] = MakeCodes(c);
  const bool int8 = c.scores != ScoreForm::kFp8;
  const Scales q_scales = MakeScales(c.query, 0.75f, c, c.heads_q);
  const Scales k_scales = MakeScales(c.key, 0.625f, c, c.heads_kv);
  const Scales v_scales = MakeScales(c.value, 3.0f, c, c.heads_kv);
  const Scales o_scales = MakeScales(c.output, 20.0f, c, 1);
  const int64_t rows = c.batch * c.seqlen_q * c.heads_q;
  const DataType output_type = c.fp8_output ? DataType::kFp8 : DataType::kBf16;
  // NaN: rows that nobody writes must show.
  const std::vector<uint8_t> unwritten(
      static_cast<size_t>(rows * kValueDim * BytesPerElement(output_type)),
      0xff);
  const std::vector<float> unwritten_lse(static_cast<size_t>(rows), NAN);

  Int8Operands operands;
  if (int8) {
    operands = MakeInt8Operands(c);
  } else {
    operands.query = {
        Copy(q), RealNumbers(q, c.batch, c.heads_q, c.head_dim_qk, q_scales)};
    operands.key = {
        Copy(k), RealNumbers(k, c.batch, c.heads_kv, c.head_dim_qk, k_scales)};
  }
  const DataType scores_type = int8 ? DataType::kInt8 : DataType::kFp8;

  Memory memory(device);
  const auto tensor = [&](uint64_t address, int64_t seqlen, int64_t heads,
                          int64_t head_dim, DataType type) {
    return DenseTensor(address, c.batch, seqlen, heads, head_dim, type);
  };
  const DeviceBuffer& output = memory.Add(unwritten);
  const DeviceBuffer& lse = memory.Add(Bytes(unwritten_lse));
  AttentionParams params;
  params.query = tensor(memory.Add(operands.query.codes).address(), c.seqlen_q,
                        c.heads_q, c.head_dim_qk, scores_type);
  params.key = tensor(memory.Add(operands.key.codes).address(), c.seqlen_kv,
                      c.heads_kv, c.head_dim_qk, scores_type);
  params.value = tensor(memory.Add(Bytes(v)).address(), c.seqlen_kv, c.heads_kv,
                        kValueDim, DataType::kFp8);
  params.output =
      tensor(output.address(), c.seqlen_q, c.heads_q, kValueDim, output_type);
  params.lse = DenseLse(lse.address(), c.batch, c.heads_q, c.seqlen_q);
  params.mask = c.mask;
  params.variant = c.variant;
  params.query_descale = Argument(c.query, q_scales, memory);
  params.key_descale = Argument(c.key, k_scales, memory);
  params.value_descale = Argument(c.value, v_scales, memory);
  params.output_scale = Argument(c.output, o_scales, memory);
  if (int8) {
    params.query_shift = DenseTokens(memory.Add(operands.shifts).address(),
                                     c.batch, c.heads_q, c.seqlen_q, 1);
  }
  if (c.scores == ScoreForm::kInt8Multiply) {
    params.key_multiplier =
        DenseTokens(memory.Add(Bytes(operands.multipliers)).address(), c.batch,
                    c.heads_kv, c.seqlen_kv, 4);
  }
  absl::Status status = memory.status();
  if (!status.ok()) return status;
  status = forward ? forward(params, device) : AttentionForward(params, device);
  if (status.ok()) status = device.Synchronize();
  if (!status.ok()) return status;

  Fp8ForwardResult result;
  if (c.fp8_output) {
    const auto codes = Download<E4m3>(device, output);
    if (!codes.ok()) return codes.status();
    for (const E4m3 code : *codes) {
      result.output.push_back(double{code.ToFloat()} /
                              double{o_scales.values[0]});
    }
  } else {
    const auto numbers = Download<Bf16>(device, output);
    if (!numbers.ok()) return numbers.status();
    for (const Bf16 x : *numbers) result.output.push_back(x.ToFloat());
  }
  auto got_lse = Download<float>(device, lse);
  if (!got_lse.ok()) return got_lse.status();
  result.lse = *std::move(got_lse);
  status =
      Expect(c, operands.query.real, operands.key.real,
             RealNumbers(v, c.batch, c.heads_kv, kValueDim, v_scales), result);
  if (!status.ok()) return status;
  Compare(c, result);
  return result;
}

absl::StatusOr<reference::AttentionResult> ModelFp8Forward(
    const Fp8Forward& c, const reference::Fp8ModelOptions& options) {
  const auto [q, k, v] = MakeCodes(c);
  return reference::Fp8Attention(
      ProblemOf(c), Dense(q, c.seqlen_q, c.heads_q, c.head_dim_qk),
      Dense(k, c.seqlen_kv, c.heads_kv, c.head_dim_qk),
      Dense(v, c.seqlen_kv, c.heads_kv, kValueDim), options);
}

}  // namespace zyfa::testing
