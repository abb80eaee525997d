// What filters are made of words, and which calls of a small trace they want.
#include "analyze/wanted_calls.h"

#include <gtest/gtest.h>

#include <map>

#include "analyze/outcome.h"
#include "analyze/sequence_of.h"
#include "trace/read/edit.h"

namespace cairn::analyze {
namespace {

using trace::Atom;

Atom constant(std::string_view name) {
  for (const spec::Constant &each : spec::constants()) {
    if (each.name == name) return trace::special(static_cast<uint16_t>(trace::kFirstConstant + each.id));
  }
  throw std::runtime_error("no such constant");
}

class Wanted : public testing::Test {
 protected:
  Wanted() : trace_(make()), sources_(trace_, Sources::Look::in_trace_only) {}

  using Arguments = std::map<std::string, std::vector<Atom>>;

  static trace::Row call(const char *name, uint32_t site, const Arguments &arguments, std::vector<Atom> result = {0}) {
    const spec::Function *function = spec::find_function(name);
    trace::Row row;
    row.function = function->id;
    row.site = site;
    for (size_t i = 0; i < function->parameter_count; ++i) {
      const auto found = arguments.find(function->parameters[i].name);
      row.fields.emplace_back();
      if (found != arguments.end()) row.fields.back().atoms = found->second;
    }
    row.fields.emplace_back();
    row.fields.back().atoms = std::move(result);
    return row;
  }

  static trace::Trace make() {
    const Atom world = constant("MPI_COMM_WORLD");
    const Atom any = constant("MPI_ANY_SOURCE");
    const Atom any_tag = constant("MPI_ANY_TAG");
    const std::vector<trace::Row> rows = {
        call("MPI_Send", 1, {{"dest", {3}}, {"tag", {7}}, {"comm", {world}}}),
        call("MPI_Send", 2, {{"dest", {constant("MPI_PROC_NULL")}}, {"tag", {8}}, {"comm", {4}}}),
        call("MPI_Recv", 2,
             {{"source", {any}}, {"tag", {any_tag}}, {"comm", {world}}, {"status", {5, 9, 0, trace::kImplied, 0}}}),
        call("MPI_Recv", 3, {{"source", {any}}, {"tag", {7}}, {"comm", {world}}}, {constant("MPI_ERR_TRUNCATE"), 15}),
        call("MPI_Sendrecv", 3,
             {{"dest", {1}}, {"sendtag", {1}}, {"source", {2}}, {"recvtag", {2}}, {"comm", {world}}}),
        call("MPI_Put", 4, {{"target_rank", {3}}, {"win", {2, 0}}}),
        call("MPI_Win_lock", 4, {{"rank", {6}}, {"win", {2, 0}}}),
        call("MPI_Barrier", 4, {{"comm", {4}}}, {trace::kNoReturn}),
        call("MPI_Wtime", 0, {}),
        call("MPI_Comm_dup", 1, {{"comm", {world}}, {"newcomm", {4, 0, 0, 0}}}),
        call("MPI_Barrier", 1, {}, {}),  // stands without arguments
        call("MPI_Waitall", 0,
             {{"array_of_statuses", {trace::kImplied, trace::kImplied, 0, 8, 0, 4, 9, 0, trace::kImplied, 0}}}),
        call("MPI_Wait", 0, {{"status", {constant("MPI_STATUS_IGNORE")}}}),
    };
    trace::ProcessRecord process;
    process.modules = {{{1, 2, 3}, "/bin/app"}};
    // Site 4 was called from where site 1 is.
    process.frames = {{0, 0x10, 0}};
    trace::SequenceRecord sequence = sequence_of(rows);
    sequence.sites = {{}, {0, 0x10, 0}, {0, 0x20, 0}, {0, 0x30, 0}, {0, 0x40, 1}};
    process.sequences = {sequence};
    auto part = trace::Part::of(process);
    auto plain = trace::Trace::from_bytes(*part->to_file({}), "test");
    if (!plain) throw std::runtime_error(plain.error().message);
    const Bytes file = trace::with_sources(*plain, {{{0, 0x10, 0}, {"main", "/src/main.c", 10}},
                                                    {{0, 0x20, 0}, {"mesh::halo(int, double)", "/src/halo.cc", 20}},
                                                    {{0, 0x30, 0}, {"mesh::halo(int, double)", "/src/halo.cc", 30}}});
    auto trace = trace::Trace::from_bytes(file, "test");
    if (!trace) throw std::runtime_error(trace.error().message);
    return std::move(*trace);
  }

