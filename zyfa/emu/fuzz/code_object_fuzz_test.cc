// Damaged and hostile files: a Status, never a crash and no memory to speak of.
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "zyfa/emu/code_object.h"
#include "zyfa/emu/emulator.h"
#include "zyfa/emu/fuzz/hostile.h"
#include "zyfa/emu/testing/test_device.h"

namespace {

// What operator new has handed out and not got back, and the most so far.
std::atomic<size_t> live{0}, peak{0};

void* Take(size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  const size_t now = live += malloc_usable_size(memory);
  if (now > peak) peak = now;
  return memory;
}
void Give(void* memory) {
  if (memory == nullptr) return;
  live -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t bytes) { return Take(bytes); }
void* operator new[](size_t bytes) { return Take(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return Take(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return Take(bytes);
}
void operator delete(void* memory) noexcept { Give(memory); }
void operator delete[](void* memory) noexcept { Give(memory); }
void operator delete(void* memory, size_t) noexcept { Give(memory); }
void operator delete[](void* memory, size_t) noexcept { Give(memory); }

namespace zyfa::emu {
namespace {

using Bytes = std::vector<uint8_t>;

// Beside the image's 64 MiB: decoded instructions are large.
constexpr size_t kMostMemory = size_t{300} << 20;

template <class T>
void Put(Bytes& file, size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof(T));
}
template <class T>
T Get(const Bytes& file, size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

// Whether it loads; checks what a refusal must keep to.
bool Loads(const Bytes& file) {
  const size_t before = live;
  peak = before;
  auto code = CodeObject::Load(file);
  EXPECT_LT(peak - before, kMostMemory);
  if (code.ok()) {
    for (const KernelInfo& kernel : (*code)->kernels()) {
      EXPECT_LT(kernel.entry, (*code)->text().size());
    }
    return true;
  }
  EXPECT_EQ(code.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(code.status().message().empty());
  return false;
}
std::string Message(const Bytes& file) {
  return std::string(CodeObject::Load(file).status().message());
}

const Bytes& Control() {
  static const auto* file = new Bytes(ReadData("zyfa/emu/testdata/control.co"));
  return *file;
}

// ELF64 header: e_phoff at 32, e_shoff at 40, e_phentsize 54, e_phnum 56,
// e_shentsize 58, e_shnum 60.
size_t ProgramHeaders(const Bytes& f) { return Get<uint64_t>(f, 32); }
size_t ProgramHeadersEnd(const Bytes& f) {
  return ProgramHeaders(f) + size_t{56} * Get<uint16_t>(f, 56);
}
size_t SectionHeaders(const Bytes& f) { return Get<uint64_t>(f, 40); }
size_t SectionHeadersEnd(const Bytes& f) {
  return SectionHeaders(f) + size_t{64} * Get<uint16_t>(f, 60);
}

// Makes the segment of notes (PT_NOTE) `bytes` from `offset` on.
void PlaceNotes(Bytes& file, uint64_t offset, uint64_t bytes) {
  for (size_t at = ProgramHeaders(file); at < ProgramHeadersEnd(file);
       at += 56) {
    if (Get<uint32_t>(file, at) != 4) continue;
    Put(file, at + 8, offset);
    Put(file, at + 32, bytes);
  }
}

TEST(CodeObjectFuzz, EveryTruncation) {
  const Bytes& file = Control();
  ASSERT_TRUE(Loads(file));
  // The section headers end the file: whatever is missing, they are damaged.
  ASSERT_EQ(SectionHeadersEnd(file), file.size());
  for (size_t bytes = 0; bytes < file.size(); ++bytes) {
    ASSERT_FALSE(
        Loads(Bytes(file.begin(), file.begin() + static_cast<long>(bytes))))
        << bytes;
  }
  for (const std::string& path : CodeObjectPaths()) {
    const Bytes other = ReadData(path);
    for (size_t bytes = 0; bytes < other.size();
         bytes += 1 + other.size() / 60) {
      ASSERT_FALSE(
          Loads(Bytes(other.begin(), other.begin() + static_cast<long>(bytes))))
          << path << " " << bytes;
    }
  }
}

TEST(CodeObjectFuzz, FlippedBytes) {
  Random random(21);
  int refused = 0;
  for (int round = 0; round < 250; ++round) {
    Bytes file = Control();
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      // Everywhere, in the first part (headers, notes, symbols) or in the
      // section headers.
      size_t at = random() % file.size();
      if (round % 3 == 1) at = random() % 2048;
      if (round % 3 == 2) at = file.size() - 1 - random() % 1024;
      file[at] ^= static_cast<uint8_t>(1 + random() % 255);
    }
    if (!Loads(file)) ++refused;
  }
  EXPECT_GT(refused, 50);
}

TEST(CodeObjectFuzz, HostileHeaderFields) {
  const Bytes& file = Control();
  const uint64_t size = file.size();
  const uint64_t values[] = {0, size - 1, uint64_t{64} << 20, uint64_t{1} << 63,
                             ~uint64_t{0} - size};
  const std::pair<size_t, size_t> tables[] = {
      {0, 64},
      {ProgramHeaders(file), ProgramHeadersEnd(file)},
      {SectionHeaders(file), SectionHeadersEnd(file)}};
  int refused = 0, tried = 0;
  for (const auto& [first, end] : tables) {
    for (size_t at = first; at < end; at += 4) {
      for (uint64_t value : values) {
        Bytes hostile = file;
        Put(hostile, at, static_cast<uint32_t>(value));
        if (at % 8 == 0 && at + 8 <= end) Put(hostile, at, value);
        if (!Loads(hostile)) ++refused;
        ++tried;
      }
    }
  }
  EXPECT_GT(refused, tried / 6);
}

// Sections and segments on top of each other, and the whole file as text.
TEST(CodeObjectFuzz, OverlappingSections) {
  const Bytes& file = Control();
  Random random(22);
  const size_t sections = Get<uint16_t>(file, 60);
  const size_t segments = Get<uint16_t>(file, 56);
  for (int round = 0; round < 200; ++round) {
    Bytes hostile = file;
    // One header becomes another's copy, but for the name.
    const size_t from = SectionHeaders(file) + 64 * (random() % sections);
    const size_t to = SectionHeaders(file) + 64 * (random() % sections);
    std::memmove(&hostile[to + 8], &hostile[from + 8], 56);
    if (random() % 2 == 0) {
      const size_t a = ProgramHeaders(file) + 56 * (random() % segments);
      const size_t b = ProgramHeaders(file) + 56 * (random() % segments);
      std::memmove(&hostile[a], &hostile[b], 56);
    }
    (void)Loads(hostile);
  }
}

// A segment of 64 MiB out of nothing, all of it text.
TEST(CodeObjectFuzz, TextLargerThanTheFile) {
  Bytes hostile = Control();
  const uint64_t huge = (uint64_t{64} << 20) - (1 << 20);
  for (size_t at = ProgramHeaders(hostile); at < ProgramHeadersEnd(hostile);
       at += 56) {
    if (Get<uint32_t>(hostile, at) == 1 && Get<uint32_t>(hostile, at + 4) & 1) {
      Put(hostile, at + 40, huge);  // p_memsz of the executable segment
    }
  }
  for (size_t at = SectionHeaders(hostile); at < SectionHeadersEnd(hostile);
       at += 64) {
    if (Get<uint64_t>(hostile, at + 8) & 4) Put(hostile, at + 32, huge);
  }
  EXPECT_FALSE(Loads(hostile));
  EXPECT_NE(Message(hostile).find(".text lies outside"), std::string::npos)
      << Message(hostile);
}

// The 64 bytes of a kernel's descriptor: the first in .rodata.
TEST(CodeObjectFuzz, HostileDescriptor) {
  const Bytes& file = Control();
  auto code = CodeObject::Load(file);
  ASSERT_TRUE(code.ok());
  // It holds the distance to its kernel's entry at byte 16.
  const KernelInfo& kernel = (*code)->kernels()[0];
  const uint64_t text = (*code)->text_offset();
  size_t descriptor = 0;
  for (size_t at = 0; at + 64 <= text && descriptor == 0; at += 64) {
    if (Get<uint64_t>(file, at + 16) == text + kernel.entry - at) {
      descriptor = at;
    }
  }
  ASSERT_NE(descriptor, 0u);
  const auto message = [&](size_t offset, auto value) {
    Bytes hostile = file;
    Put(hostile, descriptor + offset, value);
    EXPECT_FALSE(Loads(hostile)) << offset;
    return Message(hostile);
  };
  for (uint64_t entry : {uint64_t{0}, uint64_t{1} << 40, ~uint64_t{0},
                         uint64_t{1} << 63, text + kernel.entry + 2}) {
    EXPECT_NE(message(16, entry).find("lies outside .text"), std::string::npos);
  }
  EXPECT_NE(message(0, ~0u).find("of LDS"), std::string::npos);
  EXPECT_NE(message(4, ~0u).find("scratch"), std::string::npos);
  EXPECT_NE(message(8, ~0u).find("kernarg size"), std::string::npos);

  // 512 registers, AGPRs from the fourth on: more than there are.
  Bytes agprs = file;
  Put(agprs, descriptor + 44, Get<uint32_t>(file, descriptor + 44) & ~63u);
  Put(agprs, descriptor + 48, Get<uint32_t>(file, descriptor + 48) | 63u);
  auto object = CodeObject::Load(agprs);
  ASSERT_TRUE(object.ok());
  DeviceMemory memory;
  auto report = emu::Run(**object, kernel.name, Shape(1, 64),
                         Bytes(kernel.kernarg_bytes), memory);
  ASSERT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(report.status().message().find("AGPRs"), std::string::npos);

  // Whatever else it says, a launch is refused or ends.
  Random random(23);
  for (int round = 0; round < 200; ++round) {
    Bytes hostile = file;
    const size_t at = descriptor + 44 + random() % 16;
    hostile[at] = static_cast<uint8_t>(random());
    object = CodeObject::Load(hostile);
    if (!object.ok()) continue;
    RunOptions options;
    options.instruction_budget = 500;
    options.threads = 1;
    (void)emu::Run(**object, kernel.name, Shape(1, 64),
                   Bytes(kernel.kernarg_bytes), memory, options);
  }
}

// The metadata note with another text in it.
class Metadata : public testing::Test {
 protected:
  Metadata() {
    const std::string key = "amdhsa.kernels";
    const Bytes& file = Control();
    at_ = static_cast<size_t>(
        std::search(file.begin(), file.end(), key.begin(), key.end()) -
        file.begin());
    // The note: name size, text size, type, "AMDGPU", text.
    while (Get<uint32_t>(file, at_ - 12) != 32 ||
           std::memcmp(&file[at_ - 8], "AMDGPU\0", 8) != 0) {
      --at_;
    }
    size_ = Get<uint32_t>(file, at_ - 16);
  }
  Bytes With(const std::string& text) const {
    Bytes file = Control();
    EXPECT_LE(text.size(), size_);
    const size_t bytes = std::min(size_, text.size());
    std::memcpy(&file[at_], text.data(), bytes);
    Put(file, at_ - 16, static_cast<uint32_t>(bytes));
    PlaceNotes(file, at_ - 20, 20 + (bytes + 3) / 4 * 4);
    return file;
  }
  size_t at_ = 0, size_ = 0;
};

TEST_F(Metadata, HostileSizesAndNesting) {
  const std::string most = "\xff\xff\xff\xff";
  for (const std::string& text : std::vector<std::string>{
           std::string(), std::string("\xc1"),
           std::string(size_, '\x91'),  // arrays in arrays
           std::string(size_, '\x81'),  // maps in maps
           "\xdd" + most, "\xdf" + most, "\xdb" + most, "\xc6" + most,
           "\xc9" + most + "\x01",
           "\x81\xae"
           "amdhsa.kernels\xdd" +
               most,  // an array without end
           "\x81\xae"
           "amdhsa.kernels\x91\x80",  // a kernel without fields
           "\x81\xae"
           "amdhsa.kernels\x91\xc0",  // that is no map
           "\x81\xae"
           "amdhsa.kernels\xc0",  // no array
           std::string("\x81\xae"
                       "amdhsa.kernel"),  // a key cut off
           "\x82\xae"
           "amdhsa.kernels\x90"}) {
    const Bytes file = With(text);
    EXPECT_FALSE(Loads(file));
    EXPECT_NE(Message(file).find("metadata"), std::string::npos)
        << Message(file);
  }
  // No kernels at all is a file without use, but no wrong one.
  EXPECT_TRUE(
      Loads(With("\x81\xae"
                 "amdhsa.kernels\x90")));
}

// A file of a megabyte whose nested arrays all claim to fill it.
TEST_F(Metadata, SizesThatMultiply) {
  Bytes file = Control();
  const size_t bytes = 1 << 20;
  std::string text;
  for (int depth = 0; depth < 30; ++depth) {
    text += '\xdd';
    const auto count = static_cast<uint32_t>(bytes / 2);
    for (int shift : {24, 16, 8, 0}) {
      text += static_cast<char>(count >> shift);
    }
  }
  text.resize(bytes, '\xc0');
  const size_t note = file.size() + (4 - file.size() % 4) % 4;
  file.resize(note + 20 + bytes);
  Put<uint32_t>(file, note, 7);
  Put<uint32_t>(file, note + 4, static_cast<uint32_t>(bytes));
  Put<uint32_t>(file, note + 8, 32);
  std::memcpy(&file[note + 12], "AMDGPU\0", 8);
  std::memcpy(&file[note + 20], text.data(), bytes);
  PlaceNotes(file, note, 20 + bytes);
  EXPECT_FALSE(Loads(file));
  EXPECT_NE(Message(file).find("msgpack"), std::string::npos) << Message(file);
}

TEST_F(Metadata, FlippedBytes) {
  Random random(24);
  int refused = 0;
  for (int round = 0; round < 500; ++round) {
    Bytes file = Control();
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      file[at_ + random() % size_] = static_cast<uint8_t>(random());
    }
    if (!Loads(file)) ++refused;
  }
  EXPECT_GT(refused, 80);
}

}  // namespace
}  // namespace zyfa::emu
