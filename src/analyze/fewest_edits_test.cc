#include "analyze/fewest_edits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace cairn::analyze {
namespace {

std::vector<Edit> edits_of(const std::string &first, const std::string &second, bool first_ends = true,
                           bool second_ends = true) {
  return fewest_edits({first.size(), first_ends}, {second.size(), second_ends},
                      [&](size_t i, size_t j) { return first[i] == second[j]; });
}

size_t longest_in_common(const std::string &first, const std::string &second) {
  std::vector<std::vector<size_t>> most(first.size() + 1, std::vector<size_t>(second.size() + 1));
  for (size_t i = 0; i < first.size(); ++i) {
    for (size_t j = 0; j < second.size(); ++j) {
      most[i + 1][j + 1] = first[i] == second[j] ? most[i][j] + 1 : std::max(most[i][j + 1], most[i + 1][j]);
    }
  }
  return most[first.size()][second.size()];
}

std::string random_text(std::mt19937 *random) {
  std::string text((*random)() % 30, ' ');
  for (char &each : text) each = static_cast<char>('a' + (*random)() % 3);
  return text;
}

/// How far they lead; what they call alike is.
std::pair<size_t, size_t> follow(const std::vector<Edit> &edits, const std::string &first, const std::string &second) {
  size_t i = 0;
  size_t j = 0;
  for (const Edit edit : edits) {
    if (edit == Edit::both) {
      EXPECT_EQ(first.at(i), second.at(j));
    }
    i += edit == Edit::second ? 0 : 1;
    j += edit == Edit::first ? 0 : 1;
  }
  return {i, j};
}

TEST(FewestEdits, LeaveOutNoMoreThanMustBe) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const std::string first = random_text(&random);
    const std::string second = random_text(&random);
    const std::vector<Edit> edits = edits_of(first, second);
    ASSERT_EQ(follow(edits, first, second), std::pair(first.size(), second.size())) << first << " " << second;
    ASSERT_EQ(static_cast<size_t>(std::count(edits.begin(), edits.end(), Edit::both)), longest_in_common(first, second))
        << first << " " << second;
  }
}

TEST(FewestEdits, LeadToTheEndOfWhatGoesOn) {
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    const std::string first = random_text(&random);
    const std::string second = random_text(&random);
    for (const auto &[first_ends, second_ends] : {std::pair(false, false), {false, true}, {true, false}}) {
      const auto [i, j] = follow(edits_of(first, second, first_ends, second_ends), first, second);
      ASSERT_TRUE((!first_ends && i == first.size()) || (!second_ends && j == second.size())) << first << " " << second;
    }
  }
}

TEST(FewestEdits, FindOneItemMoreInEachTurn) {
  std::string plain;
  std::string more;
  for (int turn = 0; turn < 30; ++turn) {
    plain += "sac";
    more += "sbac";
  }
  const std::vector<Edit> edits = edits_of(plain, more);
  EXPECT_EQ(std::count(edits.begin(), edits.end(), Edit::second), 30);
  EXPECT_EQ(std::count(edits.begin(), edits.end(), Edit::first), 0);
  // Of more than is given.
  EXPECT_EQ(std::count(edits.begin(), edits.end(), Edit::both), 90);
  const std::vector<Edit> part = edits_of(plain, more.substr(0, 60), false, false);
  EXPECT_EQ(std::count(part.begin(), part.end(), Edit::both), 45);
}

}  // namespace
}  // namespace cairn::analyze
