#include "zyfa/gen/asm/printer.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace zyfa::gen {
namespace {

constexpr char kTarget[] = "amdgcn-amd-amdhsa--gfx950";
constexpr size_t kMnemonicWidth = 28;
constexpr size_t kCommentColumn = 72;

std::string Padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

std::string InstructionLine(const Instruction& inst,
                            const std::vector<std::string>& label_names) {
  const std::string text = FormatInstruction(inst, label_names);
  const size_t space = text.find(' ');
  std::string line = "    ";
  if (space == std::string::npos) {
    line += text;
  } else {
    absl::StrAppend(&line, Padded(text.substr(0, space), kMnemonicWidth - 1),
                    " ", text.substr(space + 1));
  }
  if (!inst.comment.empty()) {
    line = absl::StrCat(Padded(std::move(line), kCommentColumn - 1), " // ",
                        inst.comment);
  }
  return line;
}

// First and last instruction of the printed program that name an allocation.
std::map<int, std::pair<int, int>> Lifetimes(
    const std::vector<Instruction>& program) {
  std::map<int, std::pair<int, int>> result;
  int number = 0;
  for (const Instruction& inst : program) {
    if (!inst.IsOperation()) continue;
    for (const Operand& o : inst.operands) {
      if (!o.IsRegister() || o.owner == 0) continue;
      auto [at, added] = result.try_emplace(o.owner, number, number);
      if (!added) at->second.second = number;
    }
    ++number;
  }
  return result;
}

std::string RegisterMap(const AllocationTable& allocations,
                        const std::vector<Instruction>& program) {
  const std::map<int, std::pair<int, int>> lifetimes = Lifetimes(program);
  std::vector<const Allocation*> order;
  for (const Allocation& a : allocations.all()) order.push_back(&a);
  std::sort(order.begin(), order.end(),
            [](const Allocation* a, const Allocation* b) {
              return std::tuple(a->file, a->first, a->id) <
                     std::tuple(b->file, b->first, b->id);
            });
  std::string text =
      "// Registers, and the instructions (counted from 0) between which they "
      "are named:\n";
  for (const Allocation* a : order) {
    const auto life = lifetimes.find(a->id);
    absl::StrAppendFormat(
        &text, "//   %-12s %-28s %s\n",
        RegisterText(a->file, a->first, a->count), a->name,
        life == lifetimes.end()
            ? "unused"
            : absl::StrCat(life->second.first, "..", life->second.second));
  }
  return text;
}

std::string Descriptor(const KernelSpec& spec, const KernelResources& r) {
  std::string text;
  auto line = [&](const char* name, int value) {
    absl::StrAppendFormat(&text, "    .amdhsa_%s %d\n", name, value);
  };
  absl::StrAppend(&text, ".section .rodata,\"a\",@progbits\n.p2align 6\n",
                  ".amdhsa_kernel ", spec.name, "\n");
  line("group_segment_fixed_size", spec.lds_bytes);
  line("private_segment_fixed_size", 0);
  line("kernarg_size", spec.kernarg_bytes);
  line("user_sgpr_kernarg_segment_ptr", 1);
  line("user_sgpr_count", 2);
  line("system_sgpr_workgroup_id_x", spec.workgroup_id_x);
  line("system_sgpr_workgroup_id_y", spec.workgroup_id_y);
  line("system_sgpr_workgroup_id_z", spec.workgroup_id_z);
  line("system_vgpr_workitem_id", spec.workitem_id_dimensions);
  line("next_free_vgpr", r.total_vgprs());
  line("accum_offset", r.accum_offset());
  line("next_free_sgpr", std::max(r.sgprs, 1));
  line("float_round_mode_32", spec.round_mode_32);
  line("float_round_mode_16_64", spec.round_mode_16_64);
  line("float_denorm_mode_32", spec.denorm_mode_32);
  line("float_denorm_mode_16_64", spec.denorm_mode_16_64);
  line("ieee_mode", spec.ieee_mode);
  line("dx10_clamp", spec.dx10_clamp);
  line("fp16_overflow", spec.fp16_overflow);
  absl::StrAppend(&text, ".end_amdhsa_kernel\n");
  return text;
}

std::string Metadata(const KernelSpec& spec, const KernelResources& r) {
  // VCC, flat scratch and the XNACK mask lie behind the numbered SGPRs.
  constexpr int kSpecialSgprs = 6;
  std::string text = ".amdgpu_metadata\n---\n";
  absl::StrAppend(&text, "amdhsa.version: [ 1, 2 ]\namdhsa.target: ", kTarget,
                  "\namdhsa.kernels:\n");
  absl::StrAppend(&text, "  - .name: ", spec.name, "\n    .symbol: ", spec.name,
                  ".kd\n");
  auto line = [&](const char* name, int value) {
    absl::StrAppendFormat(&text, "    .%s: %d\n", name, value);
  };
  line("kernarg_segment_size", spec.kernarg_bytes);
  line("kernarg_segment_align", 8);
  line("group_segment_fixed_size", spec.lds_bytes);
  line("private_segment_fixed_size", 0);
  line("wavefront_size", 64);
  line("sgpr_count", r.sgprs + kSpecialSgprs);
  line("vgpr_count", r.total_vgprs());
  line("agpr_count", r.acc_vgprs);
  line("max_flat_workgroup_size", spec.workgroup_size);
  if (spec.args.empty()) {
    absl::StrAppend(&text, "    .args: []\n");
  } else {
    absl::StrAppend(&text, "    .args:\n");
  }
  for (const KernelArg& arg : spec.args) {
    const bool buffer = arg.kind == KernelArg::Kind::kGlobalBuffer;
    absl::StrAppendFormat(
        &text,
        "      - { .name: '%s', .offset: %d, .size: %d, .value_kind: %s%s }\n",
        arg.name, arg.offset, arg.size, buffer ? "global_buffer" : "by_value",
        buffer ? ", .address_space: global" : "");
  }
  absl::StrAppend(&text, "...\n.end_amdgpu_metadata\n");
  return text;
}

}  // namespace

