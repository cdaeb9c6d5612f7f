#include "zyfa/emu/vector/handler_table.h"
#include "zyfa/emu/vector/target.h"

namespace zyfa::emu::ZYFA_VECTOR_TARGET {
namespace {

struct Registration {
  Subject subject;
  void (*add)(valu::HandlerTable& table);
};

// Every mnemonic is also run by code_sets_test, by both sets of code.
constexpr Registration kRegistrations[] = {
    {{"Float arithmetic", "pseudocode; MODE: ISA facts 2.3, LLVM",
      "//zyfa/emu/vector:float_ops_test, //zyfa/emu/vector:float_mode_test"},
     &AddFloatOps},
    {{"Integer arithmetic, bits and moves", "pseudocode",
      "//zyfa/emu/vector:integer_ops_test"},
     &AddIntegerOps},
    {{"Comparisons", "pseudocode", "//zyfa/emu/vector:cross_lane_test"},
     &AddCompares},
    {{"Conversions", "pseudocode; ISA facts 2.2",
      "//zyfa/emu/vector:convert_test, //zyfa/emu/vector:float_mode_test"},
     &AddConversions},
    {{"Transcendental functions", "pseudocode; ISA facts 2.3",
      "//zyfa/emu/vector:transcendental_test"},
     &AddTranscendentals},
    {{"Exchange between lanes", "pseudocode; ISA facts 2.4",
      "//zyfa/emu/vector:cross_lane_test"},
     &AddCrossLane},
    {{"Packed halves, dot products, mixed precision", "pseudocode",
      "//zyfa/emu/vector:float_ops_test, //zyfa/emu/vector:float_mode_test"},
     &AddPacked},
    {{"Conversions with a block scale", "pseudocode; ISA facts 2.2",
      "//zyfa/emu/vector:convert_test"},
     &AddScaledConversions},
    {{"Matrix products", "ISA guide 7.1; ISA facts 1.1; sums: numerics 9",
      "//zyfa/emu/vector:matrix_test, //zyfa/emu/vector:matrix_model_test"},
     &AddMatrixDense},
    {{"Matrix products of FP8, BF8, FP6, BF6 and FP4",
      "ISA guide 7.1; ISA facts 1.1, 1.2; sums: numerics 9",
      "//zyfa/emu/vector:matrix_test, //zyfa/emu/vector:matrix_model_test"},
     &AddMatrixScaled},
    {{"Sparse matrix products",
      "ISA guide 7.1; ISA facts 1.3; sums: numerics 9",
      "//zyfa/emu/vector:matrix_test, //zyfa/emu/vector:matrix_model_test"},
     &AddMatrixSparse},
};

}  // namespace

void AddAllOps(valu::HandlerTable& table) {
  for (const Registration& registration : kRegistrations) {
    table.Begin(registration.subject);
    registration.add(table);
  }
}

}  // namespace zyfa::emu::ZYFA_VECTOR_TARGET
