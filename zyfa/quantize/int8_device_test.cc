// The INT8 kernels give the host's bits, whatever the sizes, strides and
// options.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/quantize/int8_case.h"
#include "zyfa/quantize/quantize.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;

constexpr ScaleGranularity kGranularities[] = {ScaleGranularity::kTensor,
                                               ScaleGranularity::kHead,
                                               ScaleGranularity::kBatchHead};

// Magnitudes that differ by head and token, with a mean.
float Uneven(int64_t batch, int64_t token, int64_t head, int64_t channel,
             float g) {
  return std::ldexp(g + 0.5f * static_cast<float>(channel % 5),
                    static_cast<int>((3 * batch + token + 5 * head) % 23) - 11);
}

KeysCase Keys(const QuantizeExtent& e) {
  KeysCase c;
  c.extent = e;
  c.fill = Uneven;
  return c;
}

// With descales of keys that differ.
QueriesCase Queries(const QuantizeExtent& e, int64_t heads_kv,
                    ScaleGranularity granularity = ScaleGranularity::kHead) {
  QueriesCase c;
  c.extent = e;
  c.fill = Uneven;
  c.options.heads_kv = heads_kv;
  c.options.softmax_scale = 0.088f;
  c.options.key_granularity = granularity;
  int64_t scales = 1;
  if (granularity != ScaleGranularity::kTensor) scales = heads_kv;
  if (granularity == ScaleGranularity::kBatchHead) scales *= e.batch;
  for (int64_t i = 0; i < scales; ++i) {
    c.key_descales.push_back(0.01f + 0.013f * static_cast<float>(i));
  }
  return c;
}

// What a pass over the case's keys measures.
void Calibrate(KeysCase& c) {
  const auto measured = RunOnHost(c);
  ASSERT_TRUE(measured.ok()) << measured.status();
  c.descales = measured->keys.descales;
  c.mean = measured->keys.mean;
}

TEST(Int8DeviceTest, EveryOptionOfKeys) {
  for (const int64_t head_dim : {128, 192}) {
    for (const ScaleGranularity granularity : kGranularities) {
      for (int bits = 0; bits < 8; ++bits) {
        KeysCase c = Keys({2, 35, 3, head_dim});
        c.options = {granularity, (bits & 1) != 0, (bits & 2) != 0,
                     (bits & 4) != 0};
        ASSERT_EQ(Compare(c), "");
        Calibrate(c);
        ASSERT_EQ(Compare(c), "");
        // Half of the numbers beyond: saturated.
        for (float& d : c.descales) d *= 0.01f;
        ASSERT_EQ(Compare(c), "");
      }
    }
  }
}

TEST(Int8DeviceTest, EveryOptionOfQueries) {
  for (const int64_t head_dim : {128, 192}) {
    for (const ScaleGranularity granularity : kGranularities) {
      for (int bits = 0; bits < 8; ++bits) {
        QueriesCase c = Queries({2, 35, 6, head_dim}, 3, granularity);
        c.options.rotate = (bits & 1) != 0;
        c.options.multipliers = (bits & 2) != 0;
        c.correct_lse = (bits & 4) != 0;
        ASSERT_EQ(Compare(c), "");
      }
    }
  }
}

TEST(Int8DeviceTest, KeyHeadsOfQueryHeads) {
  for (const ScaleGranularity granularity : kGranularities) {
    for (const int64_t heads_kv : {1, 2, 3, 6}) {
      QueriesCase c = Queries({2, 20, 6, 128}, heads_kv, granularity);
      c.correct_lse = heads_kv % 2 == 0;
      ASSERT_EQ(Compare(c), "");
    }
  }
}

TEST(Int8DeviceTest, EveryLength) {
  for (const int64_t seqlen :
       {1,   2,   3,   15,  16,  17,  31,  33,  63,  64,  65,  127, 128,
        129, 191, 193, 255, 256, 257, 300, 319, 320, 321, 511, 513, 1000}) {
    const QuantizeExtent e = {1, seqlen, 1, seqlen % 2 == 0 ? 128 : 192};
    KeysCase keys = Keys(e);
    keys.options = {ScaleGranularity::kHead, true, true, true};
    ASSERT_EQ(Compare(keys), "");
    QueriesCase queries = Queries(e, 1);
    queries.correct_lse = true;
    ASSERT_EQ(Compare(queries), "");
  }
}

