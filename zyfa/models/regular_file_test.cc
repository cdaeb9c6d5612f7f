#include "zyfa/models/regular_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::models {
namespace {

using ::testing::HasSubstr;

std::string Path(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

TEST(RegularFileTest, SizesAndBytes) {
  const std::string path = Path("bytes");
  std::ofstream(path, std::ios::binary) << "0123456789";
  const absl::StatusOr<uint64_t> size = RegularFileBytes(path);
  ASSERT_TRUE(size.ok()) << size.status();
  EXPECT_EQ(*size, 10u);
  std::string text(4, ' ');
  ASSERT_TRUE(ReadFileAt(path, 6, text.data(), 4).ok());
  EXPECT_EQ(text, "6789");
  ASSERT_TRUE(ReadFileAt(path, 0, text.data(), 0).ok());
  EXPECT_EQ(text, "6789");
  for (const uint64_t offset : {uint64_t{7}, uint64_t{11}, uint64_t{1} << 40}) {
    const absl::Status status = ReadFileAt(path, offset, text.data(), 4);
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << offset;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("bytes " + std::to_string(offset) + " .. "));
  }
  EXPECT_EQ(ReadFileAt(Path("absent"), 0, text.data(), 1).code(),
            absl::StatusCode::kDataLoss);
}

TEST(RegularFileTest, RefusesWhatIsNone) {
  // Opening it would wait for somebody who writes.
  const std::string pipe = Path("pipe");
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path :
       {Path("absent"), ::testing::TempDir(), std::string("/dev/zero"), pipe}) {
    EXPECT_EQ(RegularFileBytes(path).status().code(),
              absl::StatusCode::kNotFound)
        << path;
  }
}

TEST(RegularFileTest, InFileNamesTheFile) {
  EXPECT_EQ(InFile("a/b", absl::DataLossError("is short")),
            absl::DataLossError("a/b: is short"));
}

}  // namespace
}  // namespace zyfa::models
