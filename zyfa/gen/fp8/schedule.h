#ifndef ZYFA_GEN_FP8_SCHEDULE_H_
#define ZYFA_GEN_FP8_SCHEDULE_H_

#include <vector>

#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen::fp8 {

// A trip as a table: matrix instructions in a row, and beside them streams of
// vector and scalar instructions, each over a stretch of them.

// A stream that goes behind matrix instructions first .. last.
struct Placed {
  Stream stream;
  int first = 0;
  int last = 0;
};

// Puts the steps, each of which ends with or a little behind one matrix
// instruction, in a row, and the streams behind them. A stream takes time from
// its steps in proportion to what the matrix instruction leaves the vector pipe
// (cdna4-timing 1.3), in which a transcendental counts 8 clocks and others 4.
// The result computes what the steps and then the streams one after the other
// would.
Stream Schedule(Assembler& a, const std::vector<Stream>& steps,
                const std::vector<Placed>& streams);

}  // namespace zyfa::gen::fp8

#endif  // ZYFA_GEN_FP8_SCHEDULE_H_
