// Call stacks: sites with callers, through merging, files and the text of a trace.
#include <gtest/gtest.h>

#include "trace/read/trace.h"
#include "trace/testing/plain_text.h"

namespace cairn::trace {
namespace {

/// One call from each of `callers.size()` stacks; a frame is (module, offset, caller).
ProcessRecord process_with(uint32_t rank, const std::vector<Module> &modules, const std::vector<Site> &frames,
                           const std::vector<Site> &sites) {
  ProcessRecord process;
  process.rank = rank;
  process.size = 2;
  process.modules = modules;
  process.frames = frames;
  SequenceRecord sequence;
  sequence.sites.push_back({});
  std::vector<grammar::Symbol> calls;
  for (uint32_t i = 0; i < sites.size(); ++i) {
    sequence.sites.push_back(sites[i]);
    ByteWriter row;
    pack_row({30, i + 1, 0, {}}, row);
    sequence.rows.push_back(row.take());
    sequence.stats.emplace_back();
    calls.push_back(i);
  }
  sequence.calls = grammar::Grammar::from_symbols(calls);
  process.sequences.push_back(std::move(sequence));
  return process;
}

const Module kApp = {{1, 2, 3}, "/app"};
const Module kLibrary = {{4, 5, 6}, "/library.so"};

Trace trace_of(const std::vector<ProcessRecord> &processes) {
  Part all;
  for (const ProcessRecord &process : processes) {
    Result<Part> part = Part::of(process);
    EXPECT_TRUE(part.has_value()) << (part ? "" : part.error().message);
    Result<Part> travelled = Part::parse(part->serialise());
    EXPECT_TRUE(travelled.has_value()) << (travelled ? "" : travelled.error().message);
    Result<Part> joined = Part::merge(std::move(all), std::move(*travelled));
    EXPECT_TRUE(joined.has_value()) << (joined ? "" : joined.error().message);
    all = std::move(*joined);
  }
  Result<Trace> trace = Trace::from_bytes(*all.to_file({}), "test.cairn");
  EXPECT_TRUE(trace.has_value()) << (trace ? "" : trace.error().message);
  return std::move(*trace);
}

/// Offsets from a site outwards.
std::vector<uint64_t> stack(const Trace &trace, Site site) {
  std::vector<uint64_t> offsets = {site.offset};
  for (; site.caller != 0; offsets.push_back(site.offset)) site = trace.all_sites()[site.caller - 1];
  return offsets;
}

// main (100) calls a() at 100 and b() at 110; both call send() at 20 and 21, and send() calls MPI at 5.
const std::vector<Site> kFrames = {{0, 100, 0}, {0, 20, 1}, {0, 110, 0}, {0, 21, 3}};
const std::vector<Site> kSites = {{1, 5, 2}, {1, 5, 4}, {1, 5, 0}};

TEST(Callers, StayWithTheirSites) {
  const Trace trace = trace_of({process_with(0, {kApp, kLibrary}, kFrames, kSites)});
  ASSERT_EQ(trace.class_count(), 1U);
  const std::vector<Site> sites = trace.sites(0);
  ASSERT_EQ(sites.size(), 4U);
  EXPECT_EQ(stack(trace, sites[1]), (std::vector<uint64_t>{5, 20, 100}));
  EXPECT_EQ(stack(trace, sites[2]), (std::vector<uint64_t>{5, 21, 110}));
  EXPECT_EQ(stack(trace, sites[3]), (std::vector<uint64_t>{5}));
  EXPECT_NE(plain_text(trace).find("site 1 040506 5 < 010203 20 < 010203 100\n"), std::string::npos);
}

TEST(Callers, EqualStacksAreOneClass) {
  // The other rank numbers its modules and frames differently.
  const std::vector<Site> frames = {{1, 110, 0}, {1, 21, 1}, {1, 100, 0}, {1, 20, 3}};
  const std::vector<Site> sites = {{0, 5, 4}, {0, 5, 2}, {0, 5, 0}};
  const Trace trace =
      trace_of({process_with(0, {kApp, kLibrary}, kFrames, kSites), process_with(1, {kLibrary, kApp}, frames, sites)});
  EXPECT_EQ(trace.class_count(), 1U);
  EXPECT_EQ(trace.all_sites().size(), 7U);
}

TEST(Callers, OtherStacksAreOtherClasses) {
  std::vector<Site> frames = kFrames;
  frames[2].offset = 120;
  const Trace trace =
      trace_of({process_with(0, {kApp, kLibrary}, kFrames, kSites), process_with(1, {kApp, kLibrary}, frames, kSites)});
  ASSERT_EQ(trace.class_count(), 2U);
  EXPECT_EQ(stack(trace, trace.sites(0)[2]), (std::vector<uint64_t>{5, 21, 110}));
  EXPECT_EQ(stack(trace, trace.sites(1)[2]), (std::vector<uint64_t>{5, 21, 120}));
}

TEST(Callers, CostNothingWhereThereAreNone) {
  const Trace without = trace_of({process_with(0, {kApp, kLibrary}, {}, {{1, 5, 0}})});
  EXPECT_FALSE(without.section_bytes().contains("callers"));
  const Trace with = trace_of({process_with(0, {kApp, kLibrary}, kFrames, kSites)});
  EXPECT_TRUE(with.section_bytes().contains("callers"));
}

TEST(Callers, ThatDoNotExistAreRefused) {
  for (const std::vector<Site> &frames : {std::vector<Site>{{0, 100, 1}}, std::vector<Site>{{0, 100, 2}, {0, 1, 0}}}) {
    EXPECT_FALSE(Part::of(process_with(0, {kApp, kLibrary}, frames, {{1, 5, 1}})).has_value());
  }
  EXPECT_FALSE(Part::of(process_with(0, {kApp, kLibrary}, {{0, 100, 0}}, {{1, 5, 2}})).has_value());
  EXPECT_FALSE(Part::of(process_with(0, {kApp, kLibrary}, {{7, 100, 0}}, {{1, 5, 1}})).has_value());
}

}  // namespace
}  // namespace cairn::trace
