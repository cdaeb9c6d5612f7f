#ifndef ZYFA_BENCH_LAYER_FILES_H_
#define ZYFA_BENCH_LAYER_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace zyfa::bench {

struct LayerFile {
  std::string path;
  std::string source;  // "gqa layer 4": the folder's name and the file's number
};

// The files layer_0.safetensors, layer_1.safetensors and so on of each of
// --layers=`folders`, by comma. InvalidArgument names a folder without them.
absl::StatusOr<std::vector<LayerFile>> ListLayers(const std::string& folders);

}  // namespace zyfa::bench

#endif  // ZYFA_BENCH_LAYER_FILES_H_
