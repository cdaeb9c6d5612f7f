#include "zyfa/bench/aiter_peer.h"

#include <string>

#include "gtest/gtest.h"

namespace zyfa::bench {
namespace {

std::string NameOfPeer(const std::string& variant) {
  const peers::AiterKernel* kernel = PeerOf(*ParseVariant(variant));
  return kernel == nullptr ? "none" : peers::Name(*kernel);
}

TEST(PeerOf, IsTheKernelForTheSameShapesAndFormats) {
  EXPECT_EQ(NameOfPeer("bf16_d128_causal"),
            "fmha_v3_fwd/fwd_hd128_bf16_causal");
  EXPECT_EQ(NameOfPeer("bf16_d128_full"), "fmha_v3_fwd/fwd_hd128_bf16");
  EXPECT_EQ(NameOfPeer("bf16_d192x128_full"),
            "fmha_v3_fwd/fwd_hd192_hd128_bf16");
  for (const std::string p : {"lean", "exact"}) {
    EXPECT_EQ(NameOfPeer("fp8_" + p + "_d128_causal"),
              "fmha_v3_fwd/fwd_hd128_fp8_causal");
    EXPECT_EQ(NameOfPeer("fp8_" + p + "_d128_full"),
              "fmha_v4_fwd/fwd_hd128_fp8");
    EXPECT_EQ(NameOfPeer("fp8_" + p + "_d192x128_causal"),
              "mla/mla_pfl_qh192_vh128_m32x8_n128x1_causal1");
    EXPECT_EQ(NameOfPeer("fp8_" + p + "_d192x128_full"),
              "mla/mla_pfl_qh192_vh128_m32x8_n128x1_causal0");
  }
  EXPECT_EQ(PeerOf({DataType::kBf16, 64, 64, Mask::kFull}), nullptr);
}

}  // namespace
}  // namespace zyfa::bench
