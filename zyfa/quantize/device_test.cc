// The kernels give the host's bits, whatever the sizes, strides and options.

#include <cmath>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/device_buffer.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/quantize/pass_case.h"
#include "zyfa/quantize/quantize.h"
#include "zyfa/quantize/softmax_fold.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;

constexpr ScaleGranularity kGranularities[] = {
    ScaleGranularity::kTensor, ScaleGranularity::kHead,
    ScaleGranularity::kBatchHead, ScaleGranularity::kToken};

float FoldUnit() { return FoldSoftmaxScale(1 / std::sqrt(128.0f))->unit; }

PassCase Case(int64_t batch, int64_t seqlen, int64_t heads, int64_t head_dim) {
  PassCase c;
  c.extent = {batch, seqlen, heads, head_dim};
  return c;
}

// Magnitudes that differ by head and token, with a mean.
float Uneven(int64_t batch, int64_t token, int64_t head, int64_t channel,
             float g) {
  return std::ldexp(g + 0.5f * static_cast<float>(channel % 5),
                    static_cast<int>((3 * batch + token + 5 * head) % 23) - 11);
}

TEST(DeviceTest, EveryOption) {
  for (const int64_t head_dim : {128, 192}) {
    for (const ScaleGranularity granularity : kGranularities) {
      for (const std::optional<float> unit :
           {std::optional<float>(), std::optional<float>(1.0f),
            std::optional<float>(FoldUnit())}) {
        for (const bool rotate : {false, true}) {
          for (const bool mean : {false, true}) {
            PassCase c = Case(2, 75, 3, head_dim);
            c.fill = Uneven;
            c.options = {granularity, unit, rotate, mean};
            if (!mean) c.heads_kv = 1;
            ASSERT_EQ(Compare(c), "");
          }
        }
      }
    }
  }
}

TEST(DeviceTest, EveryLength) {
  for (const int64_t seqlen :
       {1,   2,   3,   15,  16,  17,  31,  33,  63,  64,  65,  127, 128,
        129, 191, 193, 255, 256, 257, 300, 319, 320, 321, 511, 513, 1000}) {
    for (const ScaleGranularity granularity :
         {ScaleGranularity::kBatchHead, ScaleGranularity::kToken}) {
      PassCase c = Case(1, seqlen, 1, seqlen % 2 == 0 ? 128 : 192);
      c.fill = Uneven;
      c.options = {granularity, std::nullopt, true, true};
      ASSERT_EQ(Compare(c), "");
    }
  }
}

TEST(DeviceTest, EveryOrderOfStrides) {
  for (int in = 0; in < 4; ++in) {
    for (int out = 0; out < 4; ++out) {
      PassCase c = Case(2, 70, 3, in % 2 == 0 ? 128 : 192);
      c.fill = Uneven;
      c.options = {kGranularities[out], 1.0f, out % 2 == 0, in % 2 == 1};
      c.input = {static_cast<PassLayout::Order>(in), 16 * in, 32 * out};
      c.output = {static_cast<PassLayout::Order>(out), 16 * out, 16 * in};
      ASSERT_EQ(Compare(c), "");
    }
  }
}

TEST(DeviceTest, ExtentsBeyondFourGiB) {
  for (const ScaleGranularity granularity :
       {ScaleGranularity::kBatchHead, ScaleGranularity::kToken}) {
    // 2^25 - 16 bytes are the longest step between tokens; a chunk has 8 GiB.
    PassCase c = Case(2, 300, 1, 192);
    c.fill = Uneven;
    c.options = {granularity, std::nullopt, true, true};
    c.input = {PassLayout::kBhsd, (int64_t{1} << 25) - 16 - 384};
    c.output = {PassLayout::kBhsd, (int64_t{1} << 25) - 16 - 192};
    ASSERT_EQ(Compare(c), "");
    c.input.order = c.output.order = PassLayout::kHsbd;
    c.input.row_padding = c.output.row_padding = (int64_t{1} << 24) - 512;
    ASSERT_EQ(Compare(c), "");
  }
}

