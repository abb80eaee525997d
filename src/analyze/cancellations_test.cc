// Messages that were cancelled, and which messages the others' receives are of then: made-up ranks.
#include "analyze/cancellations.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyze/messages.h"
#include "analyze/paired_calls.h"
#include "analyze/repeatable.h"
#include "analyze/sources.h"
#include "spec/ids.h"
#include "spec/spec.h"
#include "trace/testing/synthetic.h"
#include "trace/testing/synthetic_parts.h"

namespace cairn::analyze {
namespace {

using trace::Atom;
using trace::synthetic::constant;
namespace id = spec::constant_id;

constexpr Atom kWorld = constant(id::k_COMM_WORLD);
constexpr Atom kAny = constant(id::k_ANY_SOURCE);
constexpr Atom kInt = constant(id::k_INT);
const std::vector<Atom> kAsAsked{trace::kImplied};
const std::vector<Atom> kIgnored{constant(id::k_STATUS_IGNORE)};
const std::vector<Atom> kCancelled{trace::kImplied, trace::kImplied, trace::kImplied, trace::kImplied, 1};
const std::vector<Atom> kIgnoredAndCancelled{
    constant(id::k_STATUS_IGNORE), trace::kImplied, trace::kImplied, trace::kImplied, trace::kImplied, 1};
const std::vector<Atom> kBuffer{trace::kStack, 0, -64};

trace::Row row_of(const char *function, std::vector<std::vector<Atom>> fields) {
  trace::Row row;
  row.function = spec::find_function(function)->id;
  row.site = 1;
  for (auto &atoms : fields) row.fields.push_back({false, std::move(atoms), {}});
  return row;
}

/// Calls of one rank; a request is told by its number.
class Rank {
 public:
  Rank &call(const char *function, std::vector<std::vector<Atom>> fields) {
    recording_.call(row_of(function, std::move(fields)));
    return *this;
  }
  Rank &isend(Atom to, Atom tag, Atom request) {
    return call("MPI_Isend", {kBuffer, {1}, {kInt, 0}, {to}, {tag}, {kWorld}, {1, request}});
  }
  Rank &irecv(Atom from, Atom tag, Atom request) {
    return call("MPI_Irecv", {kBuffer, {1}, {kInt, 0}, {from}, {tag}, {kWorld}, {1, request}});
  }
  Rank &make_send(Atom to, Atom tag, Atom request) {
    return call("MPI_Send_init", {kBuffer, {1}, {kInt, 0}, {to}, {tag}, {kWorld}, {1, request}});
  }
  Rank &start_both() { return call("MPI_Startall", {{2}, {1, 0, 1, 1}}); }
  Rank &recv(Atom from, Atom tag) {
    return call("MPI_Recv", {kBuffer, {1}, {kInt, 0}, {from}, {tag}, {kWorld}, kAsAsked});
  }
  Rank &cancel(Atom request) { return call("MPI_Cancel", {{1, request}}); }
  Rank &wait(Atom request, std::vector<Atom> status) { return call("MPI_Wait", {{1, request}, std::move(status)}); }
  [[nodiscard]] trace::ProcessRecord record(uint32_t rank, uint32_t ranks) const {
    return trace::synthetic::single_thread(rank, ranks, recording_, rank + 1);
  }

 private:
  trace::synthetic::Recording recording_;
};

trace::Trace traced(const std::vector<Rank> &ranks) {
  std::optional<trace::Part> part;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    trace::Part next = *trace::Part::of(ranks[rank].record(rank, static_cast<uint32_t>(ranks.size())));
    part = part ? *trace::Part::merge(*std::move(part), std::move(next)) : std::move(next);
  }
  return *trace::Trace::from_bytes(*part->to_file({"command", "mpi", "cairn", "none", "complete", 1, 2}), "test");
}

/// "0:3>1:0" of a message that call 3 of rank 0 sent and call 0 of rank 1 received; "0:3>" and ">1:0" of what is left.
class Told : public Arrivals {
 public:
  void message(const Edge &edge) override {
    lines.push_back(place(edge.from) + ">" + place(edge.to) + (edge.exact ? "" : "?"));
  }
  void unmatched(const Unmatched &left) override {
    lines.push_back((left.sends ? place(left.call) + ">" : ">" + place(left.call)) + (left.exact ? "" : "?"));
  }
  [[nodiscard]] bool wants_untimed() const override { return true; }
  [[nodiscard]] bool wants_meetings() const override { return false; }
  std::vector<std::string> lines;

