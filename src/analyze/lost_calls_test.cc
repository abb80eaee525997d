#include "analyze/lost_calls.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn::analyze {
namespace {

bool breaks(const std::string &patterns) {
  return breaks_matching({"a call was left out on request: --exclude " + patterns, 3, false, true});
}

TEST(LostCalls, StandInTheWayWhereMessagesOrObjectsHangOnThem) {
  for (const char *patterns :
       {"MPI_Send", "MPI_*send", "MPI_Wait*", "MPI_Irecv", "MPI_Comm_dup", "MPI_Comm_free", "MPI_Ibarrier",
        "MPI_Win_fence", "MPI_*", "comm:a n*", "MPI_Comm_rank,MPI_Recv", "MPI_Mprobe", "MPI_*probe"}) {
    EXPECT_TRUE(breaks(patterns)) << patterns;
  }
  for (const char *patterns : {"MPI_Comm_rank", "MPI_Comm_rank,MPI_Wtime", "MPI_Barrier", "MPI_Allreduce", "MPI_Iprobe",
                               "MPI_Probe", "MPI_Get_count", "nothing"}) {
    EXPECT_FALSE(breaks(patterns)) << patterns;
  }
}

TEST(LostCalls, OfOtherReasonsAreTakenForAnyCalls) {
  EXPECT_TRUE(breaks_matching({"a call was left out on request: tracing was off", 3, false, true}));
  EXPECT_TRUE(breaks_matching({"memory limit reached", 0, true, false}));
  EXPECT_FALSE(breaks_matching({"memory limit reached: segments went to the spool", 0, false, false}));
}

}  // namespace
}  // namespace cairn::analyze
