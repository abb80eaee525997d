#include "arrays/file/references.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "arrays/file/stored_file.h"
#include "arrays/file/stored_writer.h"
#include "arrays/file/usage.h"
#include "base/test_folder.h"

namespace cairn::arrays {
namespace {

/// Records of 3 rows of floats, a fixed variable of 4 rows of doubles, and a row alone, of `x` elements each.
Header header_of(uint64_t records, uint64_t x) {
  Header header;
  header.records = records;
  header.dimensions = {{"time", 0}, {"y", 3}, {"x", x}, {"step", 4}};
  header.variables.resize(3);
  header.variables[0] = {"fixed", NcType::f64, {3, 2}, {}, 512 + 4 * x, false, {}, 0};
  header.variables[1] = {"records", NcType::f32, {0, 1, 2}, {}, 512 + 36 * x, false, {}, 0};
  header.variables[2] = {"flat", NcType::f32, {2}, {}, 512, false, {}, 0};
  return *parse_header(write_header(header))->header;
}

Region rows(const Header &header, int variable, uint64_t step, uint64_t row, uint64_t count) {
  const Variable &owner = header.variables[static_cast<size_t>(variable)];
  const uint64_t distance = owner.record ? header.record_size : owner.slab / owner.shape[0];
  const uint64_t row_bytes = owner.shape.back() * size_of(owner.type);
  Region region;
  region.offset = owner.begin + step * distance + row * row_bytes;
  region.run = count * row_bytes;
  return region;
}

Coding coded(const char *words) { return {*codec::parse_array_codec(words), nullptr}; }

/// Values without any order, which are the same again in each step.
Bytes noise(size_t bytes) {
  std::mt19937 random(3);
  Bytes values(bytes);
  for (uint8_t &byte : values) byte = static_cast<uint8_t>(random());
  return values;
}

class Written {
 public:
  Written(Header header, const Chain &chain, const char *words = "xor")
      : header_(std::move(header)), references_(chain), coding_(coded(words)) {}
  /// What the block of these values was coded against: its sequence number, 0 if nothing. Its own is `sequence`.
  uint64_t against(const Region &region, uint64_t sequence, ByteView values,
                   codec::Element element = codec::Element::f32, int variable = 1) {
    Bytes bytes;
    const Box box{variable, &header_.variables[static_cast<size_t>(variable)], element, values, true, 0};
    return references_.append(header_, {region}, box, coding_, sequence, &bytes).reference;
  }
  uint64_t against(const Region &region, uint64_t sequence, codec::Element element = codec::Element::f32,
                   int variable = 1) {
    return against(region, sequence, noise(region.run), element, variable);
  }
  References &references() { return references_; }

