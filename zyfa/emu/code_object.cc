#include "zyfa/emu/code_object.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "zyfa/emu/decoder.h"
#include "zyfa/emu/elf_image.h"
#include "zyfa/emu/group.h"
#include "zyfa/emu/handlers.h"
#include "zyfa/emu/kernel_metadata.h"
#include "zyfa/emu/register_index.h"

namespace zyfa::emu {
namespace {

constexpr uint64_t kDescriptorBytes = 64;

template <class T>
T ReadAt(const uint8_t* bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof(T));
  return value;
}

absl::Status Invalid(const KernelInfo& kernel, const std::string& what) {
  return absl::InvalidArgumentError(
      absl::StrCat("code object: kernel ", kernel.name, ": ", what));
}

// Descriptor of code object v3 to v6 (LLVM AMDGPUUsage "Kernel Descriptor").
absl::Status ReadDescriptor(const ElfImage& image, const std::string& symbol,
                            KernelInfo& kernel) {
  const auto it = image.symbols.find(symbol);
  if (it == image.symbols.end()) {
    return Invalid(kernel, absl::StrCat("no descriptor symbol ", symbol));
  }
  const uint64_t address = it->second;
  if (image.memory.size() < kDescriptorBytes ||
      address > image.memory.size() - kDescriptorBytes || address % 4 != 0) {
    return Invalid(kernel, absl::StrFormat("descriptor at %#x lies outside the "
                                           "segments",
                                           address));
  }
  const uint8_t* bytes = image.memory.data() + address;
  kernel.lds_bytes = ReadAt<uint32_t>(bytes, 0);
  kernel.private_bytes = ReadAt<uint32_t>(bytes, 4);
  const uint32_t kernarg_bytes = ReadAt<uint32_t>(bytes, 8);
  kernel.entry = address + ReadAt<uint64_t>(bytes, 16) - image.text_address;
  kernel.rsrc3 = ReadAt<uint32_t>(bytes, 44);
  kernel.rsrc1 = ReadAt<uint32_t>(bytes, 48);
  kernel.rsrc2 = ReadAt<uint32_t>(bytes, 52);
  kernel.properties = ReadAt<uint16_t>(bytes, 56);
  kernel.preload = ReadAt<uint16_t>(bytes, 58);
  kernel.vgprs = 8 * ((kernel.rsrc1 & 63) + 1);
  kernel.accum_offset = 4 * ((kernel.rsrc3 & 63) + 1);
  if (kernel.entry >= image.text_bytes || kernel.entry % 4 != 0) {
    return Invalid(
        kernel, absl::StrFormat("entry %#x lies outside .text", kernel.entry));
  }
  if (kernel.lds_bytes > kMaxLdsBytes) {
    return Invalid(kernel, absl::StrFormat("%d bytes of LDS, %d are the most",
                                           kernel.lds_bytes, kMaxLdsBytes));
  }
  // Some kernels leave the descriptor's size 0 and rely on the metadata.
  if (kernarg_bytes != 0 && kernarg_bytes != kernel.kernarg_bytes) {
    return Invalid(kernel,
                   absl::StrFormat("kernarg size is %d in the descriptor, %d "
                                   "in the metadata",
                                   kernarg_bytes, kernel.kernarg_bytes));
  }
  constexpr uint32_t kMaxPrivateBytes = 1 << 20;
  if (kernel.private_bytes > kMaxPrivateBytes) {
    return Invalid(kernel,
                   absl::StrFormat("%d bytes of scratch a lane, %d are the "
                                   "most emulated",
                                   kernel.private_bytes, kMaxPrivateBytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<CodeObject>> CodeObject::Load(
    absl::Span<const uint8_t> elf) {
  absl::StatusOr<ElfImage> image = ReadElf(elf);
  if (!image.ok()) return image.status();
  absl::StatusOr<std::vector<KernelMetadata>> metadata =
      ReadKernelMetadata(image->metadata);
  if (!metadata.ok()) return metadata.status();

  std::unique_ptr<CodeObject> object(new CodeObject);
  for (KernelMetadata& entry : *metadata) {
    KernelInfo kernel = std::move(entry.kernel);
    absl::Status status = ReadDescriptor(*image, entry.symbol, kernel);
    if (!status.ok()) return status;
    object->kernels_.push_back(std::move(kernel));
  }
  object->text_offset_ = image->text_address;
  object->text_.assign(
      image->memory.begin() + static_cast<int64_t>(image->text_address),
      image->memory.begin() +
          static_cast<int64_t>(image->text_address + image->text_bytes));
  for (const auto& [offset, name] : image->text_symbols) {
    object->symbols_.push_back({offset, name});
  }
  for (const auto& [offset, addend] : image->relative_relocations) {
    object->relocations_.push_back({offset, addend});
  }
  object->image_ = std::move(image->memory);

  absl::StatusOr<std::unique_ptr<Decoder>> decoder = Decoder::Create();
  if (!decoder.ok()) return decoder.status();
  object->instructions_ = (*decoder)->DecodeAll(object->text_);
  object->index_of_word_.assign((object->text_.size() + 3) / 4, -1);
  for (size_t i = 0; i < object->instructions_.size(); ++i) {
    Instruction& inst = object->instructions_[i];
    inst.handler = FindHandler(inst);
    object->index_of_word_[inst.address / 4] = static_cast<int32_t>(i);
  }
  ApplyRegisterIndexing(object->instructions_);
  return object;
}

const KernelInfo* CodeObject::FindKernel(const std::string& name) const {
  for (const KernelInfo& kernel : kernels_) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

int64_t CodeObject::IndexAt(uint64_t offset) const {
  if (offset % 4 != 0 || offset / 4 >= index_of_word_.size()) return -1;
  return index_of_word_[offset / 4];
}

}  // namespace zyfa::emu
