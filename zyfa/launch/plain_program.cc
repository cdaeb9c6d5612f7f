// A program that links //zyfa and nothing else of ours: says whether a call is
// supported and what stands in the way of running it.

#include <cstdio>
#include <string>

#include "zyfa/launch/attention.h"
#include "zyfa/launch/hip_device.h"
#include "zyfa/launch/zyfa.h"

int main() {
  zyfa::AttentionParams params;
  params.query = zyfa::DenseTensor(0x1000000, 1, 64, 2, 128);
  params.key = params.value = params.query;
  params.output = zyfa::DenseTensor(0x2000000, 1, 64, 2, 128);
  const absl::Status supported = zyfa::Supports(params);
  std::printf("version %d, supported: %s\n", int(zyfa_api_version()),
              supported.ToString().c_str());
  zyfa::HipOptions options;
  options.library = "/nonexistent/libamdhip64.so";
  const auto device = zyfa::OpenHipDevice(options);
  std::printf("device: %s\n", device.status().ToString().c_str());
  return supported.ok() && !device.ok() ? 0 : 1;
}
