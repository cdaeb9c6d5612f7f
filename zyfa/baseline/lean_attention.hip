// The FP8 kernels of head dim 128 with lean P as HIP C++, scheduled by a
// compiler: what the generated ones are measured against. Same arguments, same
// launch, same arithmetic (docs/schedule.md).
//
// A wave has 32 query rows and computes S^T = K Q^T and O^T = V^T P^T, 64 keys
// at a time: a query sits in lanes l and l + 32, and P is in place for the
// second product. K and V go from memory straight to LDS, four tiles of each.
//
// A trip has two phases: matrix work (scores of tile j + 1, output of tile j,
// and in its shadow row maxima of tile j + 1) and vector work (P of tile j +
// 1). The two waves of a SIMD are half a trip apart and meet at the end of each
// phase, so one has the matrix pipe while the other one has the vector pipe.
#include "zyfa/baseline/device.h"
#include "zyfa/variant/attention_args.h"
#include "zyfa/variant/item_order.h"

namespace {

using zyfa::AttentionArgs;

constexpr int kDim = 128;  // bytes of a row of Q, K and V
constexpr int kTile = zyfa::kKeyTile;
constexpr int kTileBytes = kTile * kDim;
constexpr int kStages = 4;

// Scores come out of the matrix unit times 2^-62: times c * 2^62 * 2^-141 they
// are codes in units of 2^-141, and both factors are normal floats for c from
// 2^-50 to 2^60. In that unit a float32 denormal is a fixed-point number with 8
// fraction bits.
constexpr int kScoreScale = 127 - 62;  // e8m0
constexpr float kCodeUnit = 0x1p-141f;
constexpr float kUnit = 1.75f;  // what code 126 decodes to, times 2^-8
constexpr float kLowest = -0x1p127f;
constexpr int kScaleOne = 127;
// Classes of instructions of sched_group_barrier.
constexpr int kVector = 0x2, kMatrix = 0x8, kLdsRead = 0x100;
constexpr float kLn2 = 0.693147181f;
// From here on c * S - c * m loses too much.
constexpr float kCareful = 4096.0f;

struct Lane {
  int lane, half, wave;
  int key_load, value_load;  // memory offset of a tile's load
  int key_read[4];           // LDS offset of channel chunk pairs 0..3
  int value_read[4];         // of 32-column blocks
};

// One query tile of a head.
struct Item {
  int query0;  // first row of the wave
  int plain;   // key tiles that all rows of the wave see in full
  int tiles;   // that it sees at all
  int group_tiles;
  int batch, head, kv_head;
};

// What a query row knows; the same in both of its lanes.
struct Row {
  float m;   // reference, in units of S; kLowest before the first key
  float cm;  // c * m
  // Of careful rows m and 0, of others 0 and cm: x = c * (S - minus_m) -
  // minus_cm.
  float minus_m, minus_cm;
  float sum;
};

struct Scale {
  float c, inverse_c, code;  // for scores as they come
  float lean_top;            // times kCodeUnit
};

// Where tile loads read: rows from `base` on.
struct Source {
  uint64_t base;
  int seq_stride;
  int rows_left;
};

DEVICE Lane LaneOf(const AttentionArgs& args) {
  Lane l;
  const int thread = __builtin_amdgcn_workitem_id_x();
  l.wave = Scalar(thread / 64);
  l.lane = thread % 64;
  l.half = l.lane / 32;
  // LDS holds rows of 128 bytes, and a load fills 8 of them in lane order.
  // Place p of row r has chunk p ^ (r / 2 % 8) of K, so that the lanes that
  // ds_read_b128 serves together meet different banks, and chunk
  // p ^ 2 * (r / 2 % 2 + 2 * (r / 8 % 2)) of V for ds_read_b64_tr_b8.
  const int row = 8 * l.wave + l.lane / 8, place = l.lane % 8;
  l.key_load = row * int(args.key_seq_stride) + 16 * (place ^ (row / 2 % 8));
  l.value_load = row * int(args.value_seq_stride) +
                 16 * (place ^ (2 * (row / 2 % 2) + 4 * (row / 8 % 2)));
  for (int i = 0; i < 4; ++i) {
    const int key = l.lane % 32;
    l.key_read[i] = key * kDim + 16 * ((2 * i + l.half) ^ (key / 2 % 8));
  }
  const int p = l.lane % 16 / 2;
  const int value = 8 * (p / 4) + 4 * l.half + p % 4;
  const int swizzle = value / 2 % 2 + 2 * (value / 8);
  for (int n = 0; n < 4; ++n) {
    l.value_read[n] = value * kDim + 32 * (n ^ swizzle) +
                      16 * (l.lane / 16 % 2) + 8 * (l.lane % 2);
  }
  return l;
}

// Tile `stage` of K or V in LDS, relative to its array.
using Tiles = InLds<char>*;

// 64 rows into LDS, 8 by each wave; rows that are not there arrive as zeros.
// The built-in for it would make the compiler wait for all loads before every
// read of LDS, as it cannot tell the stages apart. It does not know what is in
// here, so the wait states between a vector instruction that writes an SGPR and
// the load (ISA 5.2) are ours: kCold where it may spill SGPRs.
template <bool kCold>
DEVICE void LoadTile(Source& source, int offset, Tiles to, int wave) {
  const int rows = Min(source.rows_left, kTile);
  const I32x4 descriptor = {
      int(uint32_t(source.base)), int(source.base >> 32) & 0xffff,
      Max(rows * source.seq_stride + kDim - source.seq_stride, 0), 0x20000};
  asm volatile(
      "s_mov_b32 m0, %0\n\ts_nop %3\n\t"
      "buffer_load_dwordx4 %1, %2, 0 offen lds"
      :
      : "s"(to + 1024 * wave), "v"(offset), "s"(descriptor), "i"(kCold ? 4 : 0)
      : "memory");
  source.base += uint64_t(kTile) * uint32_t(source.seq_stride);
  source.rows_left -= kTile;
  // One address to count up, not one for each copy of the loop's body.
  asm("" : "+s"(source.base));
}

// Rows 32t + l % 32 of K, both halves of the channels.
struct KeyTile {
  I32x8 part[2][2];
};
DEVICE void ReadKeys(const Lane& l, Tiles keys, KeyTile& k) {
  for (int t = 0; t < 2; ++t) {
    for (int i = 0; i < 4; ++i) {
      const I32x4 x = *(InLds<I32x4>*)(keys + l.key_read[i] + 32 * kDim * t);
      for (int e = 0; e < 4; ++e) k.part[t][i / 2][4 * (i % 2) + e] = x[e];
    }
  }
}

// S^T of 64 keys.
DEVICE void Scores(const KeyTile& k, const I32x8 (&query)[2], F32x16 (&s)[2]) {
  for (int t = 0; t < 2; ++t) {
    s[t] = F32x16{};
    for (int h = 0; h < 2; ++h) {
      s[t] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
          k.part[t][h], query[h], s[t], 0, 0, 0, kScoreScale, 0, kScaleOne);
    }
  }
}