int KernelResources::accum_offset() const {
  return std::max(4, (arch_vgprs + 3) / 4 * 4);
}

int KernelResources::total_vgprs() const {
  return acc_vgprs > 0 ? accum_offset() + acc_vgprs : std::max(arch_vgprs, 1);
}

std::string PrintProgram(const std::vector<Instruction>& program,
                         const std::vector<std::string>& label_names) {
  std::string text;
  int number = 0;
  for (const Instruction& inst : program) {
    switch (inst.kind) {
      case Instruction::Kind::kLabel:
        absl::StrAppend(&text, label_names[inst.label], ":\n");
        break;
      case Instruction::Kind::kSection:
        absl::StrAppend(&text, "\n    // ---- ", inst.text, " ---- (", number,
                        ")\n");
        break;
      case Instruction::Kind::kPhase:
        absl::StrAppend(&text, inst.text, ":\n");
        break;
      case Instruction::Kind::kOperation:
        absl::StrAppend(&text, InstructionLine(inst, label_names), "\n");
        ++number;
        break;
    }
  }
  return text;
}

std::string PrintKernel(const KernelSpec& spec,
                        const KernelResources& resources,
                        const AllocationTable& allocations,
                        const std::vector<Instruction>& program,
                        const std::vector<std::string>& label_names) {
  std::string text = absl::StrCat("// ", spec.name, "\n");
  for (const std::string& line : spec.description) {
    absl::StrAppend(&text, "// ", line, "\n");
  }
  absl::StrAppendFormat(
      &text,
      "//\n// %d SGPRs, %d VGPRs + %d AGPRs, %d bytes of LDS, %d work-items a "
      "group.\n//\n",
      resources.sgprs, resources.arch_vgprs, resources.acc_vgprs,
      spec.lds_bytes, spec.workgroup_size);
  absl::StrAppend(&text, RegisterMap(allocations, program), "\n");
  absl::StrAppend(&text, ".amdgcn_target \"", kTarget,
                  "\"\n.amdhsa_code_object_version 5\n.text\n.globl ",
                  spec.name, "\n.p2align 8\n.type ", spec.name, ",@function\n",
                  spec.name, ":\n");
  absl::StrAppend(&text, PrintProgram(program, label_names));
  absl::StrAppend(&text, ".Lkernel_end:\n.size ", spec.name, ", .Lkernel_end-",
                  spec.name, "\n");
  // As LLVM does for this family: instruction fetch runs ahead of the program.
  absl::StrAppend(&text,
                  "// 1 KiB of s_nop for instruction fetch beyond the end\n"
                  ".fill 256, 4, 0xbf800000\n\n");
  absl::StrAppend(&text, Descriptor(spec, resources), "\n",
                  Metadata(spec, resources));
  return text;
}

}  // namespace zyfa::gen
