#include "zyfa/quantize/pass_run.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "zyfa/emu/code_object.h"
#include "zyfa/emu/schedules.h"
#include "zyfa/numerics/random.h"
#include "zyfa/quantize/kernels.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;

// Tensors beyond this have nothing written between their rows.
constexpr int64_t kSmall = int64_t{1} << 26;

// Where the rows of a tensor lie in its allocation.
class Placement {
 public:
  Placement(const PassLayout& layout, const QuantizeExtent& e, DataType type)
      : extent_(e), type_(type), lead_(layout.lead) {
    const int64_t row = e.head_dim * BytesPerElement(type) + layout.row_padding;
    enum Dim { kBatch, kSeq, kHead };
    constexpr std::array<Dim, 3> kOrders[] = {{kBatch, kSeq, kHead},
                                              {kBatch, kHead, kSeq},
                                              {kSeq, kBatch, kHead},
                                              {kHead, kSeq, kBatch}};
    const int64_t sizes[] = {e.batch, layout.one_token ? 1 : e.seqlen, e.heads};
    int64_t bytes = row;
    for (int i = 2; i >= 0; --i) {
      const Dim d = kOrders[layout.order][static_cast<size_t>(i)];
      strides_[d] = bytes;
      bytes *= sizes[d];
    }
    if (layout.one_token) strides_[kSeq] = 0;
    bytes_ = lead_ + (e.elements() > 0 ? bytes - layout.row_padding : 0);
  }

  int64_t Row(int64_t b, int64_t s, int64_t h) const {
    return lead_ + b * strides_[0] + s * strides_[1] + h * strides_[2];
  }
  TensorView View(uint64_t address) const {
    return {type_,         address + static_cast<uint64_t>(lead_),
            extent_.batch, extent_.seqlen,
            extent_.heads, extent_.head_dim,
            strides_[0],   strides_[1],
            strides_[2]};
  }
  int64_t bytes() const { return bytes_; }

 private:
  QuantizeExtent extent_;
  DataType type_;
  int64_t lead_;
  int64_t bytes_ = 0;
  int64_t strides_[3] = {};
};

// Calls visit(batch, token, head, index of the first element) for all rows.
template <typename Visit>
absl::Status ForEachRow(const QuantizeExtent& e, Visit visit) {
  size_t at = 0;
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t s = 0; s < e.seqlen; ++s) {
      for (int64_t h = 0; h < e.heads; ++h) {
        const absl::Status status = visit(b, s, h, at);
        if (!status.ok()) return status;
        at += static_cast<size_t>(e.head_dim);
      }
    }
  }
  return absl::OkStatus();
}

const emu::CodeObject& Loaded(const QuantizeKernel& kernel) {
  static auto* loaded =
      new std::map<std::string, std::unique_ptr<emu::CodeObject>>;
  std::unique_ptr<emu::CodeObject>& code = (*loaded)[std::string(kernel.name)];
  if (code == nullptr) {
    code = emu::CodeObject::Load(kernel.code_object).value();
  }
  return *code;
}

}  // namespace

std::string TensorCase::Name() const {
  return absl::StrCat("b=", extent.batch, " s=", extent.seqlen,
                      " h=", extent.heads, " d=", extent.head_dim,
                      " layouts=", static_cast<int>(input.order),
                      static_cast<int>(output.order));
}

std::vector<TensorCase::Fill> ExtremeFills(float same) {
  const float largest = Bf16{0x7f7f}.ToFloat();
  const float denormal = Bf16{0x0001}.ToFloat();
  return {
      [](int64_t, int64_t, int64_t, int64_t, float) { return 0.0f; },
      [](int64_t, int64_t, int64_t, int64_t, float) { return -0.0f; },
      [=](int64_t, int64_t s, int64_t, int64_t c, float g) {
        return s == 3 && c == 5 ? -largest : g;
      },
      // Denormal numbers alone, and beside others.
      [=](int64_t, int64_t, int64_t, int64_t c, float) {
        return denormal * static_cast<float>(c % 100);
      },
      [=](int64_t, int64_t s, int64_t, int64_t c, float g) {
        return s == 7 ? denormal * static_cast<float>(c) : 1e-30f * g;
      },
      [=](int64_t, int64_t, int64_t, int64_t, float) { return same; },
  };
}

std::vector<Bf16> PassInput(const TensorCase& c) {
  const QuantizeExtent& e = c.extent;
  std::vector<Bf16> out;
  out.reserve(static_cast<size_t>(e.elements()));
  std::vector<float> gaussian(static_cast<size_t>(e.head_dim));
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t s = 0; s < e.seqlen; ++s) {
      const int64_t token = c.input.one_token ? 0 : s;
      for (int64_t h = 0; h < e.heads; ++h) {
        numerics::FillGaussian(
            c.seed,
            static_cast<uint64_t>(token + (int64_t{1} << 32) * (h + 256 * b)),
            gaussian);
        for (int64_t i = 0; i < e.head_dim; ++i) {
          const float g = gaussian[static_cast<size_t>(i)];
          out.push_back(
              Bf16::FromFloat(c.fill ? c.fill(b, token, h, i, g) : g));
        }
      }
    }
  }
  return out;
}