// V^T of 32 columns.
DEVICE I32x8 Values(const Lane& l, Tiles values, int n) {
  I32x8 v;
  for (int q = 0; q < 4; ++q) {
    const I32x2 x = __builtin_amdgcn_ds_read_tr8_b64_v2i32(
        (InLds<I32x2>*)(values + l.value_read[n] + 16 * kDim * q));
    v[2 * q] = x[0];
    v[2 * q + 1] = x[1];
  }
  return v;
}

DEVICE float RowMaximum(const F32x16 (&s)[2]) {
  float m[4];
  for (int i = 0; i < 4; ++i) {
    m[i] = s[i / 2][8 * (i % 2)];
    for (int r = 1; r < 8; ++r) m[i] = Max(m[i], s[i / 2][8 * (i % 2) + r]);
  }
  const float own = Max(Max(m[0], m[1]), Max(m[2], m[3]));
  const auto both =
      __builtin_amdgcn_permlane32_swap(Bits(own), Bits(own), false, false);
  return Max(Float(both[0]), Float(both[1]));
}

// Keys 8 * (r / 4) + 4 * half + r % 4 of each 32 that come after the row's
// last.
DEVICE void MaskScores(const Lane& l, F32x16 (&s)[2], int visible) {
  for (int t = 0; t < 2; ++t) {
    for (int r = 0; r < 16; ++r) {
      const int key = 32 * t + 8 * (r / 4) + r % 4;
      s[t][r] = key < visible - 4 * l.half ? s[t][r] : kLowest;
    }
  }
}

