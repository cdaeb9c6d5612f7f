#include "zyfa/gen/fp8/main_loop.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/fp8/matrix_stream.h"
#include "zyfa/gen/fp8/schedule.h"
#include "zyfa/gen/fp8/softmax.h"
#include "zyfa/gen/fp8/tile_loader.h"

namespace zyfa::gen::fp8 {

void EmitMeeting(KernelState& s) {
  s.a.Comment("the next units have arrived");
  s.a.WaitVmcnt(0);
  s.a.s_barrier();
  s.a.s_sub_u32(s.meetings_left, s.meetings_left, 1);
}

namespace {

// Trip j of the loop, in two halves with one seam:
//
//   first half   row sum and output of tile j-1   O += V^T P^T   beside
//                maximum of tile j, test of the reference, first codes
//   second half  scores of tile j+1               K Q^T          beside
//                the other codes of tile j, first maximum of tile j+1
//
// so that vector work always has matrix work of its own wave beside it. In the
// second half of even trips the waves meet: K's unit of tiles j+2, j+3 and V's
// of j, j+1 have arrived, and no wave still reads K's unit before or V's two
// before. Their places are loaded in the first half of the trip behind.
//
// The code stands once for each of the four stages of the rings. Trips are
// plain, or general: masked, and for scores with a late reference. General
// trips only keep matrix and vector work beside each other where it is easy.

// Where streams go in a plain trip: matrix instructions are numbered 0 (row
// sum), 1..4 (output), 5.. (scores).
struct TripSchedule {
  int last_of_maximum;  // the test of the reference is behind it
  int first_of_codes;   // to the end of the trip
  int last_of_loads;    // from the test on
  int before_next_max;  // the last scores behind which it stands: from the end
};
constexpr TripSchedule kSchedule = {
    .last_of_maximum = 1,
    .first_of_codes = 2,
    .last_of_loads = 4,
    .before_next_max = 0,
};

constexpr int kStages = Geometry::kTiles;

// Labels of a stage.
struct StageLabels {
  Label general;          // first half of a general trip
  Label general_resumed;  // behind its test
  Label scores, last;
};

class MainLoop {
 public:
  MainLoop(KernelState& state, Label finish)
      : s(state), a(state.a), finish_(finish) {
    forms_.push_back({.multiply = false, .late = false});
    if (!s.g.lean) forms_.push_back({.multiply = true, .late = false});
    for (int stage = 0; stage < kStages; ++stage) {
      const auto label = [&](const char* name) {
        return a.NewLabel(absl::StrCat(name, "_", stage));
      };
      labels_[stage].general = label("general");
      labels_[stage].general_resumed = label("general_resumed");
      labels_[stage].scores = label("scores");
      labels_[stage].last = label("last");
      for (size_t form = 0; form < forms_.size(); ++form) {
        top_[form][stage] = label(form == 0 ? "trip" : "trip_multiply");
      }
    }
    idle_ = a.NewLabel("meetings_left");
  }

  Label Emit() {
    EmitFirstTrips();
    for (size_t form = 0; form < forms_.size(); ++form) {
      for (int stage = 0; stage < kStages; ++stage) EmitPlainTrip(form, stage);
      a.s_branch(top_[form][0]);
    }
    for (int stage = 0; stage < kStages; ++stage) EmitGeneralTrip(stage);
    for (const auto& emit : out_of_line_) emit();
    EmitIdle();
    return idle_;
  }

 private:
  static int Next(int stage) { return (stage + 1) % kStages; }
  static int Before(int stage) { return (stage + kStages - 1) % kStages; }
  static bool MeetsIn(int stage) { return stage % 2 == 0; }
  TileForm General() const { return {.multiply = !s.g.lean, .late = true}; }

  Stream CaptureLoads(int stage) {
    return a.Capture([&] {
      if (MeetsIn(stage)) return;
      EmitKeyUnitLoad(s);
      EmitValueUnitLoad(s);
    });
  }

