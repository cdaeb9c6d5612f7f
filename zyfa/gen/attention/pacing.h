#ifndef ZYFA_GEN_ATTENTION_PACING_H_
#define ZYFA_GEN_ATTENTION_PACING_H_

#include <vector>

#include "zyfa/gen/asm/assembler.h"

namespace zyfa::gen {

// Puts the steps, each of which ends with or a little behind a matrix
// instruction, in a row and the fillers behind them, so that each filler gets
// the same time behind each step, up to one instruction, and none behind step
// `bare`. A 32x32x16 BF16 product leaves 24 of its 32 clocks
// (cdna4-timing 1.3), in which a transcendental takes 8 and others 4 (2.1).
Stream Pace(Assembler& a, const std::vector<Stream>& steps,
            const std::vector<Stream>& fillers, int bare = -1);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ATTENTION_PACING_H_
