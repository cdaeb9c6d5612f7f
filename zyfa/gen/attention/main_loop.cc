#include "zyfa/gen/attention/main_loop.h"

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "zyfa/gen/attention/matrix_stream.h"
#include "zyfa/gen/attention/query_tile.h"
#include "zyfa/gen/attention/softmax.h"
#include "zyfa/gen/attention/tile_loader.h"

namespace zyfa::gen {
namespace {

// A version of the loop body.
struct Body {
  enum Kind { kPlain, kMasked, kCareful };
  Kind kind;
  int stage;  // of the tile in hand: key tile % 2
  bool next;  // another tile follows for this wave
};

std::string BodyName(const Body& body) {
  const char* kKinds[] = {"plain", "masked", "careful"};
  return absl::StrCat(kKinds[body.kind], body.next ? "" : "_last", "_",
                      body.stage);
}

// Labels of the versions for one stage and of the code around them.
struct StageLabels {
  Label top, join, slow, masked_next, careful, careful_next, careful_last;
};

class MainLoop {
 public:
  explicit MainLoop(KernelState& state) : s(state), a(state.a) {
    for (int stage = 0; stage < 2; ++stage) {
      StageLabels& l = labels_[stage];
      const auto label = [&](const char* name) {
        return a.NewLabel(absl::StrCat(name, "_", stage));
      };
      l.top = label("trip");
      l.join = label("joined");
      l.slow = label("not_plain");
      l.masked_next = label("masked");
      l.careful = label("careful");
      l.careful_next = label("careful_more");
      l.careful_last = label("careful_last");
    }
    done_ = a.NewLabel("keys_done");
  }

  void Emit() {
    EmitPrologue();
    for (int stage = 0; stage < 2; ++stage) EmitTrip(stage);
    a.s_branch(done_);
    for (int stage = 0; stage < 2; ++stage) EmitOtherVersions(stage);
    for (const auto& emit : out_of_line_) emit();
    a.Bind(done_);
  }

 private:
  void EmitPrologue();
  void EmitTrip(int stage);
  void EmitOtherVersions(int stage);
  void EmitBody(const Body& body);

