// Classes that leave the part on its way and come back when the file is read.
#include "trace/file/bundle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/hash.h"
#include "trace/file/file.h"
#include "trace/read/call_reader.h"
#include "trace/read/edit.h"
#include "trace/testing/in_blocks.h"
#include "trace/testing/plain_text.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

const RunInfo kRun = {"./a", "MPI", "cairn", "stats", "complete", 1, 2, {}};

/// All but the statistics, which are kept by class.
std::string calls_text(const Trace &trace) {
  std::istringstream in(plain_text(trace));
  std::string text;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("  stats ")) text += line + "\n";
  }
  return text;
}

std::string together(const std::vector<ProcessRecord> &program) {
  const InBlocks all = in_blocks(program);
  return calls_text(*Trace::from_bytes(all.file(kRun), "together"));
}

/// A block that holds what it says it does, made of whatever.
Bytes block(ByteView content) {
  ByteWriter out;
  out.varint(content.size());
  out.fixed32(static_cast<uint32_t>(hash64(content)));
  out.raw(content);
  return out.take();
}

std::vector<std::vector<ProcessRecord>> programs() {
  std::vector<std::vector<ProcessRecord>> result;
  for (uint32_t seed = 1; seed < 6; ++seed) {
    result.push_back(random_program(3 + seed, seed));
    result.push_back(lossless_program(2 + seed, seed));
    result.push_back(varying_program(2 + seed, seed));
    result.push_back(polling_program(2 + seed, seed));
  }
  return result;
}

TEST(Bundles, HoldTheSameCalls) {
  size_t bundles = 0;
  for (const std::vector<ProcessRecord> &program : programs()) {
    for (const size_t most : {size_t{0}, size_t{300}}) {
      const InBlocks made = in_bundles(program, most);
      const Bytes file = made.file(kRun);
      const Result<Trace> trace = Trace::from_bytes(file, "test");
      ASSERT_TRUE(trace.has_value()) << trace.error().message;
      EXPECT_EQ(calls_text(*trace), together(program));
      EXPECT_EQ(bundles_begin(*trace), made.bundles);
      EXPECT_EQ(file[8], kFormatVersion);
      bundles += made.bundles ? 1 : 0;
      const auto sizes = trace->section_bytes();
      uint64_t sum = 0;
      for (const auto &[name, bytes] : sizes) sum += name == "total" ? 0 : bytes;
      EXPECT_EQ(sum, file.size());
      EXPECT_EQ(sizes.contains("bundles"), made.bundles.has_value());
      // The rows are counted where they are: in bundles, of which there is one with every class.
      if (made.bundles && most == 0) {
        EXPECT_GT(sizes.at("rows"), 10U);
      }
      EXPECT_EQ(sizes.contains("blocks") ? sizes.at("blocks") : 0, made.bundles.value_or(made.blocks.size()));
    }
  }
  EXPECT_GT(bundles, 20U);
}

TEST(Bundles, AreThereWhenMoreIsMergedIntoTheTrace) {
  for (const std::vector<ProcessRecord> &program : programs()) {
    const InBlocks made = in_bundles(program, 0);
    ASSERT_TRUE(made.bundles.has_value());
    const Result<Trace> trace = Trace::from_bytes(made.file(kRun), "test");
    std::vector<ProcessRecord> longer = program;
    ProcessRecord later = program[0];
    for (SequenceRecord &sequence : later.sequences) {
      sequence.segment += 1000;
      sequence.times.clear();
      longer[0].sequences.push_back(sequence);
    }
    const Result<Part> both = Part::merge(to_part(*trace), *Part::of(later));
    ASSERT_TRUE(both.has_value()) << both.error().message;
    const Bytes file = with_blocks(*both->to_file(kRun, made.blocks.size(), bundles_begin(*trace)), made.blocks);
    const Result<Trace> all = Trace::from_bytes(file, "longer");
    ASSERT_TRUE(all.has_value()) << all.error().message;
    EXPECT_EQ(calls_text(*all), together(longer));
  }
}

TEST(Bundles, DamageIsFound) {
  const std::vector<ProcessRecord> program = programs()[0];
  const InBlocks made = in_bundles(program, 0);
  const Bytes file = made.file(kRun);
  const std::string expected = calls_text(*Trace::from_bytes(file, "test"));
  for (size_t at = *made.bundles; at < made.blocks.size(); ++at) {
    Bytes bytes = file;
    bytes[kHeaderBytes + at] ^= static_cast<uint8_t>(1U << at % 8);
    const Result<Trace> trace = Trace::from_bytes(bytes, "damaged");
    ASSERT_FALSE(trace.has_value()) << at;
    EXPECT_NE(trace.error().message.find("a bundle of classes"), std::string::npos) << trace.error().message;
    EXPECT_EQ(trace.error().path, "damaged");
    EXPECT_LE(trace.error().offset, kHeaderBytes + at);
    EXPECT_GE(trace.error().offset, kHeaderBytes + *made.bundles);
  }
  for (const uint64_t begin : {made.blocks.size(), made.blocks.size() + 1, *made.bundles + 1}) {
    const Bytes wrong = with_blocks(*made.part.to_file(kRun, made.blocks.size(), begin), made.blocks);
    EXPECT_FALSE(Trace::from_bytes(wrong, "wrong").has_value()) << begin;
  }
}

