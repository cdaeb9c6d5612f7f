#include "zyfa/quantize/pass_case.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/schedules.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/random.h"
#include "zyfa/quantize/kernels.h"
#include "zyfa/quantize/plan.h"

namespace zyfa::testing {
namespace {

using numerics::Bf16;
using numerics::E4m3;

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

// Device memory of one run.
class Memory {
 public:
  // Filled with 0xff, which is no number, unless it is large.
  absl::StatusOr<uint64_t> Allocate(int64_t bytes) {
    const auto n = static_cast<size_t>(bytes);
    const absl::StatusOr<uint64_t> address = memory.Allocate(n);
    if (!address.ok() || bytes > kSmall) return address;
    const absl::Status status =
        memory.Write(*address, std::vector<uint8_t>(n, 0xff));
    if (!status.ok()) return status;
    return address;
  }
  template <typename T>
  absl::Status Write(uint64_t address, absl::Span<const T> values) {
    return memory.Write(address,
                        {reinterpret_cast<const uint8_t*>(values.data()),
                         values.size() * sizeof(T)});
  }
  template <typename T>
  absl::Status Read(uint64_t address, absl::Span<T> values) const {
    return memory.Read(address, {reinterpret_cast<uint8_t*>(values.data()),
                                 values.size() * sizeof(T)});
  }
  emu::DeviceMemory memory;
};

const emu::CodeObject& Loaded(const QuantizeKernel& kernel) {
  static auto* loaded =
      new std::map<std::string, std::unique_ptr<emu::CodeObject>>;
  std::unique_ptr<emu::CodeObject>& code = (*loaded)[std::string(kernel.name)];
  if (code == nullptr) {
    code = emu::CodeObject::Load(kernel.code_object).value();
  }
  return *code;
}

absl::Status RunLaunches(const std::vector<QuantizeLaunch>& launches,
                         const emu::RunOptions& options, bool all_schedules,
                         Memory& memory, PassResult& result) {
  for (const QuantizeLaunch& launch : launches) {
    emu::LaunchShape shape;
    std::copy_n(launch.shape.grid, 3, shape.grid);
    std::copy_n(launch.shape.block, 3, shape.workgroup);
    const std::string symbol(launch.kernel->symbol);
    const auto args = absl::MakeConstSpan(
        reinterpret_cast<const uint8_t*>(&launch.args), sizeof(launch.args));
    const emu::CodeObject& code = Loaded(*launch.kernel);
    const absl::StatusOr<emu::RunReport> report =
        all_schedules
            ? emu::RunUnderAllSchedules(code, symbol, shape, args,
                                        memory.memory, options)
            : emu::Run(code, symbol, shape, args, memory.memory, options);
    if (!report.ok()) return report.status();
    result.findings.insert(result.findings.end(), report->findings.begin(),
                           report->findings.end());
  }
  return absl::OkStatus();
}

size_t ScaleCount(const PassCase& c) {
  const QuantizeExtent& e = c.extent;
  int64_t count = 1;
  if (c.options.granularity == ScaleGranularity::kHead) count = e.heads;
  if (c.options.granularity == ScaleGranularity::kBatchHead) {
    count = e.batch * e.heads;
  }
  if (c.options.granularity == ScaleGranularity::kToken) {
    count = e.batch * e.heads * e.seqlen;
  }
  return static_cast<size_t>(count);
}

size_t LseCount(const PassCase& c) {
  if (c.heads_kv == 0) return 0;
  return static_cast<size_t>(c.extent.batch * c.extent.heads * c.extent.seqlen);
}

template <typename T>
std::string FirstDifference(const char* what, const std::vector<T>& got,
                            const std::vector<T>& want) {
  if (got.size() != want.size()) {
    return absl::StrCat(what, ": ", got.size(), " and not ", want.size());
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::memcmp(&got[i], &want[i], sizeof(T)) == 0) continue;
    std::string values;
    if constexpr (std::is_same_v<T, float>) {
      values = absl::StrCat(got[i], " and not ", want[i]);
    } else {
      values = absl::StrCat("code ", static_cast<int>(got[i].code), " and not ",
                            static_cast<int>(want[i].code));
    }
    return absl::StrCat(what, "[", i, "] is ", values);
  }
  return "";
}

}  // namespace

std::string PassCase::Name() const {
  return absl::StrCat("b=", extent.batch, " s=", extent.seqlen,
                      " h=", extent.heads, " d=", extent.head_dim,
                      " granularity=", static_cast<int>(options.granularity),
                      " unit=", options.unit.value_or(0),
                      " rotate=", options.rotate,
                      " mean=", options.subtract_mean, " heads_kv=", heads_kv,
                      " layouts=", static_cast<int>(input.order),
                      static_cast<int>(output.order));
}