  std::vector<Stream> OutputSteps(int stage);
  std::vector<Stream> ScoreSteps(int stage);
  void EmitFirstTrips();
  void EmitPlainTrip(size_t form, int stage);
  void EmitGeneralTrip(int stage);
  void EmitGeneralRest(int stage);
  void EmitIdle();
  void EmitScaleIfMoved(const std::string& name);
  // Test of the reference; `left_out`: of the path so far, to be done before a
  // jump to general_resumed of the stage.
  void EmitTest(const std::string& name, int stage, bool may_overflow,
                const Stream& left_out = Stream());

  KernelState& s;
  Assembler& a;
  Label finish_, idle_;
  std::vector<TileForm> forms_;
  StageLabels labels_[kStages];
  Label top_[2][kStages];
  std::vector<std::function<void()>> out_of_line_;
};

// Of the tile before the one in `stage`.
std::vector<Stream> MainLoop::OutputSteps(int stage) {
  return CaptureSteps(s, OutputOps(s, Before(stage)), ScoreOps(s, Next(stage)));
}

// Of the tile behind the one in `stage`, with the meeting.
std::vector<Stream> MainLoop::ScoreSteps(int stage) {
  const MatrixOps scores = ScoreOps(s, Next(stage));
  const MatrixOps output = OutputOps(s, stage);
  if (!MeetsIn(stage)) return CaptureSteps(s, scores, output);
  const int last_read =
      static_cast<int>(scores.ops.size()) - 1 - kFragmentsAhead;
  std::vector<Stream> steps = CaptureSteps(s, scores, output, last_read);
  steps[last_read].Add(a.Capture([&] { EmitMeeting(s); }));
  return steps;
}

void MainLoop::EmitTest(const std::string& name, int stage, bool may_overflow,
                        const Stream& left_out) {
  const Label move = a.NewLabel(absl::StrCat("move_", name));
  const Label stay = a.NewLabel(absl::StrCat("stay_", name));
  EmitMoveTest(s, move);
  a.Bind(stay);
  out_of_line_.push_back([=, this] {
    const Label overflow = a.NewLabel(absl::StrCat("overflow_", name));
    a.Phase(absl::StrCat("moved_reference_", name));
    a.Section(absl::StrCat("Moved reference, ", name));
    a.Bind(move);
    EmitMove(s, stage % 2, stay, may_overflow ? &overflow : nullptr);
    if (!may_overflow) return;
    a.Bind(overflow);
    a.Comment("all further tiles of this item with late references");
    a.s_mov_b32(s.plain_tiles, 0);
    a.Append(left_out);
    a.s_branch(labels_[stage].general_resumed);
  });
}

void MainLoop::EmitScaleIfMoved(const std::string& name) {
  const Label scale = a.NewLabel(absl::StrCat("scale_", name));
  const Label scaled = a.NewLabel(absl::StrCat("scaled_", name));
  a.s_cmp_lg_u32(s.moved, 0);
  a.s_cbranch_scc1(scale);
  a.Bind(scaled);
  out_of_line_.push_back([=, this] {
    a.Phase(absl::StrCat("scale_output_", name));
    a.Section("Scale the output to the moved reference");
    a.Bind(scale);
    a.s_mov_b32(s.moved, 0);
    EmitScaleOutput(s);
    a.s_branch(scaled);
  });
}

// The item's first tile, in stage 0 or 2: no output of a tile before it.
void MainLoop::EmitFirstTrips() {
  const Label odd = a.NewLabel("first_of_odd_unit");
  {
    ScopedSReg was_odd = a.sgprs().Scoped("was_odd");
    a.s_mov_b32(was_odd, s.odd_unit);
    a.s_xor_b32(s.odd_unit, s.odd_unit, s.meetings_left);
    a.s_and_b32(s.odd_unit, s.odd_unit, 1);
    a.s_cmp_eq_u32(s.wave_tiles, 0);
    a.s_cbranch_scc1(finish_);
    a.s_cmp_lg_u32(was_odd, 0);
    a.s_cbranch_scc1(odd);
  }
  for (const int stage : {0, 2}) {
    const Label unmasked = a.NewLabel("first_unmasked");
    a.Phase(absl::StrCat("first_scores_", stage));
    a.Section("First tile of the item");
    if (stage == 2) a.Bind(odd);
    const MatrixOps scores = ScoreOps(s, stage);
    const MatrixOps next = ScoreOps(s, Next(stage));
    a.Append(CaptureReadsAhead(s, scores));
    for (const Stream& step : CaptureSteps(s, scores, {})) a.Append(step);
    a.Append(CaptureReadsAhead(s, next));
    a.s_cmp_gt_i32(s.plain_tiles, 0);
    a.s_cbranch_scc1(unmasked);
    EmitMask(s, stage % 2);
    a.Bind(unmasked);
    for (int block = 0; block < Geometry::kKeyBlocks; ++block) {
      EmitBlockMax(s, stage % 2, block);
    }
    EmitRowMax(s, General());
    EmitTest(absl::StrCat("first_", stage), stage, /*may_overflow=*/true);
    a.s_branch(labels_[stage].general_resumed);
  }
}

void MainLoop::EmitPlainTrip(size_t form_number, int stage) {
  const TileForm form = forms_[form_number];
  const std::string name =
      absl::StrCat(form.multiply ? "multiply_" : "plain_", stage);
  const int parity = stage % 2;
  a.Phase(absl::StrCat("trip_", name));
  a.Section(absl::StrCat("Trip of stage ", stage));
  a.Bind(top_[form_number][stage]);
  a.s_cmp_lt_i32(s.key_tile, s.plain_tiles);
  a.s_cbranch_scc0(labels_[stage].general);

  std::vector<Stream> steps = {
      a.Capture([&] { EmitCodeSum(s, Before(stage)); })};
  for (Stream& step : OutputSteps(stage)) steps.push_back(std::move(step));
  const size_t output_end = steps.size();
  for (Stream& step : ScoreSteps(stage)) steps.push_back(std::move(step));

  const size_t test = static_cast<size_t>(kSchedule.last_of_maximum) + 1;
  const auto part = [&steps](size_t begin, size_t end) {
    return std::vector<Stream>(
        steps.begin() + static_cast<std::ptrdiff_t>(begin),
        steps.begin() + static_cast<std::ptrdiff_t>(end));
  };
  const Stream maximum = a.Capture([&] {
    EmitBlockMax(s, parity, Geometry::kKeyBlocks - 1);
    EmitRowMax(s, form);
    EmitRowSum(s);
  });
  a.Append(Schedule(
      a, part(0, test),
      {{maximum, kSchedule.last_of_maximum, kSchedule.last_of_maximum}}));
  const Stream loads = CaptureLoads(stage);
  Stream left_out;
  for (size_t i = test; i < output_end; ++i) left_out.Add(steps[i]);
  left_out.Add(loads);
  EmitTest(name, stage, /*may_overflow=*/true, left_out);

  const int begin = static_cast<int>(test);
  const int last = static_cast<int>(steps.size()) - 1 - begin;
  const Stream codes = a.Capture([&] {
    EmitTileExponent(s, parity, form);
    a.Append(CaptureCodes(s, parity, form, 0, kCodePieces));
  });
  const Stream next_max =
      a.Capture([&] { EmitBlockMax(s, 1 - parity, /*block=*/0); });
  a.Append(Schedule(a, part(test, steps.size()),
                    {{codes, kSchedule.first_of_codes - begin, last},
                     {loads, 0, kSchedule.last_of_loads - begin},
                     {next_max, last - kSchedule.before_next_max, last}}));
  EmitScaleIfMoved(name);
  a.s_add_u32(s.key_tile, s.key_tile, 1);
}

void MainLoop::EmitGeneralTrip(int stage) {
  const int parity = stage % 2;
  a.Phase(absl::StrCat("general_", stage));
  a.Section(absl::StrCat("General trip of stage ", stage));
  a.Bind(labels_[stage].general);
  EmitCodeSum(s, Before(stage));
  const std::vector<Stream> steps = OutputSteps(stage);
  const Stream maximum = a.Capture([&] {
    EmitMask(s, parity);
    for (int block = 0; block < Geometry::kKeyBlocks; ++block) {
      EmitBlockMax(s, parity, block);
    }
    EmitRowMax(s, General());
    EmitRowSum(s);
  });
  a.Append(CaptureLoads(stage));
  a.Append(
      Schedule(a, steps, {{maximum, 0, static_cast<int>(steps.size()) - 1}}));
  EmitTest(absl::StrCat("general_", stage), stage, /*may_overflow=*/false);
  EmitGeneralRest(stage);
}

void MainLoop::EmitGeneralRest(int stage) {
  const int parity = stage % 2;
  const StageLabels& l = labels_[stage];
  const TileForm form = General();
  a.Bind(l.general_resumed);
  EmitTileExponent(s, parity, form);
  {
    ScopedSReg following = a.sgprs().Scoped("following_tile");
    a.s_add_u32(following, s.key_tile, 1);
    a.s_cmp_ge_u32(following, s.wave_tiles);
    a.s_cbranch_scc1(l.last);
  }
  const Stream codes = CaptureCodes(s, parity, form, 0, kCodePieces);
  const std::vector<Stream> steps = ScoreSteps(stage);
  const Stream next_max =
      a.Capture([&] { EmitBlockMax(s, 1 - parity, /*block=*/0); });
  const int last = static_cast<int>(steps.size()) - 1;
  a.Append(Schedule(a, steps, {{codes, 0, last}, {next_max, last, last}}));
  EmitScaleIfMoved(absl::StrCat("general_", stage));
  a.s_add_u32(s.key_tile, s.key_tile, 1);
  if (forms_.size() > 1) {
    a.s_cmp_lg_u32(s.unit_scale, F32(1.0f));
    a.s_cbranch_scc1(top_[1][Next(stage)]);
  }
  a.s_branch(top_[0][Next(stage)]);

  a.Phase(absl::StrCat("last_", stage));
  a.Section("The wave's last tile");
  a.Bind(l.last);
  a.Append(codes);
  a.Comment("keys read ahead in vain");
  a.WaitLgkmcnt(0);
  if (MeetsIn(stage)) {
    EmitMeeting(s);
    EmitKeyUnitLoad(s);
    EmitValueUnitLoad(s);
  }
  EmitScaleIfMoved(absl::StrCat("last_", stage));
  const MatrixOps output = OutputOps(s, stage);
  a.Append(CaptureReadsAhead(s, output));
  EmitCodeSum(s, stage);
  for (const Stream& step : CaptureSteps(s, output, {})) a.Append(step);
  EmitRowSum(s);
  a.s_branch(finish_);
}

// A wave without work of its own still takes part in meetings and loads.
void MainLoop::EmitIdle() {
  const Label done = a.NewLabel("item_done");
  a.Phase("idle");
  a.Section("Meetings that are left");
  a.Bind(idle_);
  a.s_cmp_eq_u32(s.meetings_left, 0);
  a.s_cbranch_scc1(done);
  EmitMeeting(s);
  EmitKeyUnitLoad(s);
  EmitValueUnitLoad(s);
  a.s_branch(idle_);
  a.Bind(done);
}

}  // namespace

Label EmitMainLoop(KernelState& s, Label finish) {
  return MainLoop(s, finish).Emit();
}

}  // namespace zyfa::gen::fp8
