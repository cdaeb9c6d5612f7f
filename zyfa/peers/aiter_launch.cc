#include "zyfa/peers/aiter_launch.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/numerics/random.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_operands.h"
#include "zyfa/peers/aiter_problem.h"
#include "zyfa/peers/fmha_arguments.h"
#include "zyfa/peers/mla_arguments.h"
#include "zyfa/peers/mla_work.h"
#include "zyfa/peers/operand_layout.h"
#include "zyfa/peers/quantize.h"
#include "zyfa/reference/problem.h"

namespace zyfa::peers {
namespace {

// Fewer than there are tiles in most problems, so that a group does several.
constexpr int kMlaWorkGroups = 4;
constexpr uint64_t kPageStream = 8;

// Buffers in the device's memory; the first failure stays.
class Buffers {
 public:
  explicit Buffers(emu::DeviceMemory& memory) : memory_(memory) {}

  uint64_t Upload(absl::Span<const uint8_t> bytes) {
    if (!status_.ok()) return 0;
    absl::StatusOr<uint64_t> address = memory_.Allocate(bytes.size());
    status_ = address.status();
    if (!status_.ok()) return 0;
    status_ = memory_.Write(*address, bytes);
    return *address;
  }
  template <class T>
  uint64_t UploadValues(const std::vector<T>& values) {
    return Upload(
        absl::MakeConstSpan(reinterpret_cast<const uint8_t*>(values.data()),
                            values.size() * sizeof(T)));
  }
  // All bytes 0xFF: NaN in BF16 and float.
  uint64_t Output(int64_t bytes) {
    return Upload(std::vector<uint8_t>(static_cast<size_t>(bytes), 0xFF));
  }
  const absl::Status& status() const { return status_; }

 private:
  emu::DeviceMemory& memory_;
  absl::Status status_;
};

uint32_t U32(int64_t x) { return static_cast<uint32_t>(x); }

template <class T>
std::vector<uint8_t> BytesOf(const T& block) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &block, sizeof(T));
  return bytes;
}

// Also what a launcher passes where Q holds the scale already.
float SoftmaxScale(const AiterKernel& kernel) {
  return static_cast<float>(1.0 / std::sqrt(1.0 * kernel.head_dim_qk));
}

// Tokens before each sequence, and all of them at the end.
std::vector<int32_t> Starts(const AiterProblem& problem,
                            int64_t AiterProblem::Sequence::* length) {
  std::vector<int32_t> starts = {0};
  for (const AiterProblem::Sequence& s : problem.sequences) {
    starts.push_back(starts.back() + static_cast<int32_t>(s.*length));
  }
  return starts;
}

// 0, 1 .. count-1 in random order.
std::vector<int32_t> Shuffled(int64_t count, uint64_t seed) {
  std::vector<int32_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  numerics::RandomSequence random(seed, kPageStream);
  for (int64_t i = count - 1; i > 0; --i) {
    std::swap(order[static_cast<size_t>(i)],
              order[static_cast<size_t>(random.Index(i + 1))]);
  }
  return order;
}

// Rows of `row_bytes` moved to where `pages` says.
std::vector<uint8_t> Paged(const std::vector<uint8_t>& rows, int64_t row_bytes,
                           const std::vector<int32_t>& pages) {
  std::vector<uint8_t> out(rows.size());
  for (size_t i = 0; i < pages.size(); ++i) {
    std::memcpy(&out[static_cast<size_t>(pages[i] * row_bytes)],
                &rows[i * static_cast<size_t>(row_bytes)],
                static_cast<size_t>(row_bytes));
  }
  return out;
}

