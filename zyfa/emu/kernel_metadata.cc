#include "zyfa/emu/kernel_metadata.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"

namespace zyfa::emu {
namespace {

using llvm::msgpack::ArrayDocNode;
using llvm::msgpack::DocNode;
using llvm::msgpack::MapDocNode;
using llvm::msgpack::Type;

constexpr uint64_t kMaxWorkgroup = 1024;

absl::Status Invalid(const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("code object: metadata: ", what));
}

// Values of one map, with the first problem met.
class Fields {
 public:
  Fields(DocNode& node, std::string where) : where_(std::move(where)) {
    if (node.isMap()) {
      map_ = node.getMap();
      valid_ = true;
    } else {
      status_ = Invalid(absl::StrCat(where_, " is no map"));
    }
  }
  const absl::Status& status() const { return status_; }

  DocNode* Find(const char* key) {
    if (!valid_) return nullptr;
    const auto it = map_.find(llvm::StringRef(key));
    return it == map_.end() ? nullptr : &it->second;
  }
  std::string String(const char* key, bool required) {
    DocNode* node = Find(key);
    if (node != nullptr && node->isString()) return node->getString().str();
    if (node != nullptr || required) Complain(key, "a string");
    return "";
  }
  uint32_t Number(const char* key, bool required, uint64_t highest,
                  uint32_t absent = 0) {
    DocNode* node = Find(key);
    uint64_t value = 0;
    if (node != nullptr && node->getKind() == Type::UInt) {
      value = node->getUInt();
    } else if (node != nullptr && node->getKind() == Type::Int &&
               node->getInt() >= 0) {
      value = static_cast<uint64_t>(node->getInt());
    } else {
      if (node != nullptr || required) Complain(key, "a number");
      return absent;
    }
    if (value > highest) {
      Complain(key, absl::StrCat("at most ", highest, ", not ", value));
    }
    return static_cast<uint32_t>(value);
  }
  // nullptr if absent and not required.
  ArrayDocNode* Array(const char* key, bool required, ArrayDocNode& storage) {
    DocNode* node = Find(key);
    if (node != nullptr && node->isArray()) {
      storage = node->getArray();
      return &storage;
    }
    if (node != nullptr || required) Complain(key, "an array");
    return nullptr;
  }

 private:
  void Complain(const char* key, const std::string& wanted) {
    if (status_.ok()) {
      status_ = Invalid(absl::StrCat(where_, ": ", key, " must be ", wanted));
    }
  }

  std::string where_;
  MapDocNode map_;
  bool valid_ = false;
  absl::Status status_;
};

absl::Status ReadArgument(DocNode& node, const KernelInfo& kernel,
                          KernelArgument& argument) {
  Fields fields(node, absl::StrCat("an argument of ", kernel.name));
  argument.name = fields.String(".name", false);
  argument.value_kind = fields.String(".value_kind", true);
  argument.offset = fields.Number(".offset", true, kernel.kernarg_bytes);
  argument.size = fields.Number(".size", true,
                                kernel.kernarg_bytes - argument.offset);
  return fields.status();
}

absl::Status ReadKernel(DocNode& node, KernelMetadata& entry) {
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
  ArrayDocNode storage;
  ArrayDocNode* arguments = fields.Array(".args", false, storage);
  if (!fields.status().ok()) return fields.status();
  if (wave != 64) {
    return Invalid(absl::StrCat(kernel.name, ": wavefront size ", wave,
                                ", gfx950 has 64"));
  }
  if (arguments == nullptr) return absl::OkStatus();
  for (DocNode& argument : *arguments) {
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
  llvm::msgpack::Document document;
  if (!document.readFromBlob(llvm::StringRef(msgpack), false)) {
    return Invalid("the note is no msgpack");
  }
  Fields root(document.getRoot(), "the root");
  ArrayDocNode storage;
  ArrayDocNode* kernels = root.Array("amdhsa.kernels", true, storage);
  if (!root.status().ok()) return root.status();
  std::vector<KernelMetadata> entries;
  for (DocNode& node : *kernels) {
    entries.emplace_back();
    absl::Status status = ReadKernel(node, entries.back());
    if (!status.ok()) return status;
  }
  return entries;
}

}  // namespace zyfa::emu
