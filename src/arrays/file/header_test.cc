#include "arrays/file/header.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "arrays/file/physical.h"

namespace cairn::arrays {
namespace {

/// time (records), lat 3, lon 5; a(time, lat) int16, b(lat, lon) double, c(time) int32, scalar d.
Header sample() {
  Header header;
  header.records = 4;
  header.dimensions = {{"time", 0}, {"lat", 3}, {"lon", 5}};
  header.attributes = {{"title", NcType::character, 5, {'h', 'e', 'l', 'l', 'o'}}};
  header.variables = {{"a", NcType::int16, {0, 1}, {}, 2000, true, {3}, 6},
                      {"b", NcType::f64, {1, 2}, {{"units", NcType::character, 1, {'K'}}}, 1000, false, {3, 5}, 120},
                      {"c", NcType::int32, {0}, {}, 2008, true, {}, 4},
                      {"d", NcType::f32, {}, {}, 1120, false, {}, 4}};
  return header;
}

TEST(Header, IsReadAsItWasWritten) {
  const Bytes bytes = write_header(sample());
  const Result<Parsed> parsed = parse_header(bytes);
  ASSERT_TRUE(parsed.has_value());
  ASSERT_TRUE(parsed->header.has_value());
  const Header &header = *parsed->header;
  const Header expected = sample();
  EXPECT_EQ(header.size, bytes.size());
  EXPECT_EQ(header.records, 4U);
  ASSERT_EQ(header.variables.size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(header.variables[i].name, expected.variables[i].name);
    EXPECT_EQ(header.variables[i].type, expected.variables[i].type);
    EXPECT_EQ(header.variables[i].shape, expected.variables[i].shape);
    EXPECT_EQ(header.variables[i].slab, expected.variables[i].slab);
    EXPECT_EQ(header.variables[i].begin, expected.variables[i].begin);
    EXPECT_EQ(header.variables[i].record, expected.variables[i].record);
  }
  EXPECT_EQ(header.variables[1].attributes[0].values, Bytes{'K'});
  EXPECT_EQ(header.record_size, 12U);  // 6 bytes are padded to 8
  EXPECT_EQ(header.first_record, 2000U);
  EXPECT_EQ(header.end(), 2000U + 3 * 12 + 12);
  EXPECT_EQ(write_header(header), bytes);
}

TEST(Header, ALoneRecordVariableIsNotPadded) {
  Header header = sample();
  header.variables.erase(header.variables.begin() + 2);
  const Result<Parsed> parsed = parse_header(write_header(header));
  ASSERT_TRUE(parsed && parsed->header);
  EXPECT_EQ(parsed->header->record_size, 6U);
}

TEST(Header, SaysHowMuchMoreItWants) {
  const Bytes bytes = write_header(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Result<Parsed> parsed = parse_header({bytes.data(), size});
    ASSERT_TRUE(parsed.has_value()) << size;
    EXPECT_FALSE(parsed->header.has_value());
    EXPECT_GT(parsed->wanted, size);
    EXPECT_LE(parsed->wanted, bytes.size());
  }
}

TEST(Header, DamageIsAnErrorOrAnotherHeader) {
  const Bytes good = write_header(sample());
  size_t refused = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      Bytes bytes = good;
      bytes[at] ^= static_cast<uint8_t>(flip);
      const Result<Parsed> parsed = parse_header(bytes);
      if (!parsed) ++refused;
    }
  }
  EXPECT_GT(refused, 100U);
}

TEST(Header, ZerosAreNoHeader) {
  // A length gone wrong leads into zeros, which would be dimensions without a name and empty lists.
  Bytes bytes = write_header(sample());
  const size_t second_name = 24 + 20;  // behind the magic, the records, the list's front and "time"
  bytes[second_name + 6] ^= 1;
  bytes.resize(bytes.size() + 1000);
  EXPECT_FALSE(parse_header(bytes).has_value());
}

TEST(Header, PlacesBeyondAllFilesAreRefused) {
  Header begins = sample();
  begins.variables[0].begin = UINT64_MAX - 100;
  EXPECT_FALSE(parse_header(write_header(begins)).has_value());
  Header records = sample();
  records.records = UINT64_MAX / 6;
  EXPECT_FALSE(parse_header(write_header(records)).has_value());
  // Sixteen slabs of 2^60 bytes each would wrap the size of a record around to nothing.
  Header slabs = sample();
  slabs.dimensions[1].length = uint64_t{1} << 59;
  slabs.variables.assign(17, slabs.variables[0]);
  EXPECT_FALSE(parse_header(write_header(slabs)).has_value());
}

