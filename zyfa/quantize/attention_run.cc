#include "zyfa/quantize/attention_run.h"

#include <cstdio>
#include <span>

#include "zyfa/launch/attention.h"
#include "zyfa/numerics/error_metrics.h"
#include "zyfa/numerics/real_like.h"

namespace zyfa::testing {

using numerics::Bf16;

RunInput MakeRunInput(int64_t head_dim) {
  constexpr float kGains[kRunHeads] = {0.8f, 1.25f};
  RunInput in;
  in.head_dim = head_dim;
  in.query.resize(kRunRows * static_cast<size_t>(head_dim));
  in.key.resize(in.query.size());
  in.value.resize(kRunRows * kRunValueDim);
  const auto params = numerics::RealLikeSet("M");
  for (int64_t h = 0; h < kRunHeads; ++h) {
    const auto head = numerics::MakeRealLikeHead(
        *params, kRunSeqlen, static_cast<int>(head_dim), kRunValueDim,
        static_cast<uint64_t>(h) + 1);
    const auto copy = [&](const std::vector<float>& from, int64_t dim,
                          float gain, std::vector<Bf16>& to) {
      for (int64_t i = 0; i < kRunSeqlen * dim; ++i) {
        const int64_t token = i / dim, channel = i % dim;
        to[static_cast<size_t>((token * kRunHeads + h) * dim + channel)] =
            Bf16::FromFloat(gain * from[static_cast<size_t>(i)]);
      }
    };
    copy(head->query, head_dim, 1 / kGains[h], in.query);
    copy(head->key, head_dim, kGains[h], in.key);
    copy(head->value, kRunValueDim, kGains[h], in.value);
  }
  reference::AttentionProblem problem;
  problem.heads_q = problem.heads_kv = kRunHeads;
  problem.seqlen_q = problem.seqlen_kv = kRunSeqlen;
  problem.head_dim_qk = head_dim;
  problem.head_dim_v = kRunValueDim;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(head_dim));
  const auto view = [](const std::vector<Bf16>& x, int64_t dim) {
    return reference::TensorView::Dense(x.data(), kRunSeqlen, kRunHeads, dim);
  };
  const auto exact = reference::Attention(problem, view(in.query, head_dim),
                                          view(in.key, head_dim),
                                          view(in.value, kRunValueDim));
  EXPECT_TRUE(exact.ok()) << exact.status();
  if (exact.ok()) in.exact = *exact;
  return in;
}

uint64_t AttentionRun::Allocate(size_t bytes) {
  auto buffer = DeviceBuffer::Create(device_, bytes);
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  if (!buffer.ok()) return 0;
  buffers_.push_back(std::make_unique<DeviceBuffer>(*std::move(buffer)));
  return buffers_.back()->address();
}

TensorView AttentionRun::Upload(const std::vector<Bf16>& x, int64_t head_dim) {
  const TensorView view =
      DenseTensor(Allocate(2 * x.size()), 1, kRunSeqlen, kRunHeads, head_dim);
  const absl::Status status = device_.CopyToDevice(
      view.address, {reinterpret_cast<const uint8_t*>(x.data()), 2 * x.size()});
  EXPECT_TRUE(status.ok()) << status;
  return view;
}

TensorView AttentionRun::AllocateCodes(int64_t head_dim, DataType type) {
  return DenseTensor(Allocate(kRunRows * static_cast<size_t>(head_dim)), 1,
                     kRunSeqlen, kRunHeads, head_dim, type);
}

QuantizeParams AttentionRun::Pass(const std::vector<Bf16>& x,
                                  int64_t head_dim) {
  QuantizeParams pass;
  pass.input = Upload(x, head_dim);
  pass.output = AllocateCodes(head_dim, DataType::kFp8);
  pass.options.granularity = ScaleGranularity::kHead;
  pass.descale = Allocate(kRunHeads * 4);
  return pass;
}

RunOutcome AttentionRun::Attend(const RunInput& in, AttentionParams params,
                                uint64_t correction, const std::string& name) {
  params.output = DenseTensor(Allocate(kRunRows * kRunValueDim * 2), 1,
                              kRunSeqlen, kRunHeads, kRunValueDim);
  params.lse = DenseLse(Allocate(kRunRows * 4), 1, kRunHeads, kRunSeqlen);
  const absl::Status status = AttentionForward(params, device_);
  EXPECT_TRUE(status.ok()) << status;

  RunOutcome outcome;
  const auto counts = device_.last_report().instructions_by_class;
  const auto valu = counts.find("valu");
  if (valu != counts.end()) outcome.vector_instructions = valu->second;
  const auto output =
      Download<Bf16>(params.output.address, kRunRows * kRunValueDim);
  const auto error = numerics::CompareToReference(
      std::span<const Bf16>(output), in.exact.output, kRunValueDim);
  EXPECT_TRUE(error.ok()) << error.status();
  if (error.ok()) outcome.error = error->relative_rmse;
  const auto lse = Download<float>(params.lse->address, kRunRows);
  std::vector<float> add(kRunRows, 0.0f);
  if (correction != 0) add = Download<float>(correction, kRunRows);
  double sum = 0, uncorrected = 0;
  for (size_t i = 0; i < kRunRows; ++i) {
    const double off = lse[i] - in.exact.lse[i];
    uncorrected += off * off;
    sum += (off + add[i]) * (off + add[i]);
  }
  outcome.lse_error = std::sqrt(sum / kRunRows);
  outcome.uncorrected_lse_error = std::sqrt(uncorrected / kRunRows);
  std::printf("%s: error %.4f, LSE %.4f (%.4f), %llu\n", name.c_str(),
              outcome.error, outcome.lse_error, outcome.uncorrected_lse_error,
              static_cast<unsigned long long>(outcome.vector_instructions));
  return outcome;
}

}  // namespace zyfa::testing
