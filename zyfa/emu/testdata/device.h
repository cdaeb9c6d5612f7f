// What the HIP test kernels need of HIP's headers, as compiler built-ins.
#ifndef ZYFA_EMU_TESTDATA_DEVICE_H_
#define ZYFA_EMU_TESTDATA_DEVICE_H_

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
#define KERNEL extern "C" __global__ void

using uint8 = unsigned char;
using uint16 = unsigned short;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

__device__ inline uint32 ThreadX() { return __builtin_amdgcn_workitem_id_x(); }
__device__ inline uint32 BlockX() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ inline uint32 BlockDimX() {
  return __builtin_amdgcn_workgroup_size_x();
}
__device__ inline void Barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

#endif  // ZYFA_EMU_TESTDATA_DEVICE_H_