TEST(Bundles, ThatComeTwiceAreRefused) {
  const std::vector<ProcessRecord> program = random_program(4, 1);
  const InBlocks made = in_bundles(program, 0);
  Bytes twice = made.blocks;
  twice.insert(twice.end(), made.blocks.begin(), made.blocks.end());
  const Result<Trace> trace = Trace::from_bytes(with_blocks(*made.part.to_file(kRun, twice.size(), 0), twice), "twice");
  ASSERT_FALSE(trace.has_value());
  EXPECT_NE(trace.error().message.find("calls that a rank has already"), std::string::npos) << trace.error().message;
}

/// All calls of a rank with their values.
std::vector<Row> calls_of(const Trace &trace, uint32_t rank) {
  std::vector<Row> rows;
  for (const SequenceView &sequence : trace.sequences(rank)) {
    CallReader reader(trace, sequence);
    for (auto number = reader.next(); number != grammar::kNoSymbol; number = reader.next()) {
      rows.push_back(reader.call(number));
    }
  }
  return rows;
}

TEST(Bundles, AreOpenedForTheRanksThatAreWanted) {
  size_t left_closed = 0;
  for (const std::vector<ProcessRecord> &program : programs()) {
    for (const size_t most : {size_t{0}, size_t{300}}) {
      const Bytes file = in_bundles(program, most).file(kRun);
      const Result<Trace> all = Trace::from_bytes(file, "all");
      ASSERT_TRUE(all.has_value());
      for (const uint32_t rank : all->ranks()) {
        const auto wanted = [rank](uint32_t least, uint32_t greatest) { return least <= rank && rank <= greatest; };
        const Result<Trace> one = Trace::from_bytes(file, "one", 0, {}, wanted);
        ASSERT_TRUE(one.has_value()) << one.error().message;
        EXPECT_EQ(calls_of(*one, rank), calls_of(*all, rank));
        EXPECT_FALSE(calls_of(*one, rank).empty());
        EXPECT_EQ(bundles_begin(*one), bundles_begin(*all));
        EXPECT_EQ(one->all_sites(), all->all_sites());
        left_closed += all->class_count() - one->class_count();
      }
      const Result<Trace> none = Trace::from_bytes(file, "none", 0, {}, no_bundles);
      ASSERT_TRUE(none.has_value());
      EXPECT_EQ(none->ranks(), all->ranks());
      EXPECT_EQ(none->section_bytes().at("total"), all->section_bytes().at("total"));
    }
  }
  EXPECT_GT(left_closed, 100U);
}

TEST(Bundles, AreNotPassedOverWhereWhatTheyTellIsDamaged) {
  const std::vector<ProcessRecord> program = random_program(6, 1);
  const InBlocks made = in_bundles(program, 0);
  BlockFront outer;
  ASSERT_TRUE(parse_front(made.blocks, &outer));
  const size_t front = bundle_front(ByteView(made.blocks).subspan(outer.bytes)).bytes;
  ASSERT_GT(front, 0U);
  const Bytes file = made.file(kRun);
  for (size_t at = 0; at < 8 * front; ++at) {
    Bytes bytes = file;
    bytes[kHeaderBytes + outer.bytes + at / 8] ^= static_cast<uint8_t>(1U << at % 8);
    const Result<Trace> trace = Trace::from_bytes(bytes, "damaged", 0, {}, no_bundles);
    ASSERT_FALSE(trace.has_value()) << at;
    EXPECT_NE(trace.error().message.find("has a wrong checksum: a bundle"), std::string::npos) << trace.error().message;
  }
  // Other ranks than there are, soundly told.
  for (const uint32_t least : {0U, 3U}) {
    ByteWriter told;
    told.varint(least);
    told.varint(1);
    told.fixed32(static_cast<uint32_t>(hash64(told.view())));
    Bytes content = told.take();
    const ByteView bundle = ByteView(made.blocks).subspan(outer.bytes + front, outer.size - front);
    content.insert(content.end(), bundle.begin(), bundle.end());
    const Bytes blocks = block(content);
    const Bytes mixed = with_blocks(*made.part.to_file(kRun, blocks.size(), 0), blocks);
    const Result<Trace> trace = Trace::from_bytes(mixed, "mixed");
    EXPECT_EQ(trace.has_value(), least == 0);  // the first holds ranks 0 and 1
    if (!trace) {
      EXPECT_NE(trace.error().message.find("with other ranks than it says"), std::string::npos);
    }
  }
}

TEST(Bundles, OfAnotherTraceAreRefused) {
  const std::vector<ProcessRecord> program = random_program(4, 1);
  const InBlocks made = in_bundles(program, 0);
  const InBlocks others = in_bundles({stencil_rank(0, 2, 2, 4), stencil_rank(1, 2, 2, 4)}, 0);
  std::vector<ProcessRecord> more = random_program(9, 1);
  const InBlocks of_more = in_bundles({more[7], more[8]}, 0);
  const Bytes nothing;
  for (const Bytes &bundle : {others.blocks, of_more.blocks, block(nothing), block(made.file(kRun))}) {
    const Bytes file = with_blocks(*made.part.to_file(kRun, bundle.size(), 0), bundle);
    const Result<Trace> trace = Trace::from_bytes(file, "mixed");
    ASSERT_FALSE(trace.has_value());
    EXPECT_NE(trace.error().message.find("a bundle of classes: "), std::string::npos) << trace.error().message;
  }
}

}  // namespace
}  // namespace cairn::trace