  /// The numbers of the calls that are wanted, in order, as "0 3 4"; or the error and its hint.
  std::string wants(const FilterText &text) {
    const auto filter = make_filter(text, trace_, sources_);
    if (!filter) return filter.error().message + "; " + filter.error().hint;
    const WantedCalls wanted(trace_, sources_, *filter);
    std::string numbers;
    CommunicatorNames names;
    for (uint32_t row = 0; row < trace_.class_view(0).rows; ++row) names.see(trace_.row(0, row, 0));
    for (uint32_t row = 0; row < trace_.class_view(0).rows; ++row) {
      const trace::Row call = trace_.row(0, row, 0);
      if (wanted.wants(0, call, &names)) numbers += (numbers.empty() ? "" : " ") + std::to_string(row);
      EXPECT_TRUE(!wanted.wants(0, call, &names) || wanted.may_want(0, call.function, call.site));
    }
    return numbers;
  }

  static FilterText functions(const std::string &words) { return {.functions = {words}}; }
  static FilterText sites(const std::string &words) { return {.sites = {words}}; }
  static FilterText peers(const std::string &words) { return {.peers = {words}}; }
  static FilterText tags(const std::string &words) { return {.tags = {words}}; }
  static FilterText comms(const std::string &words) { return {.comms = {words}}; }
  static FilterText results(const std::string &words) { return {.results = {words}}; }

