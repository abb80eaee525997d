// For tests: NetCDF headers with random variables laid out as a NetCDF library would, and random boxes of them.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include "arrays/file/header.h"

namespace cairn::arrays {

/// Fixed and record variables of all types. `records`: how many there are.
inline Bytes random_header(std::mt19937 *random, uint64_t records) {
  const auto below = [&](uint64_t limit) { return (*random)() % limit; };
  Header header;
  header.records = records;
  header.dimensions.push_back({"time", 0});
  for (const char *name : {"x", "y", "z"}) header.dimensions.push_back({name, 1 + below(9)});
  header.attributes = {{"title", NcType::character, 3, {'a', 'b', 'c'}}};
  const uint64_t variables = 1 + below(6);
  std::vector<uint64_t> slabs;
  for (uint64_t i = 0; i < variables; ++i) {
    Variable variable;
    variable.name = std::string("v") + std::to_string(i);
    variable.type = static_cast<NcType>(1 + below(11));
    variable.record = below(2) == 0;
    if (variable.record) variable.dimensions.push_back(0);
    uint64_t slab = size_of(variable.type);
    for (uint64_t axes = below(4); axes > 0; --axes) {
      variable.dimensions.push_back(static_cast<uint32_t>(1 + below(3)));
      slab *= header.dimensions[variable.dimensions.back()].length;
    }
    slabs.push_back(slab);
    header.variables.push_back(std::move(variable));
  }
  uint64_t at = write_header(header).size() + below(3) * 40;
  const auto place = [&](bool record) {
    for (size_t i = 0; i < header.variables.size(); ++i) {
      if (header.variables[i].record != record) continue;
      header.variables[i].begin = at;
      at += (slabs[i] + 3) / 4 * 4;
    }
  };
  place(false);
  place(true);
  return write_header(header);
}

/// A box of a variable that has values: whole elements, in all axes from somewhere to somewhere.
inline Region random_box(const Header &header, const Variable &variable, std::mt19937 *random) {
  const auto below = [&](uint64_t limit) { return (*random)() % limit; };
  Region box;
  box.offset = variable.begin;
  box.run = size_of(variable.type);
  uint64_t stride = box.run;
  const auto axis = [&](uint64_t length, uint64_t distance) {
    const uint64_t first = below(length);
    const uint64_t count = 1 + below(length - first);
    box.offset += first * distance;
    return box.repeat(count, distance);
  };
  bool good = true;
  for (size_t i = variable.shape.size(); i-- > 0;) {
    good = good && axis(variable.shape[i], stride);
    stride *= variable.shape[i];
  }
  if (variable.record) good = good && axis(header.records, header.record_size);
  return good ? box : Region{};
}

}  // namespace cairn::arrays
