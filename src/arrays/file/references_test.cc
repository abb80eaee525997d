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

/// Records of 3 x 5 floats and a fixed variable of 4 x 5 doubles.
Header header_of(uint64_t records) {
  Header header;
  header.records = records;
  header.dimensions = {{"time", 0}, {"y", 3}, {"x", 5}, {"step", 4}};
  header.variables.resize(3);
  header.variables[0] = {"fixed", NcType::f64, {3, 2}, {}, 1024, false, {}, 0};
  header.variables[1] = {"records", NcType::f32, {0, 1, 2}, {}, 2048, false, {}, 0};
  header.variables[2] = {"flat", NcType::f32, {2}, {}, 512, false, {}, 0};
  return *parse_header(write_header(header))->header;
}

Region rows(const Header &header, int variable, uint64_t step, uint64_t row, uint64_t count) {
  const Variable &owner = header.variables[static_cast<size_t>(variable)];
  const uint64_t distance = owner.record ? header.record_size : owner.slab / owner.shape[0];
  const uint64_t row_bytes = 5 * size_of(owner.type);
  Region region;
  region.offset = owner.begin + step * distance + row * row_bytes;
  region.run = count * row_bytes;
  return region;
}

Block block_of(const Region &region, uint64_t sequence, uint64_t reference, codec::Element element) {
  Block block;
  block.regions = {region};
  block.sequence = sequence;
  block.reference = reference;
  block.element = element;
  block.checksum = sequence * 3;
  return block;
}

TEST(References, FindTheSameBoxSomeStepsEarlier) {
  const Header header = header_of(9);
  constexpr auto kFloat = codec::Element::f32;
  References references(2);
  const Region first = rows(header, 1, 0, 1, 2);
  references.keep(header, 1, block_of(first, 7, 0, kFloat), {1, 2, 3});
  const auto sequence = [&](const Region &region, codec::Element element = codec::Element::f32, int variable = 1) {
    return references.find(header, variable, {region}, element).sequence;
  };
  EXPECT_EQ(sequence(rows(header, 1, 1, 1, 2)), 7U);
  EXPECT_EQ(sequence(rows(header, 1, 3, 1, 2)), 7U);
  EXPECT_EQ(sequence(first), 0U);  // itself
  EXPECT_EQ(sequence(rows(header, 1, 1, 0, 2)), 0U);
  EXPECT_EQ(sequence(rows(header, 1, 1, 1, 1)), 0U);
  EXPECT_EQ(sequence(rows(header, 1, 1, 1, 2), codec::Element::u8), 0U);
  const References::Earlier earlier = references.find(header, 1, {rows(header, 1, 1, 1, 2)}, kFloat);
  EXPECT_EQ(*earlier.values, (Bytes{1, 2, 3}));
  EXPECT_EQ(earlier.checksum, 21U);
  // Chains end: two blocks before one, then a new beginning.
  references.keep(header, 1, block_of(rows(header, 1, 1, 1, 2), 8, 7, kFloat), {4});
  EXPECT_EQ(sequence(rows(header, 1, 2, 1, 2)), 8U);
  EXPECT_EQ(sequence(rows(header, 1, 0, 1, 2)), 0U);  // earlier than what is kept
  references.keep(header, 1, block_of(rows(header, 1, 2, 1, 2), 9, 8, kFloat), {5});
  EXPECT_EQ(sequence(rows(header, 1, 3, 1, 2)), 0U);
  references.keep(header, 1, block_of(rows(header, 1, 3, 1, 2), 10, 0, kFloat), {6});
  EXPECT_EQ(sequence(rows(header, 1, 4, 1, 2)), 10U);
  // The first dimension of what has no records; one dimension alone is none.
  references.keep(header, 0, block_of(rows(header, 0, 0, 0, 1), 20, 0, codec::Element::f64), {7});
  EXPECT_EQ(sequence(rows(header, 0, 1, 0, 1), codec::Element::f64, 0), 20U);
  Region flat;
  flat.offset = 512;
  flat.run = 4;
  references.keep(header, 2, block_of(flat, 30, 0, kFloat), {8});
  flat.offset += 4;
  EXPECT_EQ(sequence(flat, kFloat, 2), 0U);
  Index index;
  index.keep_replaced();
  ASSERT_TRUE(index.add(block_of(rows(header, 1, 3, 1, 2), 10, 0, codec::Element::u8)));
  references.keep_those_of(index);
  EXPECT_EQ(sequence(rows(header, 1, 4, 1, 2)), 10U);
  EXPECT_EQ(sequence(rows(header, 0, 1, 0, 1), codec::Element::f64, 0), 0U);
}

TEST(References, KeepNoMoreThanTheyMay) {
  Header header = header_of(9);
  References references(5);
  const auto keep = [&](uint64_t step, uint64_t row, uint64_t sequence) {
    references.keep(header, 1, block_of(rows(header, 1, step, row, 1), sequence, 0, codec::Element::f32),
                    Bytes(size_t{30} << 20));
  };
  const auto there = [&](uint64_t step, uint64_t row) {
    return references.find(header, 1, {rows(header, 1, step, row, 1)}, codec::Element::f32).sequence != 0;
  };
  keep(0, 0, 1);
  keep(0, 1, 2);
  keep(0, 2, 3);  // one too many: what is there stays, so that it is there in the next step
  EXPECT_TRUE(there(1, 0));
  EXPECT_TRUE(there(1, 1));
  EXPECT_FALSE(there(1, 2));
  for (uint64_t step = 1; step < 8; ++step) keep(step, 1, 10 + step);
  keep(8, 2, 30);  // the box of row 0 was not seen for long
  EXPECT_TRUE(there(9, 2));
  EXPECT_TRUE(there(9, 1));
  EXPECT_FALSE(there(9, 0));
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
    auto writer = StoredWriter::create(steps.path, bytes, {*codec::parse_array_codec(codec), nullptr}, 4096, chain);
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
