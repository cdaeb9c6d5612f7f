#include "zyfa/gen/fp8/main_loop.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/fp8/int8_softmax.h"
#include "zyfa/gen/fp8/item_table.h"
#include "zyfa/gen/fp8/matrix_stream.h"
#include "zyfa/gen/fp8/probe.h"
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
// The code stands once for each stage of the rings. Trips are plain; or masked,
// which are an item's first and last ones; or careful, masked and for scores
// with a late reference. What a wave does besides is put into M, where it has
// time; plain trips are there for each group of waves, so that V does not ask
// for it.

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
    .first_of_loads = 0,
    .last_of_loads = 6,
};
// Those of the first block: the second one's scores have not been tested.
static_assert(kSchedule.early_pieces <= 16 / 4);

class MainLoop {
 public:
  explicit MainLoop(KernelState& state) : s(state), a(state.a) {
    forms_.push_back({.multiply = false, .late = false});
    if (s.g.exact) forms_.push_back({.multiply = true, .late = false});
    careful_ = forms_.size();
    if (!s.g.int8) forms_.push_back({.multiply = s.g.exact, .late = true});
    for (size_t form = 0; form < forms_.size(); ++form) {
      for (int stage = 0; stage < kStages; ++stage) {
        const auto label = [&](const char* name) {
          return a.NewLabel(absl::StrCat(name, "_", Name(form, stage)));
        };
        masked_[form][stage] = label("masked");
        tested_[form][stage] = label("tested");
        resumed_[form][stage] = label("resumed");
        moved_[form][stage] = label("moved");
        for (int group = 0; group < 2; ++group) {
          trip_[form][group][stage] =
              label(group == 0 ? "trip_of_0" : "trip_of_1");
          checked_[form][group][stage] =
              label(group == 0 ? "checked_of_0" : "checked_of_1");
          stay_[form][group][stage] =
              label(group == 0 ? "stay_of_0" : "stay_of_1");
        }
      }
    }
    for (Label& label : first_) label = a.NewLabel("first");
    for (Label& label : first_matrix_) label = a.NewLabel("first_matrix");
    for (Label& label : last_) label = a.NewLabel("last");
  }

  void Emit() {
    EmitFirstScores();
    for (size_t form = 0; form < careful_; ++form) {
      for (int group = 0; group < 2; ++group) {
        for (int stage = 0; stage < kStages; ++stage) {
          EmitPlainTrip(form, group, stage);
        }
        a.s_branch(checked_[form][group][0]);
      }
    }
    for (size_t form = 0; form < forms_.size(); ++form) {
      for (int stage = 0; stage < kStages; ++stage) {
        EmitMaskedTrip(form, stage);
      }
    }
    for (int stage = 0; stage < kStages; ++stage) EmitFirstMatrixPhase(stage);
    for (int stage = 0; stage < kStages; ++stage) EmitLastProducts(stage);
    for (const auto& emit : out_of_line_) emit();
    EmitFinish();
  }

 private:
  static int Next(int stage) { return (stage + 1) % kStages; }
  std::string Name(size_t form, int stage) const {
    return absl::StrCat(form == careful_        ? "careful_"
                        : forms_[form].multiply ? "multiply_"
                                                : "plain_",
                        stage);
  }

