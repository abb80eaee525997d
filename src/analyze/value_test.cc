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