TEST(Layout, KnowsWhichVariableHoldsAByte) {
  const Result<Parsed> parsed = parse_header(write_header(sample()));
  ASSERT_TRUE(parsed && parsed->header);
  const Layout layout(*parsed->header);
  const auto at = [&](uint64_t offset) { return layout.find(offset).variable; };
  EXPECT_EQ(at(0), -1);
  EXPECT_EQ(at(1000), 1);
  EXPECT_EQ(at(1119), 1);
  EXPECT_EQ(at(1120), 3);
  EXPECT_EQ(at(1124), -1);
  EXPECT_EQ(at(2000), 0);
  EXPECT_EQ(at(2005), 0);
  EXPECT_EQ(at(2006), -1);  // padding
  EXPECT_EQ(at(2008), 2);
  EXPECT_EQ(at(2012), 0);
  EXPECT_EQ(at(2012 + 12 * 1000 + 8), 2);
  EXPECT_EQ(layout.find(2013).end, 2018U);
  EXPECT_EQ(layout.find(1500).end, 2000U);

  Region records;  // the first two values of `a` in three records
  records.offset = 2000;
  records.run = 4;
  ASSERT_TRUE(records.repeat(3, 12));
  EXPECT_EQ(layout.owner(records), 0);
  Header lone = sample();
  lone.variables.resize(1);
  const Result<Parsed> of_one = parse_header(write_header(lone));
  ASSERT_TRUE(of_one && of_one->header);
  Region three;
  three.offset = 2006;
  three.run = 18;
  EXPECT_EQ(Layout(*of_one->header).owner(three), 0);
  Region both;
  both.offset = 2000;
  both.run = 12;
  EXPECT_EQ(layout.owner(both), std::nullopt);
}

TEST(Physical, IsAHeaderWithAScalarForEachVariable) {
  const IndexPlace place{5000, 123, 0xFEDCBA9876543210};
  const Bytes bytes = physical_header(sample(), place, 4096, 5123);
  const Result<Parsed> parsed = parse_header(bytes);
  ASSERT_TRUE(parsed && parsed->header);
  const Header &header = *parsed->header;
  ASSERT_EQ(header.variables.size(), 5U);
  uint64_t end = header.size;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(header.variables[i].dimensions.empty());
    EXPECT_EQ(header.variables[i].type, sample().variables[i].type);
    EXPECT_GE(header.variables[i].begin, end);
    end = header.variables[i].begin + header.variables[i].slab;
  }
  EXPECT_LE(end, bytes.size());
  EXPECT_EQ(header.variables[4].begin, 4096U);
  EXPECT_EQ(header.variables[4].slab, 5123U - 4096);
  EXPECT_EQ(header.variables[0].attributes.back().values, (Bytes{'t', 'i', 'm', 'e', ' ', 'l', 'a', 't'}));
  const std::optional<IndexPlace> found = marked(header);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->offset, place.offset);
  EXPECT_EQ(found->size, place.size);
  EXPECT_EQ(found->checksum, place.checksum);
  EXPECT_EQ(found->session, 0U);
  EXPECT_EQ(found->storage, std::nullopt);
  // One that is being written names its session, and takes no more room; those of earlier Cairns named none.
  const IndexPlace open_place{5000, 123, 0xFEDCBA9876543210, 0x1122334455667788, Storage::hybrid};
  const Bytes opened = physical_header(sample(), open_place, 4096, 5123);
  EXPECT_EQ(opened.size(), bytes.size());
  EXPECT_EQ(marked(*parse_header(opened)->header)->session, 0x1122334455667788);
  EXPECT_EQ(marked(*parse_header(opened)->header)->storage, Storage::hybrid);
  const IndexPlace earlier{5000, 123, 0xFEDCBA9876543210, std::nullopt, {}};
  EXPECT_EQ(marked(*parse_header(physical_header(sample(), earlier, 4096, 5123))->header)->session, std::nullopt);
  EXPECT_EQ(marked(sample()), std::nullopt);
  // Written anew in place: never longer for another index.
  EXPECT_EQ(physical_header(sample(), {}, 4096, 1 << 30).size(), bytes.size());
  EXPECT_GE(room_for_header(sample(), 512), bytes.size());
}