 private:
  Header header_;
  References references_;
  Coding coding_;
};

TEST(References, FindTheSameBoxSomeStepsEarlier) {
  const Header header = header_of(99, 500);
  Written written(header, {2});
  EXPECT_EQ(written.against(rows(header, 1, 0, 1, 2), 7), 0U);
  EXPECT_EQ(written.against(rows(header, 1, 0, 0, 2), 8), 0U);  // other rows
  EXPECT_EQ(written.against(rows(header, 1, 1, 1, 1), 9), 0U);  // fewer
  EXPECT_EQ(written.against(rows(header, 1, 3, 1, 2), 10), 7U);
  EXPECT_EQ(written.against(rows(header, 1, 3, 1, 2), 11), 0U);  // itself
  EXPECT_EQ(written.against(rows(header, 1, 2, 1, 2), 12), 0U);  // earlier than what is kept
  // Chains end: two blocks before one, then a new beginning.
  EXPECT_EQ(written.against(rows(header, 1, 4, 1, 2), 13), 12U);
  EXPECT_EQ(written.against(rows(header, 1, 5, 1, 2), 14), 13U);
  EXPECT_EQ(written.against(rows(header, 1, 6, 1, 2), 15), 0U);
  EXPECT_EQ(written.against(rows(header, 1, 7, 1, 2), 16), 15U);
  EXPECT_EQ(written.against(rows(header, 1, 8, 1, 2), 17, codec::Element::i32), 0U);  // of another type
  // The first dimension of what has no records; one dimension alone is none.
  EXPECT_EQ(written.against(rows(header, 0, 0, 0, 1), 20, codec::Element::f64, 0), 0U);
  EXPECT_EQ(written.against(rows(header, 0, 1, 0, 1), 21, codec::Element::f64, 0), 20U);
  Region flat;
  flat.offset = 512;
  flat.run = 4 * 100;
  EXPECT_EQ(written.against(flat, 30, codec::Element::f32, 2), 0U);
  flat.offset += 400;
  EXPECT_EQ(written.against(flat, 31, codec::Element::f32, 2), 0U);
  // Of what an index has no longer nothing is kept.
  Index index;
  index.keep_replaced();
  Block block;
  block.regions = {rows(header, 1, 8, 1, 2)};
  block.sequence = 17;
  ASSERT_TRUE(index.add(block));
  written.references().keep_those_of(index);
  EXPECT_EQ(written.against(rows(header, 1, 9, 1, 2), 40, codec::Element::i32), 17U);
  EXPECT_EQ(written.against(rows(header, 0, 2, 0, 1), 41, codec::Element::f64, 0), 0U);
  written.references().end();
  EXPECT_FALSE(written.references().go_on());
  EXPECT_EQ(written.against(rows(header, 1, 10, 1, 2), 42, codec::Element::i32), 0U);
}

TEST(References, KeepNoMoreThanTheyMay) {
  const Header header = header_of(9, 30 << 18);
  Written written(header, {5}, "xor");
  const Bytes large = noise(size_t{30} << 20);
  uint64_t sequence = 0;
  const auto keep = [&](uint64_t step, uint64_t row) {
    return written.against(rows(header, 1, step, row, 1), ++sequence, large) != 0;
  };
  EXPECT_FALSE(keep(0, 0) || keep(0, 1));
  EXPECT_FALSE(keep(0, 2));  // one too many: what is there stays, so that it is there in the next step
  EXPECT_TRUE(keep(1, 0));
  EXPECT_TRUE(keep(1, 1));
  EXPECT_FALSE(keep(1, 2));
  for (uint64_t step = 2; step < 6; ++step) EXPECT_TRUE(keep(step, 1));
  EXPECT_FALSE(keep(6, 1));  // the chain is at its end
  EXPECT_FALSE(keep(6, 2));  // the box of row 0 was not seen for long
  EXPECT_TRUE(keep(7, 2));
  EXPECT_TRUE(keep(7, 1));
  EXPECT_FALSE(keep(8, 0));
}

/// Values of which the share `same` is as it was, and the rest new.
Bytes partly(size_t bytes, double same, uint32_t step) {
  Bytes values = noise(bytes);
  std::mt19937 random(step);
  const auto from = static_cast<size_t>(static_cast<double>(bytes) * same) / 4 * 4;
  for (size_t i = from; i < bytes; ++i) values[i] = static_cast<uint8_t>(random());
  return values;
}

TEST(References, ChainsAreAsLongAsTheyPay) {
  const Header header = header_of(99, 16384);
  // How long the chain of 64 KiB is, so much of which is the same in each step, and all else new.
  const auto length = [&](double same) {
    Written written(header, Chain::automatic(1), "auto");
    uint64_t longest = 0;
    uint64_t now = 0;
    for (uint32_t step = 0; step < 40; ++step) {
      const bool against = written.against(rows(header, 1, step, 0, 1), step + 1, partly(65536, same, step)) == step;
      now = against && step > 0 ? now + 1 : 0;
      longest = std::max(longest, now);
    }
    EXPECT_EQ(written.references().length(1), longest);
    return longest;
  };
  EXPECT_EQ(length(0.99), 7U);
  EXPECT_EQ(length(0.5), 7U);
  EXPECT_EQ(length(0.3), 3U);
  EXPECT_EQ(length(0.15), 1U);
  EXPECT_EQ(length(0.05), 0U);
  EXPECT_EQ(length(0), 0U);
}

TEST(References, ChosenOnesAreForWhatIsToBeShort) {
  const Header header = header_of(99, 1000);
  for (const char *words : {"auto:speed", "xor", "zstd"}) {
    Written written(header, Chain::automatic(1), words);
    for (uint32_t step = 0; step < 9; ++step) EXPECT_EQ(written.against(rows(header, 1, step, 0, 1), step + 1), 0U);
  }
}

TEST(References, ChosenOnesEndWhereThereAreManyBlocks) {
  EXPECT_EQ(Chain::automatic(1).most, 7U);
  EXPECT_EQ(Chain::automatic(512).blocks, 32U);
  EXPECT_EQ(Chain::automatic(513).most, 0U);
  const Header header = header_of(99, 1024);
  Written written(header, Chain::automatic(512), "auto");
  uint64_t against = 0;
  uint32_t step = 0;
  for (; step < 32; ++step) {
    if (written.against(rows(header, 1, step, 0, 1), step + 1, noise(4096)) != 0) ++against;
    EXPECT_TRUE(written.references().go_on());
  }
  EXPECT_GT(against, 20U);
  EXPECT_EQ(written.against(rows(header, 1, step, 0, 1), step + 1, noise(4096)), 0U);
  EXPECT_FALSE(written.references().go_on());
}

/// Records that change little, some of them written again, as a file and as they should be.
struct Steps {
  std::string path;
  Bytes expected;
};

class ReferencesFile : public testing::Test {
 protected:
  Steps write(uint32_t chain, const char *codec, int again) {
    constexpr uint64_t kRecords = 12;
    Header made;
    made.records = kRecords;
    made.dimensions = {{"time", 0}, {"x", 2000}};
    made.variables.resize(1);
    made.variables[0] = {"v", NcType::f32, {0, 1}, {}, 512, false, {}, 0};
    Bytes bytes = write_header(made);
    Steps steps{(folder_ / (std::string(codec) + ".nc")).string(), Bytes(512 + kRecords * 8000)};
    auto writer =
        StoredWriter::create(steps.path, bytes, {*codec::parse_array_codec(codec), nullptr}, 4096, Chain{chain});
    EXPECT_TRUE(writer.has_value());
    std::mt19937 random(1);
    std::vector<float> values(2000);
    for (float &value : values) value = static_cast<float>(random() % 100000) / 7;
    const auto put = [&](uint64_t record) {
      // Big-endian, as NetCDF has it.
      Bytes data(8000);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] *= 1 + static_cast<float>(random() % 100) * 1e-6F;
        uint32_t word = 0;
        memcpy(&word, &values[i], 4);
        for (size_t b = 0; b < 4; ++b) data[4 * i + b] = static_cast<uint8_t>(word >> (24 - 8 * b));
      }
      Region where;
      where.offset = 512 + record * 8000;
      where.run = 8000;
      EXPECT_TRUE(writer->write(0, {&where, 1}, data.data()).has_value());
      std::copy(data.begin(), data.end(), steps.expected.begin() + static_cast<ptrdiff_t>(where.offset));
    };
    for (uint64_t record = 0; record < kRecords; ++record) put(record);
    for (int i = 0; i < again; ++i) put(random() % kRecords);
    EXPECT_TRUE(writer->finish().has_value());
    return steps;
  }

