// Kernels that share memory between waves and work-groups, in order and not.
#include "zyfa/emu/testdata/device.h"

// Through LDS: each item hands its value to an item of the next wave.
KERNEL hand_on_lds(unsigned int* out, const unsigned int* in, int rounds) {
  __shared__ unsigned int value[256];
  const uint32 t = ThreadX();
  unsigned int mine = in[t];
  for (int r = 0; r < rounds; ++r) {
    value[t] = mine;
    Barrier();
    mine = 3 * value[(t + 64) % 256] + 1;
    Barrier();
  }
  out[t] = mine;
}

// The same through device memory.
KERNEL hand_on_memory(unsigned int* out, unsigned int* value, int rounds) {
  const uint32 t = ThreadX();
  unsigned int mine = t;
  for (int r = 0; r < rounds; ++r) {
    value[t] = mine;
    Barrier();
    mine = 3 * value[(t + 64) % 256] + 1;
    Barrier();
  }
  out[t] = mine;
}

// Every group writes the same words.
KERNEL all_write(unsigned int* out, const unsigned int* in, int n) {
  out[ThreadX()] = in[0] + uint32(n);
}

// Group 1 reads what group 0 writes.
KERNEL read_other(unsigned int* out, unsigned int* in, int n) {
  const uint32 t = ThreadX();
  if (BlockX() == 0) {
    in[t] = uint32(n);
  } else {
    out[t] = in[t];
  }
}

// Every group writes its own bytes of shared words.
KERNEL own_bytes(unsigned char* out, const unsigned int* in, int n) {
  out[ThreadX() * __builtin_amdgcn_grid_size_x() / BlockDimX() + BlockX()] =
      (unsigned char)(in[0] + uint32(n));
}

KERNEL count_in_memory(unsigned int* out, const unsigned int* in, int n) {
  __hip_atomic_fetch_add(out, in[0] + uint32(n), __ATOMIC_RELAXED,
                         __HIP_MEMORY_SCOPE_AGENT);
}

// The counter is also read plainly.
KERNEL count_and_read(unsigned int* out, const unsigned int* in, int n) {
  const unsigned int before = *out;
  __hip_atomic_fetch_add(out, in[0] + before + uint32(n), __ATOMIC_RELAXED,
                         __HIP_MEMORY_SCOPE_AGENT);
}

KERNEL count_in_lds(unsigned int* out, const unsigned int* in, int n) {
  __shared__ unsigned int count;
  if (ThreadX() == 0) count = uint32(n);
  Barrier();
  __hip_atomic_fetch_add(&count, in[0], __ATOMIC_RELAXED,
                         __HIP_MEMORY_SCOPE_WORKGROUP);
  Barrier();
  if (ThreadX() == 0) *out = count;
}