  void EmitZeroOutput();
  void EmitFirstScores();
  void EmitPlainTrip(size_t form, int group, int stage);
  void EmitMaskedTrip(size_t form, int stage);
  void EmitLastProducts(int stage);
  void EmitFinish();
  void EmitFirstMatrixPhase(int stage);
  void EmitToNextTrip(int stage);
  void EmitOnlyTile();
  void EmitIdleMeeting(int between);
  void EmitNextMeeting(int between);
  // To label 0 or 1, by what the item's scale asks for.
  void EmitBranchByScale(const Label labels[2]);
  // The meeting of waves of that group, in code for waves of group `own`, or of
  // both if that is kBoth. It has to be counted apart.
  // `between`: other memory operations than loads of tiles that have been
  // issued since those that must have arrived. `raise`: their priority as well.
  static constexpr int kBoth = -1;
  void EmitMeeting(int group, int own, int between = 0, bool raise = false);
  void EmitCountMeeting() { a.s_sub_u32(s.meetings_left, s.meetings_left, 1); }
  // M behind the tile in `stage`, with the meeting: sum and output of the tile,
  // scores of the next one. The first operands must be on their way. In code
  // for one group, SCC says then whether the next trip is a plain one. `first`:
  // there is no output yet, and Q of the next item is loaded.
  void EmitMatrixPhase(int stage, int own, bool first = false);
  MatrixOps Products(int stage, bool first) {
    MatrixOps ops = OutputOps(s, stage, first);
    const MatrixOps scores = ScoreOps(s, Next(stage));
    // The longest product comes last: it runs on while others meet and begin.
    const bool apart = s.codes.first() != s.scores.first();
    ops.insert(ops.end() - (apart ? 1 : 0), scores.begin(), scores.end());
    return ops;
  }
  // The codes of the tile in `stage`, and the first operands for M behind it.
  void EmitCodes(const TileForm& form, int weights, int stage);
  // Out of the line of a trip of that form: the reference moves. The first
  // `weights` registers of the tile are weights. Goes back to `stay`.
  void EmitMoved(const std::string& name, size_t form, int stage, int weights,
                 Label stay);
  // The maximum of a block of scores, and the test of the reference.
  void EmitScoreMax(int block);
  void EmitReferenceTest(Label move);
  // INT8: references fall behind this tile if it is the one.
  void EmitFallIfDue();
  // Tiles below this number run plain trips.
  SReg PlainUntil() const { return s.g.int8 ? s.plain_until : s.plain_tiles; }

  KernelState& s;
  Assembler& a;
  Label tileless_ = a.NewLabel("no_tiles");
  Label store_ = a.NewLabel("store");
  // Plain ones first: one for scales that are powers of two (or lean P), one
  // that multiplies by what is left of others. Then the careful one, of FP8.
  static constexpr size_t kMostForms = 3;
  std::vector<TileForm> forms_;
  size_t careful_ = 0;
  Label first_[kStages];
  Label first_matrix_[kStages];
  Label last_[kStages];
  // Masked trips, their test of the reference, and behind it.
  Label masked_[kMostForms][kStages];
  Label tested_[kMostForms][kStages];
  Label resumed_[kMostForms][kStages];
  // Plain trips by group, and behind the question whether it is one.
  Label trip_[kMostForms][2][kStages];
  Label checked_[kMostForms][2][kStages];
  // Exact: where their references move, and behind.
  Label moved_[kMostForms][kStages];
  Label stay_[kMostForms][2][kStages];
  std::vector<std::function<void()>> out_of_line_;
};

void MainLoop::EmitMeeting(int group, int own, int between, bool raise) {
  if (own != group && own != kBoth) return;
  const Label others = a.NewLabel("meeting_of_others");
  if (own == kBoth) {
    a.s_cmp_eq_u32(s.group, group);
    a.s_cbranch_scc0(others);
  }
  if (raise) a.s_setprio(3);
  a.Comment("all loads but those of the last meeting have arrived");
  a.WaitVmcnt(TileLoads(s.g) + between);
  a.s_barrier();
  if (own == kBoth) a.Bind(others);
}

void MainLoop::EmitMatrixPhase(int stage, int own, bool first) {
  // Waves 0..3 may reach their M before the others are through with theirs, but
  // not the other way round: the others go first.
  a.s_setprio(2);
  EmitMeeting(1, own, /*between=*/0, /*raise=*/true);
  std::vector<Stream> steps = CaptureSteps(s, Products(stage, first));

  const Stream loads = a.Capture([&] {
    if (first) EmitQueryLoad(s);
    EmitTileLoads(s);
  });
  const Stream next = a.Capture([&] {
    EmitCountMeeting();
    a.s_add_u32(s.key_tile, s.key_tile, 1);
    a.s_cmp_lt_i32(s.key_tile, PlainUntil());
  });
  const int last = static_cast<int>(steps.size()) - 1;
  EmitCodeSum(s);
  a.Append(Schedule(a, steps,
                    {{loads, kSchedule.first_of_loads,
                      s.g.int8 ? last - 1 : kSchedule.last_of_loads},
                     {next, last - 1, last - 1}}));
  // The next phase's priority: by then only the last product has not begun.
  a.s_setprio(1);
  EmitMeeting(0, own, first ? QueryLoads(s.g) : 0);
}

