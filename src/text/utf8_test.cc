#include "text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

TEST(Utf8, StringsAreQuotedAndEscaped) {
  EXPECT_EQ(in_quotes("a \"b\" \\ \n\t"), R"("a \"b\" \\ \n\t")");
  EXPECT_EQ(in_quotes(std::string("\0007", 2)), R"("\0007")");
  EXPECT_EQ(in_quotes("\x7f\xff"), R"("\177\377")");
  EXPECT_EQ(in_quotes("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
}

TEST(Utf8, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(valid_utf8("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");              // not the shortest form
  EXPECT_EQ(valid_utf8("\xed\xa0\x80").size(), 9U);                           // half a surrogate pair
  EXPECT_EQ(valid_utf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");              // cut short
  EXPECT_EQ(valid_utf8("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");              // beyond the basic plane
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80").find('\xf4'), std::string::npos);  // beyond Unicode
}

}  // namespace
}  // namespace cairn
