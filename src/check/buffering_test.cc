#include "check/buffering.h"

#include <gtest/gtest.h>

#include <string>

#include "check/sites_testing.h"

namespace cairn::check {
namespace {

uint32_t function(const std::string &name) {
  for (const spec::Function &each : spec::functions()) {
    if (each.name == name) return each.id;
  }
  return UINT32_MAX;
}

/// Calls by (rank, number), each at a site of its own.
class BufferingTest : public testing::Test {
 protected:
  static analyze::CallTime at(uint32_t rank, uint64_t call, const char *name) {
    analyze::CallTime made;
    made.rank = rank;
    made.call = call;
    made.function = function(name);
    made.site = static_cast<uint32_t>(call);
    return made;
  }
  void send(const analyze::CallTime &from, const analyze::CallTime &posted, const analyze::CallTime &to,
            bool anybody = false) {
    analyze::Edge edge;
    edge.from = from;
    edge.posted = posted;
    edge.to = to;
    edge.anybody = anybody;
    buffering.message(edge);
  }
  void send(const analyze::CallTime &from, const analyze::CallTime &to) { send(from, to, to); }
  void meet(const std::vector<analyze::CallTime> &calls, const char *name) {
    analyze::Meeting meeting;
    meeting.operation = function(name);
    std::vector<uint32_t> members;
    for (const analyze::CallTime &call : calls) {
      meeting.begins.push_back(call);
      meeting.came.push_back(true);
      members.push_back(call.rank);
    }
    buffering.meeting(meeting, members);
  }
  /// What was found, without texts: "0 5, 1 5" are the calls of two ranks, "perhaps 0 5, 1 5" of one that is not sure.
  std::vector<std::string> found() {
    EXPECT_TRUE(buffering.find(&findings));
    std::vector<std::string> all;
    for (const Finding &each : findings.take()) {
      std::string text = each.sure ? "" : "perhaps ";
      text += std::to_string(each.first.rank) + " " + std::to_string(*each.first.call);
      if (each.other_first) {
        text += ", " + std::to_string(each.other_first->rank) + " " + std::to_string(*each.other_first->call);
      }
      all.push_back(text);
    }
    return all;
  }

  trace::Trace trace = trace_of_sites(32);
  analyze::Sources sources{trace, analyze::Sources::Look::in_trace_only};
  Findings findings{sources};
  Buffering buffering{[](uint32_t rank) { return rank != 9; }};
};
using Found = std::vector<std::string>;

TEST_F(BufferingTest, TwoThatSendFirst) {
  send(at(0, 5, "MPI_Send"), at(1, 6, "MPI_Recv"));
  send(at(1, 5, "MPI_Send"), at(0, 6, "MPI_Recv"));
  EXPECT_EQ(found(), (Found{"0 5, 1 5"}));
}

TEST_F(BufferingTest, OneThatReceivesFirst) {
  send(at(0, 5, "MPI_Send"), at(1, 5, "MPI_Recv"));
  send(at(1, 6, "MPI_Send"), at(0, 6, "MPI_Recv"));
  send(at(0, 7, "MPI_Sendrecv"), at(1, 7, "MPI_Sendrecv"));
  send(at(1, 7, "MPI_Sendrecv"), at(0, 7, "MPI_Sendrecv"));
  EXPECT_EQ(found(), Found());
}

TEST_F(BufferingTest, AReceiveThatIsPostedInTime) {
  send(at(0, 5, "MPI_Send"), at(1, 4, "MPI_Irecv"), at(1, 6, "MPI_Wait"));
  send(at(1, 5, "MPI_Send"), at(0, 6, "MPI_Recv"));
  EXPECT_EQ(found(), Found());
}

TEST_F(BufferingTest, WhatFollowsACycleIsFoundToo) {
  for (uint64_t turn = 0; turn < 20; turn += 2) {
    send(at(0, turn, "MPI_Send"), at(1, turn + 1, "MPI_Recv"));
    send(at(1, turn, "MPI_Send"), at(0, turn + 1, "MPI_Recv"));
  }
  EXPECT_EQ(found().size(), 10U);
}

TEST_F(BufferingTest, ABarrierInBetween) {
  send(at(0, 5, "MPI_Send"), at(2, 7, "MPI_Recv"));
  meet({at(0, 6, "MPI_Barrier"), at(1, 6, "MPI_Barrier"), at(2, 6, "MPI_Barrier")}, "MPI_Barrier");
  EXPECT_EQ(found(), (Found{"0 5, 2 6"}));
}

TEST_F(BufferingTest, ARootMayNotWait) {
  send(at(0, 5, "MPI_Send"), at(1, 7, "MPI_Recv"));
  meet({at(0, 6, "MPI_Bcast"), at(1, 6, "MPI_Bcast")}, "MPI_Bcast");
  EXPECT_EQ(found(), (Found{"perhaps 0 5, 1 6"}));
}

TEST_F(BufferingTest, WhoeverHearsAnybodyMayHearAnother) {
  send(at(0, 5, "MPI_Send"), at(1, 6, "MPI_Recv"), at(1, 6, "MPI_Recv"), true);
  send(at(1, 5, "MPI_Send"), at(0, 6, "MPI_Recv"));
  EXPECT_EQ(found(), (Found{"perhaps 0 5, 1 5"}));
}

TEST_F(BufferingTest, NonblockingSendsWaitWhereTheyAreWaitedFor) {
  const auto isend = [&](uint32_t from, uint32_t to, const char *completes) {
    send(at(from, 5, "MPI_Isend"), at(to, 7, "MPI_Recv"));
    analyze::Delivery delivery;
    delivery.sent = at(from, 5, "MPI_Isend");
    delivery.completed = at(from, 6, completes);
    delivery.posted = at(to, 7, "MPI_Recv");
    buffering.delivered(delivery);
  };
  isend(0, 1, "MPI_Wait");
  isend(1, 0, "MPI_Wait");
  isend(2, 3, "MPI_Waitany");
  isend(3, 2, "MPI_Wait");
  isend(4, 5, "MPI_Test");
  isend(5, 4, "MPI_Wait");
  EXPECT_EQ(found(), (Found{"0 6, 1 6", "perhaps 2 6, 3 6"}));
}

TEST_F(BufferingTest, OfWhomNothingIsKnown) {
  send(at(0, 5, "MPI_Send"), at(9, 6, "MPI_Recv"));
  send(at(9, 5, "MPI_Send"), at(0, 6, "MPI_Recv"));
  send(at(1, 5, "MPI_Bsend"), at(2, 6, "MPI_Recv"));
  send(at(2, 5, "MPI_Send"), at(1, 6, "MPI_Recv"));
  EXPECT_EQ(found(), Found());
}

TEST_F(BufferingTest, WhatIsStartedMayComeFromABuffer) {
  for (const uint32_t rank : {0U, 1U}) {
    analyze::Delivery delivery;
    delivery.sent = at(rank, 5, "MPI_Start");
    delivery.completed = at(rank, 6, "MPI_Wait");
    delivery.posted = at(rank, 7, "MPI_Recv");
    buffering.called(rank, function(rank == 0 ? "MPI_Bsend_init" : "MPI_Send_init"));
    send(delivery.sent, delivery.posted);
    buffering.delivered(delivery);
  }
  EXPECT_EQ(found(), (Found{"1 6"}));
}

TEST_F(BufferingTest, ToItself) {
  send(at(3, 5, "MPI_Send"), at(3, 6, "MPI_Recv"));
  EXPECT_EQ(found(), (Found{"3 5"}));
}

}  // namespace
}  // namespace cairn::check
