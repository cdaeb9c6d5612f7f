#include "zyfa/models/safetensors.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::models {
namespace {

using numerics::Bf16;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  ASSERT_TRUE(out.flush());
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Length(uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i));
  return bytes;
}

// A file with that header and so many bytes of data: 0, 1, 2 ..
std::string Bytes(const std::string& header, int data_bytes) {
  std::string bytes = Length(header.size()) + header;
  for (int i = 0; i < data_bytes; ++i) bytes += static_cast<char>(i);
  return bytes;
}

absl::StatusOr<SafetensorsFile> OpenBytes(const std::string& bytes) {
  const std::string path = Path("bytes.safetensors");
  WriteFile(path, bytes);
  return SafetensorsFile::Open(path);
}

// One tensor "a" with these fields.
std::string Entry(const std::string& dtype, const std::string& shape,
                  const std::string& offsets) {
  return absl::StrCat("{\"a\":{\"dtype\":", dtype, ",\"shape\":", shape,
                      ",\"data_offsets\":", offsets, "}}");
}

const char kTwo[] =
    "{\"__metadata__\": {\"format\": \"pt\"}, "
    "\"b.w\": {\"dtype\": \"BF16\", \"shape\": [2, 3], \"data_offsets\": [2, "
    "14]},"
    " \"a\": {\"dtype\": \"BF16\", \"shape\": [], \"data_offsets\": [0, 2]},"
    " \"empty\": {\"dtype\": \"BF16\", \"shape\": [9, 0], \"data_offsets\": "
    "[14, 14]}}  ";

TEST(SafetensorsTest, ReadsAFileWrittenByHand) {
  const auto file = OpenBytes(Bytes(kTwo, 14));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->shapes().size(), 3u);
  const auto shape = file->Shape("b.w");
  ASSERT_TRUE(shape.ok());
  EXPECT_THAT(*shape, ElementsAre(2, 3));
  const auto b = file->Read("b.w", {2, 3});
  ASSERT_TRUE(b.ok()) << b.status();
  EXPECT_THAT(*b, ElementsAre(Bf16{0x0302}, Bf16{0x0504}, Bf16{0x0706},
                              Bf16{0x0908}, Bf16{0x0B0A}, Bf16{0x0D0C}));
  const auto a = file->Read("a", {});
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_THAT(*a, ElementsAre(Bf16{0x0100}));
  const auto empty = file->Read("empty", {9, 0});
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_TRUE(empty->empty());
}

TEST(SafetensorsTest, NoTensorsAtAll) {
  const auto file = OpenBytes(Bytes("{}", 0));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->shapes().empty());
}

TEST(SafetensorsTest, RefusesOtherNamesAndShapes) {
  const auto file = OpenBytes(Bytes(kTwo, 14));
  ASSERT_TRUE(file.ok()) << file.status();
  const auto name = file->Read("c", {2, 3});
  EXPECT_EQ(name.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(name.status().message()),
              AllOf(HasSubstr("bytes.safetensors"), HasSubstr("\"c\"")));
  const auto shape = file->Read("b.w", {3, 2});
  EXPECT_EQ(shape.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(shape.status().message()),
              AllOf(HasSubstr("bytes.safetensors"), HasSubstr("\"b.w\""),
                    HasSubstr("[2, 3]; allowed: [3, 2]")));
  EXPECT_FALSE(file->Shape("c").ok());
}

