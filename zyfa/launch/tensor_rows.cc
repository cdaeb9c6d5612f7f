#include "zyfa/launch/tensor_rows.h"

#include <algorithm>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "zyfa/launch/refusal.h"

namespace zyfa {
namespace {

constexpr int kAddressBits = 48;

absl::Status CheckStrides(const Rows& rows) {
  for (const Dimension& d : rows.dimensions) {
    if (d.size < 2) continue;
    const int64_t stride = *d.stride;
    const bool limited = d.limit != kNoLimit;
    if (stride < 0 || stride % rows.alignment != 0 ||
        (limited && stride >= d.limit)) {
      std::string allowed = absl::StrCat("multiples of ", rows.alignment,
                                         " that are not negative");
      if (limited) {
        absl::StrAppend(&allowed, " and less than ", d.limit);
      }
      return Refuse(d.argument, absl::StrCat(stride, " bytes"), allowed);
    }
  }
  return absl::OkStatus();
}

// Refuses rows that may lie upon each other: taken by growing stride, every
// dimension has to step over all that the ones before it cover. Call it after
// RangeOf() has shown that sizes times strides stay in range.
absl::Status CheckDisjointRows(const Rows& rows) {
  const auto smaller_stride = [](const Dimension& a, const Dimension& b) {
    return *a.stride < *b.stride;
  };
  std::vector<Dimension> used;
  for (const Dimension& d : rows.dimensions) {
    if (d.size <= 1) continue;
    used.insert(std::upper_bound(used.begin(), used.end(), d, smaller_stride),
                d);
  }
  int64_t covered = rows.row_bytes;
  for (const Dimension& d : used) {
    if (*d.stride < covered) {
      return Refuse(
          d.argument, absl::StrCat(*d.stride, " bytes"),
          absl::StrCat("at least ", covered, ", so that no two rows of ",
                       rows.name, " overlap"));
    }
    covered += (d.size - 1) * *d.stride;
  }
  return absl::OkStatus();
}

absl::StatusOr<ByteRange> RangeOf(const Rows& rows) {
  const std::string argument = rows.address_argument.empty()
                                   ? absl::StrCat(rows.name, ".address")
                                   : rows.address_argument;
  const std::string value = absl::StrCat("0x", absl::Hex(rows.address));
  if (rows.address == 0 || rows.address % rows.alignment != 0) {
    return Refuse(argument, value,
                  absl::StrCat("multiples of ", rows.alignment, ", and not 0"));
  }
  // Sizes and strides are below 2^63: three products and the rest stay below
  // 2^128.
  absl::uint128 end = rows.address;
  end += static_cast<uint64_t>(rows.row_bytes);
  for (const Dimension& d : rows.dimensions) {
    if (d.size < 2) continue;
    end += absl::uint128(static_cast<uint64_t>(d.size - 1)) *
           static_cast<uint64_t>(*d.stride);
  }
  if (end > absl::uint128(1) << kAddressBits) {
    std::string reach = "2^64 or more";
    if (absl::Uint128High64(end) == 0) {
      reach = absl::StrCat("0x", absl::Hex(absl::Uint128Low64(end)));
    }
    return Refuse(argument,
                  absl::StrCat(value,
                               rows.dimensions.empty()
                                   ? " and its bytes end at "
                                   : " and the tensor's strides end it at ",
                               reach),
                  absl::StrCat("an end at 2^", kAddressBits, " at most"));
  }
  return ByteRange{rows.name, argument, rows.address, absl::Uint128Low64(end)};
}

}  // namespace

Rows RowsOf(const std::string& name, TensorView& view, bool written) {
  // A tile's rows must stay within 32-bit offsets of its first one.
  constexpr int64_t kSeqStrideLimit = int64_t{1} << 25;
  view.batch_stride = view.batch > 1 ? view.batch_stride : 0;
  view.head_stride = view.heads > 1 ? view.head_stride : 0;
  Rows rows;
  rows.name = name;
  rows.address = view.address;
  rows.row_bytes = view.head_dim * BytesPerElement(view.data_type);
  rows.written = written;
  view.seq_stride = view.seqlen > 1 ? view.seq_stride : rows.row_bytes;
  rows.dimensions = {
      {name + ".batch_stride", view.batch, &view.batch_stride},
      {name + ".seq_stride", view.seqlen, &view.seq_stride, kSeqStrideLimit},
      {name + ".head_stride", view.heads, &view.head_stride}};
  return rows;
}

Rows RowsOf(const std::string& name, TokenView& view, int64_t element_bytes,
            bool written) {
  view.batch_stride = view.batch > 1 ? view.batch_stride : 0;
  view.head_stride = view.heads > 1 ? view.head_stride : 0;
  Rows rows;
  rows.name = name;
  rows.address = view.address;
  rows.row_bytes = view.seqlen * element_bytes;
  rows.alignment = element_bytes;
  rows.written = written;
  rows.dimensions = {{name + ".batch_stride", view.batch, &view.batch_stride},
                     {name + ".head_stride", view.heads, &view.head_stride}};
  return rows;
}

absl::StatusOr<ByteRange> CheckRows(const Rows& rows) {
  absl::Status status = CheckStrides(rows);
  if (!status.ok()) return status;
  auto range = RangeOf(rows);
  if (range.ok() && rows.written) {
    status = CheckDisjointRows(rows);
    if (!status.ok()) return status;
  }
  return range;
}

absl::Status CheckNoOverlap(const ByteRange& written, const ByteRange& other) {
  if (written.end <= other.begin || other.end <= written.begin) {
    return absl::OkStatus();
  }
  const auto text = [](const ByteRange& range) {
    return absl::StrCat("0x", absl::Hex(range.begin), " to 0x",
                        absl::Hex(range.end));
  };
  return Refuse(
      written.address_argument, absl::StrCat("0x", absl::Hex(written.begin)),
      absl::StrCat("none where ", written.name, " (bytes ", text(written),
                   ") overlaps ", other.name, " (bytes ", text(other), ")"));
}

}  // namespace zyfa
