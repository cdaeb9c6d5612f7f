#include "zyfa/peers/calibration/gluon_kernel.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/emulator.h"

namespace zyfa::peers {
namespace {

constexpr int kRows = 4096;       // M = N of the published runs
constexpr int kFilledRows = 512;  // more than a work-group reads
constexpr int kArgumentBytes = 64;

// Positive finite numbers in every 16-bit format, no two neighbours alike.
std::vector<uint8_t> Operand(size_t bytes, uint32_t salt) {
  std::vector<uint8_t> data(bytes);
  uint32_t state = salt;
  for (size_t i = 0; i < bytes; i += 2) {
    state = state * 1664525u + 1013904223u;
    const auto value = static_cast<uint16_t>(0x3000 + (state >> 20 & 0xbff));
    std::memcpy(&data[i], &value, 2);
  }
  return data;
}

absl::StatusOr<uint64_t> PlaceOperand(const GluonKernel& kernel, uint32_t salt,
                                      emu::DeviceMemory& memory) {
  const size_t row =
      static_cast<size_t>(kernel.k) * static_cast<size_t>(kernel.element_bytes);
  absl::StatusOr<uint64_t> address = memory.Allocate(kRows * row);
  if (!address.ok()) return address;
  const absl::Status status =
      memory.Write(*address, Operand(kFilledRows * row, salt));
  if (!status.ok()) return status;
  return address;
}

template <typename T>
void Put(std::vector<uint8_t>& block, size_t offset, T value) {
  std::memcpy(&block[offset], &value, sizeof(T));
}

}  // namespace

const std::vector<GluonKernel>& GluonKernels() {
  static const std::vector<GluonKernel> kernels = {
      {"v2_async_copy",
       "kernels/gemm/a16w16/v2_async_copy/ir_dump_K4096_fp16 @17464086", 256,
       65536, 4096, 2, true},
      {"v3_lds_raw",
       "kernels/gemm/a16w16/v3_lds/ir_dump_K4096_fp16/no_swizzling @62624bf8",
       256, 65536, 4096, 2, true},
      {"v3_lds_padding",
       "kernels/gemm/a16w16/v3_lds/ir_dump_K4096_fp16/padding_512-16 @62624bf8",
       256, 67520, 4096, 2, true},
      {"v4_global_prefetch",
       "kernels/gemm/a16w16/v4_global_prefetch/ir_dump_K4096_fp16 @62624bf8",
       256, 135104, 4096, 2, true},
      {"v5_local_prefetch_base",
       "kernels/gemm/a16w16/v5_local_prefetch/ir_dump_K4096_fp16 @62624bf8",
       256, 135104, 4096, 2, true},
      {"v5_local_prefetch_llir",
       "kernels/gemm/a16w16/v5_local_prefetch/ir_dump_K4096_fp16_llirSched "
       "@0c84a87f",
       256, 135104, 4096, 2, true},
      {"v6_loop_unroll_llir",
       "kernels/gemm/a16w16/v6_loop_unroll/ir_dump_K8192_fp16_llirSched "
       "@e4a2bdd9",
       256, 135104, 8192, 2, false},
      {"v7_slice_llir_RA",
       "kernels/gemm/a16w16/v7_slice/ir_dump_K8192_fp16_llirSched_RA @3fb69e4f",
       256, 135072, 8192, 2, false},
      {"v7_slice_llir_amdgcnas_K8192",
       "kernels/gemm/a16w16/v7_slice/ir_dump_K8192_fp16_llirSched_amdgcnas "
       "@402460e0",
       256, 135072, 8192, 2, false},
      {"lds_nW1_1024-16",
       "experiments/lds_throughput_validation/ir_dumps/nW1_1024-16 @9b86b232",
       64, 133104, 128, 1, false},
      {"lds_nW4_1024-16",
       "experiments/lds_throughput_validation/ir_dumps/nW4_1024-16 @62624bf8",
       256, 133104, 128, 1, false},
      {"lds_nW4_1024-16_2048-32",
       "experiments/lds_throughput_validation/ir_dumps/nW4_1024-16_2048-32 "
       "@62624bf8",
       256, 135152, 128, 1, false},
  };
  return kernels;
}

absl::StatusOr<TracedLoop> TraceGluonKernel(const GluonKernel& kernel,
                                            const emu::CodeObject& code) {
  if (code.kernels().size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(kernel.file, " has ", code.kernels().size(),
                     " kernels; the published files have one"));
  }
  emu::DeviceMemory memory;
  const absl::StatusOr<uint64_t> a = PlaceOperand(kernel, 1, memory);
  if (!a.ok()) return a.status();
  const absl::StatusOr<uint64_t> b = PlaceOperand(kernel, 2, memory);
  if (!b.ok()) return b.status();
  const absl::StatusOr<uint64_t> c = memory.Allocate(size_t{4} * kRows * kRows);
  if (!c.ok()) return c.status();

  std::vector<uint8_t> arguments(kArgumentBytes, 0);
  Put(arguments, 0, *a);
  Put(arguments, 8, *b);
  Put(arguments, 16, *c);
  size_t next = 24;
  const auto put = [&arguments, &next](int value) {
    Put(arguments, next, static_cast<int32_t>(value));
    next += 4;
  };
  put(kRows);
  put(kRows);
  if (kernel.k_argument) put(kernel.k);
  put(kernel.k);
  put(kernel.k);
  put(kRows);

  emu::LaunchShape shape;
  shape.workgroup[0] = static_cast<uint32_t>(kernel.threads);
  shape.dynamic_lds_bytes = static_cast<uint32_t>(kernel.dynamic_lds);
  shape.grid[0] = 256;
  emu::TraceRecorder recorder;
  emu::RunOptions options;
  options.groups = {0};
  options.observers = {&recorder};
  const absl::StatusOr<emu::RunReport> report =
      emu::Run(code, code.kernels()[0].name, shape, arguments, memory, options);
  if (!report.ok()) return report.status();
  if (report->has_errors()) {
    return absl::InternalError(absl::StrCat(
        kernel.file, ": ", report->findings[0].rule, " at ",
        report->findings[0].disassembly, ": ", report->findings[0].detail));
  }
  return TracedLoopOf(recorder);
}

}  // namespace zyfa::peers
