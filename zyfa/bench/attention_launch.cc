#include "zyfa/bench/attention_launch.h"

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "google/protobuf/text_format.h"
#include "zyfa/bench/inputs.h"
#include "zyfa/emu/launch.pb.h"
#include "zyfa/launch/plan.h"
#include "zyfa/launch/tensor.h"
#include "zyfa/numerics/bf16.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa::bench {
namespace {

using numerics::Bf16;

// A tensor of the launch. Its address is a stand-in that the planner checks;
// the launch file has a buffer in its place.
struct Tensor {
  const char* name;
  size_t offset;  // in AttentionArgs
  uint64_t address;
  size_t bytes;
  absl::Span<const uint8_t> from;  // of an input
};

absl::Status WriteFile(const std::filesystem::path& path,
                       absl::Span<const uint8_t> bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream) {
    return absl::PermissionDeniedError(
        absl::StrCat("cannot write ", path.string()));
  }
  return absl::OkStatus();
}

// Query, key, value and output; of INT8, what comes with them.
std::vector<Tensor> TensorsOf(const Case& c, const Inputs& inputs) {
  const size_t output = size_t{1} * c.batch * c.seqlen_q * c.heads_q *
                        c.variant.head_dim_v * sizeof(Bf16);
  std::vector<Tensor> tensors;
  const auto add = [&](const char* name, size_t offset, size_t bytes,
                       absl::Span<const uint8_t> from) {
    if (bytes == 0) return;
    tensors.push_back(
        {name, offset, (tensors.size() + uint64_t{1}) << 44, bytes, from});
  };
  const auto add_input = [&](const char* name, size_t offset,
                             absl::Span<const uint8_t> from) {
    add(name, offset, from.size(), from);
  };
  add_input("query", offsetof(AttentionArgs, query), inputs.query.bytes());
  add_input("key", offsetof(AttentionArgs, key), inputs.key.bytes());
  add_input("value", offsetof(AttentionArgs, value), inputs.value.bytes());
  add("output", offsetof(AttentionArgs, output), output, {});
  add_input("query_shift", offsetof(AttentionArgs, query_shift),
            inputs.query_shifts);
  add_input("key_multiplier", offsetof(AttentionArgs, key_multiplier),
            BytesOf(inputs.key_multipliers));
  return tensors;
}

absl::StatusOr<AttentionPlan> PlanOf(const Case& c, const Inputs& inputs,
                                     const std::vector<Tensor>& tensors) {
  const Variant& v = c.variant;
  AttentionParams params;
  params.query = DenseTensor(tensors[0].address, c.batch, c.seqlen_q, c.heads_q,
                             v.head_dim_qk, v.data_type);
  params.key = DenseTensor(tensors[1].address, c.batch, c.seqlen_kv, c.heads_kv,
                           v.head_dim_qk, v.data_type);
  params.value = DenseTensor(tensors[2].address, c.batch, c.seqlen_kv,
                             c.heads_kv, v.head_dim_v, ValueType(v));
  params.output = DenseTensor(tensors[3].address, c.batch, c.seqlen_q,
                              c.heads_q, v.head_dim_v);
  inputs.SetScales(v, params);
  params.mask = v.mask;
  params.variant = VariantName(v);
  for (const Tensor& tensor : tensors) {
    if (tensor.offset == offsetof(AttentionArgs, query_shift)) {
      params.query_shift =
          DenseTokens(tensor.address, c.batch, c.heads_q, c.seqlen_q, 1);
    } else if (tensor.offset == offsetof(AttentionArgs, key_multiplier)) {
      params.key_multiplier =
          DenseTokens(tensor.address, c.batch, c.heads_kv, c.seqlen_kv, 4);
    }
  }
  return PlanAttention(params);
}

// The message; arguments that are no tensors as their 32-bit words.
emu::Launch MessageOf(const AttentionPiece& piece, const KernelEntry& kernel,
                      const std::vector<Tensor>& tensors) {
  emu::Launch launch;
  launch.set_code_object("kernel.co");
  launch.set_kernel(std::string(kernel.symbol));
  const auto set = [](const uint32_t from[3], emu::Extent& to) {
    to.set_x(from[0]);
    to.set_y(from[1]);
    to.set_z(from[2]);
  };
  set(piece.shape.grid, *launch.mutable_grid());
  set(piece.shape.block, *launch.mutable_workgroup());
  launch.set_dynamic_lds_bytes(piece.shape.dynamic_lds_bytes);
  launch.set_kernarg_bytes(sizeof(AttentionArgs));
  std::set<size_t> addresses;  // their words
  for (const Tensor& tensor : tensors) {
    emu::Argument& argument = *launch.add_arg();
    argument.set_offset(static_cast<uint32_t>(tensor.offset));
    emu::Buffer& buffer = *argument.mutable_buffer();
    buffer.set_bytes(tensor.bytes);
    if (std::strcmp(tensor.name, "output") == 0) {
      buffer.set_fill(0xff);  // a NaN: an element that is left out shows
      buffer.set_out("output.bin");
    } else {
      buffer.set_file(absl::StrCat(tensor.name, ".bin"));
    }
    addresses.insert({tensor.offset, tensor.offset + 4});
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(&piece.args);
  for (size_t at = 0; at < sizeof(AttentionArgs); at += 4) {
    if (addresses.contains(at)) continue;
    uint32_t word = 0;
    std::memcpy(&word, bytes + at, sizeof(word));
    if (word == 0) continue;
    emu::Argument& argument = *launch.add_arg();
    argument.set_offset(static_cast<uint32_t>(at));
    argument.set_u32(word);
  }
  return launch;
}

}  // namespace

absl::Status WriteAttentionLaunch(const Case& c, uint32_t seed,
                                  const std::string& directory) {
  const absl::Status fits = CheckInputsFit(c);
  if (!fits.ok()) return fits;
  const absl::StatusOr<Inputs> inputs = GaussianInputs(c, seed);
  if (!inputs.ok()) return inputs.status();
  const std::vector<Tensor> tensors = TensorsOf(c, *inputs);
  const absl::StatusOr<AttentionPlan> plan = PlanOf(c, *inputs, tensors);
  if (!plan.ok()) return plan.status();
  if (const int64_t pieces = PieceCount(*plan); pieces != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "batch ", c.batch, ", seqlen ", c.seqlen_q, ", heads ", c.heads_q, ": ",
        pieces, " launches; allowed: what one launch does"));
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(
      MessageOf(MakePiece(*plan, 0), *plan->kernel, tensors), &text);
  const std::filesystem::path folder(directory);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto bytes_of = [](const std::string& s) {
    return absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(s.data()),
                               s.size());
  };
  std::vector<std::pair<std::string, absl::Span<const uint8_t>>> files = {
      {"kernel.co", plan->kernel->code_object},
      {"launch.textproto", bytes_of(text)}};
  for (const Tensor& tensor : tensors) {
    if (!tensor.from.empty()) {
      files.emplace_back(absl::StrCat(tensor.name, ".bin"), tensor.from);
    }
  }
  for (const auto& [name, bytes] : files) {
    if (absl::Status status = WriteFile(folder / name, bytes); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace zyfa::bench
