#include "zyfa/emu/handlers.h"

#include <string_view>

#include "zyfa/emu/lds.h"
#include "zyfa/emu/register_index.h"
#include "zyfa/emu/scalar_alu.h"
#include "zyfa/emu/scalar_control.h"
#include "zyfa/emu/scalar_memory.h"
#include "zyfa/emu/vector/handlers.h"
#include "zyfa/emu/vector_memory.h"

namespace zyfa::emu {
namespace {

// Everything but the vector unit, whose table declares each mnemonic itself.
// The way to a handler leads through its declaration.
struct Family {
  Handler (*find)(Instruction& inst);
  Subject subject;
};
constexpr Family kFamilies[] = {
    {FindScalarAluHandler,
     {"Scalar arithmetic", "pseudocode", "//zyfa/emu:scalar_test"}},
    {FindRegisterIndexHandler,
     {"Indexed registers", "pseudocode; LLVM",
      "//zyfa/emu:register_index_test"}},
    {FindScalarControlHandler,
     {"Control flow, waits and hardware registers",
      "pseudocode; ISA facts 3.5, 4",
      "//zyfa/emu:scalar_test, //zyfa/emu:emulator_test"}},
    {FindScalarMemoryHandler,
     {"Scalar memory", "ISA facts 3.4", "//zyfa/emu:scalar_test"}},
    {FindLdsAccessHandler,
     {"LDS: loads and stores", "ISA facts 3.3", "//zyfa/emu:lds_test"}},
    {FindLdsTransposeHandler,
     {"LDS: transposing loads", "ISA facts 3.3", "//zyfa/emu:lds_test"}},
    {FindLdsAtomicHandler,
     {"LDS: atomics", "pseudocode; ISA facts 3.3", "//zyfa/emu:lds_test"}},
    {FindLdsPermuteHandler,
     {"LDS: permutations", "pseudocode; ISA facts 2.4", "//zyfa/emu:lds_test"}},
    {FindBufferHandler,
     {"Buffer memory, also straight into LDS", "ISA facts 3.1, 3.2",
      "//zyfa/emu:vector_memory_test"}},
    {FindFlatHandler,
     {"Flat, global and scratch memory, also straight into LDS",
      "ISA facts 3.2, 3.4", "//zyfa/emu:vector_memory_test"}},
};

struct Approximation {
  std::string_view begin, end;  // of the mnemonics it is about
  std::string_view why;
};
constexpr std::string_view kWithoutEffect =
    "no effect: caches and priorities are not modelled";
constexpr std::string_view kAtomicRounding =
    "rounded to nearest even, denormals kept; MODE and the memory's own rules "
    "are not documented";
constexpr Approximation kApproximations[] = {
    {"ds_read_b64_tr_b4", "",
     "lanes follow the pattern of the 16-bit and 8-bit forms; seen in no "
     "kernel "
     "whose results are known"},
    {"ds_read_b96_tr_b6", "",
     "lanes follow the pattern of the 16-bit and 8-bit forms; seen in no "
     "kernel "
     "whose results are known"},
    {"ds_swizzle_b32", "", "rotation and FFT patterns are refused"},
    {"s_memtime", "", "counts the wave's instructions"},
    {"s_memrealtime", "", "counts the wave's instructions"},
    {"s_getreg_b32", "",
     "MODE, STATUS, memory bases and XCC_ID; others are 0 or refused"},
    {"s_setreg_", "", "MODE only; others are refused"},
    {"s_set_gpr_idx_", "",
     "not followed by lane permutations, scalar results and read destinations: "
     "these are refused"},
    {"s_trap", "", "ends the run with a finding"},
    {"s_sleep", "", kWithoutEffect},
    {"s_setprio", "", kWithoutEffect},
    {"s_wakeup", "", kWithoutEffect},
    {"s_icache_inv", "", kWithoutEffect},
    {"s_dcache_", "", kWithoutEffect},
    {"s_ttracedata", "", kWithoutEffect},
    {"s_incperflevel", "", kWithoutEffect},
    {"s_decperflevel", "", kWithoutEffect},
    {"buffer_inv", "", kWithoutEffect},
    {"buffer_wbl2", "", kWithoutEffect},
    {"ds_add_", "f32", kAtomicRounding},
    {"ds_add_", "f64", kAtomicRounding},
    {"ds_pk_add_", "", kAtomicRounding},
    {"buffer_atomic_add_f", "", kAtomicRounding},
    {"buffer_atomic_pk_add_", "", kAtomicRounding},
    {"global_atomic_add_f", "", kAtomicRounding},
    {"global_atomic_pk_add_", "", kAtomicRounding},
    {"flat_atomic_add_f", "", kAtomicRounding},
    {"flat_atomic_pk_add_", "", kAtomicRounding},
};

std::string_view ApproximationOf(std::string_view mnemonic) {
  for (const Approximation& approximation : kApproximations) {
    if (mnemonic.starts_with(approximation.begin) &&
        mnemonic.ends_with(approximation.end)) {
      return approximation.why;
    }
  }
  return {};
}

bool IsVector(const Instruction& inst) {
  return inst.mnemonic.starts_with("v_");
}

}  // namespace

Handler FindHandler(Instruction& inst) {
  if (!inst.understood) return nullptr;
  if (IsVector(inst)) return FindVectorHandler(inst);
  for (const Family& family : kFamilies) {
    if (Handler handler = family.find(inst)) return handler;
  }
  return nullptr;
}

std::optional<Semantics> FindSemantics(Instruction& inst) {
  if (!inst.understood) return std::nullopt;
  if (IsVector(inst)) {
    if (FindVectorHandler(inst) == nullptr) return std::nullopt;
    return *FindVectorSemantics(inst.mnemonic);
  }
  for (const Family& family : kFamilies) {
    if (family.find(inst) == nullptr) continue;
    return Semantics{&family.subject, ApproximationOf(inst.mnemonic)};
  }
  return std::nullopt;
}

}  // namespace zyfa::emu