TEST(SafetensorsTest, RefusesHostileHeaders) {
  const std::string big = std::string(100, '9');
  const struct {
    std::string header;
    int data_bytes;
    std::string message;
  } cases[] = {
      {"", 0, "header: no JSON object"},
      {"[]", 0, "header: no JSON object"},
      {"{\"a\":", 0, "header: no JSON object"},
      {std::string(100000, '['), 0, "header: no JSON object"},
      {"{\"a\":" + std::string(1000, '['), 0, "header: no JSON object"},
      {"{\"a\": 3}", 0, "tensor \"a\": is no object"},
      {"{\"a\": {}}", 0, "tensor \"a\": there is no field \"dtype\""},
      {"{\"\\n\\u00e9\": 3}", 0, "tensor \"\\x0a\\xc3\\xa9\""},
      {"{\"" + std::string(1000, 'n') + "\": 3}", 0,
       "\"" + std::string(64, 'n') + "...\""},
      {Entry("\"F32\"", "[1]", "[0,4]"), 4,
       "tensor \"a\": dtype is \"F32\"; allowed: BF16"},
      {Entry("7", "[1]", "[0,2]"), 2, "dtype is a number"},
      {Entry("\"BF16\"", "1", "[0,2]"), 2, "shape is no list"},
      {Entry("\"BF16\"", "[1,1,1,1,1,1,1,1,1]", "[0,2]"), 2,
       "shape has 9 numbers; allowed: 0 .. 8"},
      {Entry("\"BF16\"", "[-1]", "[0,2]"), 2, "a dimension of shape is -1"},
      {Entry("\"BF16\"", "[1.5]", "[0,2]"), 2, "a dimension of shape is 1.5"},
      {Entry("\"BF16\"", "[\"1\"]", "[0,2]"), 2,
       "a dimension of shape is a string"},
      {Entry("\"BF16\"", "[" + big + "]", "[0,2]"), 2,
       "a dimension of shape is 1e+100"},
      {Entry("\"BF16\"", "[4294967296,4294967296]", "[0,0]"), 0,
       "shape is [4294967296, 4294967296]; allowed: at most 0 elements"},
      {Entry("\"BF16\"", "[9007199254740992]", "[0,2]"), 2,
       "allowed: at most 1 elements"},
      {Entry("\"BF16\"", "[1]", "[0]"), 2, "data_offsets has 1 numbers"},
      {Entry("\"BF16\"", "[1]", "[0,2,4]"), 2, "data_offsets has 3 numbers"},
      {Entry("\"BF16\"", "[1]", "[-2,0]"), 2,
       "data_offsets[0] is -2; allowed: numbers 0 .. 2"},
      {Entry("\"BF16\"", "[1]", "[0,4]"), 2,
       "data_offsets[1] is 4; allowed: numbers 0 .. 2"},
      {Entry("\"BF16\"", "[1]", "[2,0]"), 2,
       "data_offsets are [2, 0]; allowed: what is 2 bytes apart"},
      {Entry("\"BF16\"", "[1]", "[0,0]"), 2, "data_offsets are [0, 0]"},
      {Entry("\"BF16\"", "[]", "[0,0]"), 0, "data_offsets are [0, 0]"},
      {Entry("\"BF16\"", "[1]", "[0,2]"), 4,
       "tensors end at byte 2 of the data; allowed: 4"},
      {Entry("\"BF16\"", "[1]", "[2,4]"), 4,
       "begin at byte 2 of the data; allowed: 0"},
      {"{\"__metadata__\": 3}", 0, "\"__metadata__\" is something else"},
      {"{\"__metadata__\": {\"x\": 3}}", 0, "\"__metadata__\" is something"},
      // Two tensors in one place; one name twice.
      {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,2]},"
       "\"b\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,2]}}",
       2, "begin at byte 0 of the data; allowed: 2"},
      {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,2]},"
       "\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[2,4]}}",
       4, "bytes.safetensors"},
  };
  for (const auto& c : cases) {
    const auto file = OpenBytes(Bytes(c.header, c.data_bytes));
    EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument)
        << c.header.substr(0, 200);
    EXPECT_THAT(std::string(file.status().message()),
                AllOf(HasSubstr("bytes.safetensors: "), HasSubstr(c.message)));
  }
}

TEST(SafetensorsTest, RefusesHeaderLengthsThatAreNotThere) {
  const std::string rest = "{}      ";
  for (const uint64_t length :
       {uint64_t{9}, uint64_t{1} << 20, uint64_t{1} << 40, uint64_t{1} << 63,
        ~uint64_t{0}}) {
    const auto file = OpenBytes(Length(length) + rest);
    EXPECT_THAT(std::string(file.status().message()),
                HasSubstr(absl::StrCat("header length is ", length,
                                       "; allowed: 0 .. 8")));
  }
  // There, but longer than any header.
  const auto file = OpenBytes(Length(kMaxSafetensorsHeaderBytes + 1) +
                              std::string(kMaxSafetensorsHeaderBytes + 1, ' '));
  EXPECT_THAT(std::string(file.status().message()),
              HasSubstr("allowed: 0 .. 1048576"));
}

TEST(SafetensorsTest, RefusesWhatIsNoFile) {
  for (const std::string& path :
       {Path("absent"), ::testing::TempDir(), std::string("/dev/zero")}) {
    const auto file = SafetensorsFile::Open(path);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kNotFound) << path;
    EXPECT_THAT(std::string(file.status().message()), HasSubstr(path));
  }
}

TEST(SafetensorsTest, RefusesEveryTruncation) {
  const std::string whole = Bytes(kTwo, 14);
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto file = OpenBytes(whole.substr(0, size));
    EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << size;
  }
}

