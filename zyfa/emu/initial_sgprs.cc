#include "zyfa/emu/initial_sgprs.h"

namespace zyfa::emu {

InitialSgprs LayOutSgprs(const KernelInfo& kernel) {
  InitialSgprs sgprs;
  int next = 0;
  const auto take = [&](uint32_t property, int count) {
    if ((kernel.properties & property) == 0) return -1;
    next += count;
    return next - count;
  };
  take(kPrivateSegmentBuffer, 4);  // absolute scratch addressing: not filled
  sgprs.dispatch_pointer = take(kDispatchPointer, 2);
  sgprs.queue_pointer = take(kQueuePointer, 2);
  sgprs.kernarg_pointer = take(kKernargPointer, 2);
  sgprs.dispatch_id = take(kDispatchId, 2);
  take(kFlatScratchInit, 2);
  sgprs.private_size = take(kPrivateSegmentSize, 1);
  sgprs.preload_count = kernel.preload & 127;
  sgprs.preload_first = kernel.preload >> 7;
  if (sgprs.preload_count > 0) sgprs.preload = next;
  sgprs.named = static_cast<uint32_t>(next) + sgprs.preload_count;
  sgprs.user = kernel.rsrc2 >> 1 & 31;
  int system = static_cast<int>(sgprs.user);
  for (int d = 0; d < 3; ++d) {
    if ((kernel.rsrc2 >> (7 + d) & 1) != 0) sgprs.group_id[d] = system++;
  }
  return sgprs;
}

}  // namespace zyfa::emu
