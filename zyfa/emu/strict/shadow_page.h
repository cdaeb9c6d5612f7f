#ifndef ZYFA_EMU_STRICT_SHADOW_PAGE_H_
#define ZYFA_EMU_STRICT_SHADOW_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace zyfa::emu {

inline constexpr uint64_t kPageBytes = 4096;

// Shadow of a page: one state a dword, or one a byte from the first access on
// that takes less than a dword.
template <class State>
class ShadowPage {
 public:
  void SplitDwords() {
    if (shift_ == 0) return;
    if (states_.empty()) states_.resize(kPageBytes / 4);
    std::vector<State> bytes(kPageBytes);
    for (size_t i = 0; i < kPageBytes; ++i) bytes[i] = states_[i / 4];
    states_ = std::move(bytes);
    shift_ = 0;
  }
  // f(state) for what covers bytes [first, last) of the page.
  template <class F>
  void ForEach(uint64_t first, uint64_t last, F f) {
    if (states_.empty()) states_.resize(kPageBytes / 4);
    if (((first | last) & 3) != 0) SplitDwords();
    for (uint64_t i = first >> shift_; i < last >> shift_; ++i) f(states_[i]);
  }
  // Empty as long as nothing has been accessed.
  std::vector<State>& states() { return states_; }
  int shift() const { return shift_; }

 private:
  std::vector<State> states_;
  int shift_ = 2;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_STRICT_SHADOW_PAGE_H_
