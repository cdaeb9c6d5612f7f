#include "zyfa/emu/instruction_set.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "zyfa/emu/decoder.h"

namespace zyfa::emu {
namespace {

// The dwords of one instruction; what it does not need is a literal or ignored.
using Words = std::array<uint32_t, 4>;

constexpr uint32_t kVgpr = 256;  // in source fields of 9 bits

// One encoding: opcode `op` goes into the first dword at `shift`; each pattern
// fills the other fields.
struct Encoding {
  Words fixed;
  int shift;
  uint32_t opcodes;
  std::vector<Words> patterns;
};

constexpr uint32_t Sources(uint32_t a, uint32_t b, uint32_t c) {
  return a | b << 9 | c << 18;
}
constexpr uint32_t Bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return a | b << 8 | c << 16 | d << 24;
}

// Registers are multiples of 8, far enough apart for the largest operands.
std::vector<Encoding> Encodings() {
  const uint32_t a = kVgpr + 40, b = kVgpr + 80, c = kVgpr + 120;
  std::vector<Words> vop3;
  for (const uint32_t sources :
       {Sources(a, b, c), Sources(a, b, 0), Sources(a, 0, 0), Sources(0, 0, 0),
        Sources(a, 16, 0), Sources(16, 18, 0), Sources(a, b, 18)}) {
    for (const uint32_t first : {0x8u, 0xa08u}) {  // with an SGPR result s10
      vop3.push_back({first, sources});
    }
  }
  std::vector<Words> flat;
  for (const uint32_t scalar_base : {0u, 0x7fu, 16u}) {
    for (const uint32_t segment : {0u, 1u << 14, 2u << 14}) {
      for (const uint32_t sc0 : {0u, 1u << 16}) {
        for (const uint32_t address : {4u, 0u}) {
          flat.push_back({segment | sc0, Bytes(address, 40, scalar_base, 8)});
        }
      }
    }
  }
  std::vector<Words> buffer;
  for (const uint32_t modifiers : {0u, 1u << 12, 1u << 16, 1u << 14}) {
    buffer.push_back({modifiers, Bytes(4, 8, 4, 0x80)});
  }
  std::vector<Words> lds;
  for (const uint32_t gds : {0u, 1u << 16}) {
    for (const uint32_t operands :
         {Bytes(4, 40, 80, 8), Bytes(4, 40, 0, 8), Bytes(4, 0, 0, 8),
          Bytes(4, 40, 80, 0), Bytes(4, 40, 0, 0), Bytes(0, 40, 0, 0),
          Bytes(0, 0, 0, 8), Bytes(0, 0, 0, 0), Bytes(4, 0, 0, 0)}) {
      lds.push_back({gds, operands});
    }
  }
  // A scale half in front of each matrix opcode.
  std::vector<Words> scaled;
  for (uint32_t op = 0; op < 0x80; ++op) {
    scaled.push_back({0, Sources(kVgpr + 160, kVgpr + 168, 0),
                      0xd3800808 | op << 16, Sources(a, b, c)});
  }
  return {
      {{0x80000000}, 23, 0x60, {{Bytes(16, 12, 8, 0)}}},  // SOP2
      {{0xb0000000}, 23, 0x20, {{0x00080001}, {0x0008f801}}},
      {{0xbe800000}, 8, 0x100, {{0x00080010}, {0x00080000}, {0x00000010}}},
      {{0xbf000000}, 16, 0x80, {{Bytes(16, 12, 0, 0)}, {Bytes(16, 0, 0, 0)}}},
      {{0xbf800000}, 16, 0x80, {{0}}},
      {{0xc0000000},
       18,
       0x100,
       {{1u << 17 | 16 << 6 | 8}, {1u << 17 | 16 << 6}, {1u << 17 | 8}, {0}}},
      {{0x00000000}, 25, 0x3e, {{a | 80 << 9 | 8 << 17}}},  // VOP2
      {{0x7e000000}, 9, 0x100, {{a | 8 << 17}, {16 | 8 << 17}, {0}}},
      {{0x7c000000}, 17, 0x100, {{a | 80 << 9}}},
      {{0xd0000000}, 16, 0x400, vop3},
      {{0xd3800000}, 16, 0x80, vop3},
      {{0xd3ac0000}, 0, 1, scaled},
      {{0xd8000000}, 17, 0x100, lds},
      {{0xdc000000}, 18, 0x80, flat},
      {{0xe0000000}, 18, 0x80, buffer},
      {{0xe8000000}, 15, 0x10, buffer},
      {{0xd4000000}, 16, 4, {{0}}},       // interpolation
      {{0xf0000000}, 18, 0x80, {{0, 0}}}  // images
  };
}

std::string MnemonicOf(const Instruction& inst) {
  std::string name = inst.text.substr(0, inst.text.find(' '));
  for (const std::string_view suffix :
       {"_e32", "_e64", "_dpp", "_sdwa", "_e64_dpp"}) {
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  }
  return name;
}

}  // namespace

absl::StatusOr<std::map<std::string, std::vector<Instruction>>>
EnumerateInstructionSet() {
  absl::StatusOr<std::unique_ptr<Decoder>> decoder = Decoder::Create();
  if (!decoder.ok()) return decoder.status();
  std::map<std::string, std::vector<Instruction>> all;
  for (const Encoding& encoding : Encodings()) {
    for (uint32_t op = 0; op < encoding.opcodes; ++op) {
      for (const Words& pattern : encoding.patterns) {
        Words words;
        for (size_t w = 0; w < words.size(); ++w) {
          words[w] = encoding.fixed[w] | pattern[w];
        }
        words[0] |= op << encoding.shift;
        uint8_t bytes[sizeof(words)];
        std::memcpy(bytes, words.data(), sizeof(bytes));
        Instruction inst = (*decoder)->Decode(bytes, 0);
        if (inst.registers.empty() && inst.text.starts_with("undecodable")) {
          continue;
        }
        all[MnemonicOf(inst)].push_back(std::move(inst));
      }
    }
  }
  return all;
}

}  // namespace zyfa::emu