TEST(DeviceTest, TokensMayBeOne) {
  for (const int64_t seqlen : {40, 300}) {
    PassCase c = Case(2, seqlen, 2, 128);
    c.fill = Uneven;
    c.input.one_token = true;
    c.options.subtract_mean = true;
    ASSERT_EQ(Compare(c), "");
  }
}

TEST(DeviceTest, ManyScalesAndChunks) {
  // More maxima than the scale kernel takes in one trip, the largest last.
  PassCase c = Case(1, 1, 2100, 128);
  c.fill = [](int64_t, int64_t, int64_t head, int64_t, float g) {
    return g * static_cast<float>(1 + head);
  };
  ASSERT_EQ(Compare(c), "");
  // More sums than the mean kernel takes in one trip.
  c = Case(1, 2500, 1, 128);
  c.fill = Uneven;
  c.options.subtract_mean = true;
  ASSERT_EQ(Compare(c), "");
}

TEST(DeviceTest, KeyHeadsOfQueryHeads) {
  for (const int64_t heads_kv : {1, 2, 3, 6}) {
    PassCase c = Case(2, 50, 6, 128);
    c.heads_kv = heads_kv;
    c.options.rotate = true;
    ASSERT_EQ(Compare(c), "");
  }
}

TEST(DeviceTest, EverySchedule) {
  for (const ScaleGranularity granularity :
       {ScaleGranularity::kTensor, ScaleGranularity::kToken}) {
    for (const int64_t head_dim : {128, 192}) {
      PassCase c = Case(2, 150, 2, head_dim);
      c.options = {granularity, std::nullopt, true, true};
      ASSERT_EQ(Compare(c, /*all_schedules=*/true), "");
      c.options.subtract_mean = false;
      c.heads_kv = 1;
      ASSERT_EQ(Compare(c, /*all_schedules=*/true), "");
    }
  }
}

TEST(DeviceTest, Extremes) {
  std::vector<PassCase::Fill> fills = ExtremeFills(448.0f);
  // Maxima beside a power of two times 448.
  for (const float size : {448.0f, 450.0f}) {
    fills.push_back([=](int64_t, int64_t s, int64_t, int64_t c, float) {
      return c == 0 ? std::ldexp(size, static_cast<int>(s % 40) - 20) : 0.0f;
    });
  }
  for (const PassCase::Fill& fill : fills) {
    for (const ScaleGranularity granularity :
         {ScaleGranularity::kTensor, ScaleGranularity::kToken}) {
      for (const std::optional<float> unit :
           {std::optional<float>(), std::optional<float>(1.0f),
            std::optional<float>(FoldUnit())}) {
        PassCase c = Case(1, 70, 2, 128);
        c.fill = fill;
        c.options.granularity = granularity;
        c.options.unit = unit;
        ASSERT_EQ(Compare(c), "");
        const auto got = RunOnEmulator(c, emu::StrictOptions());
        ASSERT_TRUE(got.ok()) << got.status();
        for (const float d : got->tensor.descales) {
          ASSERT_TRUE(std::isnormal(d) && d > 0) << c.Name() << ": " << d;
        }
      }
    }
  }
}

// The host refuses what follows; the kernels say NaN, and only where it is.
TEST(DeviceTest, NumbersThatAreNotFinite) {
  for (const uint16_t bits : {0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81}) {
    for (const bool rotate : {false, true}) {
      PassCase c = Case(1, 70, 2, 128);
      c.options.rotate = rotate;
      c.fill = [=](int64_t, int64_t s, int64_t h, int64_t i, float g) {
        return s == 65 && h == 1 && i == 77 ? Bf16{bits}.ToFloat() : g;
      };
      for (const ScaleGranularity granularity :
           {ScaleGranularity::kBatchHead, ScaleGranularity::kToken}) {
        c.options.granularity = granularity;
        EXPECT_FALSE(RunOnHost(c).ok());
        const auto got = RunOnEmulator(c, emu::StrictOptions());
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_TRUE(got->findings.empty());
        const bool token = granularity == ScaleGranularity::kToken;
        for (size_t i = 0; i < got->tensor.codes.size(); ++i) {
          const size_t head = i / 128 % 2;
          const size_t row = i / 256;
          const bool bad = head == 1 && (!token || row == 65);
          ASSERT_EQ((got->tensor.codes[i].code & 0x7f) == 0x7f, bad) << i;
        }
        for (size_t i = 0; i < got->tensor.descales.size(); ++i) {
          ASSERT_EQ(std::isnan(got->tensor.descales[i]),
                    i == (token ? 70u + 65u : 1u))
              << i;
        }
      }
    }
  }
}

