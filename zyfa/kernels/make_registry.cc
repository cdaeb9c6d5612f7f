// Build tool: writes the C++ source of the table of kernels.
//
//   make_registry OUT.cc NAME=CODE_OBJECT...
//
// Everything that the table says about a kernel is read from the code object
// here, so that a kernel without a sound descriptor fails the build and the
// program's own table is constant data.

#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "zyfa/kernels/code_object_resources.h"
#include "zyfa/kernels/sha256.h"
#include "zyfa/variant/variant.h"

namespace zyfa {
namespace {

const char* TypeSymbol(DataType type) {
  switch (type) {
    case DataType::kBf16:
      return "kBf16";
    case DataType::kFp8:
      return "kFp8";
    case DataType::kInt8:
      return "kInt8";
  }
  return "";
}

const char* ProbabilitySymbol(Probability probability) {
  switch (probability) {
    case Probability::kExact:
      return "kExact";
    case Probability::kLean:
      return "kLean";
    case Probability::kShift:
      return "kShift";
    case Probability::kMultiply:
      return "kMultiply";
  }
  return "";
}

absl::StatusOr<std::string> Row(const std::string& name,
                                const std::vector<uint8_t>& code) {
  const auto variant = ParseVariant(name);
  if (!variant.ok()) return variant.status();
  if (VariantName(*variant) != name) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", name, "' is written '", VariantName(*variant), "'"));
  }
  const std::string symbol = absl::StrCat("zyfa_", name);
  const auto resources = ReadKernelResources(code, symbol);
  if (!resources.ok()) return resources.status();
  const KernelResources& r = *resources;
  return absl::StrCat(
      "    {\"", name, "\",\n     {DataType::", TypeSymbol(variant->data_type),
      ", ", variant->head_dim_qk, ", ", variant->head_dim_v,
      ", Mask::", variant->mask == Mask::kCausal ? "kCausal" : "kFull",
      ", Probability::", ProbabilitySymbol(variant->probability), "},\n     \"",
      symbol, "\",\n     \"", Sha256Hex(code), "\",\n     {", r.vgprs, ", ",
      r.agprs, ", ", r.sgprs, ", ", r.lds_bytes, ", ", r.private_bytes, ", ",
      r.workgroup_size, ", ", r.kernarg_bytes, "},\n     {zyfa_co_", name,
      "_begin, ", code.size(), "}},\n");
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: make_registry OUT.cc NAME=CODE_OBJECT...\n";
    return 2;
  }
  std::string symbols, rows;
  for (int i = 2; i < argc; ++i) {
    const std::vector<std::string> parts =
        absl::StrSplit(argv[i], absl::MaxSplits('=', 1));
    if (parts.size() != 2) {
      std::cerr << "'" << argv[i] << "' does not read NAME=CODE_OBJECT\n";
      return 2;
    }
    std::ifstream in(parts[1], std::ios::binary);
    if (!in) {
      std::cerr << parts[1] << ": cannot be read\n";
      return 1;
    }
    const std::vector<uint8_t> code((std::istreambuf_iterator<char>(in)),
                                    std::istreambuf_iterator<char>());
    const auto row = Row(parts[0], code);
    if (!row.ok()) {
      std::cerr << parts[1] << ": " << row.status() << "\n";
      return 1;
    }
    absl::StrAppend(&symbols, "extern \"C\" const uint8_t zyfa_co_", parts[0],
                    "_begin[];\n");
    absl::StrAppend(&rows, *row);
  }
  std::ofstream out(argv[1]);
  out << "#include \"zyfa/kernels/registry.h\"\n\n"
      << symbols << "\nnamespace zyfa {\nnamespace {\n\n"
      << "constexpr KernelEntry kEntries[] = {\n"
      << rows << "};\n\n}  // namespace\n\n"
      << "absl::Span<const KernelEntry> AllKernels() { return kEntries; }\n\n"
      << "}  // namespace zyfa\n";
  out.close();
  if (!out) {
    std::cerr << argv[1] << ": cannot be written\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace zyfa

int main(int argc, char** argv) { return zyfa::Main(argc, argv); }
