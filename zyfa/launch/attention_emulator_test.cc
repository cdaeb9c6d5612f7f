// The whole path on the emulator: API, registry, kernel, results.

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/launch/zyfa_emulator.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/reference/attention.h"

namespace zyfa {
namespace {

using numerics::Bf16;

struct Sizes {
  int64_t batch, seqlen_q, seqlen_kv, heads_q, heads_kv, head_dim_qk;
  Mask mask;
};

std::vector<Bf16> Normal(int64_t count, uint32_t seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  std::vector<Bf16> values(static_cast<size_t>(count));
  for (Bf16& value : values) value = Bf16::FromFloat(normal(bits));
  return values;
}

absl::Span<const uint8_t> Bytes(const std::vector<Bf16>& values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size() * 2};
}

reference::AttentionResult Expected(const Sizes& s, const std::vector<Bf16>& q,
                                    const std::vector<Bf16>& k,
                                    const std::vector<Bf16>& v) {
  reference::AttentionProblem problem;
  problem.batch = s.batch;
  problem.heads_q = s.heads_q;
  problem.heads_kv = s.heads_kv;
  problem.seqlen_q = s.seqlen_q;
  problem.seqlen_kv = s.seqlen_kv;
  problem.head_dim_qk = s.head_dim_qk;
  problem.head_dim_v = 128;
  problem.mask = s.mask == Mask::kCausal ? reference::Mask::kCausal
                                         : reference::Mask::kFull;
  problem.softmax_scale = 1 / std::sqrt(double(s.head_dim_qk));
  const auto dense = [&](const std::vector<Bf16>& data, int64_t seqlen,
                         int64_t heads, int64_t head_dim) {
    return reference::TensorView::Dense(data.data(), seqlen, heads, head_dim);
  };
  const auto result = reference::Attention(
      problem, dense(q, s.seqlen_q, s.heads_q, s.head_dim_qk),
      dense(k, s.seqlen_kv, s.heads_kv, s.head_dim_qk),
      dense(v, s.seqlen_kv, s.heads_kv, 128));
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *result : reference::AttentionResult{};
}

double RelativeRmse(const std::vector<Bf16>& got,
                    const std::vector<double>& expected) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double d = got[i].ToFloat() - expected[i];
    error += d * d;
    norm += expected[i] * expected[i];
  }
  return std::sqrt(error / norm);
}

void ExpectAttention(const Sizes& s) {
  const auto q = Normal(s.batch * s.seqlen_q * s.heads_q * s.head_dim_qk, 1);
  const auto k = Normal(s.batch * s.seqlen_kv * s.heads_kv * s.head_dim_qk, 2);
  const auto v = Normal(s.batch * s.seqlen_kv * s.heads_kv * 128, 3);
  const int64_t rows = s.batch * s.seqlen_q * s.heads_q;

  EmulatorDevice device;
  const auto query = DeviceBuffer::Create(device, q.size() * 2);
  const auto key = DeviceBuffer::Create(device, k.size() * 2);
  const auto value = DeviceBuffer::Create(device, v.size() * 2);
  const auto output = DeviceBuffer::Create(device, rows * 128 * 2);
  const auto lse = DeviceBuffer::Create(device, rows * 4);
  ASSERT_TRUE(query.ok() && key.ok() && value.ok() && output.ok() && lse.ok());
  ASSERT_TRUE(device.CopyToDevice(query->address(), Bytes(q)).ok());
  ASSERT_TRUE(device.CopyToDevice(key->address(), Bytes(k)).ok());
  ASSERT_TRUE(device.CopyToDevice(value->address(), Bytes(v)).ok());
  // NaN: rows that nobody writes must show.
  ASSERT_TRUE(device.Fill(output->address(), 0xff, output->size()).ok());
  ASSERT_TRUE(device.Fill(lse->address(), 0xff, lse->size()).ok());

  AttentionParams params;
  params.query = DenseTensor(query->address(), s.batch, s.seqlen_q, s.heads_q,
                             s.head_dim_qk);
  params.key = DenseTensor(key->address(), s.batch, s.seqlen_kv, s.heads_kv,
                           s.head_dim_qk);
  params.value =
      DenseTensor(value->address(), s.batch, s.seqlen_kv, s.heads_kv, 128);
  params.output =
      DenseTensor(output->address(), s.batch, s.seqlen_q, s.heads_q, 128);
  params.lse = DenseLse(lse->address(), s.batch, s.heads_q, s.seqlen_q);
  params.mask = s.mask;
  const auto stream = device.CreateStream();
  ASSERT_TRUE(stream.ok()) << stream.status();
  const absl::Status status = AttentionForward(params, device, *stream);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(device.SynchronizeStream(*stream).ok());

  std::vector<Bf16> got(static_cast<size_t>(rows * 128));
  std::vector<float> got_lse(static_cast<size_t>(rows));
  ASSERT_TRUE(device
                  .CopyFromDevice(
                      {reinterpret_cast<uint8_t*>(got.data()), got.size() * 2},
                      output->address())
                  .ok());
  ASSERT_TRUE(device
                  .CopyFromDevice({reinterpret_cast<uint8_t*>(got_lse.data()),
                                   got_lse.size() * 4},
                                  lse->address())
                  .ok());
  const auto expected = Expected(s, q, k, v);
  ASSERT_EQ(expected.output.size(), got.size());
  EXPECT_LE(RelativeRmse(got, expected.output), 4e-3);
  for (size_t i = 0; i < got_lse.size(); ++i) {
    ASSERT_NEAR(got_lse[i], expected.lse[i],
                1e-5 * std::fabs(expected.lse[i]) + 1e-5)
        << "row " << i;
  }
}