// Sums that overflow are NaN too.
TEST(DeviceTest, SumsThatAreNotFinite) {
  PassCase c = Case(1, 20, 1, 128);
  c.fill = [](int64_t, int64_t, int64_t, int64_t, float) { return 3e38f; };
  for (const bool rotate : {false, true}) {
    c.options.rotate = rotate;
    c.options.subtract_mean = !rotate;
    EXPECT_FALSE(RunOnHost(c).ok());
    const auto got = RunOnEmulator(c, emu::StrictOptions());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(std::isnan(got->tensor.descales[0]));
    for (const numerics::E4m3 code : got->tensor.codes) {
      ASSERT_EQ(code.code & 0x7f, 0x7f);
    }
  }
}

// What a pass over the case measures.
void Calibrate(PassCase& c) {
  const auto measured = RunOnHost(c);
  ASSERT_TRUE(measured.ok()) << measured.status();
  c.descales = measured->tensor.descales;
  c.mean = measured->tensor.mean;
}

TEST(DeviceTest, Calibrated) {
  for (const int64_t head_dim : {128, 192}) {
    for (const ScaleGranularity granularity :
         {ScaleGranularity::kTensor, ScaleGranularity::kHead,
          ScaleGranularity::kBatchHead}) {
      for (const bool both : {false, true}) {
        PassCase c = Case(2, 35, 3, head_dim);
        c.fill = Uneven;
        c.options = {granularity, std::nullopt, both, both};
        if (!both) c.heads_kv = 1;
        Calibrate(c);
        ASSERT_EQ(Compare(c), "");
        // Half of the numbers beyond: saturated.
        for (float& d : c.descales) d *= 0.01f;
        ASSERT_EQ(Compare(c), "");
      }
    }
  }
  // Descales at the ends of their range, and of every mantissa's first bits.
  PassCase c = Case(1, 3, 256, 128);
  c.options.granularity = ScaleGranularity::kHead;
  for (int i = 0; i < 256; ++i) {
    const float mantissa = 1 + static_cast<float>(i) / 256 + 0x1p-20f;
    c.descales.push_back(std::ldexp(mantissa, i % 40 - 30));
  }
  c.descales[0] = 0x1p-110f;
  c.descales[1] = 0x1.fffffep121f;
  c.descales[2] = 0x1.fffffep-10f;
  ASSERT_EQ(Compare(c), "");
}

// A number that is none is its own matter: the descale is not the pass's.
TEST(DeviceTest, CalibratedNumbersThatAreNotFinite) {
  for (const uint16_t bits : {0x7f80, 0xff80, 0x7fc0}) {
    PassCase c = Case(1, 70, 2, 128);
    c.options.granularity = ScaleGranularity::kHead;
    const auto want = RunOnHost(c);
    Calibrate(c);
    const auto good = RunOnHost(c);
    ASSERT_TRUE(want.ok() && good.ok());
    c.fill = [=](int64_t, int64_t s, int64_t h, int64_t i, float g) {
      return s == 65 && h == 1 && i == 77 ? Bf16{bits}.ToFloat() : g;
    };
    EXPECT_FALSE(RunOnHost(c).ok());
    const auto got = RunOnEmulator(c, emu::StrictOptions());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(Trouble(got->findings, got->wrote_outside), "");
    EXPECT_EQ(got->tensor.descales, want->tensor.descales);
    const int code = bits == 0x7f80 ? 0x7e : bits == 0xff80 ? 0xfe : 0x7f;
    for (size_t i = 0; i < got->tensor.codes.size(); ++i) {
      const bool bad = i == 65 * 256 + 128 + 77;
      ASSERT_EQ(int{got->tensor.codes[i].code},
                bad ? code : int{good->tensor.codes[i].code})
          << i;
    }
  }
}

