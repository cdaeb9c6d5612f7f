#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/probe/fact.h"
#include "zyfa/probe/probe_run.h"

namespace zyfa::probe {
namespace {

// Products of e4m3 numbers span 2^-18 to 2^16. `kBig` and its negative cancel,
// and what becomes of a smaller number tells how they were added up.
constexpr int kBig = 16;
constexpr int kSmall = -18;

using Sums = std::vector<float>;

// A question: products, and what their sums say.
struct Question {
  const char* name;
  std::vector<Dot> dots;
  std::function<std::string(const Sums&)> show;
  const char* needed = "";  // "": anything goes
};

std::string Values(const Sums& sums) {
  std::string text;
  for (const float x : sums) {
    absl::StrAppend(&text, text.empty() ? "" : " ",
                    absl::StrFormat("%g", static_cast<double>(x)));
  }
  return text;
}

// "survives" or "lost"
std::string Survives(const Sums& sums) {
  return sums[0] != 0 ? "survives" : "lost";
}

// The smallest i from which on no sum is 0.
std::string FirstSurvivor(const Sums& sums, int from) {
  size_t i = sums.size();
  while (i > 0 && sums[i - 1] != 0) --i;
  if (i == sums.size()) return "never";
  return absl::StrCat(static_cast<int>(i) + from);
}

// 2^16 and -2^16 at k = 0 and 1, 2^-18 behind them.
Question GroupLength() {
  Question q;
  q.name =
      "cancellation at k = 0, 1: a term 34 binades below survives from k =";
  for (int k = 2; k < 64; ++k) {
    q.dots.push_back(Dot().Add(0, kBig).Add(1, kBig, true).Add(k, kSmall));
  }
  q.show = [](const Sums& sums) { return FirstSurvivor(sums, 2); };
  return q;
}

// A term n binades below two that cancel, all at even places of one group.
Question AlignmentBits() {
  Question q;
  q.name =
      "cancellation around it: a term survives up to so many binades below";
  for (int n = 1; n <= kBig - kSmall; ++n) {
    q.dots.push_back(Dot().Add(0, kBig).Add(2, kBig - n).Add(4, kBig, true));
  }
  q.show = [](const Sums& sums) {
    size_t n = 0;
    while (n < sums.size() && sums[n] != 0) ++n;
    return n == sums.size() ? absl::StrCat(n, " or more") : absl::StrCat(n);
  };
  return q;
}

// A negative term below the alignment of the group, at k = 4 under numbers that
// cancel at `k` and k + 2: if even and odd places have sums of their own, it
// matters where.
Question Direction(const char* name, int k) {
  Question q;
  q.name = name;
  q.dots = {Dot().Add(k, kBig).Add(4, kSmall, true).Add(k + 2, kBig, true)};
  q.show = [](const Sums& sums) -> std::string {
    if (sums[0] == 0) return "toward zero";
    return sums[0] == -0x1p-18f ? "nothing" : "down";
  };
  return q;
}

// D rounds to nearest even: odd multiples of half a unit of 2^24 and 2^24 + 2.
Question Rounding() {
  Question q;
  q.name = "2^24 + 1, 2^24 + 3, 2^24 - 1.5, -2^24 - 1: offset from 2^24";
  const auto dot = [](float c, bool negative) {
    Dot d;
    d.c = c;
    d.Add(0, 0, negative);
    return d;
  };
  q.dots = {dot(0x1p24f, false), dot(0x1p24f + 2, false)};
  q.dots.push_back(Dot().Add(0, 0, true).Add(2, -1, true));
  q.dots.back().c = 0x1p24f;
  q.dots.push_back(dot(-0x1p24f, true));
  q.show = [](const Sums& s) {
    return Values(
        {s[0] - 0x1p24f, s[1] - 0x1p24f, s[2] - 0x1p24f, s[3] + 0x1p24f});
  };
  return q;
}

// C = 2^24 and a product of just more than half a unit of it.
Question Sticky() {
  Question q;
  q.name = "2^24 + (1 + 2^-18) as C and products: offset from 2^24";
  q.dots = {Dot().Add(0, 0).Add(2, kSmall)};
  q.dots[0].c = 0x1p24f;
  q.show = [](const Sums& s) { return Values({s[0] - 0x1p24f}); };
  return q;
}

// C n binades below products that cancel in two halves of k.
Question SmallAddend() {
  Question q;
  q.name = "C survives under products that cancel up to so many binades below";
  for (int n = 1; n <= 40; ++n) {
    q.dots.push_back(Dot().Add(0, kBig).Add(63, kBig, true));
    q.dots.back().c = std::ldexp(1.0f, kBig - n);
  }
  q.show = [](const Sums& sums) {
    size_t n = 0;
    while (n < sums.size() && sums[n] != 0) ++n;
    return n == sums.size() ? absl::StrCat(n, " or more") : absl::StrCat(n);
  };
  return q;
}

// C that cancels a product, with a term far below.
Question LargeAddend() {
  Question q;
  q.name = "C cancels a product: a term 34 binades below";
  q.dots = {Dot().Add(0, kBig).Add(2, kSmall)};
  q.dots[0].c = -0x1p16f;
  q.show = Survives;
  return q;
}

// The order k = 0, 1, 2 of a chain loses a small term in front.
Question SmallFirst() {
  Question q;
  q.name = "a term 34 binades below at k = 0, cancellation at k = 16, 32";
  q.dots = {Dot().Add(0, kSmall).Add(16, kBig).Add(32, kBig, true)};
  q.show = Survives;
  return q;
}

// Two halves of k whose scales differ.
Question Scales() {
  Question q;
  q.name = "scales 2^3 for k < 32, 2^5 behind: terms 1 and 1";
  Dot dot = Dot().Add(5, 0).Add(40, 0);
  dot.scale_a[0] = 127 + 3;
  dot.scale_b[1] = 127 + 5;
  q.dots = {dot, Dot().Add(5, 0), Dot().Add(40, 0)};
  for (size_t i = 1; i < q.dots.size(); ++i) {
    q.dots[i].scale_a[0] = dot.scale_a[0];
    q.dots[i].scale_b[1] = dot.scale_b[1];
  }
  q.show = Values;
  q.needed = "40 8 32";
  return q;
}

// Whether halves are aligned before or behind their scales: terms of 2^0 that
// cancel behind scales, and one far below them in the second half.
Question ScaledHalves() {
  Question q;
  q.name = "2^34 and -2^34 in k < 32, a term 2^-18 behind";
  q.dots = {Dot().Add(0, kBig).Add(2, kBig, true).Add(34, kSmall)};
  q.dots[0].scale_a[0] = 127 + 18;
  q.show = Survives;
  return q;
}

Question ExtremeScales() {
  Question q;
  q.name = "1 with scale bytes 0, 1, 254, 255, times 2^127 where below 1";
  for (const int scale : {0, 1, 254, 255}) {
    q.dots.push_back(Dot().Add(0, 0));
    q.dots.back().scale_a[0] = static_cast<uint8_t>(scale);
  }
  q.show = [](const Sums& s) {
    return absl::StrFormat("%g %g %s %s", static_cast<double>(s[0]) * 0x1p127,
                           static_cast<double>(s[1]) * 0x1p127,
                           s[2] == 0x1p127f ? "2^127" : "other",
                           std::isnan(s[3]) ? "nan" : "number");
  };
  return q;
}

Question SubnormalInputs() {
  Question q;
  q.name = "e4m3 codes 1, 7, 0x81 times 1, in 2^-9";
  for (const int code : {1, 7, 0x81}) {
    q.dots.emplace_back();
    q.dots.back().codes[0] = {static_cast<uint8_t>(code), 0x38};
  }
  q.show = [](const Sums& s) {
    return Values({s[0] * 512, s[1] * 512, s[2] * 512});
  };
  q.needed = "1 7 -1";
  return q;
}

Question SubnormalSums() {
  Question q;
  q.name = "subnormal C, subnormal D, in 2^-149";
  q.dots = {Dot(), Dot().Add(0, 0)};
  q.dots[0].c = 0x1.8p-140f;
  q.dots[1].scale_a[0] = 127 - 70;
  q.dots[1].scale_b[0] = 127 - 70;
  q.show = [](const Sums& s) {
    return absl::StrCat(std::bit_cast<uint32_t>(s[0]), " ",
                        std::bit_cast<uint32_t>(s[1]));
  };
  return q;
}

Question NotANumber() {
  Question q;
  q.name = "e4m3 codes 0x7e, 0x7f, 0xff times 1";
  for (const int code : {0x7e, 0x7f, 0xff}) {
    q.dots.emplace_back();
    q.dots.back().codes[0] = {static_cast<uint8_t>(code), 0x38};
  }
  q.show = [](const Sums& s) {
    return absl::StrFormat("%g %s %s", static_cast<double>(s[0]),
                           std::isnan(s[1]) ? "nan" : "number",
                           std::isnan(s[2]) ? "nan" : "number");
  };
  // The largest code of P; OCP, not FNUZ, encodings.
  q.needed = "448 nan nan";
  return q;
}

}  // namespace

absl::StatusOr<std::vector<Fact>> MatrixFacts(Device& device) {
  const std::vector<Question> questions = {
      GroupLength(),
      AlignmentBits(),
      Direction("cut off a negative term at k = 4, cancellation at k = 0, 2",
                0),
      Direction("cut off a negative term at k = 4, cancellation at k = 1, 3",
                1),
      SmallFirst(),
      Rounding(),
      Sticky(),
      SmallAddend(),
      LargeAddend(),
      Scales(),
      ScaledHalves(),
      ExtremeScales(),
      SubnormalInputs(),
      SubnormalSums(),
      NotANumber(),
  };
  std::vector<Dot> dots;
  for (const Question& q : questions) {
    dots.insert(dots.end(), q.dots.begin(), q.dots.end());
  }
  const auto sums = RunDots(device, dots);
  if (!sums.ok()) return sums.status();
  std::vector<Fact> facts;
  auto sum = sums->begin();
  for (const Question& q : questions) {
    const auto end = sum + static_cast<std::ptrdiff_t>(q.dots.size());
    Fact fact = {absl::StrCat("fp8 matrix: ", q.name), q.show(Sums(sum, end)),
                 q.needed};
    sum = end;
    if (!fact.needed.empty()) {
      fact.verdict = fact.seen == fact.needed ? Verdict::kOk : Verdict::kNotOk;
    }
    facts.push_back(std::move(fact));
  }
  return facts;
}

}  // namespace zyfa::probe
