#ifndef ZYFA_GEN_PROBE_PROBE_KERNELS_H_
#define ZYFA_GEN_PROBE_PROBE_KERNELS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace zyfa::gen {

// Assembly of the kernel "zyfa_" + name, which executes what
// zyfa/probe/layout.h says. InvalidArgument unless `name` is "probe_vector",
// "probe_matrix", "probe_int8" or "probe_sparse".
absl::StatusOr<std::string> ProbeKernel(absl::string_view name);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_PROBE_PROBE_KERNELS_H_
