// Traffic of small made-up traces: loops of 10^12 calls, names that change their meaning, filters, sizes.
#include "traffic/traffic.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>

#include "traffic/matrix.h"
#include "traffic/message_sizes.h"

namespace cairn::traffic {
namespace {

using trace::Atom;
using Arguments = std::map<std::string, std::vector<Atom>>;

Atom constant(std::string_view name) {
  for (const spec::Constant &each : spec::constants()) {
    if (each.name == name) return trace::special(static_cast<uint16_t>(trace::kFirstConstant + each.id));
  }
  throw std::runtime_error("no such constant");
}

Bytes call(const char *name, uint32_t site, const Arguments &arguments, Atom result = 0) {
  const spec::Function *function = spec::find_function(name);
  trace::Row row;
  row.function = function->id;
  row.site = site;
  for (size_t i = 0; i < function->parameter_count; ++i) {
    const auto found = arguments.find(function->parameters[i].name);
    row.fields.emplace_back();
    if (found != arguments.end()) row.fields.back().atoms = found->second;
  }
  row.fields.push_back({false, {result}, {}});
  ByteWriter out;
  trace::pack_row(row, out);
  return out.take();
}

Arguments message(Atom count, Atom dest, Atom tag) {
  return {{"count", {count}},
          {"datatype", {constant("MPI_DOUBLE"), 0}},
          {"dest", {dest}},
          {"tag", {tag}},
          {"comm", {constant("MPI_COMM_WORLD")}}};
}
Arguments with_request(Arguments arguments, Atom number) {
  arguments["request"] = {1, number};
  return arguments;
}

/// A rank of two with these rows, and rules over them.
trace::ProcessRecord process(uint32_t rank, std::vector<Bytes> rows, std::vector<grammar::Body> rules) {
  trace::ProcessRecord made;
  made.rank = rank;
  made.size = 2;
  made.modules = {{{1, 2, 3}, "/app"}};
  trace::SequenceRecord sequence;
  sequence.sites = {{}, {0, 16, 0}, {0, 32, 0}};
  sequence.rows = std::move(rows);
  sequence.calls = *grammar::Grammar::from_rules(std::move(rules));
  made.sequences.push_back(std::move(sequence));
  return made;
}

trace::Trace trace_of(const std::vector<trace::ProcessRecord> &processes) {
  trace::Part all;
  for (const trace::ProcessRecord &each : processes) {
    auto part = trace::Part::of(each);
    EXPECT_TRUE(part.has_value()) << (part ? "" : part.error().message);
    all = *trace::Part::merge(std::move(all), std::move(*part));
  }
  const Bytes bytes = *all.to_file({});
  // For who wants to see what the verbs make of it.
  if (const char *keep = std::getenv("CAIRN_KEEP_TRACE")) {
    std::ofstream(keep, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  return std::move(*trace::Trace::from_bytes(bytes, "test.cairn"));
}

struct Look {
  explicit Look(const trace::Trace &of, const analyze::FilterText &text = {})
      : trace(&of),
        sources(of, analyze::Sources::Look::in_trace_only),
        filter(*analyze::make_filter(text, of, sources)) {}
  Matrix matrix(By by = By::nothing) const { return *matrix_of(*trace, sources, filter, by, false); }
  const trace::Trace *trace;
  analyze::Sources sources;
  analyze::Filter filter;
};

constexpr uint64_t kTurns = 1'000'000'000'000;

/// Both ranks send 1, 2 or 3 doubles to rank 1, under 6 tags; the loop has 10^12 turns of 6 calls.
std::vector<trace::ProcessRecord> long_loops() {
  std::vector<trace::ProcessRecord> processes;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    std::vector<Bytes> rows;
    grammar::Body turn;
    for (Atom i = 0; i < 6; ++i) {
      rows.push_back(call("MPI_Send", 1, message(1 + i % 3, 1, i)));
      turn.push_back({static_cast<uint32_t>(i), false, 1});
    }
    processes.push_back(process(rank, rows, {{{1, true, kTurns}}, turn}));
  }
  return processes;
}

TEST(Traffic, OfALongLoopCostsNoTurns) {
  const trace::Trace trace = trace_of(long_loops());
  const Look look(trace);
  const Matrix matrix = look.matrix();
  EXPECT_EQ(matrix.seen.expanded_ranks, 0U);
  ASSERT_EQ(matrix.groups.size(), 1U);
  ASSERT_EQ(matrix.groups[0].cells.size(), 2U);
  EXPECT_EQ(matrix.groups[0].cells[0].to, 1U);
  EXPECT_EQ(matrix.groups[0].cells[0].amount.messages, 6 * kTurns);
  EXPECT_EQ(matrix.groups[0].cells[0].amount.bytes, 96 * kTurns);
  const auto sizes = sizes_of(trace, look.sources, look.filter, SizesBy::operation, true, true);
  ASSERT_TRUE(sizes.has_value());
  ASSERT_EQ(sizes->groups.size(), 1U);
  ASSERT_EQ(sizes->groups[0].lines.size(), 3U);
  for (const SizeLine &line : sizes->groups[0].lines) EXPECT_EQ(line.messages, 4 * kTurns);
  const Look tagged(trace, {.ranks = "0", .tags = {"4-9"}});
  ASSERT_EQ(tagged.matrix().groups[0].cells.size(), 1U);
  EXPECT_EQ(tagged.matrix().groups[0].cells[0].amount.messages, 2 * kTurns);
  EXPECT_EQ(tagged.matrix().groups[0].cells[0].amount.bytes, 40 * kTurns);
}

TEST(Traffic, RanksToWhomNamesMeanTheSameEachSendFromTheirPlace) {
  std::vector<trace::ProcessRecord> processes;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Arguments in_copy = message(1, 1 - rank, 0);
    in_copy["comm"] = {1};
    processes.push_back(
        process(rank,
                {call("MPI_Comm_dup", 1,
                      {{"comm", {constant("MPI_COMM_WORLD")}}, {"newcomm", {1, 0, static_cast<Atom>(rank), 0}}}),
                 call("MPI_Send", 2, in_copy)},
                {{{0, false, 1}, {1, false, 3}}}));
  }
  const trace::Trace trace = trace_of(processes);
  const Matrix matrix = Look(trace).matrix();
  EXPECT_EQ(matrix.seen.expanded_ranks, 0U);
  ASSERT_EQ(matrix.groups[0].cells.size(), 2U);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(matrix.groups[0].cells[rank].from, rank);
    EXPECT_EQ(matrix.groups[0].cells[rank].to, 1 - rank);
    EXPECT_EQ(matrix.groups[0].cells[rank].amount.messages, 3U);
  }
}

TEST(Traffic, LeavesOutMessagesThatWereCancelled) {
  const auto wait = [](Atom request, Atom cancelled) {
    const std::vector<Atom> status(4, trace::kImplied);
    Arguments arguments{{"request", {1, request}}, {"status", status}};
    arguments["status"].push_back(cancelled);
    return call("MPI_Wait", 2, arguments);
  };
  const std::vector<Bytes> rows = {
      call("MPI_Isend", 1, with_request(message(10, 1, 5), 0)),
      call("MPI_Cancel", 2, {{"request", {1, 0}}}),
      wait(0, 1),
      wait(0, 0),
      call("MPI_Send_init", 1, with_request(message(100, 1, 6), 1)),
      call("MPI_Send_init", 1, with_request(message(1000, 1, 7), 2)),
      call("MPI_Startall", 1, {{"count", {2}}, {"array_of_requests", {1, 1, 1, 2}}}),
      call("MPI_Cancel", 2, {{"request", {1, 2}}}),
      wait(1, 0),
      wait(2, 1),
  };
  // One is cancelled, one too late, one nobody cancels; of two that are started together the second is.
  const std::vector<uint32_t> order = {0, 1, 2, 0, 1, 3, 0, 3, 4, 5, 6, 7, 8, 9};
  grammar::Body calls;
  for (const uint32_t each : order) calls.push_back({each, false, 1});
  const trace::Trace trace = trace_of({process(0, rows, {calls})});
  const Matrix matrix = Look(trace).matrix();
  EXPECT_EQ(matrix.seen.expanded_ranks, 1U);
  ASSERT_EQ(matrix.groups[0].cells.size(), 1U);
  EXPECT_EQ(matrix.groups[0].cells[0].amount.messages, 3U);
  EXPECT_EQ(matrix.groups[0].cells[0].amount.bytes, 8U * (10 + 10 + 100));
}

/// A persistent request that is made, started twice and freed, then made anew under the same name.
trace::ProcessRecord restarted(Atom second_count) {
  const std::vector<Bytes> rows = {
      call("MPI_Send_init", 1, with_request(message(10, 1, 5), 0)),
      call("MPI_Start", 2, {{"request", {1, 0}}}),
      call("MPI_Request_free", 1, {{"request", {1, 0}}}),
      call("MPI_Send_init", 1, with_request(message(second_count, 1, 6), 0)),
  };
  return process(0, rows, {{{0, false, 1}, {1, false, 2}, {2, false, 1}, {3, false, 1}, {1, false, 1}}});
}

TEST(Traffic, FollowsNamesThatAreGivenAgain) {
  const trace::Trace trace = trace_of({restarted(20)});
  const Matrix matrix = Look(trace).matrix();
  EXPECT_EQ(matrix.seen.expanded_ranks, 1U);
  ASSERT_EQ(matrix.groups[0].cells.size(), 1U);
  EXPECT_EQ(matrix.groups[0].cells[0].amount.messages, 3U);
  EXPECT_EQ(matrix.groups[0].cells[0].amount.bytes, (10U + 10U + 20U) * 8U);
}

TEST(Traffic, ChoosesStartsByTheirRequests) {
  const trace::Trace trace = trace_of({restarted(20)});
  EXPECT_EQ(Look(trace, {.tags = {"5"}}).matrix().groups[0].cells[0].amount.messages, 2U);
  EXPECT_EQ(Look(trace, {.tags = {"6"}}).matrix().groups[0].cells[0].amount.bytes, 160U);
  EXPECT_TRUE(Look(trace, {.peers = {"0"}}).matrix().groups[0].cells.empty());
  EXPECT_TRUE(Look(trace, {.functions = {"MPI_Send_init"}}).matrix().groups[0].cells.empty());
}

TEST(Traffic, OfCallsThatFailedOrHadNoPartnerIsNone) {
  const trace::Trace trace = trace_of({process(
      0,
      {call("MPI_Send", 1, message(1, constant("MPI_PROC_NULL"), 0)), call("MPI_Send", 1, message(1, 1, 0), 15),
       call("MPI_Send", 2, message(1, 1, 0), trace::kNoReturn), call("MPI_Send", 2, message(1, 9, 0))},
      {{{0, false, 1}, {1, false, 1}, {3, false, 1}, {2, false, 1}}})});
  const Matrix matrix = Look(trace).matrix(By::site);
  ASSERT_EQ(matrix.groups.size(), 1U);
  EXPECT_EQ(matrix.groups[0].name, "app+0x20");
  ASSERT_EQ(matrix.groups[0].cells.size(), 1U);
  EXPECT_EQ(matrix.groups[0].cells[0].amount.messages, 1U);  // that which never returned
  EXPECT_EQ(matrix.seen.nowhere, 1U);                        // there is no rank 9
}

}  // namespace
}  // namespace cairn::traffic