TEST(DeviceTest, CalibratedDescalesOutOfRange) {
  for (const float d : {std::nanf(""), -1.0f, 0.0f, -0.0f, 1e-44f, HUGE_VALF,
                        0x1.fffffep-111f, 0x1p122f}) {
    PassCase c = Case(1, 20, 2, 128);
    c.options.granularity = ScaleGranularity::kHead;
    c.descales = {0.01f, d};
    EXPECT_FALSE(RunOnHost(c).ok());
    const auto got = RunOnEmulator(c, emu::StrictOptions());
    ASSERT_TRUE(got.ok()) << got.status();
    for (size_t i = 0; i < got->tensor.codes.size(); ++i) {
      ASSERT_EQ((got->tensor.codes[i].code & 0x7f) == 0x7f, i / 128 % 2 == 1);
    }
  }
}

TEST(DeviceTest, NoTokens) {
  for (const float unit : {1.0f, 1.5f}) {
    PassCase c = Case(2, 0, 3, 128);
    c.options = {ScaleGranularity::kBatchHead, unit, false, true};
    ASSERT_EQ(Compare(c), "");
    const auto got = RunOnEmulator(c, emu::StrictOptions());
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->tensor.descales, std::vector<float>(6, unit));
    EXPECT_EQ(got->tensor.mean, std::vector<float>(2 * 3 * 128, 0.0f));
  }
}

// Batches beyond one launch's grid.
TEST(DeviceTest, ManyBatches) {
  PassCase c = Case(65540, 1, 1, 128);
  c.options.granularity = ScaleGranularity::kToken;
  const auto want = RunOnHost(c);
  ASSERT_TRUE(want.ok()) << want.status();
  // Without the checks, which take their time: this is about places.
  const auto got = RunOnEmulator(c, emu::RunOptions());
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->tensor.descales, want->tensor.descales);
  EXPECT_EQ(got->tensor.codes, want->tensor.codes);
}

TEST(DeviceTest, PublicCallOnADevice) {
  PassCase c = Case(1, 100, 2, 128);
  const std::vector<Bf16> input = PassInput(c);
  EmulatorDevice device(emu::StrictOptions());
  const auto in = DeviceBuffer::Create(device, 2 * input.size());
  const auto out = DeviceBuffer::Create(device, input.size());
  const auto descale = DeviceBuffer::Create(device, 4);
  ASSERT_TRUE(in.ok() && out.ok() && descale.ok());
  ASSERT_TRUE(device
                  .CopyToDevice(in->address(),
                                {reinterpret_cast<const uint8_t*>(input.data()),
                                 2 * input.size()})
                  .ok());
  QuantizeParams params;
  params.input = DenseTensor(in->address(), 1, 100, 2, 128);
  params.output = DenseTensor(out->address(), 1, 100, 2, 128, DataType::kFp8);
  params.descale = descale->address();
  const auto bytes = QuantizeWorkspaceBytes(params);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto workspace =
      DeviceBuffer::Create(device, static_cast<size_t>(*bytes));
  ASSERT_TRUE(workspace.ok());
  params.workspace = workspace->address();
  const absl::Status status = Quantize(params, device);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(device.Synchronize().ok());
  const auto want = RunOnHost(c);
  ASSERT_TRUE(want.ok()) << want.status();
  std::vector<numerics::E4m3> codes(input.size());
  ASSERT_TRUE(device
                  .CopyFromDevice(
                      {reinterpret_cast<uint8_t*>(codes.data()), codes.size()},
                      out->address())
                  .ok());
  EXPECT_EQ(codes, want->tensor.codes);
  params.workspace = 0;
  EXPECT_EQ(Quantize(params, device).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace zyfa::testing