TEST(Physical, IsReadWhereAToolHasMovedIt) {
  const IndexPlace place{5000, 123, 0xFEDCBA9876543210};
  Header header = *parse_header(physical_header(sample(), place, 4096, 5123))->header;
  EXPECT_EQ(marked(header)->moved, 0U);
  header.variables.back().begin = 4096 - 700;
  EXPECT_EQ(marked(header)->moved, static_cast<uint64_t>(-700));
  EXPECT_EQ(marked(header)->offset, 5000U - 700);
  ASSERT_NE(data_of(header), nullptr);
  EXPECT_EQ(data_of(header)->begin, 4096U - 700);
  header.variables.back().type = NcType::int16;
  EXPECT_EQ(data_of(header), nullptr);
  // Earlier Cairns did not say where data began, and gave scalars the names of the variables.
  IndexPlace earlier = place;
  earlier.earlier = true;
  Header old = *parse_header(physical_header(sample(), earlier, 4096, 5123))->header;
  EXPECT_EQ(old.variables[0].name, sample().variables[0].name);
  old.variables.back().begin += 40;
  EXPECT_TRUE(marked(old)->earlier);
  EXPECT_EQ(marked(old)->offset, 5000U);
}

TEST(Physical, ScalarsAreNotTakenForValues) {
  Header from = sample();
  from.variables[1].name = from.variables[0].name + ".cairn";  // which is taken then
  const Bytes bytes = physical_header(from, {}, 4096, 5123);
  const Header header = *parse_header(bytes)->header;
  EXPECT_EQ(header.variables[0].name, from.variables[0].name + ".cairn_");
  for (const Variable &variable : from.variables) {
    for (const Variable &scalar : header.variables) EXPECT_NE(scalar.name, variable.name);
  }
  // NC_FILL_FLOAT, as nc_inq_var_fill tells it.
  const auto is_float = [](const Variable &variable) { return variable.type == NcType::f32; };
  const auto found = std::ranges::find_if(header.variables, is_float);
  ASSERT_NE(found, header.variables.end());
  const Bytes value(bytes.begin() + static_cast<ptrdiff_t>(found->begin),
                    bytes.begin() + static_cast<ptrdiff_t>(found->begin) + 4);
  EXPECT_EQ(value, (Bytes{0x7c, 0xf0, 0, 0}));
}

TEST(Physical, NamesAreNoLongerThanNetcdfHasRoomFor) {
  Header from = sample();
  ASSERT_GE(from.variables.size(), 2U);
  from.variables[0].name = std::string(250, 'v');
  from.variables[1].name = std::string(256, 'v');
  Header header = *parse_header(physical_header(from, {}, 4096, 5123))->header;
  EXPECT_EQ(header.variables[0].name, std::string(250, 'v') + ".cairn");
  const std::string name = header.variables[1].name;
  EXPECT_EQ(name.size(), 256U);
  EXPECT_TRUE(name.starts_with(std::string(233, 'v') + ".") && name.ends_with(".cairn"));
  // Another one with the same front has another name; letters stay whole.
  from.variables[1].name.back() = 'w';
  header = *parse_header(physical_header(from, {}, 4096, 5123))->header;
  EXPECT_NE(header.variables[1].name, name);
  from.variables[1].name.clear();
  while (from.variables[1].name.size() < 256) from.variables[1].name += "\u00e4";
  header = *parse_header(physical_header(from, {}, 4096, 5123))->header;
  EXPECT_EQ(header.variables[1].name.find('.'), 232U);
}

TEST(Physical, WhatAToolHasChangedIsTold) {
  const Header before = *parse_header(physical_header(sample(), {}, 4096, 5123))->header;
  Header after = before;
  EXPECT_EQ(changes(after, before), std::vector<std::string>());
  after.variables.back().begin += 8;
  EXPECT_EQ(changes(after, before), std::vector<std::string>());
  after.attributes.push_back({"history", NcType::character, 1, {'x'}});
  after.variables[0].attributes.clear();
  after.dimensions[0].length += 1;
  after.variables.erase(after.variables.begin() + 1);
  const std::vector<std::string> expected = {"attribute 'history' was added", "dimension 'time' was changed",
                                             "variable '" + before.variables[1].name + "' is gone",
                                             "attribute '_Cairn_shape' of 'a.cairn' is gone"};
  EXPECT_EQ(changes(after, before), expected);
}

}  // namespace
}  // namespace cairn::arrays
