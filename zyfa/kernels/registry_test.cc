#include "zyfa/kernels/registry.h"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "zyfa/variant/attention_args.h"

namespace zyfa {
namespace {

std::string FileOf(const KernelEntry& entry) {
  return absl::StrCat("zyfa/kernels/", entry.name, ".co");
}

TEST(RegistryTest, HoldsEveryVariantOnce) {
  std::vector<Variant> variants;
  for (int qk : {128, 192}) {
    for (Mask mask : {Mask::kCausal, Mask::kFull}) {
      variants.push_back({DataType::kBf16, qk, 128, mask});
      for (Probability p : {Probability::kLean, Probability::kExact}) {
        variants.push_back({DataType::kFp8, qk, 128, mask, p});
      }
      for (Probability p : {Probability::kShift, Probability::kMultiply}) {
        variants.push_back({DataType::kInt8, qk, 128, mask, p});
      }
    }
  }
  std::set<std::string> names;
  for (const Variant& variant : variants) {
    const KernelEntry* entry = FindKernel(variant);
    ASSERT_NE(entry, nullptr) << VariantName(variant);
    EXPECT_EQ(entry->name, VariantName(variant));
    EXPECT_EQ(entry->symbol, absl::StrCat("zyfa_", VariantName(variant)));
    EXPECT_EQ(FindKernel(entry->name), entry);
    names.insert(std::string(entry->name));
  }
  EXPECT_EQ(names.size(), AllKernels().size());
  EXPECT_EQ(FindKernel("bf16_d64_causal"), nullptr);
  EXPECT_EQ(FindKernel({DataType::kBf16, 64, 64, Mask::kCausal}), nullptr);
}

TEST(RegistryTest, NamesAreThoseOfTheVariants) {
  for (const KernelEntry& entry : AllKernels()) {
    EXPECT_EQ(VariantName(entry.variant), entry.name);
  }
}

// The bytes in the program are those of the file beside it, and the digest is
// the one that sha256sum prints for the file.
TEST(RegistryTest, BytesAndDigestAreThoseOfTheFile) {
  for (const KernelEntry& entry : AllKernels()) {
    std::ifstream in(FileOf(entry), std::ios::binary);
    const std::vector<uint8_t> file((std::istreambuf_iterator<char>(in)),
                                    std::istreambuf_iterator<char>());
    ASSERT_FALSE(file.empty()) << entry.name;
    EXPECT_EQ(entry.code_object, absl::MakeConstSpan(file));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(entry.code_object.data()) % 4096, 0u);
    const std::string command = absl::StrCat("sha256sum ", FileOf(entry));
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char digest[65] = {};
    EXPECT_EQ(fread(digest, 1, 64, pipe), 64u);
    pclose(pipe);
    EXPECT_EQ(entry.digest, digest) << entry.name;
  }
}

TEST(RegistryTest, ResourcesSuitTheLauncher) {
  for (const KernelEntry& entry : AllKernels()) {
    const KernelResources& r = entry.resources;
    EXPECT_EQ(r.kernarg_bytes, sizeof(AttentionArgs)) << entry.name;
    EXPECT_GE(r.workgroup_size, uint32_t{kThreadsPerGroup}) << entry.name;
    // Limits of a gfx950 compute unit, at two waves per SIMD.
    EXPECT_LE(r.vgprs + r.agprs, 256u) << entry.name;
    EXPECT_LE(r.lds_bytes, 163840u) << entry.name;
    EXPECT_EQ(r.private_bytes, 0u) << entry.name;
  }
}

}  // namespace
}  // namespace zyfa
