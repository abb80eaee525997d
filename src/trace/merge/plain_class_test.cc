// Classes that travel plain: whatever they are merged from, it is as if they had never travelled.
#include "trace/code/plain_class.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "trace/code/packed_class.h"
#include "trace/merge/classes_merge.h"
#include "trace/merge/part_body.h"
#include "trace/testing/synthetic.h"

namespace cairn::trace {
namespace {

const RunInfo kRun = {"./a", "MPI", "cairn", "stats", "complete", 1, 2, {}};

using Way = std::function<Part(Part)>;

Part as_it_is(Part part) { return part; }
Part travelled(Part part) { return *Part::parse(part.serialise()); }
/// As before a bundle is taken: no class is open, and all are compressed.
Part tightly(Part part) {
  auto &body = const_cast<Part::Body &>(part.body());
  for (ClassPart &each : body.classes) body.packed.push_back(pack(std::move(each)));
  for (PackedClass &each : body.packed) squeeze(&each);
  body.classes.clear();
  return travelled(std::move(part));
}

std::vector<std::vector<ProcessRecord>> programs() {
  std::vector<std::vector<ProcessRecord>> result;
  std::vector<ProcessRecord> stencil;
  for (uint32_t rank = 0; rank < 12; ++rank) stencil.push_back(stencil_rank(rank, 3, 4, 5));
  result.push_back(std::move(stencil));
  for (uint32_t seed = 0; seed < 6; ++seed) {
    result.push_back(random_program(3 + seed, seed));
    result.push_back(varying_program(2 + seed, seed));
    result.push_back(partners_program(2 + seed, seed));
    result.push_back(exchanging_program(2 + seed, seed));
    result.push_back(polling_program(2 + seed, seed));
    result.push_back(draining_program(2 + seed, seed, seed % 2 == 0).processes);
  }
  return result;
}

/// Ranks from..to - 1, cut in two at `cut` of four quarters; the upper part comes the given way.
Part merged(const std::vector<ProcessRecord> &program, size_t from, size_t to, size_t cut, const Way &way) {
  if (to - from == 1) return *Part::of(program[from]);
  const size_t middle = std::clamp(from + (to - from) * cut / 4, from + 1, to - 1);
  return *Part::merge(merged(program, from, middle, cut, way), way(merged(program, middle, to, cut, way)));
}

TEST(PlainClass, IsMergedAsIfItHadNeverTravelled) {
  for (const std::vector<ProcessRecord> &program : programs()) {
    for (const size_t cut : {1, 2, 3}) {
      const auto file = [&](const Way &way) { return *merged(program, 0, program.size(), cut, way).to_file(kRun); };
      const Bytes expected = file(as_it_is);
      EXPECT_EQ(file(travelled), expected);
      EXPECT_EQ(file(tightly), expected);
    }
  }
}

// The premise of plain_merge.cc.
TEST(PlainClass, HasValuesInCommon) {
  const auto values = [](uint32_t rank) {
    const Part part = *Part::of(partners_program(3, 0)[rank]);
    const std::vector<Stream> &streams = part.body().classes.at(0).streams;
    EXPECT_EQ(streams.size(), 2U);
    std::vector<std::vector<RowPointer>> result;
    for (const Stream &stream : streams) result.push_back(stream.variants.at(0).values);
    return result;
  };
  const auto received = values(1);
  EXPECT_EQ(received[0], received[1]);
  const auto shifted = values(0);
  ASSERT_EQ(shifted[0].size(), 12U);
  EXPECT_NE(shifted[0], shifted[1]);
  EXPECT_EQ(shifted[0][1], shifted[1][0]);
}

TEST(PlainClass, IsMadeAgainAsItWas) {
  size_t classes = 0;
  size_t squeezed = 0;
  for (const std::vector<ProcessRecord> &program : programs()) {
    const Part whole = merged(program, 0, program.size(), 2, as_it_is);
    for (const ClassPart &part : whole.body().classes) {
      ++classes;
      PackedClass packed = pack(part);
      const Bytes bytes = packed.bytes;
      for (const bool less : {false, true}) {
        if (less) squeeze(&packed);
        squeezed += packed.squeezed() ? 1 : 0;
        const Result<ClassPart> again = unpack(packed);
        ASSERT_TRUE(again.has_value()) << again.error().message;
        EXPECT_EQ(pack(*again).bytes, bytes);
        // Cut short anywhere, it is not read.
        for (size_t size = 0; size < packed.bytes.size(); size += 1 + packed.bytes.size() / 40) {
          PackedClass cut = packed;
          cut.bytes.resize(size);
          EXPECT_FALSE(unpack(cut).has_value());
        }
      }
    }
  }
  EXPECT_GT(classes, 20U);
  EXPECT_GT(squeezed, 20U);
}

// Classes that nothing joined stay as they are while they are few; others are compressed.
TEST(PlainClass, StaysPlainWhereFewDo) {
  const auto plain_and_tight = [](const Part &part) {
    size_t plain = 0;
    size_t tight = 0;
    for (const PackedClass &packed : part.body().packed) {
      PackedClass smaller = packed;
      squeeze(&smaller);
      if (packed.squeezed()) tight += packed.size;
      if (!packed.squeezed() && smaller.squeezed()) plain += packed.size;  // others gain nothing
      EXPECT_TRUE(unpack(packed).has_value());
    }
    return std::pair(plain, tight);
  };
  const std::vector<ProcessRecord> two = random_program(2, 3);
  const Part both = *Part::merge(travelled(*Part::of(two[0])), travelled(*Part::of(two[1])));
  EXPECT_TRUE(both.body().classes.empty());
  ASSERT_GT(both.body().packed.size(), 1U);
  EXPECT_GT(plain_and_tight(both).first, 0U);
  EXPECT_EQ(plain_and_tight(both).second, 0U);

  // Each of its own program.
  Part many = *Part::of(random_program(64, 0)[0]);
  for (uint32_t rank = 1; rank < 64; ++rank) {
    many = *Part::merge(travelled(std::move(many)), travelled(*Part::of(random_program(64, rank)[rank])));
    EXPECT_LE(plain_and_tight(many).first, kMostPlain);
  }
  EXPECT_GT(plain_and_tight(many).first, kMostPlain / 2);
  EXPECT_GT(plain_and_tight(many).second, kMostPlain / 2);
}

// What is changed where it lies is the class's own.
TEST(PlainClass, LeavesToOthersWhatTheyHave) {
  const std::vector<ProcessRecord> program = partners_program(3, 0);
  Part left = *Part::of(program[1]);
  const ClassPart &part = left.body().classes.at(0);
  std::vector<RowPointer> kept = part.rows;
  for (const Stream &stream : part.streams) {
    const std::vector<RowPointer> &values = stream.variants.at(0).values;
    kept.insert(kept.end(), values.begin(), values.end());
  }
  std::vector<ClassRow> before;
  for (const RowPointer &row : kept) before.push_back(*row);
  ASSERT_TRUE(Part::merge(std::move(left), travelled(*Part::of(program[2]))).has_value());
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(kept[i]->same(before[i])) << i;
}

// Keys bring classes together; what they say is seen to be so before anything is merged.
TEST(PlainClass, IsNotWhatItsKeysSay) {
  const auto right = [](const std::function<void(ClassPart &)> &change) {
    Part part = *Part::of(stencil_rank(1, 1, 3, 3));
    auto &body = const_cast<Part::Body &>(part.body());
    change(body.classes.at(0));
    return travelled(std::move(part));
  };
  const auto merge = [&](const std::function<void(ClassPart &)> &change) {
    return Part::merge(*Part::of(stencil_rank(2, 1, 3, 3)), right(change)).has_value();
  };
  EXPECT_TRUE(merge([](ClassPart &) {}));
  EXPECT_FALSE(merge([](ClassPart &part) { part.skeleton.low ^= 1; }));
  EXPECT_FALSE(merge([](ClassPart &part) { std::swap(part.sites[0], part.sites[1]); }));
  EXPECT_FALSE(merge([](ClassPart &part) { std::swap(part.rows[1], part.rows[2]); }));
  EXPECT_FALSE(merge([](ClassPart &part) { part.stats.clear(); }));
  // Two streams of one order on the left, and of two on the right.
  const std::vector<ProcessRecord> partners = partners_program(3, 0);
  for (const bool other : {false, true}) {
    Part part = *Part::of(partners[2]);
    std::vector<Stream> &streams = const_cast<Part::Body &>(part.body()).classes.at(0).streams;
    const GrammarPointer whole = streams.at(1).variants.at(0).order;
    if (other) {
      streams[1].variants[0].order =
          std::make_shared<const grammar::Grammar>(grammar::Grammar::concatenated(*whole, *whole));
    }
    EXPECT_EQ(Part::merge(*Part::of(partners[1]), travelled(std::move(part))).has_value(), !other);
  }
  EXPECT_FALSE(merge([](ClassPart &part) {
    part.calls = std::make_shared<const grammar::Grammar>(grammar::Grammar::concatenated(*part.calls, *part.calls));
  }));
}

}  // namespace
}  // namespace cairn::trace
