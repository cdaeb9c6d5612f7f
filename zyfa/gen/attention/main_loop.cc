#include "zyfa/gen/attention/main_loop.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/attention/matrix_stream.h"
#include "zyfa/gen/attention/pacing.h"
#include "zyfa/gen/attention/query_tile.h"
#include "zyfa/gen/attention/softmax.h"
#include "zyfa/gen/attention/tile_loader.h"

namespace zyfa::gen {
namespace {

// Trip j of the loop, in two halves with one seam:
//
//   first half   output of tile j-1     O += V^T P^T   beside
//                maximum of tile j, test of the reference, first probabilities
//   second half  scores of tile j+1     K Q^T          beside
//                the other probabilities of tile j
//
// so that vector work always has matrix work of its own wave beside it. An
// output that has to be scaled because the reference moved in the first half
// is scaled at the end of the trip.
//
// Versions of the first half: plain; masked; careful (masked, and for scaled
// maxima whose rounding matters). The first tile has no output before it. Of
// the second half: with scores, or the last tile's, which also takes the
// output of tile j.
enum class Kind { kPlain, kMasked, kCareful };

// Matrix instructions before the test of the reference.
constexpr int kBeforeTest = 5;
// Of these, those before the maximum: the last scores of tile j are still in
// the matrix pipe.
constexpr int kBeforeMaximum = 1;

// Labels of the versions for one parity of j.
struct TripLabels {
  Label top, joined, idle, slow, careful, careful_resumed;
  Label scores, last, bare_scores, bare_last, drain;
};

class MainLoop {
 public:
  explicit MainLoop(KernelState& state) : s(state), a(state.a) {
    for (int parity = 0; parity < 2; ++parity) {
      TripLabels& l = labels_[parity];
      const auto label = [&](const char* name) {
        return a.NewLabel(absl::StrCat(name, "_", parity));
      };
      l.top = label("trip");
      l.joined = label("joined");
      l.idle = label("idle");
      l.slow = label("not_plain");
      l.careful = label("careful");
      l.careful_resumed = label("careful_resumed");
      l.scores = label("scores");
      l.last = label("last");
      l.bare_scores = label("bare_scores");
      l.bare_last = label("bare_last");
      l.drain = label("drain");
    }
    first_careful_ = a.NewLabel("first_careful");
    done_ = a.NewLabel("keys_done");
    const int behind_test = OutputCount() - kBeforeTest;
    const int all = behind_test + s.g.qk_steps * Geometry::kKeyBlocks;
    early_pieces_ = (kProbabilityPieces * behind_test + all / 2) / all;
  }

  void Emit() {
    EmitPrologue();
    EmitFirstTrip();
    for (int parity = 0; parity < 2; ++parity) EmitPlainTrip(parity);
    a.s_branch(done_);
    for (int parity = 0; parity < 2; ++parity) EmitOtherVersions(parity);
    for (const auto& emit : out_of_line_) emit();
    a.Bind(done_);
  }

 private:
  int OutputCount() const { return Geometry::kKeySteps * s.g.value_blocks; }

  void EmitPrologue();
  void EmitFirstTrip();
  void EmitPlainTrip(int parity);
  void EmitOtherVersions(int parity);
  void EmitFirstHalf(Kind kind, int parity);
  void EmitCarefulProbabilities(int parity, const Stream& beside);
  void EmitSecondHalf(int parity);
  void EmitLastHalf(int parity);
  void EmitBareHalves(int parity);
  // Leaves the line for a moved reference; comes back behind.
  // `left_out`: of the plain path, to be done before a jump to `overflow`.
  void EmitTest(int parity, const char* name, bool scales_output,
                const Label* overflow, const Stream& left_out = Stream());
  void EmitScaleIfMoved(const char* name, int parity);
  // Loads of key tile j+2 and of value tile j+2. The keys are needed in the
  // next trip, the values in the trip after it.
  Stream CaptureKeyLoads(int parity) {
    return a.Capture([&] { EmitKeyTileLoad(s, parity); });
  }
  Stream CaptureValueLoads(int parity) {
    return a.Capture([&] { EmitValueTileLoad(s, parity); });
  }
  // Key tile j+2 and value tile j+1 have arrived, and no wave still reads key
  // tile j+1 or value tile j-1. Once in every trip of every wave.
  void EmitMeeting() {
    a.Comment("key tile j+2 and value tile j+1 have arrived");
    a.WaitVmcnt(s.g.value_loads);
    a.s_barrier();
  }
  Stream CaptureReadMove(int parity, int block) {
    return a.Capture([&] {
      if (parity == 0) EmitValueReadMove(s, block);
    });
  }
  void EmitReadMoves(int parity) {
    for (int block = 0; block < s.g.value_blocks; ++block) {
      a.Append(CaptureReadMove(parity, block));
    }
  }