void MainLoop::EmitCodes(const TileForm& form, int weights, int stage) {
  if (!s.g.int8) EmitTileExponent(s, form);
  // While an exponential takes two turns, the wave may issue something else.
  InterleaveOptions options;
  options.anchor = [this](const Instruction& inst) {
    return inst.IsOperation() && inst.info().IsValu() &&
           (!s.g.exact || inst.info().Has(kTrans));
  };
  const Stream reads = a.Capture([&] {
    if (s.g.multiply) EmitMultiplierRead(s, Next(stage));
    a.Append(CaptureReadsAhead(s, OutputOps(s, stage)));
  });
  const Stream codes =
      s.g.int8 ? CaptureInt8Codes(s) : CaptureCodes(s, form, weights);
  a.Append(a.Interleave(codes, {{reads, {}}}, options));
}

void MainLoop::EmitZeroOutput() {
  for (int i = 0; i < s.output_sum.count(); i += 2) {
    a.v_mov_b64(s.output_sum.sub(i, 2), 0);
  }
}

// M_0 of the item: scores only.
void MainLoop::EmitFirstScores() {
  a.Phase("first_scores");
  a.Section("First tile of the item: where it stands in the rings");
  if (s.g.int8) {
    EmitInt8Start(s);
  } else {
    EmitSoftmaxStart(s);
  }
  {
    ScopedSReg stage = a.sgprs().Scoped("stage");
    a.s_mov_b32(stage, s.first_stage);
    a.s_add_u32(s.first_stage, s.first_stage, s.meetings_left);
    a.s_and_b32(s.first_stage, s.first_stage, kStages - 1);
    a.s_cmp_eq_u32(s.wave_tiles, 0);
    a.s_cbranch_scc1(tileless_);
    if (s.g.int8) EmitProbe(s);
    for (int i = 1; i < kStages; ++i) {
      a.s_cmp_eq_u32(stage, i);
      a.s_cbranch_scc1(first_[i]);
    }
  }
  for (int stage = 0; stage < kStages; ++stage) {
    a.Phase(absl::StrCat("first_scores_", stage));
    a.Bind(first_[stage]);
    const MatrixOps scores = ScoreOps(s, stage, /*first=*/true);
    if (s.g.multiply) EmitMultiplierRead(s, stage);
    a.Append(CaptureReadsAhead(s, scores));
    const std::vector<Stream> steps = CaptureSteps(s, scores);
    const int last = static_cast<int>(steps.size()) - 1;
    const Stream loads = a.Capture([&] { EmitTileLoads(s); });
    // Behind the probe they come late: the others wait for them.
    a.s_setprio(s.g.int8 ? 3 : 2);
    a.Append(Schedule(a, steps, {{loads, 0, last}}));
    a.s_setprio(1);
    EmitMeeting(0, kBoth);
    EmitCountMeeting();
    const Label next[2] = {masked_[0][stage], masked_[1][stage]};
    EmitBranchByScale(next);
  }
}

void MainLoop::EmitBranchByScale(const Label labels[2]) {
  if (s.g.exact) {
    a.s_cmp_lg_u32(s.unit_scale, F32(1.0f));
    a.s_cbranch_scc1(labels[1]);
  }
  a.s_branch(labels[0]);
}

