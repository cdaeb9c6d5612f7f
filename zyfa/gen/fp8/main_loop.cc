#include "zyfa/gen/fp8/main_loop.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/fp8/matrix_stream.h"
#include "zyfa/gen/fp8/query.h"
#include "zyfa/gen/fp8/schedule.h"
#include "zyfa/gen/fp8/softmax.h"
#include "zyfa/gen/fp8/store.h"
#include "zyfa/gen/fp8/tile_loader.h"

namespace zyfa::gen::fp8 {
namespace {

// Ping-pong. A wave's work on tile j is a vector phase V_j and a matrix phase:
//
//   V_j      maximum, test of the reference, codes of tile j
//   M_{j+1}  row sum and output of tile j    O += V^T P^T
//            scores of tile j+1              K Q^T
//
// with nothing but matrix instructions, their operands' reads and the loads of
// tiles in M. The two waves of a SIMD, w and w + 4, are half a trip apart:
// while one has the matrix pipe, the other has the vector pipe, which the
// matrix instructions leave free 52 clocks of 64 (cdna4-timing 1.3).
//
// What keeps them apart is the meeting, once a trip: waves 0..3 attend meeting
// j behind M_j, waves 4..7 before it. It costs no matrix time, as the last
// product of the former still runs while the latter begin.
//
// At meeting j the tiles K_j, K_{j+1}, V_{j-1} and V_j have arrived, and all
// waves are through with K_{j-1} and V_{j-2}: in the rings of four, K_{j+3} and
// V_{j+2} may be loaded, and those of the meeting before may still be on their
// way. Waves 4..7 load them in M_j, right behind their meeting, waves 0..3 in
// M_{j+1}: every M loads a tile of each, and waves 4..7 are one tile ahead.
//
// The code stands once for each stage of the rings. Trips are plain or general:
// masked, and for scores with a late reference. What a wave does besides is put
// into M, where it has time; plain trips are there for each group of waves, so
// that V does not ask for it.

constexpr int kStages = Geometry::kStages;

// Where things go in the phases.
struct PhaseSchedule {
  // Exact: pieces whose weights are made while the second block's scores are
  // still on their way.
  int early_pieces;
  // Products of M behind which the loads of tiles go.
  int first_of_loads;
  int last_of_loads;
};
constexpr PhaseSchedule kSchedule = {
    .early_pieces = 4,
    .first_of_loads = 1,
    .last_of_loads = 6,
};

// Labels of a stage.
struct StageLabels {
  Label general;          // V of a general trip
  Label general_resumed;  // behind its test
};

class MainLoop {
 public:
  explicit MainLoop(KernelState& state) : s(state), a(state.a) {
    forms_.push_back({.multiply = false, .late = false});
    if (!s.g.lean) forms_.push_back({.multiply = true, .late = false});
    for (int stage = 0; stage < kStages; ++stage) {
      const auto label = [&](const char* name) {
        return a.NewLabel(absl::StrCat(name, "_", stage));
      };
      labels_[stage].general = label("general");
      labels_[stage].general_resumed = label("general_resumed");
      first_[stage] = label("first");
      for (size_t form = 0; form < forms_.size(); ++form) {
        for (int group = 0; group < 2; ++group) {
          top_[form][group][stage] =
              a.NewLabel(absl::StrCat("trip_", TripName(form, group, stage)));
          checked_[form][group][stage] = a.NewLabel(
              absl::StrCat("checked_", TripName(form, group, stage)));
        }
      }
    }
    finish_ = a.NewLabel("finish");
  }

  void Emit() {
    EmitFirstScores();
    for (size_t form = 0; form < forms_.size(); ++form) {
      for (int group = 0; group < 2; ++group) {
        for (int stage = 0; stage < kStages; ++stage) {
          EmitPlainTrip(form, group, stage);
        }
        a.s_branch(checked_[form][group][0]);
      }
    }
    for (int stage = 0; stage < kStages; ++stage) EmitGeneralTrip(stage);
    for (const auto& emit : out_of_line_) emit();
    EmitFinish();
  }

