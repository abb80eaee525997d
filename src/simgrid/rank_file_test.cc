// Lines that change where they stand, and what keeps messages of communicators apart.
#include "simgrid/rank_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "analyze/topology.h"
#include "base/test_folder.h"
#include "simgrid/groups.h"
#include "spec/ids.h"

namespace cairn::simgrid {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_ / "rank-7.txt"; }
  /// As SMPI reads them: fields apart by blanks, without what begins with '#'.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::ifstream in(path());
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) {
      if (line[0] == '#') continue;
      std::istringstream words(line);
      std::string text;
      for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word;
      all.push_back(text);
    }
    return all;
  }
  const TestFolder made_;
  const fs::path folder_ = made_.path();
};

TEST_F(Files, ChangeWhereTheyStand) {
  auto file = RankFile::create(path(), 7);
  ASSERT_TRUE(file.has_value());
  const auto early = file->add_wide("irecv");
  const auto dropped = file->add("isend {} {} {}", 1, 2, 3);
  for (int i = 0; i < 100'000; ++i) file->add("send 1 2 3");  // more than is kept in memory
  const auto late = file->add_wide("irecv");
  file->add("finalize");
  file->change(early, "irecv 4294967295 -1610612735 2147483647 27");
  file->change(late, "irecv 1 2 3");
  file->drop(dropped);
  EXPECT_EQ(file->lines(), 100'004U);
  ASSERT_TRUE(file->close().has_value());
  const auto all = lines();
  ASSERT_EQ(all.size(), 100'003U);
  EXPECT_EQ(all.front(), "7 irecv 4294967295 -1610612735 2147483647 27");
  EXPECT_EQ(all[1], "7 send 1 2 3");
  EXPECT_EQ(all[100'001], "7 irecv 1 2 3");
  EXPECT_EQ(all.back(), "7 finalize");
}

TEST_F(Files, AreNeverOverwritten) {
  { ASSERT_TRUE(RankFile::create(path(), 7)->close().has_value()); }
  const auto again = RankFile::create(path(), 7);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().path, path());
}

TEST_F(Files, SayWhatDidNotFit) {
  auto file = RankFile::create(path(), 7);
  const auto line = file->add("irecv");
  file->change(line, "irecv 1 2 3");
  EXPECT_FALSE(file->close().has_value());
}

TEST(Sizes, AreIntsOfSomeDatatype) {
  EXPECT_EQ(size_text(0), "0");
  EXPECT_EQ(size_text(2147483647), "2147483647");
  EXPECT_EQ(size_text(2147483648), "67108864 27");
  EXPECT_EQ(size_text(2147483649), "67108865 27");
  EXPECT_EQ(size_text(UINT64_MAX), "2147483647 27");
}

TEST(Tags, KeepCommunicatorsApart) {
  Tags tags;
  std::set<int32_t> all;
  size_t count = 0;
  for (const uint32_t communicator : {0U, 1U, 2U, 511U, 512U, 70'000U}) {
    for (const int64_t tag :
         {int64_t{0}, int64_t{1}, int64_t{1} << 20, int64_t{1} << 29, int64_t{1} << 30, int64_t{INT32_MAX}}) {
      const int32_t number = tags.of(communicator, tag);
      EXPECT_GE(number, 0);
      EXPECT_EQ(tags.of(communicator, tag), number);
      all.insert(number);
      ++count;
    }
    for (const auto of : {Tags::Of::collectives, Tags::Of::partitions}) {
      EXPECT_LT(tags.of(communicator, 0, of), -1'000'000);  // SMPI's own are not as low
      all.insert(tags.of(communicator, 0, of));
      ++count;
    }
  }
  EXPECT_EQ(all.size(), count);
  EXPECT_EQ(tags.of(Groups::kWorld, 17), 17);
}

/// A row of that function with these fields, and success.
trace::Row row_of(const char *function, std::vector<std::vector<trace::Atom>> fields) {
  trace::Row row;
  row.function = spec::find_function(function)->id;
  for (auto &atoms : fields) row.fields.push_back({false, std::move(atoms), {}});
  row.fields.push_back({false, {0}, {}});
  return row;
}

TEST(Topologies, KnowTheNeighborsOfAGrid) {
  analyze::Topologies topologies;
  const analyze::RowScope scope;
  // 3 times 4, round in the first dimension.
  const trace::Row row = row_of("MPI_Cart_create", {{0}, {2}, {3, 4}, {1, 0}, {0}, {1, 0, 0, 0}});
  analyze::NewCommunicator made;
  made.name = "comm(0@0)";
  topologies.see(analyze::RowAccess(row, scope), made);
  const auto corner = topologies.of("comm(0@0)", 0);
  ASSERT_TRUE(corner.has_value());
  EXPECT_EQ(corner->destinations, (std::vector<int64_t>{8, 4, -1, 1}));
  EXPECT_EQ(corner->order, (std::vector<uint32_t>{1, 0, 3, 2}));
  EXPECT_EQ(topologies.of("comm(0@0)", 6)->sources, (std::vector<int64_t>{2, 10, 5, 7}));
  EXPECT_FALSE(topologies.of("comm(1@0)", 0).has_value());
}

}  // namespace
}  // namespace cairn::simgrid
