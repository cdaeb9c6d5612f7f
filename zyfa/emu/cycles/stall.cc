#include "zyfa/emu/cycles/stall.h"

namespace zyfa::emu {

const char* StallName(Stall stall) {
  switch (stall) {
    case Stall::kIssue:
      return "issue port";
    case Stall::kVectorPipe:
      return "vector pipe";
    case Stall::kMatrixPipe:
      return "matrix pipe";
    case Stall::kMatrixHold:
      return "matrix hold";
    case Stall::kMatrixResult:
      return "matrix result";
    case Stall::kLdsQueue:
      return "lds queue";
    case Stall::kMemoryQueue:
      return "memory queue";
    case Stall::kWaitLds:
      return "wait lds";
    case Stall::kWaitMemory:
      return "wait memory";
    case Stall::kBarrier:
      return "barrier";
    case Stall::kNop:
      return "nop";
    case Stall::kBranch:
      return "branch";
    case Stall::kFetch:
      return "fetch";
  }
  return "";
}

}  // namespace zyfa::emu