TEST(Int8DeviceTest, EveryOrderOfStrides) {
  for (int in = 0; in < 4; ++in) {
    for (int out = 0; out < 4; ++out) {
      const QuantizeExtent e = {2, 70, 3, in % 2 == 0 ? 128 : 192};
      const PassLayout input = {static_cast<PassLayout::Order>(in), 16 * in,
                                32 * out};
      const PassLayout output = {static_cast<PassLayout::Order>(out), 16 * out,
                                 16 * in};
      const TokenLayout tokens = {out % 2 == 1, 3 * in, out};
      KeysCase keys = Keys(e);
      keys.options = {kGranularities[out % 3], true, in % 2 == 1, out > 1};
      keys.input = input;
      keys.output = output;
      keys.multipliers = tokens;
      ASSERT_EQ(Compare(keys), "");
      QueriesCase queries = Queries(e, in % 2 == 0 ? 1 : 3);
      queries.input = input;
      queries.output = output;
      queries.shifts = tokens;
      ASSERT_EQ(Compare(queries), "");
    }
  }
}

TEST(Int8DeviceTest, ExtentsBeyondFourGiB) {
  // 2^25 - 16 bytes are the longest step between tokens; a chunk has 8 GiB.
  const QuantizeExtent e = {2, 300, 1, 192};
  KeysCase keys = Keys(e);
  keys.options = {ScaleGranularity::kBatchHead, true, true, true};
  keys.input = {PassLayout::kBhsd, (int64_t{1} << 25) - 16 - 384};
  keys.output = {PassLayout::kBhsd, (int64_t{1} << 25) - 16 - 192};
  ASSERT_EQ(Compare(keys), "");
  QueriesCase queries = Queries(e, 1);
  queries.input = keys.input;
  queries.output = keys.output;
  ASSERT_EQ(Compare(queries), "");
}

// All codes of a softmax scale come from one softmax scale and one descale, of
// any size, and from rows of any size.
TEST(Int8DeviceTest, ExtremesOfQueries) {
  const float kLargest = Bf16{0x7f7f}.ToFloat();
  const float kDenormal = Bf16{0x0001}.ToFloat();
  const float kSizes[] = {0,      -0.0f,         kDenormal, 1e-38f,
                          1e-30f, 1e-3f,         1.99f,     700,
                          1e20f,  kLargest / 16, kLargest};
  const float kScales[] = {0.088388346f, -0.088388346f, 1e-20f, -1e-38f, 1e-44f,
                           1e20f,        -3e38f,        0,      -0.0f};
  const float kDescales[] = {0x1p-110f, 1e-9f, 0.02f, 1e10f, 0x1.fffffep121f};
  for (const float softmax_scale : kScales) {
    for (const float descale : kDescales) {
      QueriesCase c = Queries({1, 22, 1, 128}, 1);
      c.fill = [&](int64_t, int64_t token, int64_t, int64_t, float g) {
        const float x = std::clamp(g / 4, -1.0f, 1.0f);
        return x * kSizes[token / 2];
      };
      c.options.softmax_scale = softmax_scale;
      c.options.multipliers = descale < 1;
      c.key_descales = {descale};
      ASSERT_EQ(Compare(c), "");
    }
  }
}

// Largest magnitudes all around a power of two, and 127.49 of it.
TEST(Int8DeviceTest, EveryMantissaOfQueries) {
  for (const float descale : {0.02f, 0.0241f, 0.0313f, 1e3f}) {
    QueriesCase c = Queries({1, 512, 1, 128}, 1);
    c.fill = [](int64_t, int64_t token, int64_t, int64_t channel, float g) {
      const float x = 1 + static_cast<float>(token % 128) / 128;
      return channel == token % 128
                 ? std::ldexp(x, static_cast<int>(token / 128) * 3)
                 : std::clamp(g / 4, -1.0f, 1.0f);
    };
    c.key_descales = {descale};
    ASSERT_EQ(Compare(c), "");
  }
}

