#include "zyfa/bench/aiter_layer.h"

#include <cstddef>
#include <variant>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/numerics/e4m3.h"
#include "zyfa/peers/aiter_launch.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/quantize.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;
using numerics::E4m3;

// Tokens first .. first + count - 1 of one head.
peers::QuantizedTensor Operand(const Elements& elements, float descale,
                               int64_t dim, int64_t first, int64_t count) {
  peers::QuantizedTensor tensor;
  tensor.format = {peers::Format::kE4m3, peers::Scaling::kPerTensor};
  tensor.extent = {.batch = 1, .seq = count, .heads = 1, .dim = dim};
  const auto& codes = std::get<std::vector<E4m3>>(elements.values);
  for (int64_t i = first * dim; i < (first + count) * dim; ++i) {
    tensor.codes.push_back(codes[static_cast<size_t>(i)].code);
  }
  tensor.float_scales = {descale};
  return tensor;
}

}  // namespace

absl::StatusOr<std::vector<double>> RunAiterOnLayer(
    const peers::AiterKernel& kernel, const emu::CodeObject& code,
    const models::CapturedLayer& layer, const LayerInputs& inputs,
    const std::vector<int64_t>& rows, int threads) {
  std::vector<double> output;
  for (int64_t head = 0; head < layer.heads_q; ++head) {
    const Inputs in = inputs.Head(head);
    for (size_t r = 0; r < rows.size(); r += kQueryTile) {
      const int64_t first = rows[r];
      const int64_t keys = first + kQueryTile;
      peers::AiterProblem problem;
      problem.sequences = {{kQueryTile, keys}};
      peers::AiterOperands operands;
      operands.query = Operand(in.query, in.query_descale, layer.head_dim_qk,
                               first, kQueryTile);
      operands.key =
          Operand(in.key, in.key_descale, layer.head_dim_qk, 0, keys);
      operands.value =
          Operand(in.value, in.value_descale, layer.head_dim_v, 0, keys);
      emu::DeviceMemory memory;
      const auto launch =
          peers::PrepareAiterLaunch(kernel, problem, operands, memory);
      if (!launch.ok()) return launch.status();
      // The order of time that AITER's kernels rely on, as aiter_check has it.
      emu::RunOptions options;
      options.wave_order = emu::WaveOrder::kRotate;
      options.rotate_instructions = 8;
      options.threads = threads;
      const auto report = emu::Run(code, launch->kernel, launch->shape,
                                   launch->kernarg, memory, options);
      if (!report.ok()) return report.status();
      std::vector<Bf16> stored(
          static_cast<size_t>(kQueryTile * layer.head_dim_v));
      const absl::Status status =
          memory.Read(launch->output,
                      absl::MakeSpan(reinterpret_cast<uint8_t*>(stored.data()),
                                     stored.size() * sizeof(Bf16)));
      if (!status.ok()) return status;
      for (const Bf16 x : stored) output.push_back(double{x.ToFloat()});
    }
  }
  return output;
}

}  // namespace zyfa::bench
