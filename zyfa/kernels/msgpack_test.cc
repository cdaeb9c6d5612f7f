#include "zyfa/kernels/msgpack.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace zyfa {
namespace {

using Bytes = std::vector<uint8_t>;

// Encodings by hand after the MessagePack specification.
TEST(MsgpackTest, Numbers) {
  const struct {
    Bytes bytes;
    uint64_t value;
  } kCases[] = {{{0x00}, 0},
                {{0x7f}, 127},
                {{0xcc, 0x80}, 128},
                {{0xcd, 0x12, 0x34}, 0x1234},
                {{0xce, 0x89, 0xab, 0xcd, 0xef}, 0x89abcdef},
                {{0xcf, 1, 2, 3, 4, 5, 6, 7, 8}, 0x0102030405060708}};
  for (const auto& c : kCases) {
    MsgpackReader reader(c.bytes);
    const auto value = reader.ReadUnsigned();
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(*value, c.value);
  }
}

TEST(MsgpackTest, StringsAndContainers) {
  Bytes bytes = {0x82, 0xa1, 'a', 0x92, 0x01, 0x02, 0xd9, 0x01, 'b', 0xa0};
  MsgpackReader reader(bytes);
  EXPECT_EQ(*reader.ReadMap(), 2u);
  EXPECT_EQ(*reader.ReadString(), "a");
  EXPECT_EQ(*reader.ReadArray(), 2u);
  EXPECT_EQ(*reader.ReadUnsigned(), 1u);
  EXPECT_EQ(*reader.ReadUnsigned(), 2u);
  EXPECT_EQ(*reader.ReadString(), "b");
  EXPECT_EQ(*reader.ReadString(), "");
  EXPECT_FALSE(reader.ReadString().ok());
  EXPECT_EQ(*MsgpackReader(Bytes{0xde, 1, 0}).ReadMap(), 256u);
  EXPECT_EQ(*MsgpackReader(Bytes{0xdf, 0, 1, 0, 0}).ReadMap(), 65536u);
  EXPECT_EQ(*MsgpackReader(Bytes{0xdc, 1, 2}).ReadArray(), 258u);
  EXPECT_EQ(*MsgpackReader(Bytes{0xdd, 0, 0, 1, 2}).ReadArray(), 258u);
}

TEST(MsgpackTest, SkipsOneValueOfEveryType) {
  const Bytes kValues[] = {
      {0x05},
      {0xff},
      {0xc0},
      {0xc2},
      {0xc3},
      {0xa2, 'x', 'y'},
      {0x81, 0x01, 0x91, 0x02},
      {0x92, 0x80, 0x90},
      {0xc4, 2, 0, 0},
      {0xc5, 0, 1, 0},
      {0xc6, 0, 0, 0, 1, 0},
      {0xca, 0, 0, 0, 0},
      {0xcb, 0, 0, 0, 0, 0, 0, 0, 0},
      {0xcc, 1},
      {0xcf, 0, 0, 0, 0, 0, 0, 0, 0},
      {0xd0, 1},
      {0xd1, 1, 1},
      {0xd2, 1, 1, 1, 1},
      {0xd3, 1, 1, 1, 1, 1, 1, 1, 1},
      {0xd9, 1, 'x'},
      {0xda, 0, 1, 'x'},
      {0xdb, 0, 0, 0, 1, 'x'},
      {0xdc, 0, 2, 1, 2},
      {0xdd, 0, 0, 0, 1, 7},
      {0xde, 0, 1, 1, 2},
      {0xdf, 0, 0, 0, 1, 1, 2},
  };
  for (Bytes bytes : kValues) {
    const size_t whole = bytes.size();
    bytes.push_back(0x2a);
    MsgpackReader reader(bytes);
    ASSERT_TRUE(reader.Skip().ok()) << int{bytes[0]};
    const auto next = reader.ReadUnsigned();
    ASSERT_TRUE(next.ok()) << int{bytes[0]};
    EXPECT_EQ(*next, 42u) << int{bytes[0]};
    for (size_t cut = 0; cut < whole; ++cut) {
      const Bytes part(bytes.begin(), bytes.begin() + cut);
      EXPECT_FALSE(MsgpackReader(part).Skip().ok()) << int{bytes[0]};
    }
  }
}

TEST(MsgpackTest, RefusesOtherTypesAndHostileCounts) {
  EXPECT_FALSE(MsgpackReader(Bytes{0xa1, 'a'}).ReadUnsigned().ok());
  EXPECT_FALSE(MsgpackReader(Bytes{0x01}).ReadString().ok());
  EXPECT_FALSE(MsgpackReader(Bytes{0x01}).ReadMap().ok());
  EXPECT_FALSE(MsgpackReader(Bytes{0x80}).ReadArray().ok());
  EXPECT_FALSE(MsgpackReader(Bytes{0xc1}).Skip().ok());
  EXPECT_FALSE(
      MsgpackReader(Bytes{0xdf, 0xff, 0xff, 0xff, 0xff, 1}).Skip().ok());
  EXPECT_FALSE(
      MsgpackReader(Bytes{0xdb, 0xff, 0xff, 0xff, 0xff, 1}).ReadString().ok());
}

}  // namespace
}  // namespace zyfa
