#ifndef ZYFA_GEN_QUANTIZE_ROW_WALK_H_
#define ZYFA_GEN_QUANTIZE_ROW_WALK_H_

#include <functional>
#include <vector>

#include "zyfa/gen/quantize/arguments.h"
#include "zyfa/gen/quantize/row_buffer.h"

namespace zyfa::gen {

// How a work-group walks over the tokens of its chunk of one head: 64 at a
// time, in four parts of 16. Sixteen neighbouring lanes have a token: lane l of
// them channels 8 l .. 8 l + 7 and, of head dim 192, 128 + 4 l .. 128 + 4 l
// + 3.
inline constexpr int kParts = 4;
inline constexpr int kPartRows = 16;

class RowWalk {
 public:
  // `written`: what the body writes.
  RowWalk(const Arguments& arguments, int head_dim,
          std::vector<RowBuffer> written);

  // The walk: `body` once for each part, with the part's values in x().
  void EmitLoop(const std::function<void(int part)>& body);

  // Steps of a body, on x().
  void EmitCorrectLse(int part, const RowBuffer& to);
  void EmitSubtractMean();
  void EmitRotateRow();
  // e4m3(x * multiplier). x() is no more afterwards.
  void EmitStoreCodes(int part, const RowBuffer& to, VSrc multiplier);
  // int8(x * multiplier), within -127 .. 127; 0 in lanes that are not in
  // `good`. x() is no more afterwards.
  void EmitStoreInt8Codes(int part, const RowBuffer& to, VSrc multiplier,
                          SReg good);
  // One number of each row, from the row's first lane.
  void EmitStoreOfRow(int part, const RowBuffer& to, VReg value);
  // The largest magnitude of the lane's values, its bits; NaN if there is one.
  void EmitMagnitude(VReg bits);

  const RowBuffer& written(int i) const {
    return written_[static_cast<size_t>(i)];
  }
  VReg x() const { return x_; }  // 8 or 12 values of the lane
  VReg lane16() const { return lane16_; }
  VReg row16() const { return row16_; }
  // Lanes whose row of the part exists.
  SReg valid(int part) const { return valid_.sub(2 * part, 2); }

 private:
  SSrc Stride(const RowBuffer& buffer) const;  // bytes from row to row
  void EmitStart(RowBuffer& buffer);
  void EmitBounds(const RowBuffer& buffer, SReg rows);
  void EmitAdvance(const RowBuffer& buffer);
  // address = offset of the lane's row in the part, or beyond the buffer.
  void EmitRowOffset(VReg address, const RowBuffer& buffer, int part);
  void EmitMean();
  void EmitLoads();
  void EmitUnpack(int part);
  // Four codes a register.
  void EmitStorePacked(int part, const RowBuffer& to, VReg codes);

  const Arguments& args_;
  Assembler& a;
  const bool has_tail_;  // channels from 128 on
  RowBuffer input_;
  std::vector<RowBuffer> written_;

  VReg lane16_, row16_, outside_, x_, scratch_, mean_, signs_;
  std::vector<VReg> raw_;
  SReg first_row_, left_, valid_;
};

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_QUANTIZE_ROW_WALK_H_