TEST(AttentionEmulatorTest, Causal) {
  ExpectAttention({1, 300, 300, 2, 1, 128, Mask::kCausal});
}

TEST(AttentionEmulatorTest, FullWithUnequalHeadDims) {
  ExpectAttention({2, 70, 130, 3, 3, 192, Mask::kFull});
}

TEST(AttentionEmulatorTest, NoKeysGiveZeroAndMinusInfinity) {
  EmulatorDevice device;
  const auto query = DeviceBuffer::Create(device, 5 * 256);
  const auto output = DeviceBuffer::Create(device, 5 * 256);
  const auto lse = DeviceBuffer::Create(device, 5 * 4);
  ASSERT_TRUE(query.ok() && output.ok() && lse.ok());
  ASSERT_TRUE(device.Fill(output->address(), 0xff, output->size()).ok());
  for (Mask mask : {Mask::kCausal, Mask::kFull}) {
    AttentionParams params;
    params.query = DenseTensor(query->address(), 1, 5, 1, 128);
    params.key = params.value = DenseTensor(0, 1, 0, 1, 128);
    params.output = DenseTensor(output->address(), 1, 5, 1, 128);
    params.lse = DenseLse(lse->address(), 1, 1, 5);
    params.mask = mask;
    const absl::Status status = AttentionForward(params, device);
    ASSERT_TRUE(status.ok()) << status;
    std::vector<uint8_t> bytes(5 * 256);
    std::vector<float> rows(5);
    ASSERT_TRUE(
        device.CopyFromDevice(absl::MakeSpan(bytes), output->address()).ok());
    ASSERT_TRUE(
        device
            .CopyFromDevice({reinterpret_cast<uint8_t*>(rows.data()), 5 * 4},
                            lse->address())
            .ok());
    EXPECT_EQ(bytes, std::vector<uint8_t>(5 * 256));
    EXPECT_EQ(rows, std::vector<float>(5, -INFINITY));
  }
}

// One query and one key: the output is the value's row, through the C API.
TEST(AttentionEmulatorTest, CInterface) {
  zyfa_device* device = nullptr;
  ASSERT_EQ(zyfa_open_emulator(&device), ZYFA_OK) << zyfa_last_error();
  EXPECT_STREQ(zyfa_device_kind(device), "emulator");
  EXPECT_TRUE(zyfa_device_is_modelled(device));
  uint64_t addresses[4];
  const auto row = Normal(128, 4);
  for (uint64_t& address : addresses) {
    ASSERT_EQ(zyfa_allocate(device, 256, &address), ZYFA_OK);
    ASSERT_EQ(zyfa_copy_to_device(device, address, row.data(), 256), ZYFA_OK);
  }
  ASSERT_EQ(zyfa_fill(device, addresses[3], 0xff, 256), ZYFA_OK);
  zyfa_tensor tensors[4];
  for (int i = 0; i < 4; ++i) {
    tensors[i] = ZYFA_TENSOR_INIT;
    tensors[i].address = addresses[i];
    tensors[i].batch = tensors[i].seqlen = tensors[i].heads = 1;
    tensors[i].head_dim = 128;
  }
  zyfa_attention call = ZYFA_ATTENTION_INIT;
  call.query = &tensors[0];
  call.key = &tensors[1];
  call.value = &tensors[2];
  call.output = &tensors[3];
  ASSERT_EQ(zyfa_attention_forward(device, &call, nullptr), ZYFA_OK)
      << zyfa_last_error();
  ASSERT_EQ(zyfa_synchronize(device), ZYFA_OK);
  std::vector<Bf16> got(128);
  ASSERT_EQ(zyfa_copy_from_device(device, got.data(), addresses[3], 256),
            ZYFA_OK);
  EXPECT_EQ(std::memcmp(got.data(), row.data(), 256), 0);
  for (uint64_t address : addresses) {
    EXPECT_EQ(zyfa_free(device, address), ZYFA_OK);
  }
  zyfa_close(device);
}

}  // namespace
}  // namespace zyfa
