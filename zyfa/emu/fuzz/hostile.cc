#include "zyfa/emu/fuzz/hostile.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

namespace zyfa::emu {

std::vector<std::string> CodeObjectPaths() {
  std::vector<std::string> paths;
  for (const char* folder : {"zyfa/emu/testdata", "zyfa/kernels"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".co") {
        paths.push_back(entry.path().string());
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<uint8_t> RandomWords(Random& random, size_t count) {
  // SOPP, SOP1, SOPK, SOP2, VOP3, VOP3P, DS, FLAT, MUBUF, SMEM, VOP1, VOPC,
  // VOP2.
  static constexpr uint32_t kTops[] = {
      0xbf800000, 0xbe800000, 0xb0000000, 0x80000000, 0xd1000000,
      0xd3800000, 0xd8000000, 0xdc000000, 0xe0000000, 0xc0000000,
      0x7e000000, 0x7c000000, 0x20000000};
  static constexpr uint32_t kKept[] = {
      0x007fffff, 0x007fffff, 0x0fffffff, 0x3fffffff, 0x02ffffff,
      0x007fffff, 0x03ffffff, 0x03ffffff, 0x03ffffff, 0x03ffffff,
      0x01ffffff, 0x01ffffff, 0x5fffffff};
  std::vector<uint8_t> bytes(4 * count);
  for (size_t i = 0; i < count; ++i) {
    auto word = static_cast<uint32_t>(random());
    if (random() % 2 == 0) {
      const size_t encoding = random() % std::size(kTops);
      word = kTops[encoding] | (word & kKept[encoding]);
    }
    std::memcpy(bytes.data() + 4 * i, &word, 4);
  }
  return bytes;
}

uint32_t FlipBits(Random& random, uint32_t word) {
  for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
    word ^= 1u << random() % 32;
  }
  return word;
}

bool IsPrintable(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~';
  });
}

}  // namespace zyfa::emu