 private:
  static std::string place(const CallTime &call) { return std::to_string(call.rank) + ":" + std::to_string(call.call); }
};
using Lines = std::vector<std::string>;

Lines told(const std::vector<Rank> &ranks, MessageCounts *counts = nullptr) {
  const trace::Trace trace = traced(ranks);
  const auto messages = Messages::of(trace, Sources(trace, Sources::Look::in_trace_only));
  EXPECT_TRUE(messages.has_value());
  Told arrivals;
  const auto found = messages->replay(&arrivals);
  EXPECT_TRUE(found.has_value());
  if (counts != nullptr) *counts = *found;
  return arrivals.lines;
}

TEST(Cancellations, AreKnownWhereMessagesBegin) {
  Rank rank;
  rank.irecv(1, 5, 0).isend(1, 6, 1).cancel(0).cancel(1).wait(0, kAsAsked).wait(1, kCancelled);
  rank.isend(1, 6, 1).irecv(kAny, 5, 0).cancel(0).wait(1, kCancelled).wait(0, kIgnoredAndCancelled);
  rank.irecv(1, 7, 0).cancel(0);
  const Cancellations found(traced({rank, Rank()}), 0);
  using Came = Cancellation::Came;
  EXPECT_EQ(found.begun_by(0)->came, Came::complete);
  EXPECT_TRUE(found.begun_by(0)->receive);
  EXPECT_EQ(found.begun_by(1)->came, Came::cancelled);
  EXPECT_FALSE(found.begun_by(1)->receive);
  EXPECT_EQ(found.begun_by(6), nullptr) << "nobody asked for it; what its status says is what lay there";
  EXPECT_TRUE(found.is_cancelled(7));
  EXPECT_EQ(found.begun_by(11)->came, Came::unknown);
  EXPECT_EQ(found.asked_by_thread(0, 2)->came, Came::complete);
  EXPECT_EQ(found.asked_by_thread(0, 3)->came, Came::cancelled);
  EXPECT_EQ(found.begun_by_thread(0, 7)->came, Came::cancelled);
  EXPECT_TRUE(Cancellations(traced({rank, Rank()}), 1).empty());
}

TEST(Cancellations, TellStartsOfARequestApart) {
  Rank rank;
  rank.make_send(1, 5, 0).make_send(1, 6, 1).start_both().cancel(1).wait(0, kAsAsked).wait(1, kCancelled);
  rank.start_both().cancel(1).wait(0, kAsAsked).wait(1, kAsAsked);
  const Cancellations found(traced({rank, Rank()}), 0);
  EXPECT_EQ(found.begun_by(2, 0), nullptr);
  EXPECT_TRUE(found.is_cancelled(2, 1));
  EXPECT_TRUE(found.begun_by(2, 1)->persistent);
  EXPECT_FALSE(found.is_cancelled(6, 1));
  EXPECT_NE(found.begun_by(6, 1), nullptr);
}

TEST(Cancellations, OfSendsLeaveTheirReceivesToWhatIsSentBehindThem) {
  Rank first;
  first.isend(1, 5, 0).isend(1, 5, 1).cancel(0).wait(0, kIgnoredAndCancelled).wait(1, kAsAsked);
  first.make_send(1, 6, 0).make_send(1, 6, 1).start_both().cancel(0).wait(0, kCancelled).wait(1, kAsAsked);
  Rank second;
  second.recv(0, 5).recv(0, 6);
  MessageCounts counts;
  EXPECT_EQ(told({first, second}, &counts), (Lines{"0:1>1:0", "0:7>1:1"}));
  EXPECT_EQ(counts.cancelled, 2U);
}

TEST(Cancellations, OfReceivesThatCameTooLateChangeNothing) {
  for (const auto &status : {kAsAsked, kIgnored}) {
    Rank first;
    first.isend(1, 5, 0).isend(1, 5, 1).wait(0, kAsAsked).wait(1, kAsAsked);
    Rank second;
    second.irecv(0, 5, 0).cancel(0).wait(0, status).recv(0, 5);
    EXPECT_EQ(told({first, second}), (Lines{"0:0>1:2", "0:1>1:3"}));
  }
}

TEST(Cancellations, OfReceivesLeaveTheirMessageToOthers) {
  Rank first;
  first.isend(1, 5, 0).wait(0, kAsAsked);
  Rank second;
  second.irecv(0, 5, 0).irecv(kAny, 5, 1).cancel(0).cancel(1).wait(1, kCancelled).wait(0, kIgnoredAndCancelled);
  second.recv(0, 5);
  EXPECT_EQ(told({first, second}), (Lines{"0:0>1:6"}));
}

TEST(Cancellations, AreChanceWhereRequestsArePersistent) {
  Rank first;
  first.irecv(1, 5, 0).cancel(0).wait(0, kCancelled);
  EXPECT_EQ(uncertain_cancels(traced({first, Rank()}), true), 0U);
  EXPECT_EQ(uncertain_cancels(traced({first, Rank()}), false), 1U);
  Rank second;
  second.make_send(1, 5, 0).call("MPI_Start", {{1, 0}}).cancel(0).wait(0, kAsAsked);
  EXPECT_EQ(uncertain_cancels(traced({second, Rank()}), true), 1U);
}

/// Pairs two calls of one rank.
class PairedCancellations : public testing::Test {
 protected:
  [[nodiscard]] bool same(const char *function, std::vector<std::vector<Atom>> first,
                          std::vector<std::vector<Atom>> second) {
    first.push_back({0});
    second.push_back({0});
    const trace::Row a = row_of(function, std::move(first));
    const trace::Row b = row_of(function, std::move(second));
    return pair_calls({a, scope_}, {b, scope_}, &meanings_).differ.empty();
  }
  bool irecv(Atom tag, Atom other_tag) {
    return same("MPI_Irecv", {kBuffer, {1}, {kInt, 0}, {1}, {tag}, {kWorld}, {1, 0}},
                {kBuffer, {1}, {kInt, 0}, {1}, {other_tag}, {kWorld}, {1, 0}});
  }
  bool wait(std::vector<Atom> status, std::vector<Atom> other) {
    return same("MPI_Wait", {{1, 0}, std::move(status)}, {{1, 0}, std::move(other)});
  }
  RowScope scope_{{{}, {0, 16, 0}}, 0};
  Meanings meanings_;
};

TEST_F(PairedCancellations, AreTheSameUnderNobodysTag) {
  EXPECT_FALSE(irecv(5, 6));
  EXPECT_TRUE(irecv(5, kNobodysTag));
  EXPECT_TRUE(wait({3, 4, trace::kImplied, 0, 1}, kCancelled)) << "the rest means nothing";
  EXPECT_TRUE(irecv(5, kNobodysTag));
  EXPECT_FALSE(wait(kAsAsked, kAsAsked)) << "nobody can have heard it";
}

}  // namespace
}  // namespace cairn::analyze
