// Bytes that no writer wrote: every reader answers with an error or with something harmless. Run under the address and
// undefined-behaviour sanitizers (CAIRN_SANITIZE) to see what this hides.
#include <gtest/gtest.h>

#include <random>

#include "codec/codec.h"
#include "trace/file/file.h"
#include "trace/merge/part_body.h"
#include "trace/read/edit.h"
#include "trace/testing/exercise.h"
#include "trace/testing/mutants.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

constexpr uint64_t kExchanging = 206;  // with columns that mirror others
constexpr uint64_t kDraining = 301;

std::vector<ProcessRecord> processes(uint32_t ranks, uint64_t seed) {
  if (seed == kExchanging) return exchanging_program(ranks, seed);
  if (seed == kDraining) return draining_program(ranks, seed, false).processes;
  return seed % 5 == 2 ? polling_program(ranks, seed) : random_program(ranks, seed);
}

Part program(uint32_t ranks, uint64_t seed) {
  Part part;
  for (const ProcessRecord &process : processes(ranks, seed)) part = *Part::merge(std::move(part), *Part::of(process));
  return part;
}

/// Ranks from..to - 1 of a program of seven.
Part some_of_seven(uint64_t seed, uint32_t from, uint32_t to) {
  const std::vector<ProcessRecord> all = processes(7, seed);
  Part part;
  for (uint32_t rank = from; rank < to; ++rank) part = *Part::merge(std::move(part), *Part::of(all[rank]));
  return part;
}

Bytes some_file(uint64_t seed) {
  RunInfo run = {"command", "mpi", "cairn", "stats", "complete", 1, 2};
  if (seed % 2 == 0) run.jobs = {{0, "command", {}, {}}, {4, "child", 3, "comm(0@0)"}, {8, "child", 4, "comm(1@0)"}};
  const Trace trace = *Trace::from_bytes(*program(9, seed).to_file(run), "");
  const std::vector<Site> sites = trace.sites(0);
  std::vector<std::pair<Site, Source>> sources;
  if (sites.size() > 1) sources.emplace_back(sites[1], Source{"main", "main.c", 12});
  return with_sources(trace, sources);
}

void expect_named_error(const Result<Trace> &trace) {
  if (trace) {
    exercise(*trace);
    return;
  }
  EXPECT_EQ(trace.error().kind, ErrorKind::unreadable);
  EXPECT_FALSE(trace.error().message.empty());
  EXPECT_NE(trace.error().offset, Error::kNoOffset) << trace.error().message;
  EXPECT_EQ(trace.error().path, "x.cairn");
}

TEST(Hostile, EveryTruncationIsAnError) {
  const Bytes file = some_file(3);
  for (size_t size = 0; size < file.size(); ++size) {
    const Result<Trace> trace =
        Trace::from_bytes({file.begin(), file.begin() + static_cast<ptrdiff_t>(size)}, "x.cairn");
    ASSERT_FALSE(trace.has_value()) << size;
    expect_named_error(trace);
  }
  Bytes longer = file;
  longer.push_back(0);
  EXPECT_FALSE(Trace::from_bytes(longer, "x.cairn").has_value());
}

TEST(Hostile, EveryFlippedBitIsFound) {
  const Bytes file = some_file(4);
  for (size_t i = 0; i < file.size(); ++i) {
    for (int b = 0; b < 8; ++b) {
      Bytes broken = file;
      broken[i] = static_cast<uint8_t>(broken[i] ^ 1U << b);
      const Result<Trace> trace = Trace::from_bytes(broken, "x.cairn");
      ASSERT_FALSE(trace.has_value()) << i;
      expect_named_error(trace);
    }
  }
}

// With the checksums made right again, so that the damage reaches the decoders.
TEST(Hostile, DamagedSectionsNeverHarm) {
  std::mt19937_64 random(21);
  int accepted = 0;
  int refused = 0;
  for (const uint64_t seed : std::vector<uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, kExchanging, kDraining}) {
    const std::vector<Section> good = plain_sections(some_file(seed));
    for (int round = 0; round < 700; ++round) {
      std::vector<Section> sections = good;
      mutate(&sections[random() % sections.size()].bytes, &random);
      for (Section &section : sections) section.packed = true;  // zstd -19 would take most of the time
      const Result<Trace> trace = Trace::from_bytes(write_file(sections), "x.cairn");
      expect_named_error(trace);
      ++(trace ? accepted : refused);
      if (trace && trace->rank_count() < 1000) (void)Part::parse(to_part(*trace).serialise());
    }
  }
  EXPECT_GT(refused, 2000);
  EXPECT_GT(accepted, 50);  // or the mutations test nothing but the checks of the first bytes
}

// Classes that came packed are looked into when they find a partner, or when the file is written.
TEST(Hostile, DamagedPartsNeverHarm) {
  std::mt19937_64 random(22);
  int refused = 0;
  int refused_late = 0;
  int written = 0;
  for (const uint64_t seed : std::vector<uint64_t>{0, 1, 2, 3, 4, 5, kExchanging, kDraining}) {
    const Bytes good = some_of_seven(seed, 0, 4).serialise();
    const Bytes other = some_of_seven(seed, 4, 7).serialise();
    for (int round = 0; round < 700; ++round) {
      Bytes bytes = good;
      mutate(&bytes, &random);
      Result<Part> part = Part::parse(bytes);
      if (!part) {
        ++refused;
        EXPECT_EQ(part.error().kind, ErrorKind::unreadable);
        EXPECT_NE(part.error().offset, Error::kNoOffset);
        continue;
      }
      if (round % 2 == 0) part = Part::merge(*std::move(part), *Part::parse(other));
      Result<Bytes> file = part ? part->to_file({}) : tl::unexpected(part.error());
      if (!file) {
        ++refused_late;
        EXPECT_EQ(file.error().kind, ErrorKind::unreadable);
        EXPECT_FALSE(file.error().message.empty());
        continue;
      }
      ++written;
      const Result<Trace> trace = Trace::from_bytes(*std::move(file), "x.cairn");
      if (trace) exercise(*trace);
    }
  }
  EXPECT_GT(refused, 400);
  EXPECT_GT(refused_late, 400);
  EXPECT_GT(written, 50);
}

