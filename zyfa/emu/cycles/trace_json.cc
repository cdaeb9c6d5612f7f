#include "zyfa/emu/cycles/trace_json.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "zyfa/emu/cycles/trace_event.pb.h"

namespace zyfa::emu {
namespace {

constexpr int kFirstWaveTrack = 100;

void NameTrack(int32_t pid, int32_t tid, const std::string& name,
               trace_event::Trace& trace) {
  const auto add = [&](const char* kind) {
    trace_event::Event& event = *trace.add_traceevents();
    event.set_name(kind);
    event.set_ph("M");
    event.set_pid(pid);
    event.set_tid(tid);
    return event.mutable_args();
  };
  add("thread_name")->set_name(name);
  add("thread_sort_index")->set_sort_index(tid);
}

void AddSlices(const std::vector<Slice>& slices, int32_t tid,
               const TimelineNames& names, trace_event::Trace& trace) {
  for (const Slice& slice : slices) {
    const InstructionTime& time = names.instructions[slice.step];
    trace_event::Event& event = *trace.add_traceevents();
    event.set_name(slice.stall.has_value() ? StallName(*slice.stall)
                                           : MnemonicOf(time));
    event.set_cat(slice.stall.has_value() ? "wait" : "instruction");
    event.set_ph("X");
    event.set_ts(static_cast<double>(slice.start));
    event.set_dur(static_cast<double>(slice.clocks));
    event.set_pid(slice.simd);
    event.set_tid(tid);
    trace_event::Arguments& args = *event.mutable_args();
    args.set_instruction(time.text);
    args.set_address(absl::StrCat("0x", absl::Hex(time.address)));
    args.set_phase(PhaseOf(slice.step, names.phases));
    args.set_wave(slice.wave);
    args.set_group(static_cast<int32_t>(names.groups[slice.group]));
  }
}

}  // namespace

std::string MnemonicOf(const InstructionTime& time) {
  return time.text.substr(0, time.text.find_first_of(" \t"));
}

std::string PhaseOf(uint32_t step, absl::Span<const CodeRegion> phases) {
  const auto after = std::upper_bound(
      phases.begin(), phases.end(), step,
      [](uint32_t s, const CodeRegion& phase) { return s < phase.first; });
  if (after == phases.begin() || step >= std::prev(after)->end) return "";
  return std::prev(after)->name;
}

absl::StatusOr<std::string> TraceEventJson(const Timeline& timeline,
                                           const TimelineNames& names) {
  trace_event::Trace trace;
  trace.set_displaytimeunit("ms");
  trace.mutable_otherdata()->set_source("modelled");
  trace.mutable_otherdata()->set_unit("1 us stands for 1 shader clock");
  trace.mutable_otherdata()->set_kernel(names.kernel);
  for (int simd = 0; simd < kSimds; ++simd) {
    trace_event::Event& process = *trace.add_traceevents();
    process.set_name("process_name");
    process.set_ph("M");
    process.set_pid(simd);
    process.mutable_args()->set_name(
        absl::StrCat("SIMD ", simd, " (modelled, 1 us = 1 clock)"));
    for (int p = 0; p < kPipes; ++p) {
      const Pipe pipe = static_cast<Pipe>(p);
      const auto& slices = timeline.pipe(static_cast<size_t>(simd), pipe);
      if (slices.empty()) continue;
      NameTrack(simd, p, PipeName(pipe), trace);
      AddSlices(slices, p, names, trace);
    }
  }
  int tid = kFirstWaveTrack;
  for (const std::vector<Slice>& slices : timeline.waves()) {
    const Slice& any = slices.front();
    NameTrack(
        any.simd, tid,
        absl::StrCat("group ", names.groups[any.group], " wave ", any.wave),
        trace);
    AddSlices(slices, tid, names, trace);
    ++tid;
  }
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(trace, &json);
  if (!status.ok()) {
    return absl::InternalError(
        absl::StrCat("trace events: ", status.ToString()));
  }
  return json;
}

}  // namespace zyfa::emu
