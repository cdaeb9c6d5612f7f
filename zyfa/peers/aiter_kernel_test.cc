#include "zyfa/peers/aiter_kernel.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace zyfa::peers {
namespace {

TEST(AiterKernels, AllFamiliesAreThere) {
  int count[4] = {};
  std::set<std::string> names;
  std::set<std::string> files;
  for (const AiterKernel& kernel : AiterKernels()) {
    ++count[static_cast<int>(kernel.family)];
    names.insert(Name(kernel));
    files.insert(FlatFileName(kernel));
    EXPECT_EQ(FindByFlatFileName(FlatFileName(kernel)), &kernel);
  }
  EXPECT_EQ(count[static_cast<int>(Family::kFmhaV3)], 16);
  EXPECT_EQ(count[static_cast<int>(Family::kFmhaV4)], 8);
  EXPECT_EQ(count[static_cast<int>(Family::kMlaPs)], 2);
  EXPECT_EQ(count[static_cast<int>(Family::kMlaPaged)], 2);
  EXPECT_EQ(names.size(), AiterKernels().size());
  EXPECT_EQ(files.size(), AiterKernels().size());
}

// What the names of symbol and file say is what the row says.
TEST(AiterKernels, RowsAgreeWithTheirNames) {
  for (const AiterKernel& kernel : AiterKernels()) {
    const std::string symbol = kernel.symbol;
    ASSERT_EQ(symbol.rfind("_ZN5aiter", 0), 0u) << symbol;
    const std::string file = kernel.file;
    const std::string stem = file.substr(0, file.size() - 3);
    EXPECT_NE(symbol.find(stem), std::string::npos) << symbol << " " << stem;
    const bool named_causal = file.find("causal") != std::string::npos &&
                              file.find("causal0") == std::string::npos;
    EXPECT_EQ(kernel.mask == reference::Mask::kCausal, named_causal) << file;
    if (kernel.family == Family::kFmhaV3) {
      EXPECT_EQ(kernel.group, file.find("group") != std::string::npos) << file;
      EXPECT_EQ(kernel.query.format == Format::kBf16,
                file.find("bf16") != std::string::npos)
          << file;
      EXPECT_EQ(kernel.head_dim_qk, std::stoi(file.substr(6, 3))) << file;
    }
    // cdna4-isa 6.3.
    const bool small =
        kernel.head_dim_qk == 192 && kernel.family == Family::kFmhaV3;
    if (kernel.family != Family::kMlaPaged) {
      EXPECT_EQ(kernel.query_tile, small ? 128 : 256) << file;
      EXPECT_EQ(kernel.threads, small ? 256 : 512) << file;
    }
  }
}

TEST(AiterKernels, UnknownFilesAreNotFound) {
  EXPECT_EQ(FindByFlatFileName("fmha_v3_fwd__fwd_hd64_bf16.co"), nullptr);
  EXPECT_EQ(FindByFlatFileName(""), nullptr);
}

}  // namespace
}  // namespace zyfa::peers
