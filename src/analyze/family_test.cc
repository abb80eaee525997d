// Which traces are of the jobs that a run spawned.
#include "analyze/family.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "analyze/spawning.h"
#include "base/test_folder.h"

namespace cairn::analyze {
namespace {

using namespace spawning;
namespace fs = std::filesystem;

class FamilyTest : public testing::Test {
 protected:
  /// A trace of that name, begun so many seconds after the first one, and 10 s long.
  std::string put(const std::string &name, int64_t seconds, const std::string &job, const std::string &spawned_by,
                  const std::vector<trace::Row> &rows, uint32_t ranks = 1) {
    trace::RunInfo run;
    run.start_unix_ns = (kBegin + seconds) * 1'000'000'000;
    run.wall_ns = 10'000'000'000;
    run.job = job;
    run.spawned_by = spawned_by;
    std::string path = folder_ + "/" + name;
    const Bytes bytes = bytes_of(rows, run, ranks);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  Result<std::vector<FamilyMember>> gathered(const std::string &first, const std::vector<std::string> &named = {}) {
    return family_of(*trace::Trace::open(first), first, named);
  }
  /// "parent.root.number NAME" of each.
  static std::vector<std::string> told(const std::vector<FamilyMember> &family) {
    std::vector<std::string> all;
    all.reserve(family.size());
    for (const FamilyMember &each : family) {
      all.push_back(std::to_string(each.parent) + "." + std::to_string(each.root) + "." + std::to_string(each.number) +
                    " " + fs::path(each.file).filename().string());
    }
    return all;
  }

  static constexpr int64_t kBegin = 1'700'000'000;
  const std::vector<trace::Row> leaf_ = {call("MPI_Comm_get_parent", {atoms({0, 0, 0, 0})})};
  const TestFolder made_;
  const std::string folder_ = made_.path();
};

TEST_F(FamilyTest, IsToldByTheNamesOfJobs) {
  const std::string first = put("run.cairn", 0, "5", "", {spawn({1}), spawn({1})});
  put("run-2.cairn", 3, "8", "5.0", leaf_);  // the second
  put("run-3.cairn", 2, "7", "5.0", {leaf_[0], spawn({1})});
  put("run-4.cairn", 4, "9", "7.0", leaf_);
  put("run-5.cairn", 100, "7", "5.0", leaf_);  // of a later run with the same names
  put("run-6.cairn", 1, "6", "5.1", leaf_);    // no rank 1 spawned
  put("run-x.cairn", 1, "6", "5.0", leaf_);
  std::ofstream(folder_ + "/run-7.cairn") << "no trace";
  const auto family = gathered(first);
  ASSERT_TRUE(family.has_value()) << family.error().message;
  EXPECT_EQ(told(*family), (std::vector<std::string>{"0.0.0 run.cairn", "0.0.0 run-3.cairn", "0.0.1 run-2.cairn",
                                                     "1.0.0 run-4.cairn"}));
}

TEST_F(FamilyTest, IsToldByWhenTheyBeganWhereJobsHaveNoNames) {
  const std::string first = put("run.cairn", 0, "", "", {spawn({2}), spawn({3}), spawn({2})});
  put("run-2.cairn", 6, "", "", leaf_, 2);
  put("run-3.cairn", 5, "", "", leaf_, 3);
  put("run-4.cairn", 4, "", "", leaf_, 2);
  put("run-5.cairn", 3, "", "", {call("MPI_Finalize", {})}, 2);  // was not spawned
  const auto family = gathered(first);
  ASSERT_TRUE(family.has_value()) << family.error().message;
  EXPECT_EQ(told(*family), (std::vector<std::string>{"0.0.0 run.cairn", "0.0.0 run-4.cairn", "0.0.1 run-3.cairn",
                                                     "0.0.2 run-2.cairn"}));
}

TEST_F(FamilyTest, LacksNobody) {
  const std::string alone = put("alone.cairn", 0, "5", "", {call("MPI_Finalize", {})});
  EXPECT_EQ(gathered(alone)->size(), 1U);
  const std::string first = put("run.cairn", 0, "5", "", {spawn({1}), spawn({1})});
  const std::string second = put("run-2.cairn", 3, "8", "5.0", leaf_);
  const auto some = gathered(first);
  ASSERT_FALSE(some.has_value());
  EXPECT_NE(some.error().message.find("spawned 2 jobs, and 1 of their traces is here"), std::string::npos)
      << some.error().message;
  const std::string elsewhere = put("other name.cairn", 4, "9", "5.0", leaf_);
  const auto all = gathered(first, {elsewhere, second});
  ASSERT_TRUE(all.has_value()) << all.error().message;
  EXPECT_EQ(told(*all), (std::vector<std::string>{"0.0.0 run.cairn", "0.0.0 run-2.cairn", "0.0.1 other name.cairn"}));
  std::ofstream(elsewhere) << "no trace";
  EXPECT_FALSE(gathered(first, {elsewhere, second}).has_value());
  // Beside it, too, what cannot be read may be the one that is missing.
  std::ofstream(folder_ + "/run-3.cairn") << "no trace";
  const auto damaged = gathered(first);
  ASSERT_FALSE(damaged.has_value());
  EXPECT_EQ(fs::path(damaged.error().path).filename(), "run-3.cairn");
}

TEST_F(FamilyTest, HasNobodyTwiceAndNoStrangers) {
  const std::string first = put("run.cairn", 0, "5", "", {spawn({1}), spawn({1})});
  const std::string second = put("run-2.cairn", 3, "8", "5.0", leaf_);
  const std::string third = put("run-3.cairn", 4, "9", "5.0", leaf_);
  const std::string stranger = put("stranger.cairn", 3, "8", "6.0", leaf_);
  const auto named = gathered(first, {second, stranger, third});
  ASSERT_FALSE(named.has_value());
  EXPECT_EQ(named.error().path, stranger);
  fs::copy_file(second, folder_ + "/run-4.cairn");
  const auto twice = gathered(first);
  ASSERT_FALSE(twice.has_value());
  EXPECT_NE(twice.error().message.find("of the same job as"), std::string::npos) << twice.error().message;
  fs::remove(folder_ + "/run-4.cairn");
  put("run-2.cairn", 3, "8", "5.0", leaf_, 2);
  const auto large = gathered(first);
  ASSERT_FALSE(large.has_value());
  EXPECT_EQ(large.error().path, second);
}

TEST_F(FamilyTest, IsThatOfAProcessThatNoLauncherStarted) {
  const std::string first = put("run.cairn", 0, "", "", {spawn({1})});
  put("run-2.cairn", 3, "8", "7.0", leaf_);
  const auto family = gathered(first);
  ASSERT_TRUE(family.has_value()) << family.error().message;
  EXPECT_EQ(family->size(), 2U);
}

TEST_F(FamilyTest, HasAChildWhoseCallIsNotRecorded) {
  const std::string first = put("run.cairn", 0, "5", "", {call("MPI_Finalize", {})});
  EXPECT_FALSE(unseen_child(*trace::Trace::open(first), first).has_value());
  const std::string child = put("run-2.cairn", 3, "8", "5.0", leaf_);
  EXPECT_EQ(unseen_child(*trace::Trace::open(first), first), child);
}

}  // namespace
}  // namespace cairn::analyze
