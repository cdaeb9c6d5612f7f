#include "zyfa/proto/record_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace zyfa::proto {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// A fresh directory for each test.
class RecordFileTest : public ::testing::Test {
 protected:
  RecordFileTest()
      : directory_(
            ::testing::TempDir() + "/" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(directory_);
  }
  ~RecordFileTest() override { fs::remove_all(directory_); }

  std::string Path(const std::string& name) const {
    return (directory_ / name).string();
  }
  size_t FilesInDirectory() const {
    return std::distance(fs::directory_iterator(directory_), {});
  }

  static void Put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  static std::string Get(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  // Opens `path` and adds one record for each variant.
  static absl::Status Add(const std::string& path, RecordFileMode mode,
                          const std::vector<std::string>& variants) {
    absl::StatusOr<RecordFile> file = RecordFile::Open(path, mode);
    if (!file.ok()) return file.status();
    for (const std::string& variant : variants) {
      Record record;
      record.set_variant(variant);
      if (absl::Status status = file->Add(record); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  static std::vector<std::string> Variants(const std::string& path) {
    absl::StatusOr<std::vector<Record>> records = ReadRecords(path);
    EXPECT_TRUE(records.ok()) << records.status();
    std::vector<std::string> variants;
    if (!records.ok()) return variants;
    for (const Record& r : *records) variants.push_back(r.variant());
    return variants;
  }

  fs::path directory_;
};

using Names = std::vector<std::string>;
constexpr RecordFileMode kOverwrite = RecordFileMode::kOverwrite;
constexpr RecordFileMode kAppend = RecordFileMode::kAppend;

TEST_F(RecordFileTest, OverwritesAndAppends) {
  for (const char* name : {"r.json", "r.binpb"}) {
    const std::string path = Path(name);
    ASSERT_TRUE(Add(path, kOverwrite, {"a", "b"}).ok());
    EXPECT_EQ(Variants(path), (Names{"a", "b"}));
    ASSERT_TRUE(Add(path, kAppend, {"c"}).ok());
    EXPECT_EQ(Variants(path), (Names{"a", "b", "c"}));
    ASSERT_TRUE(Add(path, kOverwrite, {"d"}).ok());
    EXPECT_EQ(Variants(path), (Names{"d"}));
  }
  EXPECT_EQ(FilesInDirectory(), 2u);  // no temporary file stays
}

TEST_F(RecordFileTest, AppendMakesTheFileToo) {
  ASSERT_TRUE(Add(Path("new"), kAppend, {"a"}).ok());
  EXPECT_EQ(Variants(Path("new")), (Names{"a"}));
}

TEST_F(RecordFileTest, AppendsAfterALineWithoutLineFeed) {
  Put(Path("r"), "{\"variant\":\"a\"}");
  ASSERT_TRUE(Add(Path("r"), kAppend, {"b"}).ok());
  EXPECT_EQ(Variants(Path("r")), (Names{"a", "b"}));
}

TEST_F(RecordFileTest, OldRecordsStayUntilTheFirstNewOne) {
  ASSERT_TRUE(Add(Path("r"), kOverwrite, {"a"}).ok());
  ASSERT_TRUE(RecordFile::Open(Path("r"), kOverwrite).ok());
  EXPECT_EQ(Variants(Path("r")), (Names{"a"}));
}

TEST_F(RecordFileTest, AppendRefusesWhatIsNotRecordsAndLeavesIt) {
  Put(Path("notes.txt"), "dear diary\n");
  const absl::Status status = Add(Path("notes.txt"), kAppend, {"a"});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("notes.txt"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("line 1"));
  EXPECT_EQ(Get(Path("notes.txt")), "dear diary\n");
}

TEST_F(RecordFileTest, KeepsAccessRightsAndSymbolicLinks) {
  ASSERT_TRUE(Add(Path("target"), kOverwrite, {"a"}).ok());
  ASSERT_EQ(chmod(Path("target").c_str(), 0640), 0);
  // The format goes by the name that the caller knows.
  fs::create_symlink("target", Path("link.json"));
  ASSERT_TRUE(Add(Path("link.json"), kAppend, {"b"}).ok());
  EXPECT_TRUE(fs::is_symlink(Path("link.json")));
  EXPECT_EQ(Variants(Path("target")), (Names{"a", "b"}));
  EXPECT_EQ(fs::status(Path("target")).permissions(), fs::perms(0640));
}

TEST_F(RecordFileTest, ANewFileHasOrdinaryAccessRights) {
  const mode_t old = umask(027);
  const absl::Status status = Add(Path("r"), kOverwrite, {"a"});
  umask(old);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(fs::status(Path("r")).permissions(), fs::perms(0640));
}

TEST_F(RecordFileTest, RefusesWhatIsNoRegularFile) {
  for (const std::string& path :
       {directory_.string(), std::string("/dev/null"), std::string()}) {
    EXPECT_EQ(RecordFile::Open(path, kOverwrite).status().code(),
              absl::StatusCode::kInvalidArgument)
        << path;
  }
  EXPECT_EQ(ReadRecords("/dev/zero").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(RecordFileTest, AMissingDirectoryShowsAtOnce) {
  const absl::Status status =
      RecordFile::Open(Path("absent/r"), kOverwrite).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("absent/r"));
}

TEST_F(RecordFileTest, AMissingFileIsNotFound) {
  EXPECT_EQ(ReadRecords(Path("absent")).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(RecordFileTest, AFailedAddLeavesTheFile) {
  absl::StatusOr<RecordFile> file = RecordFile::Open(Path("r"), kOverwrite);
  ASSERT_TRUE(file.ok()) << file.status();
  Record good, bad;
  good.set_variant("a");
  bad.set_variant("\xff");
  ASSERT_TRUE(file->Add(good).ok());
  EXPECT_FALSE(file->Add(bad).ok());
  EXPECT_EQ(Variants(Path("r")), (Names{"a"}));
  EXPECT_TRUE(file->Add(good).ok());
  EXPECT_EQ(Variants(Path("r")), (Names{"a", "a"}));
  EXPECT_EQ(FilesInDirectory(), 1u);
}

}  // namespace
}  // namespace zyfa::proto