void MainLoop::EmitMoved(const std::string& name, size_t form, int stage,
                         int weights, Label stay) {
  a.Phase(absl::StrCat("moved_reference_", name));
  a.Section(absl::StrCat("Moved reference, ", name));
  if (s.g.int8) return EmitInt8Move(s, stay);
  EmitMove(s, forms_[form], weights, stay);
  a.Comment("there is no output before the item's first tile");
  const Label scaled = a.NewLabel(absl::StrCat("scaled_", name));
  a.s_cmp_eq_u32(s.key_tile, 0);
  a.s_cbranch_scc1(scaled);
  EmitScaleOutput(s);
  a.Bind(scaled);
  a.s_cbranch_vccz(stay);
  a.Comment("all further tiles of this item with care");
  a.s_mov_b32(s.plain_tiles, -1);
  if (form == careful_) {
    a.s_branch(stay);
  } else if (s.g.lean) {
    a.s_branch(resumed_[careful_][stage]);
  } else {
    a.v_mov_b32(s.late, s.next_late);
    a.s_branch(stay);
  }
}

void MainLoop::EmitPlainTrip(size_t form, int group, int stage) {
  TileForm bounded = forms_[form];
  bounded.bounded = s.g.exact;
  const std::string name = absl::StrCat(Name(form, stage), "_of_", group);
  const std::string title = absl::StrCat("Trip of stage ", stage, ", waves ",
                                         4 * group, "..", 4 * group + 3);
  out_of_line_.push_back([=, this] {
    a.Bind(trip_[form][group][stage]);
    a.s_cmp_lt_i32(s.key_tile, PlainUntil());
    a.s_branch(checked_[form][group][stage]);
  });
  a.Phase(absl::StrCat("vector_", name));
  a.Section(absl::StrCat(title, ": vector phase"));
  a.Bind(checked_[form][group][stage]);
  a.s_cbranch_scc0(masked_[form][stage]);
  if (s.g.multiply) EmitMultiply(s, 0);
  EmitScoreMax(0);
  const int early = s.g.exact ? kSchedule.early_pieces : 0;
  Stream between;
  if (early > 0) {
    // So that no weight overflows, the first block is tested before.
    a.v_cmp_nle_f32(vcc, s.tile_max, s.threshold);
    a.s_cbranch_vccnz(masked_[form][stage]);
    const Stream weights = CaptureWeights(s, forms_[form], early);
    const int count = weights.size();
    a.Append(weights.Slice(0, count - 1));
    between = weights.Slice(count - 1, 1);
  }
  if (s.g.multiply) EmitMultiply(s, 1);
  EmitScoreMax(1);
  if (!s.g.int8) EmitRowMax(s, bounded, between);
  // The masked trip does the rest. Exact: weights are there already, so that
  // only the reference moves, for both groups out of the line.
  EmitReferenceTest(s.g.exact ? moved_[form][stage] : tested_[form][stage]);
  a.Bind(stay_[form][group][stage]);
  if (s.g.exact && group == 1) {
    out_of_line_.push_back([=, this] {
      const Label stay = a.NewLabel("stay_by_group");
      a.Bind(moved_[form][stage]);
      EmitMoved(Name(form, stage), form, stage, 4 * early, stay);
      a.Bind(stay);
      a.s_cmp_eq_u32(s.group, 0);
      a.s_cbranch_scc1(stay_[form][0][stage]);
      a.s_branch(stay_[form][1][stage]);
    });
  }
  EmitCodes(bounded, early, stage);
  a.Phase(absl::StrCat("matrix_", name));
  a.Section(absl::StrCat(title, ": matrix phase"));
  EmitMatrixPhase(stage, group);
}

