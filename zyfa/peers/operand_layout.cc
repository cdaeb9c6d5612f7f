#include "zyfa/peers/operand_layout.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "zyfa/numerics/e8m0.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/element_codes.h"
#include "zyfa/peers/quantize.h"

namespace zyfa::peers {
namespace {

constexpr int64_t kTile = 128;  // keys
constexpr int64_t kFp4Tile = 8192;
constexpr int64_t kFp6KeyTile = 17408;
constexpr int64_t kFp6KeySecondPart = 8192;
constexpr int64_t kFp6KeyScales = 16384;
constexpr int64_t kFp6KeyShiftedScales = 16896;
constexpr int64_t kFp6ValueTile = 12288;
constexpr int64_t kValueScaleTile = 512;
// Free bytes behind AITER's buffers.
constexpr int64_t kFp6Slack = 256;
constexpr int64_t kFp4ValueSlack = 64;
// The kernels read whole tiles of scales, and one tile ahead: into what AITER's
// allocator leaves mapped behind the tensors.
constexpr int64_t kScaleSlackRows = 512;
constexpr int64_t kValueScaleSlack = 1024;

int64_t Tiles(int64_t keys) { return (keys + kTile - 1) / kTile; }

void OrBits(uint8_t* bytes, int64_t bit, int bits, uint32_t code) {
  for (int b = 0; b < bits; ++b, ++bit) {
    bytes[bit / 8] |= static_cast<uint8_t>(((code >> b) & 1) << (bit % 8));
  }
}

int64_t Element(const Extent& e, int64_t batch, int64_t seq, int64_t head,
                int64_t dim) {
  return ((batch * e.seq + seq) * e.heads + head) * e.dim + dim;
}

// 32 elements of a row, packed as PackRows says.
std::array<uint8_t, 24> PackedBlock(const QuantizedTensor& t, int64_t first) {
  std::array<uint8_t, 24> bytes{};
  const int bits = ElementBits(t.format.format);
  for (int64_t i = 0; i < kScaleBlock; ++i) {
    const int64_t source = bits == 6 ? (i % 2 == 0 ? i / 2 : 16 + i / 2) : i;
    OrBits(bytes.data(), i * bits, bits,
           t.codes[static_cast<size_t>(first + source)]);
  }
  return bytes;
}

template <class T>
std::vector<uint8_t> Bytes(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

void AddFloatScales(const QuantizedTensor& t, PackedOperand& out) {
  out.scales = Bytes(t.float_scales);
  if (t.format.scaling == Scaling::kPerChannel) {
    out.scale_head_stride = t.extent.dim * 4;
    out.scale_batch_stride = t.extent.heads * out.scale_head_stride;
  }
}

void AddRowScales(const QuantizedTensor& t, PackedOperand& out) {
  for (numerics::E8m0 scale : t.block_scales) out.scales.push_back(scale.code);
  out.scales.resize(out.scales.size() +
                    static_cast<size_t>(kScaleSlackRows * t.extent.heads *
                                        t.extent.dim / kScaleBlock));
  out.scale_head_stride = t.extent.dim / kScaleBlock;
  out.scale_batch_stride =
      t.extent.seq * t.extent.heads * out.scale_head_stride;
}

// Room for `tile` bytes a tile, batch and head, and the strides of it.
PackedOperand Tiled(const Extent& e, int64_t tile, int64_t slack) {
  PackedOperand out;
  out.seq_stride = tile / kTile;
  out.head_stride = Tiles(e.seq) * tile;
  out.batch_stride = e.heads * out.head_stride;
  out.data.assign(static_cast<size_t>(e.batch * out.batch_stride + slack), 0);
  return out;
}

// Calls visit(tile's first byte, batch, seq, head) for all rows.
template <class Visit>
void ForEachRow(const Extent& e, const PackedOperand& out, int64_t tile,
                Visit visit) {
  for (int64_t batch = 0; batch < e.batch; ++batch) {
    for (int64_t head = 0; head < e.heads; ++head) {
      for (int64_t seq = 0; seq < e.seq; ++seq) {
        visit(batch * out.batch_stride + head * out.head_stride +
                  seq / kTile * tile,
              batch, seq, head);
      }
    }
  }
}

PackedOperand PackFp4Key(const QuantizedTensor& t) {
  PackedOperand out = Tiled(t.extent, kFp4Tile, 0);
  ForEachRow(t.extent, out, kFp4Tile,
             [&](int64_t base, int64_t batch, int64_t seq, int64_t head) {
               for (int64_t g = 0; g < t.extent.dim / kScaleBlock; ++g) {
                 const auto block = PackedBlock(
                     t, Element(t.extent, batch, seq, head, g * kScaleBlock));
                 std::memcpy(&out.data[static_cast<size_t>(base + g * 2048 +
                                                           seq % kTile * 16)],
                             block.data(), 16);
               }
             });
  AddRowScales(t, out);
  return out;
}

PackedOperand PackFp6Key(const QuantizedTensor& t) {
  PackedOperand out = Tiled(t.extent, kFp6KeyTile, kFp6Slack);
  ForEachRow(
      t.extent, out, kFp6KeyTile,
      [&](int64_t base, int64_t batch, int64_t seq, int64_t head) {
        const int64_t quarter = seq % kTile / 32;
        const int64_t row = seq % 32;
        for (int64_t g = 0; g < 4; ++g) {
          const int64_t element =
              Element(t.extent, batch, seq, head, g * kScaleBlock);
          const auto block = PackedBlock(t, element);
          std::memcpy(&out.data[static_cast<size_t>(base + quarter * 2048 +
                                                    g * 512 + row * 16)],
                      block.data(), 16);
          std::memcpy(&out.data[static_cast<size_t>(base + kFp6KeySecondPart +
                                                    quarter * 1024 + g * 256 +
                                                    row * 8)],
                      block.data() + 16, 8);
          const uint8_t scale =
              t.block_scales[static_cast<size_t>(element / kScaleBlock)].code;
          const auto place = [](int64_t key) {
            return key % 32 / 16 * 256 + key % 16 * 16 + key % kTile / 32 * 4;
          };
          out.data[static_cast<size_t>(base + kFp6KeyScales + place(seq) + g)] =
              scale;
          // One place down in the order of (key, g): the first of a key goes
          // to the end of the key before.
          if (g > 0) {
            out.data[static_cast<size_t>(base + kFp6KeyShiftedScales +
                                         place(seq) + g - 1)] = scale;
          } else if (seq > 0) {
            const int64_t previous_tile =
                seq % kTile == 0 ? base - kFp6KeyTile : base;
            out.data[static_cast<size_t>(previous_tile + kFp6KeyShiftedScales +
                                         place(seq - 1) + 3)] = scale;
          }
        }
      });
  AddRowScales(t, out);
  return out;
}

void AddValueBlockScales(const QuantizedTensor& t, PackedOperand& out) {
  const Extent& e = t.extent;
  out.scale_head_stride = Tiles(e.seq) * kValueScaleTile;
  out.scale_batch_stride = e.heads * out.scale_head_stride;
  // Blocks beyond the end scale zeros by 1.
  out.scales.assign(
      static_cast<size_t>(e.batch * out.scale_batch_stride + kValueScaleSlack),
      127);
  const int64_t blocks = (e.seq + kScaleBlock - 1) / kScaleBlock;
  for (int64_t batch = 0; batch < e.batch; ++batch) {
    for (int64_t head = 0; head < e.heads; ++head) {
      for (int64_t block = 0; block < blocks; ++block) {
        for (int64_t d = 0; d < e.dim; ++d) {
          const int64_t to = batch * out.scale_batch_stride +
                             head * out.scale_head_stride + block * 128 +
                             d % 32 * 4 + d / 32;
          const int64_t from =
              ((batch * e.heads + head) * blocks + block) * e.dim + d;
          out.scales[static_cast<size_t>(to)] =
              t.block_scales[static_cast<size_t>(from)].code;
        }
      }
    }
  }
}

PackedOperand PackFp4Value(const QuantizedTensor& t) {
  PackedOperand out = Tiled(t.extent, kFp4Tile, kFp4ValueSlack);
  ForEachRow(t.extent, out, kFp4Tile,
             [&](int64_t base, int64_t batch, int64_t seq, int64_t head) {
               const int64_t half = seq % kTile / 64;
               const int64_t place = Fp4ValuePlace(static_cast<int>(seq % 64));
               for (int64_t n = 0; n < t.extent.dim / 32; ++n) {
                 const auto block = PackedBlock(
                     t, Element(t.extent, batch, seq, head, n * 32));
                 std::memcpy(&out.data[static_cast<size_t>(
                                 base + (2 * n + half) * 1024 + place * 16)],
                             block.data(), 16);
               }
             });
  AddValueBlockScales(t, out);
  return out;
}

PackedOperand PackFp6Value(const QuantizedTensor& t) {
  PackedOperand out = Tiled(t.extent, kFp6ValueTile, kFp6Slack);
  std::array<int, 32> element_of_key{};
  for (int f = 0; f < 32; ++f) {
    element_of_key[static_cast<size_t>(Fp6ValueKey(f))] = f;
  }
  ForEachRow(t.extent, out, kFp6ValueTile,
             [&](int64_t base, int64_t batch, int64_t seq, int64_t head) {
               const int64_t block = seq % kTile / 32;
               const int f = element_of_key[static_cast<size_t>(seq % 32)];
               for (int64_t d = 0; d < t.extent.dim; ++d) {
                 const int64_t column = base + (d / 32 * 2 + block / 2) * 1536 +
                                        (block % 2 * 32 + d % 32) * 24;
                 OrBits(&out.data[static_cast<size_t>(column)], f * 6, 6,
                        t.codes[static_cast<size_t>(
                            Element(t.extent, batch, seq, head, d))]);
               }
             });
  AddValueBlockScales(t, out);
  return out;
}

}  // namespace

int Fp4ValuePlace(int t) {
  return t / 32 * 32 + t % 32 / 8 * 4 + t % 8 / 4 * 16 + t % 4;
}

int Fp6ValueKey(int f) { return 8 * (f % 16 / 4) + f % 4 + 4 * (f / 16); }

PackedOperand PackRows(const QuantizedTensor& t) {
  PackedOperand out;
  const int bits = ElementBits(t.format.format);
  const int64_t row = t.extent.dim * bits / 8;
  out.head_stride = row;
  out.seq_stride = t.extent.heads * row;
  out.batch_stride = t.extent.seq * out.seq_stride;
  if (bits == 16) {
    out.data = Bytes(t.codes);
  } else if (bits == 8) {
    for (uint16_t code : t.codes) {
      out.data.push_back(static_cast<uint8_t>(code));
    }
  } else {
    for (int64_t i = 0; i < t.extent.elements(); i += kScaleBlock) {
      const auto block = PackedBlock(t, i);
      out.data.insert(out.data.end(), block.begin(),
                      block.begin() + kScaleBlock * bits / 8);
    }
  }
  if (t.format.scaling == Scaling::kPerBlock) {
    AddRowScales(t, out);
  } else {
    AddFloatScales(t, out);
  }
  return out;
}

PackedOperand PackKey(const QuantizedTensor& tensor) {
  switch (tensor.format.format) {
    case Format::kE2m1:
      return PackFp4Key(tensor);
    case Format::kE2m3:
      return PackFp6Key(tensor);
    default:
      return PackRows(tensor);
  }
}

PackedOperand PackValue(const QuantizedTensor& tensor) {
  switch (tensor.format.format) {
    case Format::kE2m1:
      return PackFp4Value(tensor);
    case Format::kE2m3:
      return PackFp6Value(tensor);
    default:
      return PackRows(tensor);
  }
}

}  // namespace zyfa::peers
