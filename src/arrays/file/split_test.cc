#include "arrays/file/split.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace cairn::arrays {
namespace {

/// fixed(6, 10) float at 256; records: a(time, 5) int16 and b(time, 3) double, interleaved from 512 on.
Header sample() {
  Header header;
  header.records = 4;
  header.dimensions = {{"time", 0}, {"six", 6}, {"ten", 10}, {"five", 5}, {"three", 3}};
  header.variables = {{"fixed", NcType::f32, {1, 2}, {}, 256, false, {}, 0},
                      {"a", NcType::int16, {0, 3}, {}, 512, true, {}, 0},
                      {"b", NcType::f64, {0, 4}, {}, 524, true, {}, 0}};
  return *parse_header(write_header(header))->header;
}

Region run(uint64_t offset, uint64_t bytes) {
  Region region;
  region.offset = offset;
  region.run = bytes;
  return region;
}

/// Data whose bytes tell their places: position in the request, in the order of the file.
Bytes numbered(uint64_t bytes) {
  Bytes data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return data;
}

/// What all splits say that each byte of the file is.
std::map<uint64_t, uint8_t> written(std::span<const Split> splits, const Bytes &data) {
  std::map<uint64_t, uint8_t> file;
  for (const Split &split : splits) {
    Bytes values(split.bytes);
    gather(split, data.data(), values.data());
    const size_t element = codec::size_of(split.element);
    EXPECT_EQ(values.size(), split.bytes);
    EXPECT_EQ(bytes_of(split.regions), split.bytes);
    uint64_t at = 0;
    for (const Region &region : split.regions) {
      for (RunCursor runs(region); !runs.done(); runs.next()) {
        for (uint64_t i = 0; i < runs.run().bytes; ++i, ++at) {
          const uint8_t byte = values[at / element * element + (element - 1 - at % element)];
          EXPECT_TRUE(file.emplace(runs.run().offset + i, byte).second) << "written twice";
        }
      }
    }
  }
  return file;
}

std::map<uint64_t, uint8_t> meant(std::span<const Region> request, const Bytes &data) {
  std::map<uint64_t, uint8_t> file;
  size_t at = 0;
  for (const Region &region : request) {
    for (RunCursor runs(region); !runs.done(); runs.next()) {
      for (uint64_t i = 0; i < runs.run().bytes; ++i) file[runs.run().offset + i] = data[at++];
    }
  }
  return file;
}

TEST(Split, InterleavedRecordsAreTakenApart) {
  const Header header = sample();
  const Layout layout(header);
  ASSERT_EQ(header.record_size, 36U);
  const Region request = run(512, 4 * 36);
  const Bytes data = numbered(request.bytes());
  const std::vector<Split> splits = split_request({&request, 1}, layout, header, [](int) { return 1 << 20; });
  ASSERT_EQ(splits.size(), 3U);  // padding, a, b
  EXPECT_EQ(splits[0].variable, -1);
  EXPECT_EQ(splits[1].variable, 1);
  EXPECT_EQ(splits[1].element, codec::Element::i16);
  EXPECT_EQ(splits[1].regions.size(), 1U);  // four records in one box
  EXPECT_EQ(splits[2].element, codec::Element::f64);
  EXPECT_EQ(splits[2].bytes, 4U * 24);
  EXPECT_EQ(written(splits, data), meant({&request, 1}, data));
}

TEST(Split, IsWholeRowsWhereTheyFit) {
  const Header header = sample();
  Region box = run(256, 12);  // 6 rows of 3 values
  ASSERT_TRUE(box.repeat(6, 40));
  const Bytes data = numbered(box.bytes());
  const std::vector<Split> splits = split_request({&box, 1}, Layout(header), header, [](int) { return 30; });
  ASSERT_EQ(splits.size(), 3U);
  for (const Split &split : splits) EXPECT_EQ(split.bytes, 24U);
  EXPECT_EQ(written(splits, data), meant({&box, 1}, data));
}

TEST(Split, HalvesOfValuesAreBytes) {
  const Header header = sample();
  const Region odd = run(258, 9);
  const Bytes data = numbered(odd.bytes());
  const std::vector<Split> splits = split_request({&odd, 1}, Layout(header), header, [](int) { return 64; });
  ASSERT_EQ(splits.size(), 1U);
  EXPECT_EQ(splits[0].variable, 0);
  EXPECT_EQ(splits[0].element, codec::Element::u8);
  EXPECT_EQ(written(splits, data), meant({&odd, 1}, data));
}

TEST(Split, EveryByteOfAnyRequestIsWrittenOnce) {
  const Header header = sample();
  const Layout layout(header);
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    Regions request;
    uint64_t at = 240 + random() % 100;
    for (uint64_t n = 1 + random() % 4; n > 0; --n) {
      Region region = run(at, 1 + random() % 40);
      (void)region.repeat(1 + random() % 4, region.run + random() % 50);
      at = region.end() + random() % 60;
      request.push_back(region);
    }
    const uint64_t limit = 8 * (1 + random() % 20);
    const Bytes data = numbered(bytes_of(request));
    const std::vector<Split> splits = split_request(request, layout, header, [&](int) { return limit; });
    EXPECT_EQ(written(splits, data), meant(request, data));
    for (const Split &split : splits) EXPECT_LE(split.bytes, limit);
  }
}

}  // namespace
}  // namespace cairn::arrays