void MainLoop::EmitMaskedTrip(size_t form, int stage) {
  const std::string name = absl::StrCat("masked_", Name(form, stage));
  const Label unmasked = a.NewLabel("unmasked");
  a.Phase(absl::StrCat("vector_", name));
  a.Section(absl::StrCat("Masked trip, ", Name(form, stage)));
  a.Bind(masked_[form][stage]);
  for (int block = 0; s.g.multiply && block < Geometry::kKeyBlocks; ++block) {
    EmitMultiply(s, block);
  }
  if (form != careful_) {
    if (!s.g.int8) {
      a.s_cmp_lt_i32(s.plain_tiles, 0);
      a.s_cbranch_scc1(masked_[careful_][stage]);
    }
    a.s_cmp_lt_i32(s.key_tile, s.plain_tiles);
    a.s_cbranch_scc1(unmasked);
  }
  EmitMask(s);
  a.Bind(unmasked);
  for (int block = 0; block < Geometry::kKeyBlocks; ++block) {
    EmitScoreMax(block);
  }
  if (!s.g.int8) EmitRowMax(s, forms_[form], Stream());
  const Label move = a.NewLabel(absl::StrCat("move_", name));
  a.Bind(tested_[form][stage]);
  EmitReferenceTest(move);
  a.Bind(resumed_[form][stage]);
  out_of_line_.push_back([=, this] {
    a.Bind(move);
    EmitMoved(name, form, stage, /*weights=*/0, resumed_[form][stage]);
  });
  EmitCodes(forms_[form], /*weights=*/0, stage);
  if (s.g.int8) EmitFallIfDue();
  {
    ScopedSReg following = a.sgprs().Scoped("following_tile");
    a.s_add_u32(following, s.key_tile, 1);
    a.s_cmp_ge_u32(following, s.wave_tiles);
    a.s_cbranch_scc1(last_[stage]);
  }
  a.Phase(absl::StrCat("matrix_", name));
  a.s_cmp_eq_u32(s.key_tile, 0);
  a.s_cbranch_scc1(first_matrix_[stage]);
  EmitMatrixPhase(stage, kBoth);
  EmitToNextTrip(stage);
}

void MainLoop::EmitScoreMax(int block) {
  if (!s.g.int8) return EmitBlockMax(s, block);
  EmitInt8BlockMax(s, block);
  if (block == 0) EmitInt8Tile(s);
}

void MainLoop::EmitReferenceTest(Label move) {
  if (!s.g.int8) return EmitMoveTest(s, move);
  EmitInt8MoveTest(s, move);
}

void MainLoop::EmitFallIfDue() {
  const Label later = a.NewLabel("fall_later");
  a.s_cmp_lg_u32(s.key_tile, s.fall_tile);
  a.s_cbranch_scc1(later);
  EmitInt8Fall(s);
  a.Bind(later);
}

// The output of the wave's last tile. Which form its codes had does not matter.
void MainLoop::EmitLastProducts(int stage) {
  a.Phase(absl::StrCat("last_products_", stage));
  a.Section("The wave's last tile");
  a.Bind(last_[stage]);
  EmitOnlyTile();
  const std::vector<Stream> steps = CaptureSteps(s, OutputOps(s, stage));
  const int last = static_cast<int>(steps.size()) - 1;
  const Label no_meeting = a.NewLabel("no_meeting");
  a.s_cmp_eq_u32(s.meetings_left, 0);
  a.s_cbranch_scc1(no_meeting);
  EmitMeeting(1, kBoth);
  a.s_setprio(2);
  EmitCodeSum(s);
  const Stream loads = a.Capture([&] { EmitTileLoads(s); });
  a.Append(Schedule(a, steps, {{loads, 0, last}}));
  EmitMeeting(0, kBoth);
  EmitCountMeeting();
  a.s_setprio(0);
  a.s_branch(store_);
  a.Bind(no_meeting);
  a.Comment("the others are ahead");
  a.s_setprio(3);
  EmitCodeSum(s);
  for (const Stream& step : steps) a.Append(step);
  a.s_branch(store_);
}

