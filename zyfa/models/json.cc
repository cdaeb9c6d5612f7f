#include "zyfa/models/json.h"

#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/stubs/logging.h"
#include "google/protobuf/util/json_util.h"

namespace zyfa::models {
namespace {

namespace pb = google::protobuf;

const char* KindOf(const pb::Value& value) {
  switch (value.kind_case()) {
    case pb::Value::kNullValue:
      return "null";
    case pb::Value::kNumberValue:
      return "a number";
    case pb::Value::kStringValue:
      return "a string";
    case pb::Value::kBoolValue:
      return "a boolean";
    case pb::Value::kStructValue:
      return "an object";
    case pb::Value::kListValue:
      return "a list";
    case pb::Value::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

}  // namespace

absl::StatusOr<pb::Struct> ParseJsonObject(absl::string_view text) {
  const pb::LogSilencer silencer;  // the status says it all
  pb::Struct object;
  const pb::util::Status status = pb::util::JsonStringToMessage(
      pb::StringPiece(text.data(), text.size()), &object);
  if (!status.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no JSON object: ", status.message().ToString()));
  }
  return object;
}

absl::StatusOr<int64_t> JsonInteger(const pb::Value& value,
                                    absl::string_view name, int64_t low,
                                    int64_t high) {
  const absl::StatusOr<double> number = JsonNumber(
      value, name, static_cast<double>(low), static_cast<double>(high));
  if (!number.ok()) return number.status();
  if (*number != std::trunc(*number)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is ", *number, "; allowed: whole numbers ", low, " .. ", high));
  }
  return static_cast<int64_t>(*number);
}

absl::StatusOr<double> JsonNumber(const pb::Value& value,
                                  absl::string_view name, double low,
                                  double high) {
  if (value.kind_case() != pb::Value::kNumberValue) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is ", KindOf(value), "; allowed: numbers ", low, " .. ", high));
  }
  const double number = value.number_value();
  if (!(number >= low && number <= high)) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is ", number, "; allowed: numbers ", low, " .. ", high));
  }
  return number;
}

absl::StatusOr<std::string> JsonString(const pb::Value& value,
                                       absl::string_view name) {
  if (value.kind_case() != pb::Value::kStringValue) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, " is ", KindOf(value), "; allowed: strings"));
  }
  return value.string_value();
}

absl::StatusOr<const pb::Value*> JsonField(const pb::Struct& object,
                                           absl::string_view name) {
  const auto found = object.fields().find(std::string(name));
  if (found == object.fields().end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no field \"", name, "\""));
  }
  return &found->second;
}

}  // namespace zyfa::models
