#include "zyfa/bench/layer_files.h"

#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace zyfa::bench {

absl::StatusOr<std::vector<LayerFile>> ListLayers(const std::string& folders) {
  std::vector<LayerFile> files;
  if (folders.empty()) return files;
  const std::vector<std::string> names = absl::StrSplit(folders, ',');
  for (const std::string& folder : names) {
    std::error_code error;
    const std::filesystem::path path =
        std::filesystem::weakly_canonical(folder, error);
    for (int i = 0;; ++i) {
      const std::filesystem::path file =
          path / absl::StrCat("layer_", i, ".safetensors");
      if (!std::filesystem::exists(file, error)) {
        if (i > 0) break;
        return absl::InvalidArgumentError(
            absl::StrCat("--layers=", folders, ": '", folder,
                         "'; allowed: folders with layer_0.safetensors"));
      }
      files.push_back({file.string(),
                       absl::StrCat(path.filename().string(), " layer ", i)});
    }
  }
  return files;
}

}  // namespace zyfa::bench
