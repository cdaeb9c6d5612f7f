#include "zyfa/emu/kernel_metadata.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "zyfa/emu/msgpack.h"

namespace zyfa::emu {
namespace {

using Kind = MsgpackValue::Kind;

constexpr uint64_t kMaxWorkgroup = 1024;

absl::Status Invalid(const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("code object: metadata: ", what));
}

// Values of one map, with the first problem met.
class Fields {
 public:
  Fields(const MsgpackValue& value, std::string where)
      : where_(std::move(where)), value_(value) {
    if (value.kind != Kind::kMap) {
      status_ = Invalid(absl::StrCat(where_, " is no map"));
    }
  }
  const absl::Status& status() const { return status_; }

  std::string String(const char* key, bool required) {
    const MsgpackValue* value = value_.Find(key);
    if (value != nullptr && value->kind == Kind::kString) return value->text;
    if (value != nullptr || required) Complain(key, "a string");
    return "";
  }
  uint32_t Number(const char* key, bool required, uint64_t highest,
                  uint32_t absent = 0) {
    const MsgpackValue* value = value_.Find(key);
    if (value == nullptr || value->kind != Kind::kUnsigned) {
      if (value != nullptr || required) Complain(key, "a number");
      return absent;
    }
    if (value->number > highest) {
      Complain(key, absl::StrCat("at most ", highest, ", not ", value->number));
      return absent;
    }
    return static_cast<uint32_t>(value->number);
  }
  // Empty if absent and not required.
  const std::vector<MsgpackValue>& Array(const char* key, bool required) {
    const MsgpackValue* value = value_.Find(key);
    if (value == nullptr || value->kind != Kind::kArray) {
      if (value != nullptr || required) Complain(key, "an array");
      static const std::vector<MsgpackValue> kNone;
      return kNone;
    }
    return value->array;
  }

 private:
  void Complain(const char* key, const std::string& wanted) {
    if (status_.ok()) {
      status_ = Invalid(absl::StrCat(where_, ": ", key, " must be ", wanted));
    }
  }

  std::string where_;
  const MsgpackValue& value_;
  absl::Status status_;
};

absl::Status ReadArgument(const MsgpackValue& node, const KernelInfo& kernel,
                          KernelArgument& argument) {
  Fields fields(node, absl::StrCat("an argument of ", kernel.name));
  argument.name = fields.String(".name", false);
  argument.value_kind = fields.String(".value_kind", true);
  argument.offset = fields.Number(".offset", true, kernel.kernarg_bytes);
  argument.size =
      fields.Number(".size", true, kernel.kernarg_bytes - argument.offset);
  return fields.status();
}

absl::Status ReadKernel(const MsgpackValue& node, KernelMetadata& entry) {
  constexpr uint64_t kMaxKernarg = 1 << 16;
  Fields fields(node, "an entry of amdhsa.kernels");
  KernelInfo& kernel = entry.kernel;
  kernel.name = fields.String(".name", true);
  entry.symbol = fields.String(".symbol", true);
  kernel.kernarg_bytes =
      fields.Number(".kernarg_segment_size", true, kMaxKernarg);
  kernel.sgprs = fields.Number(".sgpr_count", false, 1024);
  kernel.max_workgroup_size =
      fields.Number(".max_flat_workgroup_size", false, kMaxWorkgroup,
                    static_cast<uint32_t>(kMaxWorkgroup));
  const uint32_t wave = fields.Number(".wavefront_size", false, 64, 64);
  const std::vector<MsgpackValue>& arguments = fields.Array(".args", false);
  if (!fields.status().ok()) return fields.status();
  if (wave != 64) {
    return Invalid(absl::StrCat(kernel.name, ": wavefront size ", wave,
                                ", gfx950 has 64"));
  }
  for (const MsgpackValue& argument : arguments) {
    kernel.arguments.emplace_back();
    absl::Status status =
        ReadArgument(argument, kernel, kernel.arguments.back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<KernelMetadata>> ReadKernelMetadata(
    const std::string& msgpack) {
  absl::StatusOr<MsgpackValue> document = ReadMsgpack(msgpack);
  if (!document.ok()) {
    return Invalid(std::string(document.status().message()));
  }
  Fields root(*document, "the root");
  const std::vector<MsgpackValue>& kernels = root.Array("amdhsa.kernels", true);
  if (!root.status().ok()) return root.status();
  std::vector<KernelMetadata> entries;
  for (const MsgpackValue& node : kernels) {
    entries.emplace_back();
    absl::Status status = ReadKernel(node, entries.back());
    if (!status.ok()) return status;
  }
  return entries;
}

}  // namespace zyfa::emu
