// FP8 attention through the public interfaces, on the emulator, against float64
// attention over the same codes.

#include <cmath>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/launch/attention.h"
#include "zyfa/launch/c_device.h"
#include "zyfa/launch/c_forward.h"
#include "zyfa/launch/emulator_device.h"
#include "zyfa/launch/fp8_forward.h"
#include "zyfa/launch/zyfa_emulator.h"

namespace zyfa {
namespace {

using testing::Fp8Forward;
using testing::Fp8ForwardResult;
using testing::RunFp8Forward;
using testing::ScaleForm;

// The rounding of P costs .025 (exact) to .031 (lean) of flat rows (numerics
// 4), e4m3 output another .026.
constexpr double kBf16Bound = 0.042;
constexpr double kFp8Bound = 0.052;

Fp8ForwardResult RunStrict(const Fp8Forward& c) {
  EmulatorDevice device(emu::StrictOptions());
  auto result = RunFp8Forward(c, device);
  EXPECT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(device.last_report().findings.empty());
  return result.ok() ? *std::move(result) : Fp8ForwardResult{};
}

void ExpectRight(const Fp8Forward& c) {
  const Fp8ForwardResult result = RunStrict(c);
  ASSERT_FALSE(result.output.empty());
  EXPECT_LE(result.worst_head, c.fp8_output ? kFp8Bound : kBf16Bound);
  EXPECT_GE(result.worst_head, 0.01);  // else it were no FP8
  // A row of few keys may be off by a rounding, 1 in 16, of one of them.
  EXPECT_LE(result.worst_lse, 0.05);
}

Fp8Forward Call(const std::string& probability, int64_t head_dim, Mask mask) {
  Fp8Forward c;
  c.variant = "fp8_" + probability + (head_dim == 128 ? "_d128" : "_d192x128") +
              (mask == Mask::kCausal ? "_causal" : "_full");
  c.head_dim_qk = head_dim;
  c.mask = mask;
  c.seqlen_q = c.seqlen_kv = 200;
  return c;
}

TEST(AttentionFp8Test, EveryVariantWithUnequalHeadsAndLengths) {
  for (const char* probability : {"lean", "exact"}) {
    for (const int64_t head_dim : {128, 192}) {
      for (const Mask mask : {Mask::kCausal, Mask::kFull}) {
        Fp8Forward c = Call(probability, head_dim, mask);
        SCOPED_TRACE(c.variant);
        c.batch = 2;
        c.heads_q = 4;
        c.heads_kv = 2;
        c.seqlen_q = 90;
        c.seqlen_kv = 333;
        c.query = ScaleForm::kPerBatchHead;
        c.key = ScaleForm::kPerHead;
        c.value = ScaleForm::kPerBatchHead;
        ExpectRight(c);
      }
    }
  }
}

TEST(AttentionFp8Test, DefaultVariants) {
  for (const int64_t head_dim : {128, 192}) {
    Fp8Forward c = Call("", head_dim, Mask::kCausal);
    c.seqlen_q = c.seqlen_kv = 77;
    c.variant =
        head_dim == 128 ? "fp8_lean_d128_causal" : "fp8_exact_d192x128_causal";
    const std::vector<double> named = RunStrict(c).output;
    c.variant.clear();
    EXPECT_EQ(RunStrict(c).output, named);
  }
}

TEST(AttentionFp8Test, EveryFormOfEveryScale) {
  for (const char* probability : {"lean", "exact"}) {
    Fp8Forward plain = Call(probability, 128, Mask::kFull);
    plain.batch = 2;
    plain.heads_q = 6;
    plain.heads_kv = 3;
    plain.seqlen_q = 40;
    plain.seqlen_kv = 130;
    for (const ScaleForm form :
         {ScaleForm::kNone, ScaleForm::kNumber, ScaleForm::kOneElement,
          ScaleForm::kPerBatch, ScaleForm::kPerHead, ScaleForm::kPerBatchHead,
          ScaleForm::kPerKvHead, ScaleForm::kPerBatchKvHead}) {
      SCOPED_TRACE(plain.variant + " " +
                   std::to_string(static_cast<int>(form)));
      Fp8Forward c = plain;
      c.query = form;
      ExpectRight(c);
      if (form == ScaleForm::kPerKvHead || form == ScaleForm::kPerBatchKvHead) {
        continue;
      }
      c = plain;
      c.key = form;
      c.value = form;
      ExpectRight(c);
    }
  }
}

// No rounding of P can be as far off as another head's scale.
TEST(AttentionFp8Test, ScalesDecideTheResult) {
  Fp8Forward c = Call("lean", 128, Mask::kFull);
  c.heads_q = c.heads_kv = 3;
  const Fp8ForwardResult plain = RunStrict(c);
  for (ScaleForm* scale : {&c.query, &c.key, &c.value}) {
    *scale = ScaleForm::kPerHead;
    const Fp8ForwardResult scaled = RunStrict(c);
    double error = 0, norm = 0;
    for (size_t i = 0; i < plain.output.size(); ++i) {
      const double d = scaled.output[i] - plain.output[i];
      error += d * d;
      norm += plain.output[i] * plain.output[i];
    }
    EXPECT_GT(std::sqrt(error / norm), 0.2);
    *scale = ScaleForm::kNone;
  }
}

TEST(AttentionFp8Test, Fp8Output) {
  for (const char* probability : {"lean", "exact"}) {
    for (const int64_t head_dim : {128, 192}) {
      Fp8Forward c = Call(probability, head_dim, Mask::kCausal);
      c.heads_q = c.heads_kv = 2;
      c.fp8_output = true;
      c.value = ScaleForm::kPerHead;
      for (const ScaleForm form :
           {ScaleForm::kNone, ScaleForm::kNumber, ScaleForm::kOneElement}) {
        SCOPED_TRACE(c.variant + " " + std::to_string(static_cast<int>(form)));
        c.output = form;
        ExpectRight(c);
      }
    }
  }
}

TEST(AttentionFp8Test, RatiosOfHeads) {
  for (const int64_t heads_kv : {1, 2, 4, 8}) {
    Fp8Forward c = Call("exact", 192, Mask::kFull);
    SCOPED_TRACE(heads_kv);
    c.heads_q = 8;
    c.heads_kv = heads_kv;
    c.seqlen_q = 33;
    c.seqlen_kv = 70;
    c.query = c.key = c.value = ScaleForm::kPerHead;
    ExpectRight(c);
  }
}

// 320 items for 256 work-groups: a second round, and scales of each item's own.
TEST(AttentionFp8Test, MoreItemsThanComputeUnits) {
  for (const char* probability : {"lean", "exact"}) {
    Fp8Forward c = Call(probability, 128, Mask::kFull);
    SCOPED_TRACE(c.variant);
    c.batch = 4;
    c.heads_q = 80;
    c.heads_kv = 16;
    c.seqlen_q = 33;
    c.seqlen_kv = 70;
    c.query = ScaleForm::kPerBatchHead;
    c.key = c.value = ScaleForm::kPerBatchHead;
    ExpectRight(c);
  }
}

TEST(AttentionFp8Test, RowsWithoutKeys) {
  for (const char* probability : {"lean", "exact"}) {
    Fp8Forward c = Call(probability, 128, Mask::kCausal);
    c.heads_q = c.heads_kv = 2;
    c.seqlen_q = 300;
    c.seqlen_kv = 170;
    ExpectRight(c);
    const Fp8ForwardResult result = RunStrict(c);
    for (size_t row = 0; row < 130; ++row) {
      for (size_t i = 0; i < 2 * 128; ++i) {
        ASSERT_EQ(result.output[row * 2 * 128 + i], 0) << row;
      }
      for (size_t head : {0u, 1u}) {
        ASSERT_EQ(result.lse[head * 300 + row], -INFINITY) << row;
      }
    }
    c.seqlen_kv = 0;
    for (const Mask mask : {Mask::kCausal, Mask::kFull}) {
      c.mask = mask;
      c.variant = Call(probability, 128, mask).variant;
      const Fp8ForwardResult none = RunStrict(c);
      EXPECT_EQ(none.output, std::vector<double>(300 * 2 * 128, 0.0));
      EXPECT_EQ(none.lse, std::vector<float>(2 * 300, -INFINITY));
    }
  }
}

TEST(AttentionFp8Test, RefusalsNameTheArgument) {
  EmulatorDevice device;
  const auto refusal = [&](const Fp8Forward& c, auto change) {
    const auto result =
        RunFp8Forward(c, device, [&](const AttentionParams& good, Device& d) {
          AttentionParams params = good;
          change(params);
          const absl::Status status = AttentionForward(params, d);
          EXPECT_EQ(status, Supports(params));
          return status;
        });
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument)
        << result.status();
    return std::string(result.status().message());
  };
  const Fp8Forward c = Call("lean", 128, Mask::kCausal);
  using Params = AttentionParams;
  EXPECT_EQ(refusal(c, [](Params& p) { p.query_descale = NAN; }),
            "query_descale is nan; allowed: any finite number");
  EXPECT_NE(refusal(c, [](Params& p) { p.output_scale = 2.0f; })
                .find("output_scale is 2"),
            std::string::npos);
  EXPECT_NE(refusal(c, [](Params& p) { p.key.data_type = DataType::kBf16; })
                .find("key.data_type is bf16"),
            std::string::npos);
  EXPECT_NE(refusal(c,
                    [](Params& p) {
                      p.value_descale = ScaleView{.address = 64, .heads = 5};
                    })
                .find("value_descale.heads is 5"),
            std::string::npos);
  EXPECT_NE(refusal(c, [](Params& p) { p.variant = "bf16_d128_causal"; })
                .find("query.data_type is fp8"),
            std::string::npos);
  EXPECT_EQ(device.last_report().instructions_by_class.size(), 0u);
}

// The same call through C, bit by bit.
TEST(AttentionFp8Test, CInterface) {
  zyfa_device* device = nullptr;
  ASSERT_EQ(zyfa_open_emulator(&device), ZYFA_OK) << zyfa_last_error();
  const auto through_c = [device](const AttentionParams& params, Device&) {
    return testing::ForwardInC(params, device);
  };
  for (const int64_t head_dim : {128, 192}) {
    Fp8Forward c = Call("", head_dim, Mask::kFull);
    c.variant.clear();
    c.batch = 2;
    c.heads_q = 4;
    c.heads_kv = 2;
    c.query = ScaleForm::kPerBatchKvHead;
    c.key = ScaleForm::kPerHead;
    c.value = ScaleForm::kOneElement;
    c.output = ScaleForm::kNumber;
    c.fp8_output = true;
    const auto result = RunFp8Forward(c, *device->device, through_c);
    ASSERT_TRUE(result.ok()) << result.status();
    const Fp8ForwardResult direct = RunStrict(c);
    EXPECT_EQ(result->output, direct.output);
    EXPECT_EQ(result->lse, direct.lse);
    EXPECT_LE(result->worst_head, kFp8Bound);
  }
  zyfa_close(device);
}

}  // namespace
}  // namespace zyfa