  static void check(const Steps &steps, uint32_t chain, bool refers) {
    const Result<StoredFile> file = StoredFile::open(steps.path);
    ASSERT_TRUE(file.has_value()) << file.error().message;
    uint32_t deepest = 0;
    for (size_t i = 0; i < file->index().blocks().size(); ++i) deepest = std::max(deepest, file->index().depth(i));
    EXPECT_EQ(deepest, refers ? chain : 0U);
    for (const uint64_t record : {11, 3, 7, 0, 4, 11}) {
      Region where;
      where.offset = 512 + record * 8000;
      where.run = 8000;
      Bytes data(8000);
      const Result<void> read = file->read({&where, 1}, data.data());
      ASSERT_TRUE(read.has_value()) << read.error().message;
      ASSERT_TRUE(std::equal(data.begin(), data.end(), steps.expected.begin() + static_cast<ptrdiff_t>(where.offset)))
          << record;
    }
  }
  const TestFolder made_;
  const std::filesystem::path folder_ = made_.path();
};

TEST_F(ReferencesFile, GivesWhatWasWrittenLast) {
  for (const char *codec : {"xor", "delta", "auto", "zstd"}) {
    const bool can = std::string(codec) != "zstd";
    check(write(0, codec, 5), 0, false);
    check(write(4, codec, 0), 4, can);
    check(write(4, codec, 9), 4, can);
    check(write(kMostChain, codec, 0), 11, can);
  }
  EXPECT_LT(std::filesystem::file_size(write(4, "xor", 0).path), std::filesystem::file_size(write(0, "xor", 0).path));
}

TEST_F(ReferencesFile, KeepsNothingThatNobodyNeeds) {
  const Steps steps = write(3, "xor", 9);
  const Result<StoredFile> file = StoredFile::open(steps.path);
  ASSERT_TRUE(file.has_value());
  const std::vector<Block> &blocks = file->index().blocks();
  const auto replaced = static_cast<size_t>(std::ranges::count(blocks, true, &Block::replaced));
  EXPECT_GT(replaced, 0U);
  const std::vector<bool> wanted = needed(file->index());
  EXPECT_EQ(std::ranges::count(wanted, false), 0);
  EXPECT_EQ(usage_of(*file).covered, 0U);
  EXPECT_GT(usage_of(*file).replaced, 0U);
}

TEST_F(ReferencesFile, DamageIsToldForAllThatAreCodedAgainstIt) {
  const Steps steps = write(3, "xor", 0);
  uint64_t place = 0;
  {
    const Result<StoredFile> file = StoredFile::open(steps.path);
    ASSERT_TRUE(file.has_value());
    place = file->index().blocks()[0].offset + 20;
  }
  std::fstream out(steps.path, std::ios::binary | std::ios::in | std::ios::out);
  out.seekp(static_cast<std::streamoff>(place));
  out.put(static_cast<char>(0x5A));
  out.close();
  const Result<StoredFile> file = StoredFile::open(steps.path);
  ASSERT_TRUE(file.has_value());
  size_t bad = 0;
  for (size_t i = 0; i < file->index().blocks().size(); ++i) {
    const Result<Bytes> values = file->values(i);
    if (values) continue;
    ++bad;
    EXPECT_NE(values.error().message.find("block 0 "), std::string::npos) << values.error().message;
    EXPECT_NE(values.error().message.find("block " + std::to_string(i) + " "), std::string::npos);
  }
  EXPECT_EQ(bad, 4U);  // itself and those of its chain
}

}  // namespace
}  // namespace cairn::arrays