// A register of which the low half matters.
DEVICE int LowHalf(unsigned short x) {
  Vec<unsigned short, 2> pair;
  pair[0] = x;
  return __builtin_bit_cast(int, pair);
}

// Four codes as one dword. The built-in writes low halves of registers only.
DEVICE int Codes(const F32x16& s, int r, float factor, float bias) {
  const auto code = [&](int i) {
    return Bits(__builtin_fmaf(s[r + i], factor, bias));
  };
  const int low = LowHalf(__builtin_amdgcn_ashr_pk_u8_i32(code(0), code(1), 8));
  const int high =
      LowHalf(__builtin_amdgcn_ashr_pk_u8_i32(code(2), code(3), 8));
  return __builtin_amdgcn_perm(high, low, 0x05040100);
}

// A wave's state between tiles.
struct Wave {
  const Lane& l;
  const Scale& scale;
  const I32x8 (&query)[2];
  const I32x8 ones;
  Row row = {kLowest, 0, 0, 0, 0};
  uint64_t careful = 0;  // lanes of careful rows
  F32x16 o[4] = {};
  F32x16 s[2];
  KeyTile key;  // of the next scores
  I32x8 p;
  int p_scale = 0;            // e8m0
  float threshold = kLowest;  // a larger maximum moves the reference
  float top;                  // row maxima of s

  // Rows whose maximum has grown too much take it for their reference, and the
  // scores of careful rows become S - m.
  DEVICE void Move(bool moves) {
    if (moves) {
      const float f =
          row.m == kLowest
              ? 0.0f
              : __builtin_amdgcn_exp2f(scale.c * row.m - scale.c * top);
      row.m = top;
      row.cm = scale.c * top;
      const bool big = __builtin_fabsf(row.cm) >= kCareful;
      row.minus_m = big ? row.m : 0.0f;
      row.minus_cm = big ? 0.0f : row.cm;
      row.sum *= f;
      for (int n = 0; n < 4; ++n) o[n] *= f;
    }
    careful = __builtin_amdgcn_ballot_w64(row.minus_m != 0.0f);
    for (int t = 0; t < 2; ++t) s[t] -= row.minus_m;
  }

  // P of the tile in s, and the next tile's keys.
  DEVICE void Softmax(Tiles keys) {
    const bool moves = top > threshold;
    if ((__builtin_amdgcn_ballot_w64(moves) | careful) != 0) {
      Move(moves);
      top -= row.minus_m;
    }
    ReadKeys(l, keys, key);
    const float e = __builtin_ceilf(
        Max(__builtin_fmaf(scale.c, top, -row.minus_cm), -110.0f));
    p_scale = int(e) + (kScaleOne - 8);
    const float bias =
        __builtin_fmaf(row.minus_cm + e, -8 * kCodeUnit, scale.lean_top);
    for (int i = 0; i < 8; ++i) {
      p[i] = Codes(s[i / 4], i % 4 * 4, scale.code, bias);
    }
    // The other wave reads V when this phase begins: not all at once.
    for (int i = 0; i < 8; ++i) {
      __builtin_amdgcn_sched_group_barrier(kVector, 4, 0);
      __builtin_amdgcn_sched_group_barrier(kLdsRead, 1, 0);
    }
    __builtin_amdgcn_sched_group_barrier(kVector, 64, 0);
  }

  // Scores of the tile in `key`; the tile in p into the output. `loads` starts
  // loads of coming tiles.
  template <bool kPlain, class Loads>
  DEVICE void Products(Tiles values, const Loads& loads) {
    I32x8 v[4];
    for (int n = 0; n < 4; ++n) v[n] = Values(l, values, n);
    Scores(key, query, s);
    F32x4 sums = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
        ones, p, F32x4{}, 0, 0, 0, 0, 0, 0);
    asm volatile("" : "+v"(sums));  // else it sinks to its use
    loads();
    for (int n = 0; n < 4; ++n) {
      o[n] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
          v[n], p, o[n], 0, 0, 0, kScaleOne, 0, p_scale);
    }
    row.sum = __builtin_fmaf(sums[0], Float(p_scale << 23), row.sum);
    threshold = __builtin_fmaf(
        Max(__builtin_amdgcn_logf(row.sum * (zyfa::kMoveShare / kUnit)), 0.0f),
        scale.inverse_c, row.m);
    if constexpr (kPlain) top = RowMaximum(s);
    // All of V is read behind the first two products.
    for (int i = 0; i < 2; ++i) {
      __builtin_amdgcn_sched_group_barrier(kMatrix, 1, 0);
      __builtin_amdgcn_sched_group_barrier(kLdsRead, 8, 0);
    }
    __builtin_amdgcn_sched_group_barrier(kMatrix, 3, 0);
    // Vector work in the shadow of the others.
    for (int i = 0; i < 4; ++i) {
      __builtin_amdgcn_sched_group_barrier(kMatrix, 1, 0);
      __builtin_amdgcn_sched_group_barrier(kVector, 8, 0);
    }
  }
};

