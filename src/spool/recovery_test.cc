#include "spool/recovery.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "mpi/store/arena_file.h"

namespace cairn::spool {
namespace {

/// Killed when it had its arena and nothing in it: there is nothing to recover, and nothing is wrong.
TEST(Recovery, OfAProcessThatWasKilledWhileItAttached) {
  char folder[] = "/tmp/cairn-recovery-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    recorder::Config config;
    config.spool = folder;
    if (recorder::make_process(config) == nullptr) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFSIGNALED(status));
  size_t arenas = 0;
  for (const auto &file : std::filesystem::directory_iterator(folder)) {
    ++arenas;
    EXPECT_TRUE(recorder::is_arena(file.path()));
    const auto part = recover(file.path());
    ASSERT_TRUE(part) << part.error().message;
    EXPECT_TRUE(part->bytes.empty());
  }
  EXPECT_EQ(arenas, 1U);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cairn::spool
