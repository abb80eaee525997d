#include "text/nearest.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> verbs = {"record", "info", "summary", "dump"};
  EXPECT_EQ(nearest("inof", verbs), "info");
  EXPECT_EQ(nearest("recrod", verbs), "record");
  EXPECT_EQ(nearest("DUMP", verbs), "dump");
  EXPECT_EQ(nearest("sumary", verbs), "summary");
  EXPECT_EQ(nearest("frobnicate", verbs), "");
  EXPECT_EQ(nearest("", verbs), "");
  EXPECT_EQ(nearest("x", {}), "");
}

TEST(Nearest, TheFirstOfEquallyNearWins) { EXPECT_EQ(nearest("bat", {"cat", "hat"}), "cat"); }

TEST(Glob, MatchesWholeNamesInEitherCase) {
  EXPECT_TRUE(glob_match("MPI_*send", "MPI_Isend"));
  EXPECT_TRUE(glob_match("MPI_*send", "MPI_Send"));
  EXPECT_FALSE(glob_match("MPI_*send", "MPI_Sendrecv"));
  EXPECT_TRUE(glob_match("mpi_?recv", "MPI_Irecv"));
  EXPECT_FALSE(glob_match("mpi_?recv", "MPI_Recv"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("**a**b**", "xxaxxbxx"));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("*a", "ab"));
}

}  // namespace
}  // namespace cairn
