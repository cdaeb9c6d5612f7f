#include "zyfa/emu/testing/test_device.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"

namespace zyfa::emu {
namespace {

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "test device: %s\n", what.c_str());
  std::abort();
}

}  // namespace

std::vector<uint8_t> ReadData(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) Die("no file " + path);
  return std::vector<uint8_t>((std::istreambuf_iterator<char>(stream)),
                              std::istreambuf_iterator<char>());
}

TestDevice::TestDevice(const std::string& name) {
  auto code = CodeObject::Load(ReadData("zyfa/emu/testdata/" + name + ".co"));
  if (!code.ok()) Die(code.status().ToString());
  code_ = *std::move(code);
}

uint64_t TestDevice::UploadBytes(absl::Span<const uint8_t> bytes) {
  auto address = memory_.Allocate(bytes.size());
  if (!address.ok()) Die(address.status().ToString());
  const auto status = memory_.Write(*address, bytes);
  if (!status.ok()) Die(status.ToString());
  return *address;
}

void TestDevice::DownloadBytes(uint64_t address,
                               absl::Span<uint8_t> bytes) const {
  const auto status = memory_.Read(address, bytes);
  if (!status.ok()) Die(status.ToString());
}

absl::StatusOr<RunReport> TestDevice::Run(const std::string& kernel,
                                          const LaunchShape& shape,
                                          const Kernarg& kernarg,
                                          const RunOptions& options) {
  return emu::Run(*code_, kernel, shape, kernarg.bytes(), memory_, options);
}

RunReport TestDevice::RunClean(const std::string& kernel,
                               const LaunchShape& shape, const Kernarg& kernarg,
                               const RunOptions& options,
                               const std::set<std::string>& allowed) {
  auto report = Run(kernel, shape, kernarg, options);
  if (!report.ok()) {
    ADD_FAILURE() << kernel << ": " << report.status();
    return RunReport();
  }
  for (const Finding& f : report->findings) {
    if (allowed.count(f.rule) != 0) continue;
    ADD_FAILURE() << kernel << ": [" << f.rule << "] at " << f.pc << " wave "
                  << f.wave << " lane " << f.lane << ": " << f.disassembly
                  << ": " << f.detail;
  }
  return *std::move(report);
}

LaunchShape Shape(uint32_t workgroups, uint32_t items) {
  LaunchShape shape;
  shape.grid[0] = workgroups;
  shape.workgroup[0] = items;
  return shape;
}

}  // namespace zyfa::emu
