#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "zyfa/probe/fact.h"
#include "zyfa/probe/lean.h"
#include "zyfa/probe/probe_run.h"

namespace zyfa::probe {
namespace {

constexpr uint32_t kOld = 0xa5c3963c;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

uint32_t F(float x) { return std::bit_cast<uint32_t>(x); }

// A question: operands, what of the results to show, and what is needed. The
// answer is the list of what is shown, one entry an operand.
struct Question {
  const char* name;
  std::vector<VectorInput> inputs;
  std::string (*show)(const VectorResult&);
  const char* needed = "";  // "": anything goes
};

std::string Hex(uint32_t x) { return absl::StrFormat("%08x", x); }
std::string LowByte(uint32_t x) { return absl::StrFormat("%02x", x & 0xff); }

VectorInput Integer(int a) { return {static_cast<uint32_t>(a), 0, 0, kOld}; }
VectorInput Number(float a, float b = 0, float c = 0) {
  return {F(a), F(b), F(c), kOld};
}

std::vector<Question> Questions() {
  const auto low_byte_of_ashr = [](const VectorResult& r) {
    return absl::StrCat(r.ashr_low & 0xff);
  };
  const auto byte_1 = [](const VectorResult& r) {
    return absl::StrCat(r.byte_1 >> 8 & 0xff);
  };
  const auto scaled = [](const VectorResult& r) {
    return LowByte(r.scaled_low);
  };
  const auto scaled_clamped = [](const VectorResult& r) {
    return LowByte(r.scaled_clamped);
  };
  // Sums of 3 and fractions of the smallest denormal, from normal operands.
  const auto tie = [](float fraction) {
    return Number((3 + fraction) * 0x1p-49f, 0x1p-100f);
  };
  return {
      {"v_ashr_pk_u8_i32: 0.5, 1.996, 2, 3.5 by 256",
       {Integer(128), Integer(511), Integer(512), Integer(896)},
       low_byte_of_ashr,
       "0 1 2 3"},
      {"v_ashr_pk_u8_i32: 255.99, 256, 2^23, -0.004, -2^23 by 256",
       {Integer(65535), Integer(65536), Integer(0x7fffffff), Integer(-1),
        Integer(-0x7fffffff - 1)},
       low_byte_of_ashr,
       "255 255 255 0 0"},
      {"v_ashr_pk_u8_i32: low half on a5c3963c",
       {{0x1200, 0x3400, 0, kOld}},
       [](const VectorResult& r) { return Hex(r.ashr_low); },
       "a5c33412"},
      {"v_ashr_pk_u8_i32: high half on a5c3963c",
       {{0x1200, 0x3400, 0, kOld}},
       [](const VectorResult& r) { return Hex(r.ashr_high); },
       "3412963c"},
      {"v_fma_f32: 1, 5, -3, 32384 times 2^-149",
       {Number(0x1p-49f, 0x1p-100f), Number(0x1.4p-47f, 0x1p-100f),
        Number(-0x1.8p-48f, 0x1p-100f), Number(0x1.fap-35f, 0x1p-100f)},
       [](const VectorResult& r) { return Hex(r.fma); },
       "00000001 00000005 80000003 00007e80"},
      {"v_fma_f32: denormal addends, 0x100 + 2^-149",
       {{F(0x1p-49f), F(0x1p-100f), 0x100, kOld}},
       [](const VectorResult& r) { return Hex(r.fma); },
       "00000101"},
      {"v_fma_f32: 3.25, 3.5, 3.75, 4.5 times 2^-149",
       {tie(0.25f), tie(0.5f), tie(0.75f), tie(1.5f)},
       [](const VectorResult& r) { return absl::StrCat(r.fma); },
       "3 4 4 4"},
      {"v_cvt_pk_u8_f32: 0.25, 0.5, 0.75, 1.5, 2.5",
       {Number(0.25f), Number(0.5f), Number(0.75f), Number(1.5f), Number(2.5f)},
       byte_1},
      {"v_cvt_pk_u8_f32: -1, 255.75, 300, NaN",
       {Number(-1), Number(255.75f), Number(300), Number(kNan)},
       byte_1},
      {"v_cvt_scalef32_pk_fp8_f32: 4 with scale 2 and 3, codes",
       {Number(4, 0, 2), Number(4, 0, 3)},
       scaled,
       "40 40"},
      {"v_cvt_scalef32_pk_fp8_f32: 17/16, 19/16, 1.5 * 2^-9, 2^-10, codes",
       {Number(1.0625f, 0, 1), Number(1.1875f, 0, 1), Number(0x1.8p-9f, 0, 1),
        Number(0x1p-10f, 0, 1)},
       scaled,
       "38 3a 02 00"},
      {"v_cvt_scalef32_pk_fp8_f32: 464, 1000, inf, FP16_OVFL = 0",
       {Number(464, 0, 1), Number(1000, 0, 1), Number(kInfinity, 0, 1)},
       scaled},
      {"v_cvt_scalef32_pk_fp8_f32: 464, 1000, inf, FP16_OVFL = 1",
       {Number(464, 0, 1), Number(1000, 0, 1), Number(kInfinity, 0, 1)},
       scaled_clamped,
       "7e 7e 7e"},
      {"v_cvt_scalef32_pk_fp8_f32: low half on a5c3963c",
       {Number(1, 2, 1)},
       [](const VectorResult& r) { return Hex(r.scaled_low); },
       "a5c34038"},
      {"v_cvt_scalef32_pk_fp8_f32: high half on a5c3963c",
       {Number(1, 2, 1)},
       [](const VectorResult& r) { return Hex(r.scaled_high); },
       "4038963c"},
      {"v_cvt_pk_fp8_f32: 1000, -inf, FP16_OVFL = 1",
       {Number(1000), Number(-kInfinity)},
       [](const VectorResult& r) { return LowByte(r.fp8_clamped); },
       "7e fe"},
      {"v_exp_f32: 0, -1, -126",
       {Number(0), Number(-1), Number(-126)},
       [](const VectorResult& r) { return Hex(r.exp); },
       "3f800000 3f000000 00800000"},
      {"v_exp_f32: -127, -149",
       {Number(-127), Number(-149)},
       [](const VectorResult& r) { return Hex(r.exp); }},
  };
}

}  // namespace

absl::StatusOr<std::vector<Fact>> VectorFacts(Device& device) {
  const std::vector<Question> questions = Questions();
  std::vector<VectorInput> inputs;
  for (const Question& q : questions) {
    inputs.insert(inputs.end(), q.inputs.begin(), q.inputs.end());
  }
  const auto results = RunVector(device, inputs);
  if (!results.ok()) return results.status();
  std::vector<Fact> facts;
  auto result = results->begin();
  for (const Question& q : questions) {
    std::vector<std::string> seen;
    for (size_t i = 0; i < q.inputs.size(); ++i) {
      seen.push_back(q.show(*result++));
    }
    Fact fact = {q.name, absl::StrJoin(seen, " "), q.needed};
    if (!fact.needed.empty()) {
      fact.verdict = fact.seen == fact.needed ? Verdict::kOk : Verdict::kNotOk;
    }
    facts.push_back(std::move(fact));
  }

  Fact lean = {"lean P: addend that puts the top on code 126", "",
               "126 to 126.5"};
  const absl::StatusOr<float> top = ProbeLean(device);
  if (top.ok()) {
    lean.seen = absl::StrCat(*top);
    lean.verdict =
        *top >= 126 && *top <= 126.5f ? Verdict::kOk : Verdict::kNotOk;
  } else if (top.status().code() == absl::StatusCode::kFailedPrecondition) {
    lean.seen = std::string(top.status().message());
    lean.verdict = Verdict::kNotOk;
  } else {
    return top.status();
  }
  facts.push_back(std::move(lean));
  return facts;
}

}  // namespace zyfa::probe
