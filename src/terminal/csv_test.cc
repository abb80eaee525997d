#include "terminal/csv.h"

#include <gtest/gtest.h>

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;

TEST(Csv, HasAColumnForEachMemberThatSomeRowHas) {
  EXPECT_EQ(csv_of(ordered_json::parse(R"([{"a": 1, "b": "x"}, {"a": null, "c": 2.5}])")), "a,b,c\n1,\"x\",\n,,2.5\n");
  EXPECT_EQ(csv_of(ordered_json::parse(R"([{"b": true}])"), {"a"}), "a,b\n,true\n");
}

TEST(Csv, TakesObjectsApart) {
  const char *const rows = R"([{"at": {"rank": 1, "call": {"n": 2}}}, {"at": null}, {"at": {"rank": 3}}])";
  EXPECT_EQ(csv_of(ordered_json::parse(rows), {"at.rank"}), "at.rank,at.call.n\n1,2\n,\n3,\n");
  EXPECT_EQ(csv_of(ordered_json::parse(R"([{"at": null}])")), "at\n\n");
}

TEST(Csv, QuotesWhatNeedsIt) {
  EXPECT_EQ(
      csv_of(ordered_json::parse(R"([{"late, early": "say \"no\",\nor", "ranks": [0, 7], "names": ["a", "b"]}])")),
      "\"late, early\",ranks,names\n\"say \"\"no\"\",\nor\",\"0 7\",\"a b\"\n");
}

TEST(Csv, OfNothingIsTheNames) {
  EXPECT_EQ(csv_of(ordered_json::array(), {"a", "b"}), "a,b\n");
  EXPECT_EQ(csv_of(ordered_json::array()), "");
}

}  // namespace
}  // namespace cairn::cli
