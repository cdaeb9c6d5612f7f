#include "zyfa/emu/inspect/breakpoint.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/program.h"
#include "zyfa/emu/strict/register_name.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {
namespace {

struct Family {
  std::string_view prefix;
  DumpRange::Kind kind;
  uint32_t count;
};
constexpr Family kFamilies[] = {
    {"lds", DumpRange::Kind::kLds, kMaxLdsBytes},
    {"v", DumpRange::Kind::kVector, kVgprs},
    {"a", DumpRange::Kind::kAccumulation, kVgprs},
    {"s", DumpRange::Kind::kScalar, 128},
};

std::string State(const Instruction& inst, const Wave& wave,
                  const std::vector<DumpRange>& ranges) {
  const Group& group = *wave.group;
  std::string text = absl::StrFormat(
      "work-group (%d, %d, %d) wave %d after %d instructions at %#x: %s\n"
      "exec %#x vcc %#x scc %d m0 %#x mode %#x\n",
      group.id[0], group.id[1], group.id[2], wave.index,
      group.issued[wave.index], inst.address, inst.text, wave.exec, wave.vcc(),
      wave.scc, wave.ReadScalar32(kM0), wave.mode.bits);
  for (const DumpRange& range : ranges) {
    for (uint32_t i = range.first; i <= range.last; ++i) {
      const auto number = static_cast<int>(i);
      if (range.kind == DumpRange::Kind::kScalar) {
        absl::StrAppendFormat(&text, "%s %#010x\n", RegisterName(false, number),
                              wave.ReadScalar32(number));
      } else if (range.kind == DumpRange::Kind::kLds) {
        if ((i - range.first) % 16 == 0) {
          absl::StrAppendFormat(&text, "%slds %6d ",
                                i == range.first ? "" : "\n", i);
        }
        absl::StrAppendFormat(&text, " %02x", group.lds[i]);
        if (i == range.last) text += '\n';
      } else {
        const int row =
            number + (range.kind == DumpRange::Kind::kVector ? 0 : kVgprs);
        absl::StrAppend(&text, RegisterName(true, row));
        for (const uint32_t value : wave.vgpr[row]) {
          absl::StrAppendFormat(&text, " %08x", value);
        }
        text += '\n';
      }
    }
  }
  return text;
}

}  // namespace

absl::StatusOr<std::vector<DumpRange>> ParseDump(const std::string& text) {
  std::vector<DumpRange> ranges;
  const std::vector<std::string> parts =
      absl::StrSplit(text, ',', absl::SkipEmpty());
  for (const std::string& part : parts) {
    const auto family = std::find_if(
        std::begin(kFamilies), std::end(kFamilies), [&part](const Family& f) {
          return part.compare(0, f.prefix.size(), f.prefix) == 0;
        });
    DumpRange range;
    bool good = family != std::end(kFamilies);
    if (good) {
      const std::vector<std::string> ends =
          absl::StrSplit(part.substr(family->prefix.size()), ':');
      good = ends.size() <= 2 && absl::SimpleAtoi(ends[0], &range.first) &&
             absl::SimpleAtoi(ends.back(), &range.last) &&
             range.first <= range.last && range.last < family->count;
      range.kind = family->kind;
    }
    if (!good) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--dump has '", part,
          "'; allowed are v0:255, a0:255, s0:127 and lds0:", kMaxLdsBytes - 1,
          " or parts of these, with commas between"));
    }
    ranges.push_back(range);
  }
  return ranges;
}

std::unique_ptr<Observer> Breakpoint::Make(const Program& /*program*/,
                                           const KernelInfo& /*kernel*/) {
  // One host thread alone runs the group and writes the text.
  class Watcher : public Observer {
   public:
    explicit Watcher(Breakpoint& owner) : owner_(owner) {}
    void StartGroup(Group& group, Wave* /*waves*/) override {
      wanted_ = group.linear_id == owner_.place_.group;
      hits_ = 0;
    }
    void Before(const ProgramStep& step, Wave& wave) override {
      const Place& place = owner_.place_;
      if (!wanted_ || wave.index != place.wave || wave.pc != place.pc ||
          ++hits_ != place.hit) {
        return;
      }
      owner_.text_ = State(*step.inst, wave, owner_.ranges_);
    }

   private:
    Breakpoint& owner_;
    bool wanted_ = false;
    uint64_t hits_ = 0;
  };
  return std::make_unique<Watcher>(*this);
}

}  // namespace zyfa::emu