uint64_t PassRun::Allocate(int64_t bytes) {
  if (!status_.ok()) return 0;
  const auto n = static_cast<size_t>(bytes);
  const absl::StatusOr<uint64_t> address = memory_.Allocate(n);
  status_.Update(address.status());
  if (!status_.ok()) return 0;
  // Filled with what is no number, unless it is large.
  if (bytes <= kSmall) Write(*address, std::vector<uint8_t>(n, 0xff));
  return *address;
}

void PassRun::Write(uint64_t address, absl::Span<const uint8_t> bytes) {
  if (status_.ok()) status_ = memory_.Write(address, bytes);
}

void PassRun::ReadBytes(uint64_t address, absl::Span<uint8_t> bytes) {
  if (status_.ok()) status_ = memory_.Read(address, bytes);
}

std::vector<float> PassKeyMean(const TensorCase& c, int64_t heads_kv) {
  std::vector<float> mean(
      static_cast<size_t>(c.extent.batch * heads_kv * c.extent.head_dim));
  numerics::FillGaussian(c.seed + 1, 0, mean);
  return mean;
}

TensorView PassRun::Input() {
  const QuantizeExtent& e = case_.extent;
  const Placement place(case_.input, e, DataType::kBf16);
  const std::vector<Bf16> values = PassInput(case_);
  const uint64_t address = Allocate(place.bytes());
  status_.Update(ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, size_t at) {
    Write(address + static_cast<uint64_t>(place.Row(b, s, h)),
          BytesOf(&values[at], static_cast<size_t>(e.head_dim)));
    return status_;
  }));
  return place.View(address);
}

TensorView PassRun::Output(DataType type) {
  const Placement place(case_.output, case_.extent, type);
  output_ = Allocate(place.bytes());
  return place.View(output_);
}

void PassRun::Run(const absl::StatusOr<std::vector<QuantizeLaunch>>& launches,
                  const emu::RunOptions& options, bool all_schedules) {
  status_.Update(launches.status());
  if (!status_.ok()) return;
  for (const QuantizeLaunch& launch : *launches) {
    emu::LaunchShape shape;
    std::copy_n(launch.shape.grid, 3, shape.grid);
    std::copy_n(launch.shape.block, 3, shape.workgroup);
    const std::string symbol(launch.kernel->symbol);
    const auto args = absl::MakeConstSpan(
        reinterpret_cast<const uint8_t*>(&launch.args), sizeof(launch.args));
    const emu::CodeObject& code = Loaded(*launch.kernel);
    const absl::StatusOr<emu::RunReport> report =
        all_schedules ? emu::RunUnderAllSchedules(code, symbol, shape, args,
                                                  memory_, options)
                      : emu::Run(code, symbol, shape, args, memory_, options);
    status_.Update(report.status());
    if (!status_.ok()) return;
    findings_.insert(findings_.end(), report->findings.begin(),
                     report->findings.end());
  }
}

void PassRun::ReadCodes(absl::Span<uint8_t> codes) {
  const QuantizeExtent& e = case_.extent;
  const Placement place(case_.output, e, DataType::kFp8);
  const auto dim = static_cast<size_t>(e.head_dim);
  status_.Update(ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, size_t at) {
    ReadBytes(output_ + static_cast<uint64_t>(place.Row(b, s, h)),
              codes.subspan(at, dim));
    return status_;
  }));
  if (!status_.ok() || place.bytes() > kSmall) return;
  // Beside the rows is what was there before.
  std::vector<uint8_t> all(static_cast<size_t>(place.bytes()));
  ReadBytes(output_, absl::MakeSpan(all));
  status_.Update(ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, size_t) {
    std::fill_n(all.begin() + place.Row(b, s, h), dim, 0xff);
    return absl::OkStatus();
  }));
  wrote_outside_ = std::any_of(all.begin(), all.end(),
                               [](uint8_t byte) { return byte != 0xff; });
}

std::string Trouble(const std::vector<emu::Finding>& findings,
                    bool wrote_outside) {
  if (!findings.empty()) {
    const emu::Finding& f = findings[0];
    return absl::StrCat("finding ", f.rule, " in ", f.kernel, " at 0x",
                        absl::Hex(f.pc), ": ", f.detail);
  }
  return wrote_outside ? "bytes outside of the rows" : "";
}

}  // namespace zyfa::testing