// On both sides of 127.49.
TEST(Int8DeviceTest, RowsFitBelow128) {
  for (const double top : {127.4899, 127.4901, 127.6, 127.99, 128.01}) {
    QueriesCase c = Queries({1, 2, 1, 128}, 1);
    c.fill = [](int64_t, int64_t, int64_t, int64_t, float) { return 1.0f; };
    c.options.softmax_scale = 1;
    c.key_descales = {static_cast<float>(top / (256 * std::numbers::log2e))};
    ASSERT_EQ(Compare(c), "");
  }
}

TEST(Int8DeviceTest, ExtremesOfKeys) {
  std::vector<TensorCase::Fill> fills = ExtremeFills(127.0f);
  // Every multiplier, and numbers beside halves.
  fills.push_back([](int64_t, int64_t s, int64_t, int64_t c, float) {
    return static_cast<float>(s + 1) * static_cast<float>(c - 64) / 64;
  });
  for (const TensorCase::Fill& fill : fills) {
    for (const bool multipliers : {false, true}) {
      KeysCase c = Keys({1, 260, 1, 128});
      c.fill = fill;
      c.options.token_multipliers = multipliers;
      ASSERT_EQ(Compare(c), "");
      for (const float descale : {0x1p-110f, 0.3f, 0x1.fffffep121f}) {
        c.descales = {descale};
        ASSERT_EQ(Compare(c), "");
        c.descales.clear();
      }
    }
  }
}

// The host refuses what follows; the kernels say so, and only where it is.
TEST(Int8DeviceTest, KeysThatAreNotFinite) {
  for (const uint16_t bits : {0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81}) {
    for (int variant = 0; variant < 4; ++variant) {
      const bool multipliers = (variant & 1) != 0;
      const bool calibrated = (variant & 2) != 0;
      KeysCase c = Keys({1, 70, 2, 128});
      c.options.rotate = bits == 0x7f80 || bits == 0x7fc0;
      c.options.token_multipliers = multipliers;
      const auto want = RunOnHost(c);
      ASSERT_TRUE(want.ok()) << want.status();
      if (calibrated) Calibrate(c);
      c.fill = [=](int64_t b, int64_t s, int64_t h, int64_t i, float g) {
        return s == 65 && h == 1 && i == 77 ? Bf16{bits}.ToFloat()
                                            : Uneven(b, s, h, i, g);
      };
      EXPECT_FALSE(RunOnHost(c).ok());
      const auto got = RunOnEmulator(c, emu::StrictOptions());
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(Trouble(got->findings, got->wrote_outside), "");
      EXPECT_EQ(got->keys.descales[0], want->keys.descales[0]);
      EXPECT_EQ(std::isnan(got->keys.descales[1]), !calibrated);
      for (size_t i = 0; i < got->keys.codes.size(); ++i) {
        const size_t row = i / 256, head = i / 128 % 2;
        const bool bad = head == 1 && (!calibrated || row == 65);
        ASSERT_EQ(int{got->keys.codes[i]}, bad ? 0 : int{want->keys.codes[i]})
            << i;
        if (!multipliers) continue;
        ASSERT_EQ(got->keys.multipliers[head * 70 + row],
                  bad ? 1 : want->keys.multipliers[head * 70 + row]);
      }
    }
  }
}

