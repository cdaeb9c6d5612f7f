#include "zyfa/launch/kfd_topology.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(KfdTopologyTest, NamesGpusInNodeOrder) {
  const std::filesystem::path root =
      std::filesystem::path(std::getenv("TEST_TMPDIR")) / "nodes";
  // Versions as the driver writes them; node 0 is a CPU.
  const struct {
    const char* node;
    const char* version;
  } kNodes[] = {{"0", "0"},     {"1", "90500"},   {"2", "90402"},
                {"3", "90010"}, {"10", "110001"}, {"x", "90500"}};
  for (const auto& node : kNodes) {
    std::filesystem::create_directories(root / node.node);
    std::ofstream(root / node.node / "properties")
        << "cpu_cores_count 0\ngfx_target_version " << node.version
        << "\nvendor_id 4098\n";
  }
  std::filesystem::create_directories(root / "11");  // no properties
  EXPECT_THAT(MachineArchitectures(root.string()),
              ElementsAre("gfx950", "gfx942", "gfx90a", "gfx1101"));
}

TEST(KfdTopologyTest, NothingWithoutTheDriver) {
  EXPECT_THAT(MachineArchitectures("/nonexistent/nodes"), IsEmpty());
}

}  // namespace
}  // namespace zyfa