// Of a causal mask: keys that a row sees if there were no end of keys.
DEVICE int VisibleOf(const AttentionArgs& args, int row) {
  return row + 1 + int(args.seqlen_kv) - int(args.seqlen_q);
}

template <bool kCausal>
DEVICE Item ItemOf(const AttentionArgs& args, uint32_t number, int wave) {
  Item item;
  const int tile = int(args.query_tiles - 1 - number / args.columns);
  const uint32_t column = number % args.columns;
  item.batch = int(column / args.heads_q);
  item.head = int(column % args.heads_q);
  item.kv_head = item.head;
  if (args.kv_head_multiplier != 0) {
    item.kv_head =
        int(uint64_t(uint32_t(item.head)) * args.kv_head_multiplier >> 32);
  }
  const int rows = int(args.seqlen_q), keys = int(args.seqlen_kv);
  const int group0 = tile * zyfa::kQueryTile;
  item.query0 = group0 + 32 * wave;
  const auto visible = [&](int row) {
    return kCausal ? Max(Min(VisibleOf(args, Min(row, rows - 1)), keys), 0)
                   : keys;
  };
  const int last = visible(item.query0 + 31);
  item.tiles = item.query0 < rows ? (last + kTile - 1) / kTile : 0;
  item.plain = Min(visible(item.query0) / kTile, item.tiles);
  item.group_tiles =
      (visible(group0 + zyfa::kQueryTile - 1) + kTile - 1) / kTile;
  return item;
}

DEVICE float Descale(uint64_t address, float value, uint32_t batch_stride,
                     uint32_t head_stride, int batch, int head) {
  if (address == 0) return value;
  return *(const InMemory<float>*)(address +
                                   uint64_t(batch_stride) * uint32_t(batch) +
                                   uint64_t(head_stride) * uint32_t(head));
}

DEVICE Scale ScaleOf(const AttentionArgs& args, const Item& item, int& negate) {
  const float q = Descale(
      args.query_descale, args.query_descale_value,
      args.query_descale_batch_stride, args.query_descale_head_stride,
      item.batch,
      args.flags & zyfa::kQueryDescaleByKvHead ? item.kv_head : item.head);
  const float k = Descale(
      args.key_descale, args.key_descale_value, args.key_descale_batch_stride,
      args.key_descale_head_stride, item.batch, item.kv_head);
  const float s = Scalar(args.softmax_scale * 1.44269504f * q * k);
  negate = s < 0 ? int(0x80808080u) : 0;
  const float c =
      __builtin_fminf(Max(__builtin_fabsf(s), 0x1p-50f), 0x1p60f) * 0x1p62f;
  Scale scale;
  scale.c = c;
  scale.inverse_c = 1.0f / c;
  scale.code = c * 8 * kCodeUnit;
  scale.lean_top = args.lean_top * kCodeUnit;
  return scale;
}

DEVICE void LoadQuery(const AttentionArgs& args, const Lane& l,
                      const Item& item, int negate, I32x8 (&query)[2]) {
  const int row = Min(item.query0 + l.lane % 32, int(args.seqlen_q) - 1);
  const uint64_t from = args.query +
                        uint64_t(item.batch) * args.query_batch_stride +
                        uint64_t(item.head) * args.query_head_stride +
                        uint64_t(uint32_t(row)) * args.query_seq_stride;
  for (int i = 0; i < 4; ++i) {
    const I32x4 x = *(const InMemory<I32x4>*)(from + 32 * i + 16 * l.half);
    for (int e = 0; e < 4; ++e) query[i / 2][4 * (i % 2) + e] = x[e] ^ negate;
  }
}

