// make_arrays FOLDER: plain.nc, a NetCDF file of a few kilobytes, and rewritten.nc, the same compressed, with parts
// written a second and a third time.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "arrays/file/stored_writer.h"

namespace {

using namespace cairn;
using namespace cairn::arrays;

Attribute text(const char *name, const std::string &value) {
  return {name, NcType::character, value.size(), {value.begin(), value.end()}};
}

/// T(time, lat, lon) float, flag(time) byte, relief(lat, lon) short, empty(lon) double.
Bytes header() {
  Header header;
  header.records = 3;
  header.dimensions = {{"time", 0}, {"lat", 16}, {"lon", 25}};
  header.attributes = {text("title", "made up")};
  header.variables.resize(4);
  header.variables[0] = {"relief", NcType::int16, {1, 2}, {}, 1024, false, {}, 0};
  header.variables[1] = {"empty", NcType::f64, {2}, {}, 1824, false, {}, 0};
  header.variables[2] = {"T", NcType::f32, {0, 1, 2}, {text("units", "K")}, 2024, true, {}, 0};
  header.variables[3] = {"flag", NcType::byte, {0}, {}, 3624, true, {}, 0};
  return write_header(header);
}

void big(uint64_t value, int width, Bytes *out) {
  for (int i = width - 1; i >= 0; --i) out->push_back(static_cast<uint8_t>(value >> (8 * i)));
}

Bytes relief() {
  Bytes bytes;
  for (int i = 0; i < 400; ++i) big(static_cast<uint64_t>(i * i / 40), 2, &bytes);
  return bytes;
}

Bytes temperatures(int record) {
  Bytes bytes;
  for (int i = 0; i < 400; ++i) {
    const float value = 250 + static_cast<float>(record * 100 + i) / 8;
    uint32_t word = 0;
    memcpy(&word, &value, sizeof word);
    big(word, 4, &bytes);
  }
  return bytes;
}

bool write(const std::string &path, const Bytes &bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return out.good();
}

bool write_plain(const std::string &path) {
  Bytes bytes = header();
  bytes.resize(1024);
  const Bytes low = relief();
  bytes.insert(bytes.end(), low.begin(), low.end());
  bytes.resize(2024);
  for (int record = 0; record < 3; ++record) {
    const Bytes slab = temperatures(record);
    bytes.insert(bytes.end(), slab.begin(), slab.end());
    // A byte and its padding, which NetCDF fills with -127.
    for (const int byte : {record, -127, -127, -127}) bytes.push_back(static_cast<uint8_t>(byte));
  }
  return write(path, bytes);
}

bool write_rewritten(const std::string &path) {
  const auto codec = codec::parse_array_codec("zstd");
  auto writer = StoredWriter::create(path, header(), {*codec, nullptr}, 2048);
  if (!writer) return false;
  const auto put = [&](int variable, uint64_t offset, const Bytes &bytes) {
    Region region;
    region.offset = offset;
    region.run = bytes.size();
    return writer->write(variable, {&region, 1}, bytes.data()).has_value();
  };
  bool good = put(0, 1024, Bytes(800, 7)) && put(0, 1024, relief());  // replaced
  good = good && put(2, 2024 + 400, Bytes(400, 1));                   // covered by what follows
  for (int record = 0; record < 3; ++record) {
    const uint64_t at = static_cast<uint64_t>(record) * 1604;
    good = good && put(2, 2024 + at, temperatures(record)) && put(3, 3624 + at, {static_cast<uint8_t>(record)});
  }
  return good && writer->finish().has_value();
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  return write_plain(folder + "/plain.nc") && write_rewritten(folder + "/rewritten.nc") ? 0 : 1;
}