  trace::Trace trace_;
  Sources sources_;
};

TEST_F(Wanted, NothingSaidWantsAll) { EXPECT_EQ(wants({}), "0 1 2 3 4 5 6 7 8 9 10 11 12"); }

TEST_F(Wanted, FunctionsAreTakenAndLeftOut) {
  EXPECT_EQ(wants(functions("MPI_*end*")), "0 1 4");
  EXPECT_EQ(wants(functions("MPI_*end*,^MPI_Sendrecv")), "0 1");
  EXPECT_EQ(wants({.functions = {"^MPI_Sendrecv", "mpi_*send*"}}), "0 1");
  EXPECT_EQ(wants(functions("^MPI_Win_*,^MPI_?ut,^MPI_B*,^MPI_S*,^MPI_Comm_dup")), "2 3 8 11 12");
}

TEST_F(Wanted, SitesGoByManyNames) {
  EXPECT_EQ(wants(sites("halo.cc:20")), "1 2");
  EXPECT_EQ(wants(sites("halo.cc")), "1 2 3 4");
  EXPECT_EQ(wants(sites("/src/halo.cc:30")), "3 4");
  EXPECT_EQ(wants(sites("mesh::halo()")), "1 2 3 4");
  EXPECT_EQ(wants(sites("*::halo")), "1 2 3 4");
  EXPECT_EQ(wants(sites("mesh::halo(int, double),unknown")), "1 2 3 4 8 11 12");
  EXPECT_EQ(wants(sites("halo.cc:*,^*:30")), "1 2");
  EXPECT_EQ(wants(sites("app+0x20")), "1 2");
  EXPECT_EQ(wants(sites("^app")), "8 11 12");
}

TEST_F(Wanted, SitesAreThoseOfCallersToo) {
  EXPECT_EQ(wants(sites("main()")), "0 5 6 7 9 10");
  EXPECT_EQ(wants(sites("app+0x40")), "5 6 7");
  EXPECT_EQ(wants(sites("app+0x40,^main.c:10")), "");
}

TEST_F(Wanted, PeersAreThoseOfTheCallAndOfItsStatus) {
  EXPECT_EQ(wants(peers("3")), "0 5");
  EXPECT_EQ(wants(peers("1-2,6")), "4 6");
  EXPECT_EQ(wants(peers("1-2,^2")), "");
  EXPECT_EQ(wants(peers("5")), "2");
  EXPECT_EQ(wants(peers("4")), "11");
  EXPECT_EQ(wants(peers("any")), "2 3");
  EXPECT_EQ(wants(peers("MPI_ANY_SOURCE,mpi_proc_null")), "1 2 3");
  EXPECT_EQ(wants(peers("^any,^MPI_PROC_NULL,^0-5")), "6 7 8 9 10 12");
}

TEST_F(Wanted, TagsAreThoseOfTheCallAndOfItsStatus) {
  EXPECT_EQ(wants(tags("7")), "0 3");
  EXPECT_EQ(wants(tags("1,9")), "2 4 11");
  EXPECT_EQ(wants(tags("Any")), "2");
}

TEST_F(Wanted, CommunicatorsAreNamedAsTheyArePrinted) {
  EXPECT_EQ(wants(comms("MPI_COMM_WORLD")), "0 2 3 4 9");
  EXPECT_EQ(wants(comms("comm(0@0)")), "1 7 9");
  EXPECT_EQ(wants(comms("0@0")), "1 7 9");
  EXPECT_EQ(wants(comms("*@*,^MPI_COMM_WORLD")), "1 7");
  EXPECT_EQ(wants(comms("MPI_COMM_SELF")), "");
}

TEST_F(Wanted, ResultsAreClassesOfErrors) {
  EXPECT_EQ(wants({.errors = true}), "3 7");
  EXPECT_EQ(wants(results("MPI_ERR_*")), "3");
  EXPECT_EQ(wants(results("^MPI_SUCCESS")), "3 7 10");
  EXPECT_EQ(wants({.peers = {"any"}, .errors = true}), "3");
}

TEST_F(Wanted, ThreadsAreThoseOfTheTrace) {
  EXPECT_EQ(wants({.threads = "0"}), "0 1 2 3 4 5 6 7 8 9 10 11 12");
  EXPECT_EQ(wants({.threads = "^0"}), "");
  EXPECT_EQ(wants({.threads = "0-1"}), "there is no thread 1 in this trace; it holds 0");
}

TEST_F(Wanted, WrongWordsAreErrors) {
  EXPECT_EQ(wants(sites("halo.cc:21")), "no call of this trace was made at 'halo.cc:21'; did you mean halo.cc:20?");
  EXPECT_EQ(wants(sites("mian")), "no call of this trace was made at 'mian'; did you mean main?");
  EXPECT_EQ(wants(sites("qwertzuiop")),
            "no call of this trace was made at 'qwertzuiop'; places are named as in main.c:42, main.c, exchange or "
            "app+0x1234");
  EXPECT_EQ(wants(peers("MPI_PROC_NUL")), "--peer: 'MPI_PROC_NUL' is no list of ranks; did you mean MPI_PROC_NULL?");
  EXPECT_EQ(wants(peers("3-1")), "--peer: '3-1' is no list of ranks; write numbers as in --peer 0-7,12,any");
  EXPECT_EQ(wants(tags("MPI_ANY_SOURCE")),
            "--tag: 'MPI_ANY_SOURCE' is no list of tags; write numbers as in --tag 0-7,12,any");
  EXPECT_EQ(wants(tags("-1")), "--tag: '-1' is no list of tags; write numbers as in --tag 0-7,12,any");
  EXPECT_EQ(wants(tags("7,")), "--tag '7,' has an empty word; separate words by commas");
  EXPECT_EQ(wants(tags("^")), "--tag '^' has an empty word; separate words by commas");
  EXPECT_EQ(wants(comms("comm(0@1)")), "there is no communicator 'comm(0@1)' in this trace; did you mean comm(0@0)?");
  EXPECT_EQ(wants(results("MPI_ERR_TRUNC")), "no call returns 'MPI_ERR_TRUNC'; did you mean MPI_ERR_COUNT?");
  EXPECT_EQ(wants(functions("!MPI_Send")),
            "--function '!MPI_Send': what is to be left out has ^ before it; write --function '^MPI_Send'");
  EXPECT_EQ(wants({.threads = "x"}), "--thread: 'x' is no list of threads; write numbers as in --thread 0-7,12");
  EXPECT_EQ(wants({.ranks = "^0"}), "--rank ^0 leaves no rank; leave fewer out");
  EXPECT_EQ(wants({.ranks = "^1"}), "there is no rank 1 in this trace; it holds 0");
}

TEST_F(Wanted, FailuresAreFoundInTheRows) {
  const std::map<uint32_t, Failures> all = failures(trace_);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.begin()->first, spec::find_function("MPI_Recv")->id);
  EXPECT_EQ(all.begin()->second, (Failures{{"MPI_ERR_TRUNCATE", 1}}));
  EXPECT_EQ(may_fail(trace_, 0)[3], true);
  EXPECT_EQ(may_fail(trace_, 0)[7], false);
}

}  // namespace
}  // namespace cairn::analyze