  KernelState& s;
  Assembler& a;
  TripLabels labels_[2];
  Label first_careful_, done_;
  int early_pieces_ = 0;  // probabilities of the first half
  std::vector<std::function<void()>> out_of_line_;
};

void MainLoop::EmitPrologue() {
  const Label scores_done = a.NewLabel("first_scores_done");
  a.Phase("first_tiles");
  a.Section("Main loop: first tiles");
  const Label no_keys = a.NewLabel("no_keys");
  a.s_cmp_eq_u32(s.group_tiles, 0);
  a.s_cbranch_scc1(no_keys);
  out_of_line_.push_back([this, no_keys] {
    a.Section("No keys at all");
    a.Bind(no_keys);
    a.Comment("Q must not land where the output is put");
    a.WaitVmcnt(0);
    a.s_branch(done_);
  });
  EmitLoaderStart(s);
  EmitValueReadStart(s);
  EmitKeyTileLoad(s, 0);
  EmitValueTileLoad(s, 0);
  EmitKeyTileLoad(s, 1);
  EmitValueTileLoad(s, 1);
  a.s_mov_b32(s.key_tile, 0);
  a.Comment("Q and key tile 0 have arrived");
  a.WaitVmcnt(2 * s.g.value_loads + s.g.key_loads);
  EmitQueryArrival(s);
  a.s_barrier();
  a.s_cmp_eq_u32(s.wave_tiles, 0);
  a.s_cbranch_scc1(scores_done);
  const auto scores = ScoreOps(s, 0);
  a.Phase("first_scores");
  a.Append(CaptureReadsAhead(s, scores));
  const auto steps = CaptureSteps(s, scores, {});
  a.Append(Join(steps, 0, static_cast<int>(steps.size())));
  a.Bind(scores_done);
}

void MainLoop::EmitFirstTrip() {
  const TripLabels& l = labels_[0];
  const Label unmasked = a.NewLabel("first_unmasked");
  a.Phase("first_trip");
  a.Section("Main loop: first trip");
  EmitMeeting();
  a.Append(CaptureKeyLoads(0));
  a.Append(CaptureValueLoads(0));
  a.s_cmp_eq_u32(s.wave_tiles, 0);
  a.s_cbranch_scc1(l.idle);
  a.Append(CaptureReadsAhead(s, ScoreOps(s, 1)));
  a.s_cmp_gt_i32(s.plain_tiles, 0);
  a.s_cbranch_scc1(unmasked);
  EmitMask(s, 0);
  a.Bind(unmasked);
  EmitTileMax(s, 0);
  EmitTest(0, "first", /*scales_output=*/false, &first_careful_);
  a.Append(CaptureProbabilities(s, 0, 0, early_pieces_, nullptr));
  a.s_cmp_gt_u32(s.wave_tiles, 1);
  a.s_cbranch_scc1(l.scores);
  a.s_branch(l.last);

  a.Phase("first_careful");
  a.Bind(first_careful_);
  EmitCarefulProbabilities(0, Stream());
}

void MainLoop::EmitPlainTrip(int parity) {
  const TripLabels& l = labels_[parity];
  a.Section(absl::StrCat("Main loop: trip of ", parity == 0 ? "even" : "odd",
                         " key tiles"));
  a.Phase(absl::StrCat("first_half_plain_", parity));
  a.Bind(l.top);
  a.s_cmp_lt_i32(s.key_tile, s.plain_tiles);
  a.s_cbranch_scc0(l.slow);
  EmitFirstHalf(Kind::kPlain, parity);
  EmitSecondHalf(parity);
  a.Bind(l.joined);
  a.s_add_u32(s.key_tile, s.key_tile, 1);
  a.s_cmp_lt_u32(s.key_tile, s.group_tiles);
  if (parity == 0) {
    a.s_cbranch_scc0(done_);
  } else {
    a.s_cbranch_scc1(labels_[0].top);
  }
}

void MainLoop::EmitOtherVersions(int parity) {
  const TripLabels& l = labels_[parity];
  a.Phase(absl::StrCat("not_plain_", parity));
  a.Section("Main loop: masked, last and careful tiles");
  a.Bind(l.slow);
  a.Append(CaptureKeyLoads(parity));
  a.Append(CaptureValueLoads(parity));
  a.s_cmp_ge_u32(s.key_tile, s.wave_tiles);
  a.s_cbranch_scc1(l.idle);
  a.s_cmp_lg_u32(s.careful, 0);
  a.s_cbranch_scc1(l.careful);
  a.Phase(absl::StrCat("first_half_masked_", parity));
  EmitFirstHalf(Kind::kMasked, parity);
  {
    ScopedSReg following = a.sgprs().Scoped("following_tile");
    a.s_add_u32(following, s.key_tile, 1);
    a.s_cmp_lt_u32(following, s.wave_tiles);
    a.s_cbranch_scc1(l.scores);
  }
  EmitLastHalf(parity);
  a.Phase(absl::StrCat("idle_", parity));
  a.Bind(l.idle);
  a.Comment("nothing left for this wave");
  EmitMeeting();
  a.s_branch(l.joined);
  a.Phase(absl::StrCat("first_half_careful_", parity));
  a.Bind(l.careful);
  EmitFirstHalf(Kind::kCareful, parity);
  EmitBareHalves(parity);
}

void MainLoop::EmitTest(int parity, const char* name, bool scales_output,
                        const Label* overflow, const Stream& left_out) {
  const Label move = a.NewLabel(absl::StrCat("move_", name, "_", parity));
  const Label moved = a.NewLabel(absl::StrCat("moved_", name, "_", parity));
  EmitRescaleTest(s, move);
  a.Bind(moved);
  const std::string title = absl::StrCat("Moved reference, ", name);
  const Label target = overflow != nullptr ? *overflow : Label();
  const bool may_overflow = overflow != nullptr;
  out_of_line_.push_back([=, this] {
    const Label overflowed =
        a.NewLabel(absl::StrCat("overflow_", name, "_", parity));
    a.Phase(absl::StrCat("moved_reference_", name, "_", parity));
    a.Section(title);
    a.Bind(move);
    if (scales_output) a.s_mov_b32(s.moved, 1);
    EmitRescale(s, may_overflow ? &overflowed : nullptr);
    a.s_branch(moved);
    if (!may_overflow) return;
    a.Bind(overflowed);
    a.Comment("all further tiles of this query tile with care");
    a.s_mov_b32(s.careful, 1);
    a.s_mov_b32(s.plain_tiles, 0);
    a.Append(left_out);
    a.s_branch(target);
  });
}

void MainLoop::EmitFirstHalf(Kind kind, int parity) {
  const TripLabels& l = labels_[parity];
  a.Section(kind == Kind::kPlain    ? "First half, plain"
            : kind == Kind::kMasked ? "First half, masked"
                                    : "First half, careful");
  const auto steps =
      CaptureSteps(s, OutputOps(s, 1 - parity), ScoreOps(s, 1 - parity));
  const auto part = [&steps](int begin, int end) {
    return std::vector<Stream>(steps.begin() + begin, steps.begin() + end);
  };
  const auto rest = part(kBeforeTest, OutputCount());
  const Stream maximum = a.Capture([&] {
    if (kind != Kind::kPlain) EmitMask(s, parity);
    EmitTileMax(s, parity);
  });
  const bool plain = kind == Kind::kPlain;
  const Stream key_loads = plain ? CaptureKeyLoads(parity) : Stream();
  const Stream value_loads = plain ? CaptureValueLoads(parity) : Stream();
  a.Append(Join(steps, 0, kBeforeMaximum));
  a.Append(Pace(a, part(kBeforeMaximum, kBeforeTest), {maximum, key_loads}));
  if (kind == Kind::kCareful) {
    EmitTest(parity, "careful", /*scales_output=*/true, nullptr);
    a.Bind(l.careful_resumed);
    EmitCarefulProbabilities(parity, Join(steps, kBeforeTest, OutputCount()));
    return;
  }
  EmitTest(parity, plain ? "plain" : "masked", /*scales_output=*/true,
           &l.careful_resumed, value_loads);
  a.Append(Pace(a, rest,
                {CaptureProbabilities(s, parity, 0, early_pieces_, nullptr),
                 value_loads}));
}

// All probabilities of a careful tile; goes on with a bare second half.
void MainLoop::EmitCarefulProbabilities(int parity, const Stream& beside) {
  const TripLabels& l = labels_[parity];
  a.Append(beside);
  {
    ScopedSReg careful_rows = a.sgprs().Scoped("careful_rows", 2);
    const SReg rows = careful_rows;
    EmitCarefulRows(s, rows);
    a.Append(CaptureProbabilities(s, parity, 0, kProbabilityPieces, &rows));
  }
  ScopedSReg following = a.sgprs().Scoped("following_tile");
  a.s_add_u32(following, s.key_tile, 1);
  a.s_cmp_lt_u32(following, s.wave_tiles);
  a.s_cbranch_scc1(l.bare_scores);
  a.s_branch(l.bare_last);
}

void MainLoop::EmitScaleIfMoved(const char* name, int parity) {
  const Label scale = a.NewLabel(absl::StrCat("scale_", name, "_", parity));
  const Label scaled = a.NewLabel(absl::StrCat("scaled_", name, "_", parity));
  a.s_cmp_lg_u32(s.moved, 0);
  a.s_cbranch_scc1(scale);
  a.Bind(scaled);
  out_of_line_.push_back([=, this] {
    a.Phase(absl::StrCat("scale_output_", name, "_", parity));
    a.Section("Scale the output to the moved reference");
    a.Bind(scale);
    a.s_mov_b32(s.moved, 0);
    EmitRescaleOutput(s);
    a.s_branch(scaled);
  });
}

void MainLoop::EmitSecondHalf(int parity) {
  a.Phase(absl::StrCat("scores_", parity));
  a.Section("Second half: scores of tile j+1");
  a.Bind(labels_[parity].scores);
  auto steps = CaptureSteps(s, ScoreOps(s, 1 - parity), OutputOps(s, parity));
  for (int block = 0; block < s.g.value_blocks; ++block) {
    steps[static_cast<size_t>(block)].Add(CaptureReadMove(parity, block));
  }
  // The waves meet while the matrix pipe is busy with the last product but one,
  // before which the last keys were waited for, and go on with the last one.
  const int meeting = static_cast<int>(steps.size()) - 2;
  steps[static_cast<size_t>(meeting)].Add(a.Capture([&] { EmitMeeting(); }));
  a.Append(Pace(a, steps,
                {CaptureProbabilities(s, parity, early_pieces_,
                                      kProbabilityPieces, nullptr)},
                meeting));
  EmitScaleIfMoved("scores", parity);
}

void MainLoop::EmitLastHalf(int parity) {
  const TripLabels& l = labels_[parity];
  a.Phase(absl::StrCat("last_", parity));
  a.Section("Second half of the wave's last tile: its output");
  a.Bind(l.last);
  const auto output = OutputOps(s, parity);
  EmitReadMoves(parity);
  a.Append(CaptureReadsAhead(s, output));
  a.Append(CaptureProbabilities(s, parity, early_pieces_, kProbabilityPieces,
                                nullptr));
  a.Phase(absl::StrCat("drain_", parity));
  a.Bind(l.drain);
  EmitScaleIfMoved("last", parity);
  a.Append(Join(CaptureSteps(s, output, {}), 0, OutputCount()));
  EmitMeeting();
  a.s_branch(l.joined);
}

void MainLoop::EmitBareHalves(int parity) {
  const TripLabels& l = labels_[parity];
  a.Phase(absl::StrCat("bare_scores_", parity));
  a.Section("Second half without probabilities");
  a.Bind(l.bare_scores);
  const auto output = OutputOps(s, parity);
  const auto steps = CaptureSteps(s, ScoreOps(s, 1 - parity), output);
  EmitReadMoves(parity);
  a.Append(Join(steps, 0, static_cast<int>(steps.size())));
  EmitMeeting();
  EmitScaleIfMoved("bare", parity);
  a.s_branch(l.joined);

  a.Phase(absl::StrCat("bare_last_", parity));
  a.Bind(l.bare_last);
  EmitReadMoves(parity);
  a.Append(CaptureReadsAhead(s, output));
  a.s_branch(l.drain);
}

}  // namespace

void EmitMainLoop(KernelState& s) { MainLoop(s).Emit(); }

}  // namespace zyfa::gen