TEST(SafetensorsTest, AFileThatShrinksIsDataLoss) {
  const auto file = OpenBytes(Bytes(kTwo, 14));
  ASSERT_TRUE(file.ok());
  std::filesystem::resize_file(file->path(),
                               std::filesystem::file_size(file->path()) - 1);
  const auto b = file->Read("b.w", {2, 3});
  EXPECT_EQ(b.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(b.status().message()),
              AllOf(HasSubstr("bytes.safetensors"), HasSubstr("\"b.w\"")));
}

// Damaged files are refused, or are files of another content.
TEST(SafetensorsTest, DamagedFiles) {
  const std::string whole = Bytes(kTwo, 14);
  std::mt19937 random(6);
  int refused = 0;
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = whole;
    for (int edits = 1 + random() % 3; edits > 0; --edits) {
      const size_t at = random() % bytes.size();
      switch (random() % 4) {
        case 0:
          bytes[at] = static_cast<char>(random());
          break;
        case 1:
          bytes[at] = "0123456789{}[]:,\"-.e "[random() % 21];
          break;
        case 2:
          bytes.insert(at, bytes, random() % bytes.size(), random() % 20);
          break;
        default:
          bytes.erase(at, random() % 20);
      }
      if (bytes.empty()) bytes = " ";
    }
    // Most edits change a length; half of them are told to the first 8 bytes.
    if (bytes.size() >= 22 && random() % 2 == 0) {
      bytes.replace(0, 8, Length(bytes.size() - 22));
    }
    const auto file = OpenBytes(bytes);
    if (!file.ok()) {
      ++refused;
      continue;
    }
    ++read;
    uint64_t length;
    std::memcpy(&length, bytes.data(), sizeof(length));
    size_t elements = 0;
    for (const auto& [name, shape] : file->shapes()) {
      const auto tensor = file->Read(name, shape);
      ASSERT_TRUE(tensor.ok()) << tensor.status();
      elements += tensor->size();
    }
    EXPECT_EQ(8 + length + 2 * elements, bytes.size());
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 10);
}

TEST(SafetensorsTest, WritesWhatTheFormatSays) {
  const std::string path = Path("written.safetensors");
  const std::vector<Bf16> a = {{0x1234}, {0x5678}};
  const std::vector<Bf16> b = {{0x9ABC}};
  ASSERT_TRUE(WriteSafetensors(path, {{"a", {2, 1}, a}, {"b.0", {}, b}}).ok());
  const std::string header =
      "{\"a\":{\"dtype\":\"BF16\",\"shape\":[2,1],\"data_offsets\":[0,4]},"
      "\"b.0\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[4,6]}}";
  const std::string padded =
      header + std::string((8 - header.size() % 8) % 8, ' ');
  EXPECT_EQ(ReadFile(path),
            Length(padded.size()) + padded + "\x34\x12\x78\x56\xBC\x9A");
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto read = file->Read("a", {2, 1});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, a);
}

TEST(SafetensorsTest, RefusesToWrite) {
  const std::vector<Bf16> two(2);
  const SafetensorsTensor bad[] = {
      {"", {2}, two},
      {"a\"", {2}, two},
      {"__metadata__", {2}, two},
      {"a", {3}, two},
      {"a", {1}, two},
      {"a", {-2, -1}, two},
      {"a", {-1, 0}, {}},
      {"a", {int64_t{1} << 62, 4}, two},
      {"a", {2, 1, 1, 1, 1, 1, 1, 1, 1}, two},
  };
  const std::string path = Path("refused.safetensors");
  for (const SafetensorsTensor& tensor : bad) {
    const absl::Status status =
        WriteSafetensors(path, absl::MakeConstSpan(&tensor, 1));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(path), HasSubstr("allowed: ")));
  }
  EXPECT_FALSE(WriteSafetensors(path, {{"a", {2}, two}, {"a", {2}, two}}).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
}

TEST(SafetensorsTest, AFileThatCannotBeWrittenLeavesNothing) {
  const std::vector<Bf16> one(1);
  EXPECT_FALSE(
      WriteSafetensors(Path("absent/x.safetensors"), {{"a", {1}, one}}).ok());
  // The name is a directory's.
  const std::string directory = Path("taken.safetensors");
  std::filesystem::create_directories(directory + "/inside");
  EXPECT_FALSE(WriteSafetensors(directory, {{"a", {1}, one}}).ok());
  EXPECT_TRUE(std::filesystem::is_directory(directory));
  EXPECT_FALSE(std::filesystem::exists(directory + ".tmp"));
}

}  // namespace
}  // namespace zyfa::models
