#ifndef ZYFA_MODELS_JSON_H_
#define ZYFA_MODELS_JSON_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"

namespace zyfa::models {

// The JSON object that `text` is, by protobuf's parser: numbers are doubles,
// nesting is bounded. InvalidArgument if it is anything else.
absl::StatusOr<google::protobuf::Struct> ParseJsonObject(
    absl::string_view text);

// A value as a whole number, or as a string. InvalidArgument gives `name`, the
// value and what is allowed: low .. high, within +-2^53.
absl::StatusOr<int64_t> JsonInteger(const google::protobuf::Value& value,
                                    absl::string_view name, int64_t low,
                                    int64_t high);
absl::StatusOr<std::string> JsonString(const google::protobuf::Value& value,
                                       absl::string_view name);
// A finite number in low .. high.
absl::StatusOr<double> JsonNumber(const google::protobuf::Value& value,
                                  absl::string_view name, double low,
                                  double high);

// The field of that name; InvalidArgument if there is none.
absl::StatusOr<const google::protobuf::Value*> JsonField(
    const google::protobuf::Struct& object, absl::string_view name);

}  // namespace zyfa::models

#endif  // ZYFA_MODELS_JSON_H_
