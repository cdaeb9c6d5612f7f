#ifndef ZYFA_GEN_ASM_PRINTER_H_
#define ZYFA_GEN_ASM_PRINTER_H_

#include <string>
#include <vector>

#include "zyfa/gen/asm/allocator.h"
#include "zyfa/gen/asm/instruction.h"
#include "zyfa/gen/asm/kernel_spec.h"

namespace zyfa::gen {

// What the kernel needs of the machine, for the descriptor.
struct KernelResources {
  int sgprs = 0;       // highest SGPR used + 1, without VCC
  int arch_vgprs = 0;  // highest v register used + 1
  int acc_vgprs = 0;   // highest a register used + 1

  // First AGPR in the unified file: v registers rounded up to 4.
  int accum_offset() const;
  // Both files together, as .amdhsa_next_free_vgpr wants it.
  int total_vgprs() const;
};

// Instructions as aligned lines with their comments and section banners.
std::string PrintProgram(const std::vector<Instruction>& program,
                         const std::vector<std::string>& label_names);

// The whole .s file: description, register map, code, descriptor, metadata.
// Equal inputs give equal bytes.
std::string PrintKernel(const KernelSpec& spec,
                        const KernelResources& resources,
                        const AllocationTable& allocations,
                        const std::vector<Instruction>& program,
                        const std::vector<std::string>& label_names);

}  // namespace zyfa::gen

#endif  // ZYFA_GEN_ASM_PRINTER_H_