 private:
  static int Next(int stage) { return (stage + 1) % kStages; }
  TileForm General() const { return {.multiply = !s.g.lean, .late = true}; }

  void EmitFirstScores();
  void EmitPlainTrip(size_t form_number, int group, int stage);
  std::string TripName(size_t form, int group, int stage) const {
    return absl::StrCat(form == 0 ? "plain_" : "multiply_", group, "_", stage);
  }
  void EmitGeneralTrip(int stage);
  void EmitFinish();
  void EmitIdleMeeting(Label none_left, int between);
  // The meeting of waves of that group, in code for waves of group `own`, or of
  // both if that is kBoth. It has to be counted apart.
  // `between`: other memory operations than loads of tiles that have been
  // issued since those that must have arrived.
  static constexpr int kBoth = -1;
  void EmitMeeting(int group, int own, int between = 0);
  void EmitCountMeeting() { a.s_sub_u32(s.meetings_left, s.meetings_left, 1); }
  // M behind the tile in `stage`, with the meeting: sum and output of the tile,
  // scores of the next one. The first operands must be on their way. SCC says
  // then whether the next trip is a plain one.
  void EmitMatrixPhase(int stage, int own);
  MatrixOps Products(int stage) {
    MatrixOps ops = OutputOps(s, stage);
    for (MatrixOp& op : ScoreOps(s, Next(stage))) ops.push_back(std::move(op));
    return ops;
  }
  // The codes of the tile in `stage`, and the first operands for M behind it.
  void EmitCodes(const TileForm& form, int weights, int stage);
  void EmitTest(const std::string& name, int stage, const TileForm& form,
                int weights);

