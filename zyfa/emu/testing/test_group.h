#ifndef ZYFA_EMU_TESTING_TEST_GROUP_H_
#define ZYFA_EMU_TESTING_TEST_GROUP_H_

#include <cstdint>
#include <memory>
#include <string>

#include "zyfa/emu/device_memory.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/wave.h"

namespace zyfa::emu {

// A work-group of one wave in which single instructions are executed. EXEC is
// all ones, everything else zero.
struct TestGroup {
  explicit TestGroup(uint32_t lds_bytes = kMaxLdsBytes);
  // Executes an instruction given as LLVM prints it; a refused one or one that
  // reports anything fails the test.
  void Run(const std::string& text);
  // The same, for instructions that are to report: the rule, "" if none.
  std::string RunForRule(const std::string& text);
  // Whether the emulator takes the instruction at all.
  static bool Accepts(const std::string& text);

  void SetScalar64(int sgpr, uint64_t value) {
    wave->WriteScalar64(sgpr, value);
  }
  // A raw buffer descriptor in four SGPRs.
  void SetBuffer(int sgpr, uint64_t base, uint32_t bytes);

  DeviceMemory memory;
  std::unique_ptr<Group> group;
  std::unique_ptr<Wave> wave;
};

}  // namespace zyfa::emu

#endif  // ZYFA_EMU_TESTING_TEST_GROUP_H_
