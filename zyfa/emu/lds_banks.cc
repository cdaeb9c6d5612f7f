#include "zyfa/emu/lds_banks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace zyfa::emu {
namespace {

// Lanes served together, as masks; `banks` of 4 bytes.
struct Service {
  std::vector<uint64_t> groups;
  uint32_t banks;
};

uint64_t Lanes(int first, int last) {
  return (last == 63 ? ~uint64_t{0} : (uint64_t{1} << (last + 1)) - 1) &
         ~((uint64_t{1} << first) - 1);
}

// The groups of lanes 0..31, and the same of lanes 32..63.
std::vector<uint64_t> BothHalves(std::vector<uint64_t> low) {
  const size_t count = low.size();
  for (size_t i = 0; i < count; ++i) low.push_back(low[i] << 32);
  return low;
}

std::vector<uint64_t> Consecutive(int lanes) {
  std::vector<uint64_t> groups;
  for (int first = 0; first < 64; first += lanes) {
    groups.push_back(Lanes(first, first + lanes - 1));
  }
  return groups;
}

const Service& ServiceOf(AccessKind kind, uint32_t bytes) {
  static const Service read4{Consecutive(64), 64};
  static const Service read8{Consecutive(32), 64};
  static const Service read12{
      BothHalves({Lanes(0, 3) | Lanes(20, 23), Lanes(4, 7) | Lanes(16, 19),
                  Lanes(8, 11) | Lanes(28, 31), Lanes(12, 15) | Lanes(24, 27)}),
      32};
  static const Service read16{
      BothHalves({Lanes(0, 3) | Lanes(12, 15) | Lanes(20, 27),
                  Lanes(4, 11) | Lanes(16, 19) | Lanes(28, 31)}),
      64};
  static const Service write4{Consecutive(32), 32};
  static const Service write8{Consecutive(16), 32};
  static const Service write16{Consecutive(8), 32};
  if (kind == AccessKind::kRead) {
    return bytes <= 4    ? read4
           : bytes <= 8  ? read8
           : bytes <= 12 ? read12
                         : read16;
  }
  return bytes <= 4 ? write4 : bytes <= 8 ? write8 : write16;
}

}  // namespace

LdsCost CostOf(const LdsAccess& access) {
  LdsCost cost;
  if (access.kind == AccessKind::kDmaWrite) {
    const auto lanes = static_cast<uint32_t>(std::popcount(access.lanes));
    cost.phases = cost.passes = (lanes * access.bytes + 127) / 128;
    return cost;
  }
  const Service& service = ServiceOf(access.kind, access.bytes);
  bool unaligned = false;
  for (const uint64_t group : service.groups) {
    if ((access.lanes & group) == 0) continue;
    // Distinct dwords of each bank.
    std::array<uint32_t, 64 * 4> dwords;
    size_t count = 0;
    for (uint64_t rest = access.lanes & group; rest != 0; rest &= rest - 1) {
      const uint32_t at =
          access.address[std::countr_zero(rest)] + access.offset;
      unaligned |= at % 16 != 0;
      for (uint32_t d = at / 4; d <= (at + access.bytes - 1) / 4; ++d) {
        if (count < dwords.size()) dwords[count++] = d;
      }
    }
    std::sort(dwords.begin(), dwords.begin() + static_cast<ptrdiff_t>(count));
    std::array<uint32_t, 64> load{};
    uint32_t most = 1;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0 && dwords[i] == dwords[i - 1]) continue;
      most = std::max(most, ++load[dwords[i] % service.banks]);
    }
    ++cost.phases;
    cost.passes += most;
  }
  if (unaligned && access.kind == AccessKind::kRead && access.bytes == 16) {
    cost.passes = static_cast<uint32_t>(std::popcount(access.lanes));
  }
  return cost;
}

}  // namespace zyfa::emu
