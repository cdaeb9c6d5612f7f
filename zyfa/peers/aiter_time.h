#ifndef ZYFA_PEERS_AITER_TIME_H_
#define ZYFA_PEERS_AITER_TIME_H_

#include "absl/status/statusor.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/cycles/constants.h"
#include "zyfa/emu/cycles/kernel_time.h"
#include "zyfa/peers/aiter_kernel.h"
#include "zyfa/peers/aiter_problem.h"

namespace zyfa::peers {

// Defaults for a kernel's format: BF16's peak and fitted clock, or FP8's peak
// and 1.7 GHz (also for kernels with FP6 or FP4 operands).
emu::KernelTimeOptions AiterTimeOptions(const AiterKernel& kernel);

// Bytes of Q, K, V (as the formats pack them, without scales), output and LSE,
// each once.
double AiterTensorBytes(const AiterKernel& kernel, const AiterProblem& problem);

// What AITER's kernels of mla_pfl_qh192_vh128 leave to a second kernel, which
// makes outputs of partial ones, in clocks at `ghz`: the overhead of its
// launch, and the partial outputs and LSEs once from HBM. Nothing if no work is
// split; 0 for all other kernels. An estimate that leaves its own instructions
// out.
double SecondKernelClocks(const AiterKernel& kernel,
                          const AiterProblem& problem,
                          const emu::CycleConstants& constants, double ghz);

// Models the launch of one of AITER's kernels, `code` being its code object, on
// random inputs of one head; FLOP and bytes are set from the problem. Without
// SecondKernelClocks(). Errors of
// AiterLaunchWork(), PrepareAiterLaunch() and emu::ModelKernelTime().
absl::StatusOr<emu::KernelTime> ModelAiterTime(
    const AiterKernel& kernel, const emu::CodeObject& code,
    const AiterProblem& problem, const emu::KernelTimeOptions& options);

}  // namespace zyfa::peers

#endif  // ZYFA_PEERS_AITER_TIME_H_