// Lane l has columns 32n + 8(r / 4) + 4(l / 32) + r % 4 of row l % 32. A swap
// gives each lane runs of 8.
DEVICE void StoreOutput(const AttentionArgs& args, const Lane& l,
                        const Item& item, const Row& row,
                        const F32x16 (&o)[4]) {
  const int query = item.query0 + l.lane % 32;
  const float value_descale =
      Descale(args.value_descale, args.value_descale_value,
              args.value_descale_batch_stride, args.value_descale_head_stride,
              item.batch, item.kv_head);
  float factor = row.sum > 0 ? value_descale / row.sum : 0.0f;
  const bool fp8 = args.flags & zyfa::kOutputFp8;
  float output_scale = args.output_scale_value;
  if (args.output_scale != 0)
    output_scale = *(const InMemory<float>*)args.output_scale;
  const uint64_t to = args.output +
                      uint64_t(item.batch) * args.output_batch_stride +
                      uint64_t(item.head) * args.output_head_stride +
                      uint64_t(uint32_t(query)) * args.output_seq_stride;
  const bool inside = query < int(args.seqlen_q);
  const auto swap = [](int& a, int& b) {
    const auto both = __builtin_amdgcn_permlane32_swap(a, b, false, false);
    a = both[0];
    b = both[1];
  };
  for (int i = 0; i < 8; ++i) {
    float x[8];
    for (int e = 0; e < 8; ++e) x[e] = o[i / 2][8 * (i % 2) + e] * factor;
    if (fp8) {
      int packed[2];
      for (int g = 0; g < 2; ++g) {
        const int low = __builtin_amdgcn_cvt_pk_fp8_f32(
            x[4 * g] * output_scale, x[4 * g + 1] * output_scale, 0, false);
        packed[g] = __builtin_amdgcn_cvt_pk_fp8_f32(x[4 * g + 2] * output_scale,
                                                    x[4 * g + 3] * output_scale,
                                                    low, true);
      }
      swap(packed[0], packed[1]);
      if (inside) {
        *(InMemory<I32x2>*)(to + 16 * i + 8 * l.half) =
            I32x2{packed[0], packed[1]};
      }
    } else {
      int packed[4];
      for (int g = 0; g < 4; ++g) {
        const Vec<__bf16, 2> pair = {__bf16(x[2 * g]), __bf16(x[2 * g + 1])};
        packed[g] = __builtin_bit_cast(int, pair);
      }
      swap(packed[0], packed[2]);
      swap(packed[1], packed[3]);
      if (inside) {
        *(InMemory<I32x4>*)(to + 32 * i + 16 * l.half) =
            I32x4{packed[0], packed[1], packed[2], packed[3]};
      }
    }
  }
  if (args.lse != 0 && inside && l.half == 0) {
    *(InMemory<float>*)(args.lse +
                        uint64_t(item.batch) * args.lse_batch_stride +
                        uint64_t(item.head) * args.lse_head_stride +
                        4 * uint64_t(uint32_t(query))) =
        row.sum > 0 ? (row.cm + __builtin_amdgcn_logf(row.sum / kUnit)) * kLn2
                    : -__builtin_inff();
  }
}

// All waves meet; nothing moves across.
DEVICE void Meet() {
  __builtin_amdgcn_sched_barrier(0);
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_sched_barrier(0);
}
// All but the `kPending` latest loads of this wave are done.
template <int kPending>
DEVICE void WaitForLoads() {
  __builtin_amdgcn_sched_barrier(0);
  __builtin_amdgcn_s_waitcnt(0xf70 + kPending);
}

// All reads of LDS of this wave are done, wherever the compiler uses them.
DEVICE void WaitForReads() {
  __builtin_amdgcn_sched_barrier(0);
  __builtin_amdgcn_s_waitcnt(0xc07f);
}

