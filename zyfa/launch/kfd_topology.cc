#include "zyfa/launch/kfd_topology.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace zyfa {
namespace {

// major * 10000 + minor * 100 + stepping, the last in the name as one hex
// digit.
std::string Architecture(uint32_t version) {
  return absl::StrCat("gfx", version / 10000, version / 100 % 100,
                      absl::Hex(version % 100));
}

}  // namespace

std::vector<std::string> MachineArchitectures(const std::string& directory) {
  std::map<uint32_t, std::string> found;  // by node number
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator();
       entry.increment(error)) {
    uint32_t node = 0;
    if (!absl::SimpleAtoi(entry->path().filename().string(), &node)) continue;
    std::ifstream properties(entry->path() / "properties");
    std::string key, value;
    while (properties >> key >> value) {
      uint32_t version = 0;
      if (key == "gfx_target_version" && absl::SimpleAtoi(value, &version) &&
          version != 0) {
        found[node] = Architecture(version);
      }
    }
  }
  std::vector<std::string> names;
  for (const auto& [node, name] : found) names.push_back(name);
  return names;
}

}  // namespace zyfa