TEST(Int8DeviceTest, SumsThatAreNotFinite) {
  const auto fill = [](int64_t, int64_t, int64_t, int64_t, float) {
    return 3e38f;
  };
  for (const bool rotate : {false, true}) {
    KeysCase keys = Keys({1, 20, 1, 128});
    keys.fill = fill;
    keys.options.rotate = rotate;
    keys.options.subtract_mean = !rotate;
    EXPECT_FALSE(RunOnHost(keys).ok());
    const auto got = RunOnEmulator(keys, emu::StrictOptions());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(std::isnan(got->keys.descales[0]));
    EXPECT_EQ(got->keys.codes, std::vector<int8_t>(20 * 128, 0));
  }
  QueriesCase queries = Queries({1, 20, 1, 128}, 1);
  queries.fill = fill;
  queries.options.rotate = true;
  EXPECT_FALSE(RunOnHost(queries).ok());
  const auto got = RunOnEmulator(queries, emu::StrictOptions());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->queries.codes, std::vector<int8_t>(20 * 128, 0));
  EXPECT_EQ(got->queries.shifts, std::vector<uint8_t>(20, 255));
}

TEST(Int8DeviceTest, QueriesThatAreNotFinite) {
  for (const uint16_t bits : {0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81}) {
    QueriesCase c = Queries({1, 70, 2, 128}, 1);
    c.options.rotate = bits == 0x7f80 || bits == 0x7fc0;
    const auto want = RunOnHost(c);
    ASSERT_TRUE(want.ok()) << want.status();
    c.fill = [=](int64_t b, int64_t s, int64_t h, int64_t i, float g) {
      return s == 65 && h == 1 && i == 77 ? Bf16{bits}.ToFloat()
                                          : Uneven(b, s, h, i, g);
    };
    EXPECT_FALSE(RunOnHost(c).ok());
    const auto got = RunOnEmulator(c, emu::StrictOptions());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(Trouble(got->findings, got->wrote_outside), "");
    for (size_t i = 0; i < got->queries.codes.size(); ++i) {
      const size_t row = i / 256, head = i / 128 % 2;
      const bool bad = head == 1 && row == 65;
      ASSERT_EQ(int{got->queries.codes[i]},
                bad ? 0 : int{want->queries.codes[i]});
      ASSERT_EQ(int{got->queries.shifts[head * 70 + row]},
                bad ? 255 : int{want->queries.shifts[head * 70 + row]});
    }
  }
}

// Descales that no pass writes, and the NaN that one does.
TEST(Int8DeviceTest, DescalesOutOfRange) {
  const float kInf = std::numeric_limits<float>::infinity();
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const float d : {kNan, -kNan, kInf, -kInf, 0.0f, -0.0f, -1.0f, 1e-44f,
                        0x1.fffffep-111f, 0x1p122f}) {
    QueriesCase queries = Queries({1, 20, 4, 128}, 2);
    const auto want = RunOnHost(queries);
    ASSERT_TRUE(want.ok()) << want.status();
    queries.key_descales[1] = d;
    EXPECT_FALSE(RunOnHost(queries).ok());
    const auto got = RunOnEmulator(queries, emu::StrictOptions());
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < got->queries.codes.size(); ++i) {
      const size_t row = i / 512, head = i / 128 % 4;
      ASSERT_EQ(int{got->queries.codes[i]},
                head > 1 ? 0 : int{want->queries.codes[i]});
      ASSERT_EQ(int{got->queries.shifts[head * 20 + row]},
                head > 1 ? 255 : int{want->queries.shifts[head * 20 + row]});
    }

    KeysCase keys = Keys({1, 20, 2, 128});
    keys.options.token_multipliers = true;
    Calibrate(keys);
    const auto good = RunOnHost(keys);
    ASSERT_TRUE(good.ok()) << good.status();
    keys.descales[1] = d;
    EXPECT_FALSE(RunOnHost(keys).ok());
    const auto bad = RunOnEmulator(keys, emu::StrictOptions());
    ASSERT_TRUE(bad.ok()) << bad.status();
    for (size_t i = 0; i < bad->keys.codes.size(); ++i) {
      const size_t row = i / 256, head = i / 128 % 2;
      ASSERT_EQ(int{bad->keys.codes[i]},
                head == 1 ? 0 : int{good->keys.codes[i]});
      ASSERT_EQ(bad->keys.multipliers[head * 20 + row],
                head == 1 ? 1 : good->keys.multipliers[head * 20 + row]);
    }
  }
}