template <bool kCausal>
DEVICE void Attention(const AttentionArgs& args) {
  SHARED char keys_lds[kStages * kTileBytes];
  SHARED char values_lds[kStages * kTileBytes];
  const Tiles keys = (Tiles)keys_lds, values = (Tiles)values_lds;
  // FP16_OVFL, MODE bit 23: conversions to FP8 saturate.
  __builtin_amdgcn_s_setreg(1 | 23 << 6, 1);
  const Lane l = LaneOf(args);
  // Row i of the 16 x 128 operand sums k groups of lanes with the same half of
  // 16 queries, so that each lane gets the sum of its own query.
  const int one = l.lane % 16 / 4 % 2 == l.lane / 16 % 2 ? 0x38383838 : 0;
  const I32x8 ones = {one, one, one, one, one, one, one, one};

  for (uint64_t round = 0;; ++round) {
    const uint64_t number =
        zyfa::ItemOfGroup(args, __builtin_amdgcn_workgroup_id_x(), round);
    if (number >= args.items) break;
    const Item item = ItemOf<kCausal>(args, uint32_t(number), l.wave);
    int negate;
    const Scale scale = ScaleOf(args, item, negate);
    I32x8 query[2];
    LoadQuery(args, l, item, negate, query);
    Source key_source = {args.key +
                             uint64_t(item.batch) * args.key_batch_stride +
                             uint64_t(item.kv_head) * args.key_head_stride,
                         int(args.key_seq_stride), int(args.seqlen_kv)};
    Source value_source = {args.value +
                               uint64_t(item.batch) * args.value_batch_stride +
                               uint64_t(item.kv_head) * args.value_head_stride,
                           int(args.value_seq_stride), int(args.seqlen_kv)};
    const auto stage = [](Tiles tiles, int j) {
      return tiles + (j & (kStages - 1)) * kTileBytes;
    };
    const auto load_key = [&]<bool kCold>(int j) {
      LoadTile<kCold>(key_source, l.key_load, stage(keys, j), l.wave);
    };
    const auto load_value = [&]<bool kCold>(int j) {
      LoadTile<kCold>(value_source, l.value_load, stage(values, j), l.wave);
    };
    // With the products of tile j. What is overwritten was read for the
    // products of tiles j - 1 and j - 2.
    const auto load = [&]<bool kCold>(int j) {
      load_key.template operator()<kCold>(j + 4);
      load_value.template operator()<kCold>(j + 2);
    };

    Wave wave = {l, scale, query, ones};
    const int end = kCausal ? Min(VisibleOf(args, item.query0 + l.lane % 32),
                                  int(args.seqlen_kv))
                            : int(args.seqlen_kv);
    const auto softmax = [&](int j) {
      if (j >= item.plain) MaskScores(l, wave.s, end - kTile * j);
      wave.top = RowMaximum(wave.s);
      wave.Softmax(stage(keys, j + 1));
    };

    Meet();  // nobody reads the last item's tiles
    load_key.template operator()<true>(0);
    load_key.template operator()<true>(1);
    for (int j = -2; j < 0; ++j) load.template operator()<true>(j);
    WaitForLoads<2>();
    Meet();
    ReadKeys(l, keys, wave.key);
    WaitForReads();
    Scores(wave.key, query, wave.s);
    if (l.wave >= 4) Meet();
    if (item.tiles > 0) softmax(0);

    // The phase of matrix work of tile j, between two meetings. What it reads,
    // all waves have waited for at least one phase earlier.
    const auto products = [&]<bool kPlain>(int j) {
      WaitForReads();
      Meet();
      __builtin_amdgcn_s_setprio(1);
      wave.Products<kPlain>(stage(values, j),
                            [&] { load.template operator()<!kPlain>(j); });
      __builtin_amdgcn_s_setprio(0);
      WaitForLoads<2>();
      Meet();
    };
    int j = 0;
    while (j + kStages < item.plain) {
#pragma unroll
      for (int i = 0; i < kStages; ++i) {
        products.template operator()<true>(i);
        wave.Softmax(stage(keys, i + 2));
      }
      j += kStages;
    }
    for (; j < item.tiles; ++j) {
      products.template operator()<false>(j);
      if (j + 1 < item.tiles) softmax(j + 1);
    }
    for (; j < item.group_tiles; ++j) {
      Meet();
      load.template operator()<true>(j);
      WaitForLoads<2>();
      Meet();
    }
    if (l.wave < 4) Meet();

    __builtin_amdgcn_s_waitcnt(0xf70);  // no loads into LDS behind the end
    if (item.query0 < int(args.seqlen_q)) {
      StoreOutput(args, l, item, wave.row, wave.o);
    }
  }
}

}  // namespace

KERNEL hip_lean_d128_causal(AttentionArgs args) { Attention<true>(args); }
KERNEL hip_lean_d128_full(AttentionArgs args) { Attention<false>(args); }