  KernelState& s;
  Assembler& a;
  StageLabels labels_[2];
  Label done_;
  std::vector<std::function<void()>> out_of_line_;
};

void MainLoop::EmitPrologue() {
  const Label scores_done = a.NewLabel("first_scores_done");
  a.Section("Main loop: first tiles");
  a.s_cmp_eq_u32(s.group_tiles, 0);
  a.s_cbranch_scc1(done_);
  EmitLoaderStart(s);
  EmitKeyTileLoad(s, 0);
  EmitValueTileLoad(s, 0);
  EmitKeyTileLoad(s, 1);
  a.s_mov_b32(s.key_tile, 0);
  EmitQuerySign(s);
  a.Comment("key tile 0 has arrived");
  a.WaitVmcnt(s.g.value_loads + s.g.key_loads);
  a.s_barrier();
  a.s_cmp_eq_u32(s.wave_tiles, 0);
  a.s_cbranch_scc1(scores_done);
  const MatrixSteps first = CaptureMatrixSteps(s, 0, -1);
  a.Append(first.reads_ahead);
  a.Append(Join(first.scores, 0, static_cast<int>(first.scores.size())));
  a.Bind(scores_done);
}

void MainLoop::EmitTrip(int stage) {
  const StageLabels& l = labels_[stage];
  a.Section(absl::StrCat("Main loop: trip of ", stage == 0 ? "even" : "odd",
                         " key tiles"));
  a.Bind(l.top);
  a.Comment("key tile j+1 and value tile j have arrived");
  a.WaitVmcnt(0);
  a.s_barrier();
  EmitKeyTileLoad(s, stage);
  EmitValueTileLoad(s, 1 - stage);
  a.s_cmp_lt_i32(s.key_tile, s.plain_tiles);
  a.s_cbranch_scc0(l.slow);
  EmitBody({Body::kPlain, stage, true});
  a.Bind(l.join);
  a.s_add_u32(s.key_tile, s.key_tile, 1);
  a.s_cmp_lt_u32(s.key_tile, s.group_tiles);
  if (stage == 0) {
    a.s_cbranch_scc0(done_);
  } else {
    a.s_cbranch_scc1(labels_[0].top);
  }
}

void MainLoop::EmitOtherVersions(int stage) {
  const StageLabels& l = labels_[stage];
  a.Section("Main loop: masked, last and careful tiles");
  a.Bind(l.slow);
  {
    ScopedSReg following = a.sgprs().Scoped("following_tile");
    a.Comment("nothing left for this wave");
    a.s_cmp_ge_u32(s.key_tile, s.wave_tiles);
    a.s_cbranch_scc1(l.join);
    a.s_add_u32(following, s.key_tile, 1);
    a.s_cmp_lg_u32(s.careful, 0);
    a.s_cbranch_scc1(l.careful);
    a.s_cmp_lt_u32(following, s.wave_tiles);
    a.s_cbranch_scc1(l.masked_next);
    EmitBody({Body::kMasked, stage, false});
    a.s_branch(l.join);
    a.Bind(l.masked_next);
    EmitBody({Body::kMasked, stage, true});
    a.s_branch(l.join);
    a.Bind(l.careful);
    a.s_cmp_lt_u32(following, s.wave_tiles);
    a.s_cbranch_scc1(l.careful_next);
  }
  a.Bind(l.careful_last);
  EmitBody({Body::kCareful, stage, false});
  a.s_branch(l.join);
  a.Bind(l.careful_next);
  EmitBody({Body::kCareful, stage, true});
  a.s_branch(l.join);
}

void MainLoop::EmitBody(const Body& body) {
  const std::string name = BodyName(body);
  const int stage = body.stage;
  const bool careful = body.kind == Body::kCareful;
  const Label rescale = a.NewLabel(absl::StrCat("rescale_", name));
  const Label rescaled = a.NewLabel(absl::StrCat("rescaled_", name));
  a.Section(absl::StrCat("Body ", name, ": softmax of tile j",
                         body.next ? ", scores of tile j+1" : "",
                         ", output of tile j"));

  const MatrixSteps matrix =
      CaptureMatrixSteps(s, body.next ? 1 - stage : -1, stage);
  a.Append(matrix.reads_ahead);
  if (body.kind != Body::kPlain) EmitMask(s, stage);
  EmitTileMax(s, stage);
  EmitRescaleTest(s, rescale);
  a.Bind(rescaled);

  {
    ScopedVReg tile_sum = a.vgprs().Scoped("tile_sum");
    ScopedSReg careful_rows = a.sgprs().Scoped("careful_rows", 2);
    const SReg rows = careful_rows;
    if (careful) EmitCarefulRows(s, rows);
    std::vector<Stream> probabilities;
    for (int step = 0; step < Geometry::kKeySteps; ++step) {
      probabilities.push_back(CaptureProbabilities(s, stage, step, tile_sum,
                                                   careful ? &rows : nullptr));
    }
    // The probabilities of the first 48 keys are formed beside the next scores,
    // those of the last 16 beside the output of the first 32.
    const int blocks = s.g.value_blocks;
    a.Append(a.Interleave(
        Join(matrix.scores, 0, static_cast<int>(matrix.scores.size())),
        {{Join(probabilities, 0, 3), {}}}));
    a.Append(a.Interleave(Join(matrix.output, 0, 2 * blocks),
                          {{Join(probabilities, 3, 4), {}}}));
    a.Append(Join(matrix.output, 2 * blocks, Geometry::kKeySteps * blocks));
  }

  out_of_line_.push_back([this, body, name, rescale, rescaled, careful] {
    const StageLabels& l = labels_[body.stage];
    const Label overflow = a.NewLabel(absl::StrCat("overflow_", name));
    a.Section(absl::StrCat("Rescale for body ", name));
    a.Bind(rescale);
    EmitRescale(s, careful ? nullptr : &overflow);
    a.s_branch(rescaled);
    if (!careful) {
      a.Bind(overflow);
      a.Comment("all further tiles of this query tile with care");
      a.s_mov_b32(s.careful, 1);
      a.s_mov_b32(s.plain_tiles, 0);
      a.s_branch(body.next ? l.careful_next : l.careful_last);
    }
  });
}

}  // namespace

void EmitMainLoop(KernelState& s) { MainLoop(s).Emit(); }

}  // namespace zyfa::gen
