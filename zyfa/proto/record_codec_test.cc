#include "zyfa/proto/record_codec.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "google/protobuf/util/message_differencer.h"
#include "gtest/gtest.h"

namespace zyfa::proto {
namespace {

using ::google::protobuf::util::MessageDifferencer;
using ::testing::HasSubstr;
using ::testing::Not;

Record Example() {
  Record record;
  record.set_variant("bf16_d128_causal");
  record.set_device("emulator");
  record.set_modelled(true);
  record.set_batch(1);
  record.set_heads_q(8);
  record.set_heads_kv(2);
  record.set_seqlen_q(4096);
  record.set_seqlen_kv(4096);
  record.set_mask(MASK_CAUSAL);
  record.set_rel_rmse(0.0023);
  record.set_max_abs_error(0);
  record.set_quantisation("rotated, int8");
  record.set_total_rel_rmse(0.031);
  record.set_exact_p_rel_rmse(0.0017);
  record.set_value_rel_rmse(0.022);
  record.mutable_slow_paths()->set_wave_moves(0);
  record.mutable_slow_paths()->set_group_rises(41.5);
  record.set_vector_clocks_per_score(4);
  record.set_flops(4398046511104.0);
  record.mutable_start_time()->set_seconds(1700000000);
  (*record.mutable_instructions())["mfma"] = uint64_t{1} << 60;
  record.mutable_versions()->set_host_compiler("g++ \"12\"\n");
  return record;
}

std::string Encode(const Record& record, RecordFormat format) {
  std::string bytes;
  EXPECT_TRUE(EncodeRecord(record, format, bytes).ok());
  return bytes;
}

void ExpectError(const absl::StatusOr<std::vector<Record>>& records,
                 const std::string& text) {
  EXPECT_EQ(records.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(records.status().message()), HasSubstr(text));
}

constexpr RecordFormat kJson = RecordFormat::kJsonLines;
constexpr RecordFormat kBinary = RecordFormat::kDelimitedBinary;

TEST(RecordFormatOf, GoesBySuffix) {
  EXPECT_EQ(RecordFormatOf("a/b.binpb"), kBinary);
  EXPECT_EQ(RecordFormatOf("a/b.json"), kJson);
  EXPECT_EQ(RecordFormatOf("binpb"), kJson);
  EXPECT_EQ(RecordFormatOf(""), kJson);
}

TEST(RecordCodec, RoundTrips) {
  for (RecordFormat format : {kJson, kBinary}) {
    // An empty message is a legal record; its binary form is one zero byte.
    const std::string bytes = Encode(Example(), format) +
                              Encode(Record(), format) +
                              Encode(Example(), format);
    auto records = DecodeRecords(bytes, format);
    ASSERT_TRUE(records.ok()) << records.status();
    ASSERT_EQ(records->size(), 3u);
    EXPECT_TRUE(MessageDifferencer::Equals((*records)[0], Example()));
    EXPECT_TRUE(MessageDifferencer::Equals((*records)[1], Record()));
    EXPECT_TRUE(MessageDifferencer::Equals((*records)[2], Example()));
  }
}

TEST(RecordCodec, NoBytesAreNoRecords) {
  for (RecordFormat format : {kJson, kBinary}) {
    auto records = DecodeRecords("", format);
    ASSERT_TRUE(records.ok()) << records.status();
    EXPECT_TRUE(records->empty());
  }
}

TEST(RecordCodec, JsonIsOneLineWithTheProtosFieldNames) {
  const std::string line = Encode(Example(), kJson);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_THAT(line, HasSubstr("\"seqlen_q\":4096"));
  EXPECT_THAT(line, HasSubstr("\"rel_rmse\":0.0023"));
  EXPECT_THAT(line, HasSubstr("\"total_rel_rmse\":0.031"));
  EXPECT_THAT(line, HasSubstr("\"exact_p_rel_rmse\":0.0017"));
  EXPECT_THAT(line, HasSubstr("\"value_rel_rmse\":0.022"));
  EXPECT_THAT(line, HasSubstr("\"slow_paths\":{\"wave_moves\":0,"
                              "\"group_rises\":41.5}"));
  EXPECT_THAT(line, HasSubstr("\"flops\":4398046511104"));
  EXPECT_THAT(line, HasSubstr("\"modelled\":true"));
  EXPECT_THAT(line, HasSubstr("\"mask\":\"MASK_CAUSAL\""));
  EXPECT_THAT(line, HasSubstr("\"start_time\":\"2023-11-14T22:13:20Z\""));
  EXPECT_THAT(line, HasSubstr("\"mfma\":\"1152921504606846976\""));
}

TEST(RecordCodec, JsonTellsZeroFromUnset) {
  const std::string line = Encode(Example(), kJson);
  EXPECT_THAT(line, HasSubstr("\"max_abs_error\":0"));
  EXPECT_THAT(line, Not(HasSubstr("\"clocks\"")));
}

TEST(RecordCodec, JsonErrorsNameTheLine) {
  const std::string good = Encode(Example(), kJson);
  ExpectError(DecodeRecords(good + "{\"variant\":\n", kJson), "line 2");
  ExpectError(DecodeRecords(good + good + "gibberish", kJson), "line 3");
  ExpectError(DecodeRecords(good + "\n" + good, kJson), "line 2");
  ExpectError(DecodeRecords("[]\n", kJson), "line 1");
  ExpectError(DecodeRecords("{\"batch\":\"many\"}", kJson), "line 1");
  ExpectError(DecodeRecords("{\"batch\":1e20}", kJson), "line 1");
  ExpectError(DecodeRecords("{\"mask\":\"MASK_SQUARE\"}", kJson), "line 1");
  ExpectError(DecodeRecords("{\"colour\":1}", kJson), "colour");
  ExpectError(DecodeRecords(std::string("{\0}\n", 4), kJson), "line 1");
}

TEST(RecordCodec, EveryCutOfJsonButTheLineFeedIsAnError) {
  const std::string line = Encode(Example(), kJson);
  for (size_t size = 1; size < line.size() - 1; ++size) {
    ExpectError(DecodeRecords(line.substr(0, size), kJson), "line 1");
  }
  EXPECT_TRUE(DecodeRecords(line.substr(0, line.size() - 1), kJson).ok());
}

TEST(RecordCodec, EveryCutOfBinaryIsAnErrorThatNamesTheOffset) {
  const std::string one = Encode(Example(), kBinary);
  const std::string where = "byte " + std::to_string(one.size()) + " ";
  for (size_t size = 1; size < one.size(); ++size) {
    ExpectError(DecodeRecords(one + one.substr(0, size), kBinary), where);
  }
}

TEST(RecordCodec, BinaryWithUnknownFieldsIsAnError) {
  // Field 1000 (tag 0xc03e as a varint), a varint of 1; then in `versions`.
  ExpectError(DecodeRecords(std::string("\x03\xc0\x3e\x01", 4), kBinary),
              "unknown fields");
  ExpectError(
      DecodeRecords(std::string("\x05\x32\x03\xc0\x3e\x01", 6), kBinary),
      "unknown fields");
}

TEST(RecordCodec, BinaryWithAMadLengthIsAnError) {
  ExpectError(DecodeRecords("\xff\xff\xff\xff\x0f", kBinary), "is cut off");
  ExpectError(DecodeRecords(std::string(11, '\xff'), kBinary), "valid length");
}

TEST(RecordCodec, SurvivesEverySingleCorruptByte) {
  for (RecordFormat format : {kJson, kBinary}) {
    const std::string good = Encode(Example(), format);
    for (size_t i = 0; i < good.size(); ++i) {
      for (int flip = 1; flip < 256; flip <<= 1) {
        std::string bytes = good;
        bytes[i] ^= flip;
        DecodeRecords(bytes, format).status().IgnoreError();
      }
    }
  }
}

TEST(RecordCodec, TextThatIsNotUtf8IsRefused) {
  Record record;
  record.set_message("\xff\xfe");
  for (RecordFormat format : {kJson, kBinary}) {
    std::string bytes = "kept";
    EXPECT_EQ(EncodeRecord(record, format, bytes).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(bytes, "kept");
  }
}

}  // namespace
}  // namespace zyfa::proto
