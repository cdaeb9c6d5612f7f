#ifndef ZYFA_MODELS_WEIGHTS_H_
#define ZYFA_MODELS_WEIGHTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "zyfa/models/linear.h"
#include "zyfa/models/safetensors.h"

namespace zyfa::models {

// Tensors of a file as float32. Errors: the file's; then the target stays.
absl::Status LoadVector(const SafetensorsFile& file, const std::string& name,
                        int64_t size, std::vector<float>& vector);
absl::Status LoadMatrix(const SafetensorsFile& file, const std::string& name,
                        int64_t rows, int64_t columns,
                        std::vector<float>& matrix);
// The layer whose weights are "NAME.weight".
absl::Status LoadLinear(const SafetensorsFile& file, const std::string& name,
                        int64_t outputs, int64_t inputs, Linear& linear);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_WEIGHTS_H_
