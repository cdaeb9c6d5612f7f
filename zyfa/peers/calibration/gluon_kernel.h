#ifndef ZYFA_PEERS_CALIBRATION_GLUON_KERNEL_H_
#define ZYFA_PEERS_CALIBRATION_GLUON_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/peers/calibration/traced_loop.h"

namespace zyfa::peers {

// One of the kernels whose assembly ROCm/gfx950-gluon-tutorials publishes:
// C[M, N] = A[M, K] B[N, K]^T, 16-bit (GEMM) or 8-bit (LDS experiments)
// elements. Assembled with
//   clang --target=amdgcn-amd-amdhsa -mcpu=gfx950 FILE.s -o FILE.co
struct GluonKernel {
  const char* file = "";  // FILE of FILE.co
  const char* path = "";  // in the repository, and the commit
  int threads = 256;
  int dynamic_lds = 0;
  int k = 0;  // elements
  int element_bytes = 2;
  bool k_argument = false;  // K is an argument, not built in
};

const std::vector<GluonKernel>& GluonKernels();

// Runs work-group 0 on random operands of which only its 256 rows (LDS
// experiments: 512) are filled. Errors are the emulator's, or Internal with the
// first finding if the kernel faults.
absl::StatusOr<TracedLoop> TraceGluonKernel(const GluonKernel& kernel,
                                            const emu::CodeObject& code);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_CALIBRATION_GLUON_KERNEL_H_
