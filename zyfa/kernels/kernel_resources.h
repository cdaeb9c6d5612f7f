#ifndef ZYFA_KERNELS_KERNEL_RESOURCES_H_
#define ZYFA_KERNELS_KERNEL_RESOURCES_H_

#include <cstdint>

namespace zyfa {

// What one work-group of a kernel takes of a compute unit, as the code object's
// descriptor and metadata state it.
struct KernelResources {
  uint32_t vgprs = 0;           // architectural registers per lane, allocated
  uint32_t agprs = 0;           // accumulation registers per lane, allocated
  uint32_t sgprs = 0;           // scalar registers per wave, allocated
  uint32_t lds_bytes = 0;       // per work-group
  uint32_t private_bytes = 0;   // scratch per lane
  uint32_t workgroup_size = 0;  // largest work-group, in work-items
  uint32_t kernarg_bytes = 0;   // size of the argument block
};

}  // namespace zyfa

#endif  // ZYFA_KERNELS_KERNEL_RESOURCES_H_
