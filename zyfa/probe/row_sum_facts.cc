// The sparse matrix instruction of row sums, v_smfmac_f32_16x16x128_fp8_fp8.

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/random.h"
#include "zyfa/probe/comparison.h"
#include "zyfa/probe/fact.h"
#include "zyfa/probe/probe_run.h"

namespace zyfa::probe {
namespace {

constexpr int kSide = 16;  // rows, columns, and values of A in a lane
constexpr int kLanes = 64;
constexpr uint64_t kSeed = 1;
// Places of two values of A among four, eight times.
constexpr uint32_t kFirstTwo = 0x44444444;  // 0 and 1
constexpr uint32_t kLastTwo = 0xeeeeeeee;   // 2 and 3
constexpr uint8_t kOne = 0x38;
constexpr uint8_t kLargestCode = 126;

// One wave's operands.
using Wave = std::vector<SparseInput>;

uint32_t Word(uint64_t stream, int index) {
  return numerics::RandomWords(kSeed, stream, static_cast<uint64_t>(index))[0];
}

double Value(uint8_t code) { return double{numerics::E4m3{code}.ToFloat()}; }
double ByteValue(const uint32_t* registers, int e) {
  return Value(static_cast<uint8_t>(registers[e / 4] >> e % 4 * 8));
}
void SetByte(uint32_t* registers, int e, uint8_t code) {
  registers[e / 4] |= uint32_t{code} << e % 4 * 8;
}
double Float(uint32_t bits) { return double{std::bit_cast<float>(bits)}; }

// Row i and column j of the sum (cdna4-isa 1.3).
double Sum(const Wave& wave, int i, int j) {
  const auto lane = [&](int group, int of_group) -> const SparseInput& {
    return wave[static_cast<size_t>(kSide * group + of_group)];
  };
  double sum = Float(lane(i / 4, j).d[i % 4]);
  for (int group = 0; group < kLanes / kSide; ++group) {
    const SparseInput& row = lane(group, i);
    for (int c = 0; c < kSide; ++c) {
      const int place = static_cast<int>(row.places >> (2 * c) & 3);
      const int k = 32 * group + 4 * (c / 2) + place;
      sum += ByteValue(row.a, c) *
             ByteValue(lane(k % 64 / 16, j).b, k / 64 * 16 + k % 16);
    }
  }
  return sum;
}

// A and B of numbers whose sums have few bits, whatever their order.
Wave Numbers(uint64_t stream, uint32_t (*places)(int lane)) {
  Wave wave(kLanes);
  for (int l = 0; l < kLanes; ++l) {
    SparseInput& lane = wave[static_cast<size_t>(l)];
    for (int e = 0; e < 32; ++e) {
      const uint32_t word = Word(stream, 32 * l + e);
      // 1, 1.5, 2, 3 to 12 and their negatives.
      const auto code = [](uint32_t bits) {
        return static_cast<uint8_t>((kOne + bits % 8 * 4) | (bits & 8) << 4);
      };
      if (e < kSide) SetByte(lane.a, e, code(word));
      SetByte(lane.b, e, code(word >> 8));
    }
    lane.places = places(l);
  }
  return wave;
}

uint32_t FirstTwo(int) { return kFirstTwo; }
uint32_t LastTwo(int) { return kLastTwo; }
uint32_t TwoByRow(int lane) { return lane % 2 == 0 ? kFirstTwo : kLastTwo; }
uint32_t AnyTwo(int lane) {
  constexpr uint32_t kPairs[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  uint32_t places = 0;
  for (int i = 0; i < 8; ++i) {
    places = places << 4 | kPairs[Word(20, 8 * lane + i) % 6];
  }
  return places;
}

Wave WithSums(Wave wave) {
  for (int l = 0; l < kLanes; ++l) {
    for (int r = 0; r < 4; ++r) {
      const auto x = static_cast<int8_t>(Word(21, 4 * l + r));
      wave[static_cast<size_t>(l)].d[r] =
          std::bit_cast<uint32_t>(static_cast<float>(x));
    }
  }
  return wave;
}

Comparison AllElements(const Wave& wave, const SparseResult* results) {
  Comparison elements;
  for (int l = 0; l < kLanes; ++l) {
    for (int r = 0; r < 4; ++r) {
      const int i = 4 * (l / kSide) + r, j = l % kSide;
      elements.Add(absl::StrCat("row ", i, ", column ", j),
                   Float(results[l].d[r]), Sum(wave, i, j));
    }
  }
  return elements;
}

using Code = uint8_t (*)(int query, int key);

uint8_t AnyCode(int query, int key) {
  return static_cast<uint8_t>(Word(22, 64 * query + key) % (kLargestCode + 1));
}
// Two of the smallest number among the largest, for each query in other places.
uint8_t FarApart(int query, int key) {
  return key % 32 == query ? 1 : kLargestCode;
}

// As the kernels have it: lanes l and l + 32 hold the codes of query l. Lane
// group g gets rows 4 g .. 4 g + 3 of its column, which stands for two queries:
// their ones are for the lane's own, those of the first row for half of the
// codes, those of the second for the others.
Wave RowSums(Code code) {
  Wave wave(kLanes);
  for (int l = 0; l < kLanes; ++l) {
    SparseInput& lane = wave[static_cast<size_t>(l)];
    for (int e = 0; e < 32; ++e) {
      SetByte(lane.b, e, code(l % 32, l / 32 * 32 + e));
    }
    const int row = l % kSide;
    for (int c = 0; c < kSide; ++c) {
      if (row % 4 < 2 && c / 8 == row / 4 % 2) SetByte(lane.a, c, kOne);
    }
    lane.places = TwoByRow(l);
  }
  return wave;
}

Comparison Queries(Code code, const SparseResult* results) {
  Comparison queries;
  for (int l = 0; l < kLanes; ++l) {
    double sum = 0.0;
    for (int key = 0; key < 64; ++key) sum += Value(code(l % 32, key));
    queries.Add(absl::StrCat("lane ", l),
                Float(results[l].d[0]) + Float(results[l].d[1]), sum);
  }
  return queries;
}

}  // namespace

absl::StatusOr<std::vector<Fact>> RowSumFacts(Device& device) {
  const std::vector<Wave> waves = {Numbers(10, FirstTwo),
                                   Numbers(11, LastTwo),
                                   Numbers(12, TwoByRow),
                                   Numbers(13, AnyTwo),
                                   WithSums(Numbers(14, TwoByRow)),
                                   RowSums(AnyCode),
                                   RowSums(FarApart)};
  Wave inputs;
  for (const Wave& wave : waves) {
    inputs.insert(inputs.end(), wave.begin(), wave.end());
  }
  const auto results = RunSparse(device, inputs);
  if (!results.ok()) return results.status();
  const auto of = [&](size_t wave) { return &(*results)[kLanes * wave]; };
  const auto elements = [&](size_t wave) {
    return AllElements(waves[wave], of(wave));
  };
  const std::string name = "v_smfmac_f32_16x16x128_fp8_fp8: ";
  return std::vector<Fact>{
      elements(0).Needed(name + "the first two of four"),
      elements(1).Needed(name + "the last two of four"),
      elements(2).Needed(name + "the first or last two, by row"),
      elements(3).Informative(name + "any two of four"),
      elements(4).Needed(name + "D is added to"),
      Queries(AnyCode, of(5)).Needed(name + "sums of codes 0 .. 126"),
      Queries(FarApart, of(6))
          .Needed(name + "sums of 62 codes 126 and 2 codes 1"),
  };
}

}  // namespace zyfa::probe
