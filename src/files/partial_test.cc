#include "files/partial.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/test_folder.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;

void put(const fs::path &path) { std::ofstream(path) << "content"; }

std::vector<std::string> names_in(const fs::path &folder) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

using Names = std::vector<std::string>;

TEST(Partial, HasItsNameOnceAllIsThere) {
  const TestFolder folder;
  for (const bool is_folder : {false, true}) {
    const fs::path path = folder.path() / (is_folder ? "folder" : "file");
    auto partial = Partial::of(path, is_folder);
    ASSERT_TRUE(partial.has_value());
    EXPECT_FALSE(fs::exists(path));
    put(is_folder ? fs::path(partial->name()) / "within" : fs::path(partial->name()));
    ASSERT_TRUE(partial->finish().has_value());
    EXPECT_TRUE(fs::exists(is_folder ? path / "within" : path));
    EXPECT_FALSE(fs::exists(path.string() + ".partial"));
  }
}

TEST(Partial, IsDeletedUnlessItIsFinished) {
  const TestFolder folder;
  {
    const auto partial = Partial::of(folder.path() / "run", true);
    ASSERT_TRUE(partial.has_value());
    fs::create_directories(fs::path(partial->name()) / "a" / "b");
    put(fs::path(partial->name()) / "a" / "b" / "within");
  }
  EXPECT_EQ(names_in(folder.path()), Names{});
}

TEST(Partial, LeavesWhatHasTheName) {
  const TestFolder folder;
  put(folder.path() / "run");
  EXPECT_FALSE(Partial::of(folder.path() / "run").has_value());
  EXPECT_FALSE(Partial::of(folder.path() / "run", true).has_value());
  put(folder.path() / "other.partial");
  EXPECT_FALSE(Partial::of(folder.path() / "other").has_value());
  EXPECT_TRUE(fs::exists(folder.path() / "other.partial"));
}

TEST(Partial, FollowsALinkToAnEmptyFolder) {
  const TestFolder folder;
  fs::create_directory(folder.path() / "real");
  fs::create_directory_symlink("real", folder.path() / "link");
  auto run = Partial::of(folder.path() / "link/", true);
  ASSERT_TRUE(run.has_value());
  put(fs::path(run->name()) / "file");
  ASSERT_TRUE(run->finish().has_value());
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_TRUE(fs::exists(folder.path() / "real" / "file"));
  fs::create_directory_symlink("nowhere", folder.path() / "dangling");
  EXPECT_FALSE(Partial::of(folder.path() / "dangling", true).has_value());
}

/// What is there when a signal ends a process that `does` something in a folder.
template <typename Does>
Names left_by_signal(int signal, const Does &does) {
  const TestFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    does(folder.path());
    raise(signal);
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
  return names_in(folder.path());
}

TEST(Partial, IsDeletedBySignalsWithAllThatIsInIt) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Names left = left_by_signal(signal, [](const fs::path &folder) {
      put(folder / "mine");
      static const auto file = Partial::of(folder / "file");
      static const auto run = Partial::of(folder / "run", true);
      fs::create_directories(fs::path(run->name()) / "deep" / "deeper");
      for (int i = 0; i < 1000; ++i) put(fs::path(run->name()) / ("rank-" + std::to_string(i) + ".txt"));
      for (int i = 0; i < 300; ++i) put(fs::path(run->name()) / "deep" / "deeper" / std::to_string(i));
    });
    EXPECT_EQ(left, Names{"mine"});
  }
}

TEST(Partial, IsLeftBySignalsOnceItIsFinished) {
  const Names left = left_by_signal(SIGTERM, [](const fs::path &folder) {
    static auto run = Partial::of(folder / "run", true);
    static const auto later = Partial::of(folder / "later");
    (void)run->finish();
  });
  EXPECT_EQ(left, Names{"run"});
}

}  // namespace
}  // namespace cairn
