// Lossless times in blocks: read from memory and from disk, damaged, merged, rewritten.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "trace/file/disk.h"
#include "trace/file/file.h"
#include "trace/file/rank_block.h"
#include "trace/merge/part_body.h"
#include "trace/read/call_times.h"
#include "trace/read/edit.h"
#include "trace/testing/in_blocks.h"
#include "trace/testing/plain_text.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

const RunInfo kRun = {"./a", "MPI", "cairn", "lossless", "complete", 1, 2, {}};

std::vector<std::vector<ProcessRecord>> programs() {
  std::vector<std::vector<ProcessRecord>> result;
  for (uint32_t seed = 1; seed < 6; ++seed) result.push_back(lossless_program(2 + seed, seed));
  return result;
}

std::string plain_in_parts(const std::vector<ProcessRecord> &program) {
  Part part;
  for (const ProcessRecord &process : program) part = *Part::merge(std::move(part), *Part::of(process));
  return plain_text(*Trace::from_bytes(*part.to_file(kRun), "in parts"));
}

/// A file that goes with the test.
class OnDisk {
 public:
  explicit OnDisk(const Bytes &bytes) : path_(::testing::TempDir() + "cairn-blocks.cairn") {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  OnDisk(const OnDisk &) = delete;
  OnDisk &operator=(const OnDisk &) = delete;
  ~OnDisk() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string &path() const { return path_; }

 private:
  std::string path_;
};

TEST(Blocks, HoldTheSameTimes) {
  for (const std::vector<ProcessRecord> &program : programs()) {
    const std::string expected = plain_in_parts(program);
    const InBlocks all = in_blocks(program);
    ASSERT_FALSE(all.blocks.empty());
    const Bytes file = *all.part.to_file(kRun, all.blocks.size());
    const Bytes whole = with_blocks(file, all.blocks);
    const Result<Trace> trace = Trace::from_bytes(whole, "test");
    ASSERT_TRUE(trace.has_value()) << trace.error().message;
    EXPECT_EQ(trace->absent(), 0U);
    EXPECT_EQ(plain_text(*trace), expected);
    EXPECT_EQ(trace->section_bytes().at("blocks"), all.blocks.size());
    EXPECT_EQ(trace->section_bytes().at("total"), whole.size());

    const OnDisk disk(whole);
    const Result<Trace> opened = Trace::open(disk.path());
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_EQ(opened->absent(), all.blocks.size());
    EXPECT_EQ(plain_text(*opened), expected);
    EXPECT_EQ(opened->section_bytes(), trace->section_bytes());
  }
}

TEST(Blocks, SomeRanksMayKeepTheirTimesInTheirPart) {
  for (const std::vector<ProcessRecord> &program : programs()) {
    const InBlocks all = in_blocks(program, [](uint32_t rank) { return rank % 3 == 1; });
    const Bytes whole = with_blocks(*all.part.to_file(kRun, all.blocks.size()), all.blocks);
    EXPECT_EQ(plain_text(*Trace::from_bytes(whole, "test")), plain_in_parts(program));
  }
}

/// Whether the times of all sequences of a rank can be read.
Result<void> read_times(const Trace &trace, uint32_t rank) {
  for (const SequenceView &sequence : trace.sequences(rank)) {
    const auto times = all_times(trace, sequence);
    if (!times) return tl::unexpected(times.error());
  }
  return {};
}

TEST(Blocks, DamageIsFoundInTheRankThatItIsIn) {
  const std::vector<ProcessRecord> program = programs()[0];
  const InBlocks all = in_blocks(program);
  const Bytes whole = with_blocks(*all.part.to_file(kRun, all.blocks.size()), all.blocks);
  for (size_t at = 0; at < all.blocks.size(); at += 1 + at / 400) {
    Bytes bytes = whole;
    bytes[kHeaderBytes + at] ^= static_cast<uint8_t>(1U << at % 8);
    const OnDisk disk(bytes);
    const Result<Trace> trace = Trace::open(disk.path());  // does not look at blocks
    ASSERT_TRUE(trace.has_value());
    size_t damaged = 0;
    for (const ProcessRecord &process : program) {
      const Result<void> read = read_times(*trace, process.rank);
      if (read) continue;
      ++damaged;
      EXPECT_NE(read.error().message.find("section 'blocks' "), std::string::npos) << read.error().message;
      EXPECT_NE(read.error().message.find("rank " + std::to_string(process.rank)), std::string::npos);
      EXPECT_LE(read.error().offset, kHeaderBytes + at);
      EXPECT_EQ(read.error().path, disk.path());
    }
    EXPECT_EQ(damaged, 1U) << at;
  }
}

TEST(Blocks, AreReadOnceForAllSequencesOfARank) {
  size_t tried = 0;
  for (const std::vector<ProcessRecord> &program : programs()) {
    const InBlocks all = in_blocks(program);
    const OnDisk disk(with_blocks(*all.part.to_file(kRun, all.blocks.size()), all.blocks));
    const Result<Trace> trace = Trace::open(disk.path());
    const uint32_t rank = program[0].rank;
    const std::vector<SequenceView> sequences = trace->sequences(rank);
    ASSERT_TRUE(all_times(*trace, sequences[0]).has_value());
    std::ofstream(disk.path(), std::ios::trunc);
    EXPECT_TRUE(read_times(*trace, rank).has_value());
    const Result<void> other = read_times(*trace, program[1].rank);
    ASSERT_FALSE(other.has_value());
    EXPECT_NE(other.error().message.find("section 'blocks' is malformed"), std::string::npos) << other.error().message;
    EXPECT_FALSE(read_times(*trace, rank).has_value());
    tried += sequences.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(tried, 0U);
}

TEST(Blocks, AFileThatIsCutShortIsSaid) {
  const InBlocks all = in_blocks(programs()[0]);
  const Bytes whole = with_blocks(*all.part.to_file(kRun, all.blocks.size()), all.blocks);
  for (const size_t missing : {size_t{1}, size_t{16}, size_t{200}, all.blocks.size(), whole.size() - 12}) {
    Bytes bytes = whole;
    bytes.resize(whole.size() - std::min(missing, whole.size()));
    EXPECT_FALSE(Trace::open(OnDisk(bytes).path()).has_value());
    bytes = whole;  // from the middle
    bytes.erase(bytes.begin() + kHeaderBytes,
                bytes.begin() + static_cast<ptrdiff_t>(kHeaderBytes + std::min(missing, all.blocks.size())));
    EXPECT_FALSE(Trace::open(OnDisk(bytes).path()).has_value());
    EXPECT_FALSE(Trace::from_bytes(bytes, "test").has_value());
  }
}

TEST(Blocks, OffsetsThatLieNeverHarm) {
  const std::vector<ProcessRecord> program = programs()[0];
  const InBlocks all = in_blocks(program);
  for (const Atom offset : {Atom{-2}, Atom{1}, static_cast<Atom>(all.blocks.size() - 1),
                            static_cast<Atom>(all.blocks.size()), INT64_MAX, INT64_MIN}) {
    Part part = in_blocks(program).part;
    auto &body = const_cast<Part::Body &>(part.body());
    body.offset = FoldColumn::constant(offset, body.ranks.size());
    const Result<Trace> trace =
        Trace::from_bytes(with_blocks(*part.to_file(kRun, all.blocks.size()), all.blocks), "test");
    ASSERT_TRUE(trace.has_value());
    for (const ProcessRecord &process : program) EXPECT_FALSE(read_times(*trace, process.rank).has_value());
  }
  // Another rank's.
  Part part = in_blocks(program).part;
  auto &body = const_cast<Part::Body &>(part.body());
  body.offset = FoldColumn::constant(0, body.ranks.size());
  const Result<Trace> trace =
      Trace::from_bytes(with_blocks(*part.to_file(kRun, all.blocks.size()), all.blocks), "test");
  EXPECT_TRUE(read_times(*trace, program[0].rank).has_value());
  EXPECT_FALSE(read_times(*trace, program[1].rank).has_value());
}

TEST(Blocks, TheContainerChecksWhatItIsTold) {
  const InBlocks all = in_blocks(programs()[1]);
  const Bytes file = *all.part.to_file(kRun, all.blocks.size());
  const Bytes whole = with_blocks(file, all.blocks);
  ASSERT_TRUE(read_file(whole).has_value());
  ASSERT_TRUE(read_file(file, all.blocks.size()).has_value());
  EXPECT_FALSE(read_file(file).has_value());
  EXPECT_FALSE(read_file(file, all.blocks.size() + 1).has_value());
  EXPECT_FALSE(read_file(file, all.blocks.size() - 1).has_value());
  EXPECT_FALSE(read_file(whole, all.blocks.size()).has_value());
  const Bytes plain = *all.part.to_file(kRun);
  ASSERT_TRUE(read_file(plain).has_value());
  EXPECT_FALSE(read_file(plain, 5).has_value());
}

TEST(Blocks, StayWhereTheyAreWhenSourcesAndEpiloguesAreAdded) {
  const std::vector<ProcessRecord> program = programs()[2];
  const InBlocks all = in_blocks(program);
  const OnDisk disk(with_blocks(*all.part.to_file(kRun, all.blocks.size()), all.blocks));
  const Result<Trace> trace = Trace::open(disk.path());
  ASSERT_TRUE(trace.has_value());
  ProcessRecord later = program[0];
  for (SequenceRecord &sequence : later.sequences) sequence.segment += 1000;
  const Result<Part> both = Part::merge(to_part(*trace), *Part::of(later));
  ASSERT_TRUE(both.has_value()) << both.error().message;
  const Result<Trace> longer =
      Trace::from_bytes(*both->to_file(kRun, trace->absent()), "longer", trace->absent(), disk.path());
  ASSERT_TRUE(longer.has_value()) << longer.error().message;
  const Bytes bytes = with_sources(*longer, {{longer->sites(0).back(), {"main", "a.c", 3}}});
  const Result<Trace> last = Trace::from_bytes(bytes, "last", trace->absent(), disk.path());
  ASSERT_TRUE(last.has_value()) << last.error().message;
  EXPECT_TRUE(last->source(last->sites(0).back()).has_value());
  size_t timed = 0;
  for (const SequenceView &view : last->sequences(program[0].rank)) {
    const auto times = all_times(*last, view);
    ASSERT_TRUE(times.has_value()) << times.error().message;
    timed += times->empty() ? 0 : 1;
  }
  size_t expected = 0;
  for (const SequenceRecord &sequence : program[0].sequences) expected += sequence.times.empty() ? 0 : 2;
  EXPECT_EQ(timed, expected);
}

}  // namespace
}  // namespace cairn::trace
