#include "zyfa/models/weights.h"

#include "absl/status/statusor.h"
#include "zyfa/numerics/bf16.h"

namespace zyfa::models {
namespace {

using numerics::Bf16;

absl::Status Load(const SafetensorsFile& file, const std::string& name,
                  const std::vector<int64_t>& shape,
                  std::vector<float>& numbers) {
  const absl::StatusOr<std::vector<Bf16>> elements = file.Read(name, shape);
  if (!elements.ok()) return elements.status();
  numbers.clear();
  numbers.reserve(elements->size());
  for (const Bf16 element : *elements) numbers.push_back(element.ToFloat());
  return absl::OkStatus();
}

}  // namespace

absl::Status LoadVector(const SafetensorsFile& file, const std::string& name,
                        int64_t size, std::vector<float>& vector) {
  return Load(file, name, {size}, vector);
}

absl::Status LoadMatrix(const SafetensorsFile& file, const std::string& name,
                        int64_t rows, int64_t columns,
                        std::vector<float>& matrix) {
  return Load(file, name, {rows, columns}, matrix);
}

absl::Status LoadLinear(const SafetensorsFile& file, const std::string& name,
                        int64_t outputs, int64_t inputs, Linear& linear) {
  const absl::StatusOr<std::vector<Bf16>> elements =
      file.Read(name + ".weight", {outputs, inputs});
  if (!elements.ok()) return elements.status();
  linear = Linear(*elements, outputs, inputs);
  return absl::OkStatus();
}

}  // namespace zyfa::models
