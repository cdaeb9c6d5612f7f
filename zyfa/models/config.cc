#include "zyfa/models/config.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/struct.pb.h"
#include "zyfa/models/json.h"
#include "zyfa/models/regular_file.h"

namespace zyfa::models {
namespace {

namespace pb = google::protobuf;

constexpr uint64_t kMaxConfigBytes = 1 << 20;
// Vectors are worked on in blocks of 16.
constexpr int64_t kBlock = 16;

absl::Status Invalid(absl::string_view name, auto value,
                     absl::string_view allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, "; allowed: ", allowed));
}

// Reads fields and keeps the first error.
class Fields {
 public:
  explicit Fields(const pb::Struct& object) : object_(object) {}

  const absl::Status& status() const { return status_; }

  int64_t Integer(const char* name, int64_t low, int64_t high) {
    const pb::Value* field = Find(name);
    if (field == nullptr) return 0;
    const absl::StatusOr<int64_t> value = JsonInteger(*field, name, low, high);
    return value.ok() ? *value : Fail(value.status());
  }
  // A size of vectors.
  int64_t Size(const char* name, int64_t high) {
    const int64_t value = Integer(name, kBlock, high);
    if (status_.ok() && value % kBlock != 0) {
      Fail(Invalid(name, value, absl::StrCat("multiples of ", kBlock)));
    }
    return value;
  }
  double Number(const char* name, double low, double high) {
    const pb::Value* field = Find(name);
    if (field == nullptr) return 0;
    const absl::StatusOr<double> value = JsonNumber(*field, name, low, high);
    return value.ok() ? *value : Fail(value.status());
  }
  std::string String(const char* name) {
    const pb::Value* field = Find(name);
    if (field == nullptr) return "";
    const absl::StatusOr<std::string> value = JsonString(*field, name);
    if (!value.ok()) Fail(value.status());
    return value.ok() ? *value : "";
  }
  // Only one value is known here.
  void Expect(const char* name, absl::string_view only) {
    const std::string value = String(name);
    if (status_.ok() && value != only) Fail(Invalid(name, value, only));
  }
  void ExpectFalse(const char* name) {
    const pb::Value* field = Find(name);
    if (field != nullptr &&
        (field->kind_case() != pb::Value::kBoolValue || field->bool_value())) {
      Fail(Invalid(name, "something else", "false"));
    }
  }

  int Fail(const absl::Status& status) {
    if (status_.ok()) status_ = status;
    return 0;
  }

 private:
  const pb::Value* Find(const char* name) {
    const absl::StatusOr<const pb::Value*> field = JsonField(object_, name);
    if (!field.ok()) Fail(field.status());
    return field.ok() ? *field : nullptr;
  }

  const pb::Struct& object_;
  absl::Status status_;
};

absl::StatusOr<ModelConfig> ParseConfig(const std::string& text) {
  const absl::StatusOr<pb::Struct> object = ParseJsonObject(text);
  if (!object.ok()) return object.status();
  Fields fields(*object);
  ModelConfig config;
  const std::string architecture = fields.String("arch");
  if (fields.status().ok() && architecture != "gqa" && architecture != "mla") {
    return Invalid("arch", architecture, "gqa, mla");
  }
  const bool mla = architecture == "mla";
  config.architecture = mla ? Architecture::kMla : Architecture::kGqa;
  config.layers = fields.Integer("n_layers", 1, 256);
  config.vocabulary = fields.Integer("vocab_size", 2, 1 << 20);
  config.bos = static_cast<int32_t>(fields.Integer("bos_id", 0, 1 << 20));
  config.width = fields.Size("d_model", 1 << 16);
  config.ffn_width = fields.Size("ffn_dim", 1 << 18);
  config.heads_q = fields.Integer("n_heads", 1, 1024);
  config.heads_kv = fields.Integer("n_kv_heads", 1, 1024);
  config.head_dim_qk = fields.Size("qk_head_dim", 1024);
  config.head_dim_v = fields.Size("v_head_dim", 1024);
  config.rope_dim = fields.Size("rope_dim", 1024);
  if (mla) config.kv_rank = fields.Size("kv_rank", 1 << 16);
  config.rope_theta = fields.Number("rope_theta", 1.0, 1e12);
  config.softmax_scale = fields.Number("softmax_scale", 1e-6, 1e6);
  config.norm_epsilon = fields.Number("norm_eps", 1e-12, 1.0);
  config.max_context = fields.Integer("max_context", 1, 1 << 22);
  fields.Expect("norm", "rmsnorm");
  fields.Expect("activation", "silu");
  fields.Expect("weights_dtype", "bfloat16");
  for (const char* name : {"tied_embeddings", "bias", "qk_norm"}) {
    fields.ExpectFalse(name);
  }
  if (!fields.status().ok()) return fields.status();

  if (config.bos >= config.vocabulary) {
    return Invalid("bos_id", config.bos,
                   absl::StrCat("below vocab_size, ", config.vocabulary));
  }
  if (mla && config.heads_kv != config.heads_q) {
    return Invalid("n_kv_heads", config.heads_kv,
                   absl::StrCat("n_heads, ", config.heads_q, ", for mla"));
  }
  if (config.heads_q % config.heads_kv != 0) {
    return Invalid("n_kv_heads", config.heads_kv,
                   absl::StrCat("divisors of n_heads, ", config.heads_q));
  }
  const int64_t most = mla ? config.head_dim_qk - kBlock : config.head_dim_qk;
  if (config.rope_dim > most || (!mla && config.rope_dim != most)) {
    return Invalid(
        "rope_dim", config.rope_dim,
        mla ? absl::StrCat("less than qk_head_dim, ", config.head_dim_qk)
            : absl::StrCat("qk_head_dim, ", config.head_dim_qk, ", for gqa"));
  }
  return config;
}

}  // namespace

absl::StatusOr<ModelConfig> ReadModelConfig(const std::string& path) {
  const absl::StatusOr<uint64_t> bytes = RegularFileBytes(path);
  if (!bytes.ok()) return InFile(path, bytes.status());
  if (*bytes > kMaxConfigBytes) {
    return InFile(
        path, absl::InvalidArgumentError(absl::StrCat(
                  "has ", *bytes, " bytes; allowed: 0 .. ", kMaxConfigBytes)));
  }
  std::string text(*bytes, '\0');
  if (absl::Status status = ReadFileAt(path, 0, text.data(), *bytes);
      !status.ok()) {
    return InFile(path, status);
  }
  absl::StatusOr<ModelConfig> config = ParseConfig(text);
  if (!config.ok()) return InFile(path, config.status());
  return config;
}

}  // namespace zyfa::models
