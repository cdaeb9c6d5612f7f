#ifndef ZYFA_EMU_CYCLES_PLACE_QUEUE_H_
#define ZYFA_EMU_CYCLES_PLACE_QUEUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace zyfa::emu {

// The places before a unit that serves the requests of up to four SIMDs in
// order. A place is taken at issue and free when the service of its request
// begins. SIMDs that wait for one take turns.
class PlaceQueue {
 public:
  explicit PlaceQueue(size_t places);

  // First clock at which there is a place for a request of the SIMD, by what is
  // known at `now`. A SIMD that asks in vain waits from then on; a free place
  // is for one turn of 4 clocks that of the SIMD that has waited longest.
  uint64_t FreeAt(int simd, uint64_t now);

  // A request of the SIMD takes a place until `start`, which never decreases.
  void Take(int simd, uint64_t start);

 private:
  size_t places_;
  std::deque<uint64_t> starts_;  // of the last requests, one a place
  std::array<uint64_t, 4> waits_since_;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_CYCLES_PLACE_QUEUE_H_
