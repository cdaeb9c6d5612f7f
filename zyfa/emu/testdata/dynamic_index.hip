// Arrays in registers with an index that is known only when the kernel runs.
#include "zyfa/emu/testdata/device.h"

// Every wave reads 16 values a lane, replaces number `put` by 1000 and gives
// number `get`.
KERNEL uniform_index(float* out, const float* in, int put, int get) {
  float values[16];
  const int lane = static_cast<int>(ThreadX());
  for (int n = 0; n < 16; ++n) values[n] = in[n * 64 + lane];
  values[put & 15] = 1000.0f;
  out[lane] = values[get & 15];
}

// The same with an index for each lane.
KERNEL lane_index(float* out, const float* in, const int* put, const int* get) {
  float values[16];
  const int lane = static_cast<int>(ThreadX());
  for (int n = 0; n < 16; ++n) values[n] = in[n * 64 + lane];
  values[put[lane] & 15] = 1000.0f;
  out[lane] = values[get[lane] & 15];
}