// The wave is through with its tiles. Others may not be: so that they do not
// wait for it, it attends a meeting before it stores, and those that are left
// behind. Waves 4..7 also attend the first one of the next item, for the others
// to go ahead.
void MainLoop::EmitFinish() {
  const Label idle = a.NewLabel("idle");
  const Label further = a.NewLabel("further_meetings");
  const Label done = a.NewLabel("item_done");
  a.Phase("no_tiles");
  a.Section("A wave without tiles");
  a.Bind(tileless_);
  EmitQueryLoad(s);
  a.Comment("its reader has no meeting to rely on");
  a.WaitVmcnt(0);
  EmitZeroOutput();
  if (s.g.int8) {
    a.v_mov_b32(s.row_sum, 0);
    a.v_mov_b32(s.base_reference, 0);
  }
  EmitTileLoads(s);
  EmitMeeting(0, kBoth);
  EmitCountMeeting();
  a.s_setprio(0);
  a.Phase("store");
  a.Section("The wave's tiles are done");
  a.Bind(store_);
  EmitQueryRead(s);
  EmitRowSum(s);
  OutputStore output(s);
  output.EmitFactors();
  if (s.g.int8) EmitProbeLoads(s, /*rounds_back=*/1);
  output.EmitHalf(0);
  // All that a meeting waits for was issued before these.
  const int first = ProbeLoads(s.g) + OutputStore::kStoresOfHalf[0];
  constexpr int kSecond = OutputStore::kStoresOfHalf[1];
  ScopedSReg met = a.sgprs().Scoped("met_between_halves");
  const Label second = a.NewLabel("store_second_half");
  a.s_mov_b32(met, s.meetings_left);
  a.s_cmp_eq_u32(met, 0);
  a.s_cbranch_scc1(second);
  EmitIdleMeeting(first);
  a.Bind(second);
  output.EmitHalf(1);
  a.s_cmp_lg_u32(met, 0);
  a.s_cbranch_scc1(idle);
  EmitNextMeeting(first + kSecond);
  a.s_branch(done);

  a.Phase("idle");
  a.Section("Meetings that are left");
  a.Bind(idle);
  for (const int between : {kSecond, 0}) {
    const Label attend = a.NewLabel("attend");
    if (between == 0) a.Bind(further);
    a.s_cmp_lg_u32(s.meetings_left, 0);
    a.s_cbranch_scc1(attend);
    EmitNextMeeting(between);
    a.s_branch(done);
    a.Bind(attend);
    EmitIdleMeeting(between);
  }
  a.s_branch(further);
  a.Bind(done);
}

// Behind the item's first tile. Which form its codes had does not matter.
void MainLoop::EmitFirstMatrixPhase(int stage) {
  a.Phase(absl::StrCat("first_matrix_", stage));
  a.Section("Matrix phase behind the item's first tile");
  a.Bind(first_matrix_[stage]);
  EmitMatrixPhase(stage, kBoth, /*first=*/true);
  EmitToNextTrip(stage);
}

// From masked code: to the next trip's, by group and scale.
void MainLoop::EmitToNextTrip(int stage) {
  const Label of_1 = a.NewLabel("next_of_1");
  a.s_cmp_lg_u32(s.group, 0);
  a.s_cbranch_scc1(of_1);
  for (int group = 0; group < 2; ++group) {
    if (group == 1) a.Bind(of_1);
    const Label next[2] = {trip_[0][group][Next(stage)],
                           trip_[1][group][Next(stage)]};
    EmitBranchByScale(next);
  }
}

// A wave with one tile only does not come to where others begin their output
// and load Q.
void MainLoop::EmitOnlyTile() {
  const Label further = a.NewLabel("further_tile");
  a.s_cmp_lg_u32(s.key_tile, 0);
  a.s_cbranch_scc1(further);
  EmitZeroOutput();
  EmitQueryLoad(s);
  a.Comment("its reader has no meeting to rely on");
  a.WaitVmcnt(0);
  a.Bind(further);
}

// A meeting of a wave without work of its own.
void MainLoop::EmitIdleMeeting(int between) {
  EmitMeeting(1, kBoth, between);
  EmitTileLoads(s);
  EmitMeeting(0, kBoth, between);
  EmitCountMeeting();
}

// Waves 4..7 attend the first meeting of the next item, if there is one, and
// then go first: the others have less to do until the next meeting.
void MainLoop::EmitNextMeeting(int between) {
  const Label none = a.NewLabel("no_meeting");
  a.s_cmp_eq_u32(s.next_tiles, kEndless);
  a.s_cbranch_scc1(none);
  a.s_cmp_eq_u32(s.group, 0);
  a.s_cbranch_scc1(none);
  EmitMeeting(1, 1, between);
  a.s_setprio(3);
  a.Bind(none);
}

}  // namespace

void EmitMainLoop(KernelState& s) { MainLoop(s).Emit(); }

}  // namespace zyfa::gen::fp8
