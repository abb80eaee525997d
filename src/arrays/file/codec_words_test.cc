#include "arrays/file/codec_words.h"

#include <gtest/gtest.h>

namespace cairn::arrays {
namespace {

TEST(CodecWords, NameVariablesInFrontOfTheOthers) {
  const Result<CodecWords> words = parse_codec_words("T=shuffle+zstd:5,mask=zstd:3,auto:bandwidth=2e7");
  ASSERT_TRUE(words.has_value());
  EXPECT_FALSE(words->off);
  EXPECT_EQ(words->of("T").codec->name, "shuffle+zstd");
  EXPECT_EQ(words->of("T").options.level, 5);
  EXPECT_EQ(words->of("mask").options.level, 3);
  EXPECT_EQ(words->of("U").codec, nullptr);
  EXPECT_EQ(words->of("U").goal.bytes_per_second, 2e7);
  EXPECT_EQ(words->of("auto").goal.bytes_per_second, 2e7);
}

TEST(CodecWords, AreRefusedWhereTheyMeanNothing) {
  EXPECT_TRUE(parse_codec_words("off")->off);
  EXPECT_TRUE(parse_codec_words("auto").has_value());
  for (const char *words : {"", "zip", "T=zip", "T=", "auto,", "T=off", "zstd:x", ",auto"}) {
    EXPECT_FALSE(parse_codec_words(words).has_value()) << words;
  }
}

TEST(CodecWords, SayHowLongChainsAre) {
  EXPECT_EQ(*parse_chain("8"), 8U);
  EXPECT_EQ(*parse_chain("0"), 0U);
  EXPECT_EQ(*parse_chain("255"), 255U);
  EXPECT_EQ(*parse_chain("auto"), std::nullopt);
  EXPECT_EQ(*parse_chain(""), std::nullopt);
  for (const char *words : {"256", "-1", "8 ", "8K", "many", "99999999999"})
    EXPECT_FALSE(parse_chain(words).has_value()) << words;
}

}  // namespace
}  // namespace cairn::arrays