std::vector<Bf16> PassInput(const PassCase& c) {
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

std::vector<float> PassKeyMean(const PassCase& c) {
  std::vector<float> mean(
      static_cast<size_t>(c.extent.batch * c.heads_kv * c.extent.head_dim));
  numerics::FillGaussian(c.seed + 1, 0, mean);
  return mean;
}

absl::StatusOr<PassResult> RunOnHost(const PassCase& c) {
  const std::vector<Bf16> input = PassInput(c);
  PassResult result;
  absl::StatusOr<QuantizedTensor> tensor =
      QuantizeOnHost(c.options, c.extent, input);
  if (!tensor.ok()) return tensor.status();
  result.tensor = *std::move(tensor);
  if (c.heads_kv == 0) return result;
  const auto lse = LseCorrectionOnHost(c.extent, input, c.heads_kv,
                                       PassKeyMean(c), c.softmax_scale);
  if (!lse.ok()) return lse.status();
  result.lse_correction = *lse;
  return result;
}

absl::StatusOr<PassResult> RunOnEmulator(const PassCase& c,
                                         const emu::RunOptions& options,
                                         bool all_schedules) {
  const QuantizeExtent& e = c.extent;
  const auto dim = static_cast<size_t>(e.head_dim);
  const std::vector<Bf16> values = PassInput(c);
  const Placement input(c.input, e, DataType::kBf16);
  const Placement output(c.output, e, DataType::kFp8);
  Memory memory;
  absl::Status status;
  const auto allocate = [&](int64_t bytes) -> uint64_t {
    const absl::StatusOr<uint64_t> address = memory.Allocate(bytes);
    status.Update(address.status());
    return address.value_or(0);
  };
  const uint64_t in = allocate(input.bytes());
  const uint64_t out = allocate(output.bytes());
  status.Update(ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, size_t at) {
    return memory.Write(in + static_cast<uint64_t>(input.Row(b, s, h)),
                        absl::MakeConstSpan(values).subspan(at, dim));
  }));

  PassResult result;
  result.tensor.descales.resize(ScaleCount(c));
  if (c.options.subtract_mean) {
    result.tensor.mean.resize(static_cast<size_t>(e.batch * e.heads) * dim);
  }
  result.lse_correction.resize(LseCount(c));
  const auto allocate_floats = [&](const std::vector<float>& x) {
    return allocate(4 * static_cast<int64_t>(x.size()));
  };
  QuantizeParams params;
  params.options = c.options;
  params.input = input.View(in);
  params.output = output.View(out);
  params.descale = allocate_floats(result.tensor.descales);
  params.mean = allocate_floats(result.tensor.mean);
  const uint64_t lse = allocate_floats(result.lse_correction);
  if (c.heads_kv > 0) {
    const std::vector<float> mean = PassKeyMean(c);
    params.lse_correction = {DenseLse(lse, e.batch, e.heads, e.seqlen),
                             allocate_floats(mean), c.heads_kv,
                             c.softmax_scale};
    status.Update(memory.Write(params.lse_correction->key_mean,
                               absl::MakeConstSpan(mean)));
  }
  const auto workspace = PlanQuantizeWorkspace(params);
  if (!workspace.ok()) return workspace.status();
  params.workspace = allocate(workspace->bytes);
  if (!status.ok()) return status;

  const auto launches = PlanQuantize(params);
  if (!launches.ok()) return launches.status();
  status = RunLaunches(*launches, options, all_schedules, memory, result);

  std::vector<E4m3>& codes = result.tensor.codes;
  codes.resize(values.size());
  status.Update(ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, size_t at) {
    return memory.Read(out + static_cast<uint64_t>(output.Row(b, s, h)),
                       absl::MakeSpan(codes).subspan(at, dim));
  }));
  if (output.bytes() <= kSmall) {
    // Beside the rows is what was there before.
    std::vector<uint8_t> all(static_cast<size_t>(output.bytes()));
    status.Update(memory.Read(out, absl::MakeSpan(all)));
    status.Update(ForEachRow(e, [&](int64_t b, int64_t s, int64_t h, size_t) {
      std::fill_n(all.begin() + output.Row(b, s, h), dim, 0xff);
      return absl::OkStatus();
    }));
    result.wrote_outside = std::any_of(
        all.begin(), all.end(), [](uint8_t byte) { return byte != 0xff; });
  }
  status.Update(
      memory.Read(params.descale, absl::MakeSpan(result.tensor.descales)));
  status.Update(memory.Read(params.mean, absl::MakeSpan(result.tensor.mean)));
  status.Update(memory.Read(lse, absl::MakeSpan(result.lse_correction)));
  if (!status.ok()) return status;
  return result;
}

std::string Compare(const PassCase& c, bool all_schedules) {
  const auto fail = [&](const std::string& what) {
    return what.empty() ? "" : absl::StrCat(c.Name(), ": ", what);
  };
  const auto want = RunOnHost(c);
  if (!want.ok()) return fail(want.status().ToString());
  const auto got = RunOnEmulator(c, emu::StrictOptions(), all_schedules);
  if (!got.ok()) return fail(got.status().ToString());
  if (!got->findings.empty()) {
    const emu::Finding& f = got->findings[0];
    return fail(absl::StrCat("finding ", f.rule, " in ", f.kernel, " at 0x",
                             absl::Hex(f.pc), ": ", f.detail));
  }
  if (got->wrote_outside) return fail("bytes outside of the rows");
  std::string difference =
      FirstDifference("mean", got->tensor.mean, want->tensor.mean);
  if (difference.empty()) {
    difference = FirstDifference("descales", got->tensor.descales,
                                 want->tensor.descales);
  }
  if (difference.empty()) {
    difference =
        FirstDifference("codes", got->tensor.codes, want->tensor.codes);
  }
  if (difference.empty()) {
    difference = FirstDifference("lse_correction", got->lse_correction,
                                 want->lse_correction);
  }
  return fail(difference);
}

}  // namespace zyfa::testing
