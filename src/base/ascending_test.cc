#include "base/ascending.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace cairn {
namespace {

TEST(Ascending, IsWhatAMapIs) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    Ascending<std::string> tested;
    std::map<uint64_t, std::string> model;
    uint64_t next = 0;
    const uint64_t most = 1 + random() % 40;
    for (int step = 0; step < 2000; ++step) {
      const uint64_t what = random() % 8;
      if (what < 3 && model.size() < most) {
        next += 1 + random() % 3;
        tested.add(next, std::to_string(next)) += "x";
        model[next] = std::to_string(next) + "x";
      } else if (what == 3 && model.size() < most) {  // among the others, or where one was
        const uint64_t number = random() % (next + 2);
        if (model.count(number) == 0) {
          tested.add(number, "late");
          model[number] = "late";
          next = std::max(next, number);
        }
      } else if (what < 6 && !model.empty()) {
        const uint64_t number = what == 4 ? model.begin()->first : random() % (next + 2);
        tested.take(number);
        model.erase(number);
      } else {
        const uint64_t number = random() % (next + 2);
        const auto found = model.find(number);
        const std::string *value = tested.find(number);
        ASSERT_EQ(value != nullptr, found != model.end());
        if (value != nullptr) {
          ASSERT_EQ(*value, found->second);
        }
      }
      ASSERT_EQ(tested.size(), model.size());
      ASSERT_EQ(tested.empty(), model.empty());
      if (!model.empty()) {
        ASSERT_EQ(tested.first().number, model.begin()->first);
      }
    }
    auto expected = model.begin();
    tested.each([&](uint64_t number, const std::string &value) {
      ASSERT_NE(expected, model.end());
      ASSERT_EQ(number, expected->first);
      ASSERT_EQ(value, expected->second);
      ++expected;
    });
    ASSERT_EQ(expected, model.end());
  }
}

TEST(Ascending, OneThatStaysLongKeepsNoHoles) {
  Ascending<int> tested;
  tested.add(0, 0);
  for (uint64_t i = 1; i < 100'000; ++i) {
    tested.add(i, 1);
    if (i > 3) tested.take(i - 3);
  }
  EXPECT_EQ(tested.size(), 4U);
  EXPECT_EQ(tested.first().number, 0U);
  EXPECT_NE(tested.find(99'998), nullptr);
  EXPECT_EQ(tested.find(50'000), nullptr);
}

}  // namespace
}  // namespace cairn
