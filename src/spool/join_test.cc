#include "spool/join.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "trace/file/file.h"

namespace cairn::spool {
namespace {

namespace fs = std::filesystem;

struct JoinTest : testing::Test {
  void SetUp() override {
    char name[] = "/tmp/cairn-join-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    path = folder / "run.cairn";
  }
  void TearDown() override { fs::remove_all(folder); }
  static void write(const fs::path &to, std::string_view text) { std::ofstream(to, std::ios::binary) << text; }
  fs::path folder;
  fs::path path;
};

TEST_F(JoinTest, ATraceAndNothingElseMayBeOverwritten) {
  EXPECT_TRUE(may_write(path, "run.cairn", false));
  write(path, trace::file_magic());
  EXPECT_FALSE(may_write(path, "run.cairn", false));
  EXPECT_TRUE(may_write(path, "run.cairn", true));
  write(path, "a letter");
  EXPECT_FALSE(may_write(path, "run.cairn", true));
  EXPECT_FALSE(may_write(folder, "folder", true));
}

/// Of the processes of a job one sets an earlier trace aside, whenever the others may look at it.
TEST_F(JoinTest, ATraceThatIsSetAsideMeanwhileIsInNobodysWay) {
  constexpr int kTimes = 2000;
  std::atomic<int> begun = 0;
  std::atomic<int> done = 0;
  std::thread other([&] {
    for (int i = 1; i <= kTimes; ++i) {
      while (begun.load() < i) {
      }
      EXPECT_TRUE(set_aside(path));
      done.store(i);
    }
  });
  int refused = 0;
  for (int i = 1; i <= kTimes; ++i) {
    write(path, trace::file_magic());
    begun.store(i);
    for (int look = 0; look < 20; ++look) refused += may_write(path, "run.cairn", true) ? 0 : 1;
    while (done.load() < i) {
    }
  }
  other.join();
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace cairn::spool