TEST(Int8DeviceTest, NoTokens) {
  KeysCase c = Keys({2, 0, 3, 128});
  c.options = {ScaleGranularity::kBatchHead, true, false, true};
  ASSERT_EQ(Compare(c), "");
  ASSERT_EQ(Compare(Queries({2, 0, 3, 128}, 3)), "");
}

TEST(Int8DeviceTest, EveryOrderOfWaves) {
  KeysCase keys = Keys({1, 70, 1, 192});
  keys.options = {ScaleGranularity::kTensor, true, true, true};
  ASSERT_EQ(Compare(keys, /*all_schedules=*/true), "");
  ASSERT_EQ(Compare(Queries({1, 70, 2, 192}, 1), /*all_schedules=*/true), "");
}

// Keys, then queries by the descales that the keys' pass has left on the
// device.
TEST(Int8DeviceTest, PublicCallsOnADevice) {
  const QuantizeExtent e = {1, 100, 2, 128};
  KeysCase keys = Keys(e);
  const std::vector<Bf16> input = PassInput(keys);
  const auto want_keys = RunOnHost(keys);
  ASSERT_TRUE(want_keys.ok()) << want_keys.status();
  QueriesCase queries = Queries(e, 2);
  queries.key_descales = want_keys->keys.descales;
  const auto want = RunOnHost(queries);
  ASSERT_TRUE(want.ok()) << want.status();

  EmulatorDevice device(emu::StrictOptions());
  const size_t count = input.size();
  const auto in = DeviceBuffer::Create(device, 2 * count);
  const auto key_out = DeviceBuffer::Create(device, count);
  const auto query_out = DeviceBuffer::Create(device, count);
  const auto descale = DeviceBuffer::Create(device, 8);
  const auto shifts = DeviceBuffer::Create(device, 200);
  ASSERT_TRUE(in.ok() && key_out.ok() && query_out.ok() && descale.ok() &&
              shifts.ok());
  ASSERT_TRUE(device
                  .CopyToDevice(in->address(),
                                {reinterpret_cast<const uint8_t*>(input.data()),
                                 2 * count})
                  .ok());
  QuantizeKeysInt8Params key_pass;
  key_pass.input = DenseTensor(in->address(), 1, 100, 2, 128);
  key_pass.output =
      DenseTensor(key_out->address(), 1, 100, 2, 128, DataType::kInt8);
  key_pass.descale = descale->address();
  const auto bytes = QuantizeWorkspaceBytes(key_pass);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto workspace =
      DeviceBuffer::Create(device, static_cast<size_t>(*bytes));
  ASSERT_TRUE(workspace.ok());
  key_pass.workspace = workspace->address();
  absl::Status status = Quantize(key_pass, device);
  ASSERT_TRUE(status.ok()) << status;
  QuantizeQueriesInt8Params query_pass;
  query_pass.input = key_pass.input;
  query_pass.output =
      DenseTensor(query_out->address(), 1, 100, 2, 128, DataType::kInt8);
  query_pass.options = queries.options;
  query_pass.key_descale = descale->address();
  query_pass.shifts = {shifts->address(), 1, 2, 100, 200, 100};
  status = Quantize(query_pass, device);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(device.Synchronize().ok());
  const auto download = [&](uint64_t address, size_t n) {
    std::vector<uint8_t> out(n);
    EXPECT_TRUE(device.CopyFromDevice(absl::MakeSpan(out), address).ok());
    return out;
  };
  const auto bytes_of = [](const std::vector<int8_t>& codes) {
    return std::vector<uint8_t>(codes.begin(), codes.end());
  };
  EXPECT_EQ(download(key_out->address(), count),
            bytes_of(want_keys->keys.codes));
  EXPECT_EQ(download(query_out->address(), count),
            bytes_of(want->queries.codes));
  EXPECT_EQ(download(shifts->address(), 200), want->queries.shifts);
  query_pass.key_descale = 0;
  EXPECT_EQ(Quantize(query_pass, device).code(),
            absl::StatusCode::kInvalidArgument);
  key_pass.workspace = 0;
  EXPECT_EQ(Quantize(key_pass, device).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace zyfa::testing
