#include "zyfa/emu/device_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace zyfa::emu {
namespace {

// Addresses start high enough that a small integer taken for a pointer faults.
constexpr uint64_t kFirstAddress = uint64_t{1} << 40;
constexpr uint64_t kAddressEnd = uint64_t{1} << 47;
// No 32-bit offset leads from one allocation into another.
constexpr uint64_t kGuardBytes = uint64_t{1} << 32;
constexpr uint64_t kPage = 4096;

std::atomic<uint64_t> g_generation{1};

uint64_t NextGeneration() {
  return g_generation.fetch_add(1, std::memory_order_relaxed);
}

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

// What a thread remembers of the blocks it used last, by address / 4 GiB.
struct CachedBlock {
  uint64_t generation = 0;
  uint64_t address = 0;
  size_t bytes = 0;
  uint8_t* host = nullptr;
};
constexpr size_t kCachedBlocks = 16;
thread_local std::array<CachedBlock, kCachedBlocks> t_cache;

}  // namespace

DeviceMemory::DeviceMemory()
    : next_(kFirstAddress), generation_(NextGeneration()) {}

DeviceMemory::~DeviceMemory() {
  for (auto& [address, block] : blocks_) {
    if (block.mapped != 0) munmap(block.host, block.mapped);
  }
}

std::map<uint64_t, DeviceMemory::Block>::const_iterator
DeviceMemory::FindAtOrBelow(uint64_t address) const {
  auto it = blocks_.upper_bound(address);
  return it == blocks_.begin() ? blocks_.end() : std::prev(it);
}

uint64_t DeviceMemory::FindGap(uint64_t start, uint64_t span) const {
  uint64_t at = start;
  for (auto it = blocks_.lower_bound(start); it != blocks_.end(); ++it) {
    if (at + span <= it->first) break;
    at = std::max(at,
                  RoundUp(it->first + it->second.bytes, kPage) + kGuardBytes);
  }
  return at + span <= kAddressEnd ? at : 0;
}

absl::StatusOr<uint64_t> DeviceMemory::Allocate(size_t bytes) {
  if (bytes > kAddressEnd - kFirstAddress - kGuardBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot allocate ", bytes, " bytes of device memory"));
  }
  Block block;
  block.bytes = bytes;
  if (bytes != 0) {
    block.mapped = RoundUp(bytes, kPage);
    void* host = mmap(nullptr, block.mapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the host has no ", bytes, " bytes of address space"));
    }
    block.host = static_cast<uint8_t*>(host);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t span = RoundUp(bytes, kPage) + kGuardBytes;
  uint64_t address = next_ + span <= kAddressEnd ? next_ : 0;
  // All addresses were used once: take the first gap that frees left.
  if (address == 0) address = FindGap(kFirstAddress, span);
  if (address == 0) {
    if (block.mapped != 0) munmap(block.host, block.mapped);
    return absl::ResourceExhaustedError(
        absl::StrCat("no free device addresses for ", bytes, " bytes"));
  }
  next_ = std::max(next_, address + span);
  blocks_[address] = block;
  generation_.store(NextGeneration(), std::memory_order_release);
  return address;
}

absl::Status DeviceMemory::Free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto it = blocks_.find(address);
  if (it == blocks_.end()) {
    return absl::NotFoundError(absl::StrFormat(
        "address %#x is not the start of a live allocation", address));
  }
  if (it->second.mapped != 0) munmap(it->second.host, it->second.mapped);
  blocks_.erase(it);
  generation_.store(NextGeneration(), std::memory_order_release);
  return absl::OkStatus();
}

absl::Status DeviceMemory::OutOfRange(const char* what, uint64_t address,
                                      size_t bytes) const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::string nearest = "there is no allocation";
  auto it = FindAtOrBelow(address);
  if (it == blocks_.end()) it = blocks_.begin();
  if (it != blocks_.end()) {
    nearest = absl::StrFormat("the nearest allocation is %#x, %d bytes",
                              it->first, it->second.bytes);
  }
  return absl::OutOfRangeError(absl::StrFormat("%s of %d bytes at %#x: %s",
                                               what, bytes, address, nearest));
}

absl::Status DeviceMemory::Write(uint64_t address,
                                 absl::Span<const uint8_t> bytes) {
  if (bytes.empty()) return absl::OkStatus();
  uint8_t* to = Translate(address, bytes.size());
  if (to == nullptr) return OutOfRange("write", address, bytes.size());
  std::memcpy(to, bytes.data(), bytes.size());
  return absl::OkStatus();
}

absl::Status DeviceMemory::Read(uint64_t address,
                                absl::Span<uint8_t> bytes) const {
  if (bytes.empty()) return absl::OkStatus();
  const uint8_t* from = Translate(address, bytes.size());
  if (from == nullptr) return OutOfRange("read", address, bytes.size());
  std::memcpy(bytes.data(), from, bytes.size());
  return absl::OkStatus();
}

DeviceMemory::Content DeviceMemory::Save() const {
  std::lock_guard<std::mutex> lock(mutex_);
  Content content;
  for (const auto& [address, block] : blocks_) {
    content.push_back({address, {block.host, block.host + block.bytes}});
  }
  return content;
}

void DeviceMemory::Restore(const Content& content) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Allocation& saved : content) {
    const auto it = blocks_.find(saved.address);
    if (it == blocks_.end() || it->second.bytes != saved.bytes.size()) continue;
    std::copy(saved.bytes.begin(), saved.bytes.end(), it->second.host);
  }
}

uint8_t* DeviceMemory::Translate(uint64_t address, size_t bytes) const {
  CachedBlock& cached = t_cache[(address >> 32) % kCachedBlocks];
  if (cached.generation != generation_.load(std::memory_order_acquire) ||
      address - cached.address >= cached.bytes) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto it = FindAtOrBelow(address);
    if (it == blocks_.end() || address - it->first >= it->second.bytes) {
      return nullptr;
    }
    cached = {generation_.load(std::memory_order_relaxed), it->first,
              it->second.bytes, it->second.host};
  }
  const uint64_t offset = address - cached.address;
  if (bytes > cached.bytes - offset) return nullptr;
  return cached.host + offset;
}

}  // namespace zyfa::emu
