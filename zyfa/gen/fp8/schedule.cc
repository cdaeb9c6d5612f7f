#include "zyfa/gen/fp8/schedule.h"

#include <algorithm>

namespace zyfa::gen::fp8 {
namespace {

int IssueClocks(const Instruction& inst) {
  return inst.info().Has(kTrans) ? 8 : 4;
}

// Clocks that the matrix instructions of a step leave the vector pipe.
int RoomOf(const Stream& step) {
  int room = 0;
  for (const Instruction& inst : step.instructions()) {
    if (inst.IsMatrix()) room += 4 * (MatrixPasses(inst) - 3);
  }
  return room;
}

// How many operations of the stream go behind each of the steps.
std::vector<int> Shares(const Placed& placed, const std::vector<int>& room) {
  std::vector<int> after(room.size(), 0);
  int total_room = 0;
  for (int i = placed.first; i <= placed.last; ++i) total_room += room[i];
  int total = 0;
  for (const Instruction& inst : placed.stream.instructions()) {
    if (inst.IsOperation()) total += IssueClocks(inst);
  }
  int clocks = 0;
  int step = placed.first;
  int reached = room[step];  // of the room, up to and with this step
  for (const Instruction& inst : placed.stream.instructions()) {
    if (!inst.IsOperation()) continue;
    // The step in whose share the middle of the instruction falls.
    const int middle = clocks + IssueClocks(inst) / 2;
    while (step < placed.last && middle * total_room >= total * reached) {
      reached += room[++step];
    }
    ++after[step];
    clocks += IssueClocks(inst);
  }
  return after;
}

}  // namespace

Stream Schedule(Assembler& a, const std::vector<Stream>& steps,
                const std::vector<Placed>& streams) {
  Stream main;
  std::vector<size_t> ends;
  std::vector<int> room;
  for (const Stream& step : steps) {
    main.Add(step);
    ends.push_back(main.instructions().size() - 1);
    room.push_back(RoomOf(step));
  }
  InterleaveOptions options;
  options.check = InterleaveCheck::kSequential;
  options.anchor = [&main, &ends](const Instruction& inst) {
    return std::binary_search(
        ends.begin(), ends.end(),
        static_cast<size_t>(&inst - main.instructions().data()));
  };
  std::vector<Filler> fillers;
  for (const Placed& placed : streams) {
    if (placed.stream.size() == 0) continue;
    fillers.push_back({placed.stream, Shares(placed, room)});
  }
  return a.Interleave(main, fillers, options);
}

}  // namespace zyfa::gen::fp8