// Keys decide what is merged with what: a wrong one must not bring together what differs.
TEST(Hostile, AClassThatIsNotWhatItsKeysSayIsNotMerged) {
  Part part = some_of_seven(1, 0, 1);
  auto &body = const_cast<Part::Body &>(part.body());
  for (ClassPart &each : body.classes) body.packed.push_back(pack(std::move(each)));
  body.classes.clear();
  ASSERT_FALSE(body.packed.empty());
  const Bytes honest = part.serialise();
  body.packed[0].skeleton.low ^= 1;
  const Bytes lying = part.serialise();
  const auto merged = [](const Bytes &bytes) {
    // With itself, as if it were the next rank's.
    Result<Part> next = Part::parse(bytes);
    auto &moved = const_cast<Part::Body &>(next->body());
    moved.ranks = RankSet(1);
    for (PackedClass &each : moved.packed) each.ranks = RankSet(1);
    return Part::merge(*Part::parse(bytes), *std::move(next));
  };
  EXPECT_TRUE(merged(honest).has_value());
  const Result<Part> refused = merged(lying);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "a packed class is not what its keys say");
  EXPECT_NE(refused.error().offset, Error::kNoOffset);
}

TEST(Hostile, LiesInTheDirectory) {
  const Bytes file = some_file(5);
  std::vector<Section> sections = plain_sections(file);
  const auto open = [](const std::vector<Section> &list) { return Trace::from_bytes(write_file(list), "x.cairn"); };
  ASSERT_TRUE(open(sections).has_value());
  for (size_t i = 0; i < sections.size(); ++i) {
    std::vector<Section> without = sections;
    without.erase(without.begin() + static_cast<ptrdiff_t>(i));
    const SectionKind kind = sections[i].kind;
    const bool optional = kind == SectionKind::timing || kind == SectionKind::order || kind == SectionKind::source ||
                          kind == SectionKind::callers || kind == SectionKind::sums;
    const Result<Trace> trace = open(without);
    EXPECT_EQ(trace.has_value(), optional) << section_name(static_cast<uint8_t>(kind));
    if (!trace && !optional) {
      EXPECT_NE(trace.error().message.find("'" + section_name(static_cast<uint8_t>(kind)) + "' is missing"),
                std::string::npos);
    }
    std::vector<Section> twice = sections;
    twice.push_back(sections[i]);
    EXPECT_FALSE(open(twice).has_value());
    std::vector<Section> swapped = sections;
    std::swap(swapped[i].kind, swapped[(i + 1) % swapped.size()].kind);
    expect_named_error(open(swapped));
  }
  // Kinds of later versions are passed over, and kept.
  std::vector<Section> more = sections;
  more.push_back({static_cast<SectionKind>(77), {1, 2, 3}});
  const Result<Trace> trace = open(more);
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->section_bytes().at("section 77"), 3U);
  EXPECT_EQ(Trace::from_bytes(with_sources(*trace, {}), "")->section_bytes().at("section 77"), 3U);
  // A size that the bytes cannot hold.
  StoredSection bomb{static_cast<uint8_t>(78), codec::kZstd, UINT64_MAX, ByteView(file).first(20), 0};
  EXPECT_FALSE(Trace::from_bytes(write_file(sections, {bomb}), "x.cairn").has_value());
  bomb.decoded_size = 1000;
  EXPECT_FALSE(Trace::from_bytes(write_file(sections, {bomb}), "x.cairn").has_value());
  bomb.codec = 99;
  EXPECT_FALSE(Trace::from_bytes(write_file(sections, {bomb}), "x.cairn").has_value());
}

TEST(Hostile, ForeignAndNewerFilesAreNamed) {
  const std::string elf =
      "\x7f"
      "ELF and so on and on and on and on";
  const Result<Trace> foreign = Trace::from_bytes({elf.begin(), elf.end()}, "x.cairn");
  ASSERT_FALSE(foreign.has_value());
  EXPECT_NE(foreign.error().message.find("not a Cairn trace"), std::string::npos);
  EXPECT_FALSE(Trace::from_bytes({}, "x.cairn").has_value());
  Bytes newer = some_file(5);
  newer[8] = kFormatVersion + 1;
  newer[10] = 3;
  newer[11] = 14;
  const Result<Trace> trace = Trace::from_bytes(newer, "x.cairn");
  ASSERT_FALSE(trace.has_value());
  EXPECT_NE(trace.error().message.find("format version " + std::to_string(kFormatVersion + 1)), std::string::npos);
  EXPECT_NE(trace.error().hint.find("Cairn 3.14 or newer"), std::string::npos);
  Bytes older = some_file(5);
  for (size_t i = 1; i < 6; ++i) older[i] -= 'a' - 'A';  // so they began before the first release
  const Result<Trace> before = Trace::from_bytes(older, "x.cairn");
  ASSERT_FALSE(before.has_value());
  EXPECT_EQ(before.error().message, "the trace was written before Cairn's first release");
}

}  // namespace
}  // namespace cairn::trace
