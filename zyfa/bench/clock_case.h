#ifndef ZYFA_BENCH_CLOCK_CASE_H_
#define ZYFA_BENCH_CLOCK_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "zyfa/launch/device.h"
#include "zyfa/proto/record.pb.h"

namespace zyfa::bench {

// A loop of matrix instructions alone (zyfa/gen/clock), and what it works on.
struct ClockCase {
  std::string kernel;   // "clock_bf16", "clock_fp8"
  std::string pattern;  // "constant": 1.0 everywhere; "random": random bits
};
// All there are.
std::vector<ClockCase> ClockCases();

struct ClockOptions {
  uint32_t seed = 1;
  // Of the loop, 8 instructions each. On a GPU also launches with twice as
  // many: the clock is from the difference.
  int trips = 20000;
  int warmups = 50;
  int runs = 20;
  // Trips on an emulator, which runs one work-group once.
  int emulated_trips = 16;
};

// The shader clock while the loop runs on every compute unit: on a GPU from the
// rate of matrix instructions, whose clocks are known (cdna4-timing 1.1); on
// the emulator from the clock model, for the toggling that it counts. Never
// fails: what goes wrong is the record's outcome and message.
proto::Record RunClockCase(const ClockCase& c, Device& device,
                           const ClockOptions& options);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_CLOCK_CASE_H_
