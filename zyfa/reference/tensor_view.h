#ifndef ZYFA_REFERENCE_TENSOR_VIEW_H_
#define ZYFA_REFERENCE_TENSOR_VIEW_H_

#include <cstdint>
#include <variant>

#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/numerics/e5m2.h"

namespace zyfa::reference {

// A read-only Q, K or V: [batch][seq][head][head_dim] in any order of the first
// three, the head dimension contiguous. Strides are in elements and may have
// any value (0 shares data, negative runs backwards); the data is not owned.
class TensorView {
 public:
  using Data =
      std::variant<const double*, const float*, const numerics::Bf16*,
                   const numerics::E4m3*, const numerics::E5m2*, const int8_t*>;

  TensorView(Data data, int64_t batch_stride, int64_t seq_stride,
             int64_t head_stride)
      : data_(data),
        batch_stride_(batch_stride),
        seq_stride_(seq_stride),
        head_stride_(head_stride) {}

  // Dense [batch][seqlen][heads][head_dim].
  static TensorView Dense(Data data, int64_t seqlen, int64_t heads,
                          int64_t head_dim) {
    return TensorView(data, seqlen * heads * head_dim, heads * head_dim,
                      head_dim);
  }

  bool is_null() const {
    return std::visit([](const auto* p) { return p == nullptr; }, data_);
  }
  bool is_bf16() const {
    return std::holds_alternative<const numerics::Bf16*>(data_);
  }
  bool is_e4m3() const {
    return std::holds_alternative<const numerics::E4m3*>(data_);
  }

  bool is_int8() const { return std::holds_alternative<const int8_t*>(data_); }

  // The first `count` values of a row, as Out (double or float).
  template <typename Out>
  void LoadRow(int64_t batch, int64_t seq, int64_t head, int64_t count,
               Out* out) const {
    const int64_t offset =
        batch * batch_stride_ + seq * seq_stride_ + head * head_stride_;
    std::visit(
        [=](const auto* p) {
          for (int64_t i = 0; i < count; ++i) {
            out[i] = static_cast<Out>(Widen(p[offset + i]));
          }
        },
        data_);
  }

 private:
  static double Widen(double x) { return x; }
  static float Widen(float x) { return x; }
  static float Widen(numerics::Bf16 x) { return x.ToFloat(); }
  static float Widen(numerics::E4m3 x) { return x.ToFloat(); }
  static float Widen(numerics::E5m2 x) { return x.ToFloat(); }
  static float Widen(int8_t x) { return x; }

  Data data_;
  int64_t batch_stride_;
  int64_t seq_stride_;
  int64_t head_stride_;
};

}  // namespace zyfa::reference

#endif  // ZYFA_REFERENCE_TENSOR_VIEW_H_