void PrepareFmha(const AiterKernel& kernel, const AiterProblem& problem,
                 const AiterOperands& operands, Buffers& buffers,
                 AiterLaunch& launch) {
  const PackedOperand query = PackRows(operands.query);
  const PackedOperand key = PackKey(operands.key);
  const PackedOperand value = PackValue(operands.value);
  const Extent& q = operands.query.extent;
  const Extent& k = operands.key.extent;
  FmhaArguments args;
  args.output = launch.output;
  args.query = buffers.Upload(query.data);
  args.key = buffers.Upload(key.data);
  args.value = buffers.Upload(value.data);
  if (kernel.family == Family::kFmhaV3) {
    launch.lse = buffers.Output(q.rows() * 4);
    args.lse = launch.lse;
    args.write_lse = 1;
    args.lse_head_stride = U32(q.seq * 4);
  }
  args.softmax_scale = SoftmaxScale(kernel);
  args.seqlen_q = U32(q.seq);
  args.query_seq_stride = U32(query.seq_stride);
  args.query_tile_stride = U32(kernel.query_tile * query.seq_stride);
  args.query_head_stride = U32(query.head_stride);
  args.query_batch_stride = kernel.group ? 0 : U32(query.batch_stride);
  args.head_ratio = U32(problem.heads_q / problem.heads_kv);
  args.key_seq_stride = U32(key.seq_stride);
  args.key_head_stride = U32(key.head_stride);
  args.key_batch_stride = kernel.group ? 0 : U32(key.batch_stride);
  args.tuning = FmhaTuning(kernel.mask == reference::Mask::kCausal,
                           problem.heads_q, q.seq);
  args.seqlen_kv = U32(k.seq);
  args.head_dim_qk = U32(kernel.head_dim_qk);
  args.head_dim_v = U32(kernel.head_dim_v);
  args.heads_q = U32(problem.heads_q);
  args.value_seq_stride = U32(value.seq_stride);
  args.value_head_stride = U32(value.head_stride);
  args.value_batch_stride = kernel.group ? 0 : U32(value.batch_stride);
  const int64_t output_row = kernel.head_dim_v * 2;
  args.output_seq_stride = U32(problem.heads_q * output_row);
  args.output_head_stride = U32(output_row);
  args.output_batch_stride =
      kernel.group ? 0 : U32(q.seq * problem.heads_q * output_row);
  if (kernel.group) {
    args.query_starts =
        buffers.UploadValues(Starts(problem, &AiterProblem::Sequence::queries));
    args.key_starts =
        buffers.UploadValues(Starts(problem, &AiterProblem::Sequence::keys));
    args.query_padded_starts = args.query_starts.value;
    args.key_padded_starts = args.key_starts.value;
  }
  if (kernel.query.format != Format::kBf16) {
    args.query_scale = buffers.Upload(query.scales);
    args.key_scale = buffers.Upload(key.scales);
    args.value_scale = buffers.Upload(value.scales);
    args.query_scale_batch_stride = U32(query.scale_batch_stride);
    args.query_scale_head_stride = U32(query.scale_head_stride);
    args.key_scale_batch_stride = U32(key.scale_batch_stride);
    args.key_scale_head_stride = U32(key.scale_head_stride);
    args.value_scale_batch_stride = U32(value.scale_batch_stride);
    args.value_scale_head_stride = U32(value.scale_head_stride);
  }
  launch.kernarg = BytesOf(args);
  if (kernel.query.format == Format::kBf16) {
    launch.kernarg.resize(kFmhaBf16ArgumentBytes);
  }
}

void PrepareMlaPs(const AiterKernel& kernel, const AiterProblem& problem,
                  const AiterOperands& operands, const MlaWorkList& work,
                  Buffers& buffers, AiterLaunch& launch) {
  const PackedOperand query = PackRows(operands.query);
  const PackedOperand key = PackRows(operands.key);
  const PackedOperand value = PackRows(operands.value);
  launch.shape.grid[0] = U32(static_cast<int64_t>(work.starts.size() - 1));
  const std::vector<int32_t> pages = Shuffled(problem.keys(), problem.seed);
  MlaPsArguments args;
  args.query = buffers.Upload(query.data);
  args.key = buffers.Upload(Paged(key.data, key.seq_stride, pages));
  args.value = buffers.Upload(Paged(value.data, value.seq_stride, pages));
  args.output = launch.output;
  const int64_t partial_rows = work.partial_rows() * problem.heads_q;
  args.partial_output = buffers.Output(partial_rows * kernel.head_dim_v * 4);
  args.partial_lse = buffers.Output(partial_rows * 4);
  args.work_starts = buffers.UploadValues(work.starts);
  args.work_items = buffers.UploadValues(work.works);
  args.query_starts =
      buffers.UploadValues(Starts(problem, &AiterProblem::Sequence::queries));
  args.key_starts =
      buffers.UploadValues(Starts(problem, &AiterProblem::Sequence::keys));
  args.key_pages = buffers.UploadValues(pages);
  args.query_scale = buffers.Upload(query.scales);
  args.key_scale = buffers.Upload(key.scales);
  args.value_scale = buffers.Upload(value.scales);
  args.softmax_scale = SoftmaxScale(kernel);
  args.query_tokens = U32(problem.queries());
  args.heads_q = U32(problem.heads_q);
  args.pages = U32(problem.keys());
  args.used_pages = U32(problem.keys());
  launch.kernarg = BytesOf(args);
}

