#include "zyfa/emu/testing/test_group.h"

#include <algorithm>

#include "gtest/gtest.h"
#include "zyfa/emu/disassembly_text.h"
#include "zyfa/emu/handlers.h"

namespace zyfa::emu {
namespace {

Instruction Assemble(const std::string& text) {
  Instruction inst;
  inst.text = text;
  inst.size = 4;
  inst.understood = ParseDisassembly(0, inst);
  inst.handler = FindHandler(inst);
  return inst;
}

}  // namespace

TestGroup::TestGroup(uint32_t lds_bytes)
    : group(std::make_unique<Group>()), wave(std::make_unique<Wave>()) {
  group->memory = &memory;
  group->lds = std::make_unique<uint8_t[]>(kMaxLdsBytes + 64);
  group->lds_bytes = lds_bytes;
  group->wave_count = 1;
  group->waits[0].Reset();
  group->private_bytes = 256;
  group->scratch.push_back(std::make_unique<uint8_t[]>(256 * kLanes));
  wave->group = group.get();
  wave->exec = ~uint64_t{0};
}

void TestGroup::Run(const std::string& text) {
  EXPECT_EQ(RunForRule(text), "") << text;
}

std::string TestGroup::RunForRule(const std::string& text) {
  const Instruction inst = Assemble(text);
  if (inst.handler == nullptr) return "refused";
  group->findings.clear();
  inst.handler(inst, *wave);
  if (!wave->error.empty()) return wave->error;
  return group->findings.empty() ? "" : group->findings.back().rule;
}

bool TestGroup::Accepts(const std::string& text) {
  return Assemble(text).handler != nullptr;
}

void TestGroup::SetBuffer(int sgpr, uint64_t base, uint32_t bytes) {
  wave->WriteScalar64(sgpr, base);
  wave->WriteScalar32(sgpr + 2, bytes);
  wave->WriteScalar32(sgpr + 3, 0x00020000);  // 32-bit data format
}

}  // namespace zyfa::emu
