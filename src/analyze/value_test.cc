#include "analyze/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace cairn::analyze {
namespace {

std::string text(const Value &value) {
  std::string out;
  value.append_text(out);
  return out;
}

TEST(Value, StringsAreQuotedAndEscaped) {
  EXPECT_EQ(in_quotes("a \"b\" \\ \n\t"), R"("a \"b\" \\ \n\t")");
  EXPECT_EQ(in_quotes(std::string("\0007", 2)), R"("\0007")");
  EXPECT_EQ(in_quotes("\x7f\xff"), R"("\177\377")");
  EXPECT_EQ(in_quotes("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"");
}

TEST(Value, WhatIsNoUtf8IsReplaced) {
  EXPECT_EQ(valid_utf8("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(valid_utf8("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");              // not the shortest form
  EXPECT_EQ(valid_utf8("\xed\xa0\x80").size(), 9U);                           // half a surrogate pair
  EXPECT_EQ(valid_utf8("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");              // cut short
  EXPECT_EQ(valid_utf8("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");              // beyond the basic plane
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80").find('\xf4'), std::string::npos);  // beyond Unicode
}

TEST(Value, PrintsAsTextAndAsJson) {
  const Value list = Value::list({Value::integer(-1), Value::symbol("MPI_INT"), Value::string("x"), Value()});
  EXPECT_EQ(text(list), R"([-1, MPI_INT, "x", -])");
  EXPECT_EQ(list.json().dump(), R"([-1,"MPI_INT","x",null])");
  const Value change = Value::change(Value::integer(0), Value::integer(8));
  EXPECT_EQ(text(change), "0 -> 8");
  EXPECT_EQ(change.json().dump(), R"({"before":0,"after":8})");
  EXPECT_EQ(text(Value::floating(0.5)), "0.5");
  EXPECT_EQ(Value::floating(std::numeric_limits<double>::infinity()).json().dump(), "\"inf\"");
}

}  // namespace
}  // namespace cairn::analyze