  KernelState& s;
  Assembler& a;
  Label finish_;
  std::vector<TileForm> forms_;
  StageLabels labels_[kStages];
  Label first_[kStages];
  // Plain trips, and behind the question whether it is one.
  Label top_[2][2][kStages];
  Label checked_[2][2][kStages];
  std::vector<std::function<void()>> out_of_line_;
};

void MainLoop::EmitMeeting(int group, int own, int between) {
  if (own != group && own != kBoth) return;
  const Label others = a.NewLabel("meeting_of_others");
  if (own == kBoth) {
    a.s_cmp_eq_u32(s.group, group);
    a.s_cbranch_scc0(others);
  }
  a.Comment("all loads but those of the last meeting have arrived");
  a.WaitVmcnt(TileLoads(s.g) + between);
  a.s_barrier();
  if (own == kBoth) a.Bind(others);
}

void MainLoop::EmitMatrixPhase(int stage, int own) {
  EmitMeeting(1, own);
  // The other wave may reach its own M before this one is through: it must not
  // come in between, as the older wave of two equals would.
  a.s_setprio(1);
  std::vector<Stream> steps = CaptureSteps(s, Products(stage));
  steps[1].Add(a.Capture([&] { a.s_setprio(2); }));
  const Stream loads = a.Capture([&] { EmitTileLoads(s); });
  const Stream next = a.Capture([&] {
    EmitCountMeeting();
    a.s_add_u32(s.key_tile, s.key_tile, 1);
    a.s_cmp_lt_i32(s.key_tile, s.plain_tiles);
  });
  const int last = static_cast<int>(steps.size()) - 1;
  EmitCodeSum(s);
  a.Append(Schedule(a, steps,
                    {{loads, kSchedule.first_of_loads, kSchedule.last_of_loads},
                     {next, last - 1, last - 1}}));
  a.s_setprio(0);
  EmitMeeting(0, own);
}

void MainLoop::EmitCodes(const TileForm& form, int weights, int stage) {
  EmitTileExponent(s, form);
  // While an exponential takes two turns, the wave may issue something else.
  InterleaveOptions options;
  options.anchor = [this](const Instruction& inst) {
    return inst.IsOperation() && inst.info().IsValu() &&
           (s.g.lean || inst.info().Has(kTrans));
  };
  const Stream reads = CaptureReadsAhead(s, OutputOps(s, stage));
  a.Append(
      a.Interleave(CaptureCodes(s, form, weights), {{reads, {}}}, options));
}

// M_0 of the item: scores only.
void MainLoop::EmitFirstScores() {
  a.Phase("first_scores");
  a.Section("First tile of the item: where it stands in the rings");
  {
    const Label tileless = a.NewLabel("no_tiles");
    out_of_line_.push_back([this, tileless] {
      a.Bind(tileless);
      a.Comment("there was no meeting yet: Q of the next item");
      a.WaitVmcnt(0);
      a.s_branch(finish_);
    });
    ScopedSReg stage = a.sgprs().Scoped("stage");
    a.s_mov_b32(stage, s.first_stage);
    a.s_add_u32(s.first_stage, s.first_stage, s.meetings_left);
    a.s_and_b32(s.first_stage, s.first_stage, kStages - 1);
    a.s_cmp_eq_u32(s.wave_tiles, 0);
    a.s_cbranch_scc1(tileless);
    for (int i = 1; i < kStages; ++i) {
      a.s_cmp_eq_u32(stage, i);
      a.s_cbranch_scc1(first_[i]);
    }
  }
  for (int stage = 0; stage < kStages; ++stage) {
    a.Phase(absl::StrCat("first_scores_", stage));
    a.Bind(first_[stage]);
    EmitMeeting(1, kBoth, QueryLoads(s.g));
    const MatrixOps scores = ScoreOps(s, stage);
    a.Append(CaptureReadsAhead(s, scores));
    EmitTileLoads(s);
    for (const Stream& step : CaptureSteps(s, scores)) a.Append(step);
    EmitMeeting(0, kBoth, QueryLoads(s.g));
    EmitCountMeeting();
    a.s_branch(labels_[stage].general);
  }
}

void MainLoop::EmitTest(const std::string& name, int stage,
                        const TileForm& form, int weights) {
  const Label move = a.NewLabel(absl::StrCat("move_", name));
  const Label stay = a.NewLabel(absl::StrCat("stay_", name));
  EmitMoveTest(s, move);
  a.Bind(stay);
  out_of_line_.push_back([=, this] {
    a.Phase(absl::StrCat("moved_reference_", name));
    a.Section(absl::StrCat("Moved reference, ", name));
    a.Bind(move);
    EmitMove(s, form, weights, stay);
    a.Comment("there is no output before the item's first tile");
    const Label scaled = a.NewLabel(absl::StrCat("scaled_", name));
    a.s_cmp_eq_u32(s.key_tile, 0);
    a.s_cbranch_scc1(scaled);
    EmitScaleOutput(s);
    a.Bind(scaled);
    a.s_cbranch_vccz(stay);
    a.Comment("all further tiles of this item with late references");
    a.s_mov_b32(s.plain_tiles, 0);
    if (form.late) {
      a.s_branch(stay);
    } else if (s.g.lean) {
      a.s_branch(labels_[stage].general_resumed);
    } else {
      a.v_mov_b32(s.late, s.next_late);
      a.s_branch(stay);
    }
  });
}

void MainLoop::EmitPlainTrip(size_t form_number, int group, int stage) {
  const TileForm form = forms_[form_number];
  const std::string name = TripName(form_number, group, stage);
  a.Phase(absl::StrCat("vector_", name));
  a.Section(absl::StrCat("Trip of stage ", stage, ", waves ", 4 * group, "..",
                         4 * group + 3, ": vector phase"));
  out_of_line_.push_back([=, this] {
    a.Bind(top_[form_number][group][stage]);
    a.s_cmp_lt_i32(s.key_tile, s.plain_tiles);
    a.s_branch(checked_[form_number][group][stage]);
  });
  a.Bind(checked_[form_number][group][stage]);
  a.s_cbranch_scc0(labels_[stage].general);
  EmitBlockMax(s, 0);
  const int early = s.g.lean ? 0 : kSchedule.early_pieces;
  Stream between;
  if (early > 0) {
    // So that no weight overflows, the first block is tested before.
    a.v_cmp_gt_f32(vcc, s.tile_max, s.threshold);
    a.s_cbranch_vccnz(labels_[stage].general);
    const Stream weights = CaptureWeights(s, form, early);
    const int count = weights.size();
    a.Append(weights.Slice(0, count - 1));
    between = weights.Slice(count - 1, 1);
  }
  EmitBlockMax(s, 1);
  EmitRowMax(s, form, between);
  EmitTest(name, stage, form, 4 * early);
  EmitCodes(form, early, stage);
  a.Phase(absl::StrCat("matrix_", name));
  a.Section(absl::StrCat("Trip of stage ", stage, ", waves ", 4 * group, "..",
                         4 * group + 3, ": matrix phase"));
  EmitMatrixPhase(stage, group);
}

void MainLoop::EmitGeneralTrip(int stage) {
  const StageLabels& l = labels_[stage];
  const TileForm form = General();
  const Label unmasked = a.NewLabel("unmasked");
  const std::string name = absl::StrCat("general_", stage);
  a.Phase(absl::StrCat("vector_", name));
  a.Section(absl::StrCat("General trip of stage ", stage));
  a.Bind(l.general);
  a.s_cmp_lt_i32(s.key_tile, s.plain_tiles);
  a.s_cbranch_scc1(unmasked);
  EmitMask(s);
  a.Bind(unmasked);
  for (int block = 0; block < Geometry::kKeyBlocks; ++block) {
    EmitBlockMax(s, block);
  }
  EmitRowMax(s, form, Stream());
  EmitTest(name, stage, form, /*weights=*/0);
  a.Bind(l.general_resumed);
  EmitCodes(form, /*weights=*/0, stage);
  const Label last = a.NewLabel("last");
  {
    ScopedSReg following = a.sgprs().Scoped("following_tile");
    a.s_add_u32(following, s.key_tile, 1);
    a.s_cmp_ge_u32(following, s.wave_tiles);
    a.s_cbranch_scc1(last);
  }
  a.Phase(absl::StrCat("matrix_", name));
  EmitMatrixPhase(stage, kBoth);
  // To the next trip's code, by form and group.
  const Label multiply = a.NewLabel("next_multiply");
  if (forms_.size() > 1) {
    a.s_cmp_lg_u32(s.unit_scale, F32(1.0f));
    a.s_cbranch_scc1(multiply);
  }
  for (size_t i = 0; i < forms_.size(); ++i) {
    if (i > 0) a.Bind(multiply);
    a.s_cmp_eq_u32(s.group, 0);
    a.s_cbranch_scc1(top_[i][0][Next(stage)]);
    a.s_branch(top_[i][1][Next(stage)]);
  }

  a.Phase(absl::StrCat("last_", stage));
  a.Section("The wave's last tile");
  a.Bind(last);
  EmitCodeSum(s);
  for (const Stream& step : CaptureSteps(s, OutputOps(s, stage))) {
    a.Append(step);
  }
  EmitRowSum(s);
  a.s_branch(finish_);
}

// A meeting of a wave without work of its own.
void MainLoop::EmitIdleMeeting(Label none_left, int between) {
  a.s_cmp_eq_u32(s.meetings_left, 0);
  a.s_cbranch_scc1(none_left);
  EmitMeeting(1, kBoth, between);
  EmitTileLoads(s);
  EmitMeeting(0, kBoth, between);
  EmitCountMeeting();
}

// The wave is through with its tiles. Others may not be: so that they do not
// wait, it attends a meeting before it stores, and the others behind.
void MainLoop::EmitFinish() {
  const Label store = a.NewLabel("store");
  const Label idle = a.NewLabel("meetings_left");
  const Label done = a.NewLabel("item_done");
  a.Phase("finish");
  a.Section("The wave's tiles are done");
  a.Bind(finish_);
  EmitIdleMeeting(store, 0);
  a.Phase("store");
  a.Bind(store);
  EmitStore(s);
  a.Phase("idle");
  a.Section("Meetings that are left");
  // What the first of these waits for was issued before the stores.
  EmitIdleMeeting(done, kStores);
  a.Bind(idle);
  EmitIdleMeeting(done, 0);
  a.s_branch(idle);
  a.Bind(done);
}

}  // namespace

void EmitMainLoop(KernelState& s) { MainLoop(s).Emit(); }

}  // namespace zyfa::gen::fp8
