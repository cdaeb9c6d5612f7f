// A library that is no whole HIP runtime.
extern "C" int hipGetDeviceCount(int* count) {
  *count = 1;
  return 0;
}