void PrepareMlaPaged(const AiterKernel& kernel, const AiterProblem& problem,
                     const AiterOperands& operands, Buffers& buffers,
                     AiterLaunch& launch) {
  const PackedOperand query = PackRows(operands.query);
  const PackedOperand key = PackRows(operands.key);
  const std::vector<int32_t> pages = Shuffled(problem.keys(), problem.seed);
  MlaPagedArguments args;
  args.output = launch.output;
  args.lse = buffers.Output(operands.query.extent.rows() * 4);
  args.query = buffers.Upload(query.data);
  args.key_value = buffers.Upload(Paged(key.data, key.seq_stride, pages));
  args.key_starts =
      buffers.UploadValues(Starts(problem, &AiterProblem::Sequence::keys));
  args.key_pages = buffers.UploadValues(pages);
  args.last_page_keys =
      buffers.UploadValues(std::vector<int32_t>(problem.sequences.size(), 1));
  args.softmax_scale = SoftmaxScale(kernel);
  args.head_ratio = U32(problem.heads_q);
  args.key_splits = 1;
  args.query_token_stride = U32(query.seq_stride);
  args.page_stride = U32(key.seq_stride);
  args.page_tokens_log2 = 0;
  args.query_starts =
      buffers.UploadValues(Starts(problem, &AiterProblem::Sequence::queries));
  launch.kernarg = BytesOf(args);
}

}  // namespace

emu::LaunchShape AiterLaunchShape(const AiterKernel& kernel,
                                  const AiterProblem& problem) {
  emu::LaunchShape shape;
  shape.workgroup[0] = U32(kernel.threads);
  const uint32_t batch = U32(static_cast<int64_t>(problem.sequences.size()));
  const uint32_t heads = U32(problem.heads_q);
  switch (kernel.family) {
    case Family::kFmhaV3:
    case Family::kFmhaV4: {
      // The launcher takes the queries of all sequences for the length of each;
      // groups beyond a sequence's end leave at once.
      const int64_t queries =
          kernel.group ? problem.queries() : problem.longest_queries();
      const int64_t tiles =
          (queries + kernel.query_tile - 1) / kernel.query_tile;
      // Under a causal mask a group does tiles x and n-1-x.
      const uint32_t groups = U32(
          kernel.mask == reference::Mask::kCausal ? (tiles + 1) / 2 : tiles);
      shape.grid[0] = kernel.group ? heads : groups;
      shape.grid[1] = kernel.group ? batch : heads;
      shape.grid[2] = kernel.group ? groups : batch;
      break;
    }
    case Family::kMlaPs:
      shape.grid[0] = U32(static_cast<int64_t>(
          MakeMlaWork(problem, kernel.mask, kMlaWorkGroups).starts.size() - 1));
      break;
    case Family::kMlaPaged:
      // A row is one query token of one head.
      shape.grid[0] = U32((problem.longest_queries() * problem.heads_q +
                           kernel.query_tile - 1) /
                          kernel.query_tile);
      shape.grid[1] = batch;
      break;
  }
  return shape;
}

absl::StatusOr<AiterLaunch> PrepareAiterLaunch(const AiterKernel& kernel,
                                               const AiterProblem& problem,
                                               const AiterOperands& operands,
                                               emu::DeviceMemory& memory,
                                               const MlaWorkList* mla_work) {
  const absl::Status valid = Validate(kernel, problem);
  if (!valid.ok()) return valid;
  Buffers buffers(memory);
  AiterLaunch launch;
  launch.kernel = kernel.symbol;
  launch.shape = AiterLaunchShape(kernel, problem);
  launch.output = buffers.Output(problem.queries() * problem.heads_q *
                                 kernel.head_dim_v * 2);
  switch (kernel.family) {
    case Family::kFmhaV3:
    case Family::kFmhaV4:
      PrepareFmha(kernel, problem, operands, buffers, launch);
      break;
    case Family::kMlaPs:
      PrepareMlaPs(kernel, problem, operands,
                   mla_work != nullptr
                       ? *mla_work
                       : MakeMlaWork(problem, kernel.mask, kMlaWorkGroups),
                   buffers, launch);
      break;
    case Family::kMlaPaged:
      PrepareMlaPaged(kernel, problem, operands, buffers, launch);
      break;
  }
  if (!buffers.status().ok()) return buffers.status();
  return launch;
}

}  // namespace zyfa::peers
