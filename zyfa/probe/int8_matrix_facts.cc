// The matrix instruction of integer scores, v_mfma_i32_32x32x32_i8.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/numerics/random.h"
#include "zyfa/probe/comparison.h"
#include "zyfa/probe/fact.h"
#include "zyfa/probe/probe_run.h"

namespace zyfa::probe {
namespace {

constexpr int kSide = 32;
constexpr int kLanes = 64;
constexpr uint64_t kSeed = 1;

// A product and its addend.
struct Product {
  int8_t a[kSide][kSide] = {};   // row, k
  int8_t b[kSide][kSide] = {};   // k, column
  int32_t c[kSide][kSide] = {};  // row, column

  // D, unless it is too large.
  int64_t Sum(int i, int j) const {
    int64_t sum = c[i][j];
    for (int k = 0; k < kSide; ++k) sum += a[i][k] * b[k][j];
    return sum;
  }
};

// The row of an addend or a sum (cdna4-isa 1.1); its column is lane % 32.
int RowOf(int lane, int r) { return 8 * (r / 4) + 4 * (lane / 32) + r % 4; }

std::vector<Int8Input> Lanes(const std::vector<Product>& products) {
  std::vector<Int8Input> lanes;
  for (const Product& p : products) {
    for (int l = 0; l < kLanes; ++l) {
      Int8Input in = {};
      for (int e = 0; e < 16; ++e) {
        const int k = 16 * (l / 32) + e;
        const auto a = static_cast<uint8_t>(p.a[l % 32][k]);
        const auto b = static_cast<uint8_t>(p.b[k][l % 32]);
        in.a[e / 4] |= uint32_t{a} << e % 4 * 8;
        in.b[e / 4] |= uint32_t{b} << e % 4 * 8;
      }
      for (int r = 0; r < 16; ++r) {
        in.c[r] = static_cast<uint32_t>(p.c[RowOf(l, r)][l % 32]);
      }
      lanes.push_back(in);
    }
  }
  return lanes;
}

// Every number of every matrix from a word of its own.
Product Make(uint64_t stream, int8_t (*element)(uint32_t word),
             int32_t (*addend)(uint32_t word)) {
  Product p;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      const auto words = numerics::RandomWords(
          kSeed, stream, static_cast<uint64_t>(kSide * i + j));
      p.a[i][j] = element(words[0]);
      p.b[i][j] = element(words[1]);
      p.c[i][j] = addend(words[2]);
    }
  }
  return p;
}

// Of any int8, and of both ends alone; the kernels' addends are below 2^30.
std::vector<Product> Needed() {
  const auto addend = [](uint32_t w) { return static_cast<int32_t>(w) / 2; };
  const auto any = [](uint32_t w) { return static_cast<int8_t>(w >> 24); };
  const auto end = [](uint32_t w) {
    return w % 2 != 0 ? int8_t{127} : int8_t{-128};
  };
  // The largest sums too.
  const auto largest = [](uint32_t) { return int8_t{-128}; };
  const auto top = [](uint32_t) { return int32_t{1} << 30; };
  const auto bottom = [](uint32_t) { return -(int32_t{1} << 30); };
  return {Make(0, any, addend), Make(1, end, addend), Make(2, end, bottom),
          Make(3, largest, top)};
}

// 2^31 - 1 + 1 and -2^31 - 1, both in the first lane.
Product Overflowing() {
  Product p;
  p.c[0][0] = std::numeric_limits<int32_t>::max();
  p.c[1][0] = std::numeric_limits<int32_t>::min();
  p.a[0][0] = 1;
  p.a[1][0] = -1;
  p.b[0][0] = 1;
  return p;
}

Fact OverflowFact(const std::string& name, const uint32_t* sums) {
  return {name, absl::StrFormat("%08x %08x", sums[0], sums[1]), ""};
}

double Number(uint32_t x) {
  return static_cast<double>(static_cast<int32_t>(x));
}

}  // namespace

absl::StatusOr<std::vector<Fact>> Int8MatrixFacts(Device& device) {
  std::vector<Product> products = Needed();
  const size_t needed = products.size();
  products.push_back(Overflowing());
  const auto results = RunInt8(device, Lanes(products));
  if (!results.ok()) return results.status();

  Comparison apart, in_place, bare;
  for (size_t n = 0; n < needed; ++n) {
    for (int l = 0; l < kLanes; ++l) {
      const Int8Result& out = (*results)[n * kLanes + static_cast<size_t>(l)];
      for (int r = 0; r < 16; ++r) {
        const int i = RowOf(l, r), j = l % kSide;
        const std::string place =
            absl::StrCat("product ", n, ", row ", i, ", column ", j);
        const auto sum = static_cast<double>(products[n].Sum(i, j));
        apart.Add(place, Number(out.apart[r]), sum);
        in_place.Add(place, Number(out.in_place[r]), sum);
        bare.Add(place, Number(out.bare[r]), sum - products[n].c[i][j]);
      }
    }
  }
  const std::string name = "v_mfma_i32_32x32x32_i8: ";
  const std::string past = name + "2^31 - 1 + 1, -2^31 - 1, FP16_OVFL = ";
  const Int8Result& out = (*results)[needed * kLanes];
  return std::vector<Fact>{
      apart.Needed(name + "C apart from D"),
      in_place.Needed(name + "D is C"),
      bare.Needed(name + "C is the constant 0"),
      OverflowFact(past + "0", out.apart),
      OverflowFact(past + "1", out.clamped),
  };
}

}  // namespace zyfa::probe
