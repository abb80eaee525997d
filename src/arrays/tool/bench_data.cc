#include "arrays/tool/bench_data.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "arrays/file/block_code.h"
#include "arrays/file/byte_order.h"
#include "arrays/file/physical.h"
#include "arrays/file/plain_file.h"
#include "arrays/file/stored_file.h"
#include "arrays/file/stored_writer.h"
#include "arrays/tool/text.h"

namespace cairn::array_tool {
namespace {

using Reader = std::function<Result<void>(const arrays::Regions &, uint8_t *)>;

tl::unexpected<Error> about(const std::string &path, const char *what, const std::string &hint) {
  return tl::unexpected(Error{ErrorKind::usage, what, path, Error::kNoOffset, hint});
}

/// Bytes of a region's data.
Result<Piece> piece_of(const arrays::Variable &variable, const arrays::Region &region, uint64_t from, uint64_t bytes,
                       const Reader &read) {
  const size_t element = arrays::size_of(variable.type);
  arrays::Regions regions;
  arrays::cut(region, from, bytes, &regions);
  Piece piece;
  piece.values.resize(arrays::bytes_of(regions));
  if (auto done = read(regions, piece.values.data()); !done) return tl::unexpected(done.error());
  arrays::swap_bytes(piece.values.data(), piece.values.data(), piece.values.size(), element);
  piece.shape = regions.size() == 1 ? arrays::shape_of(regions.front(), &variable, element)
                                    : std::vector<uint64_t>{piece.values.size() / element};
  return piece;
}

/// A few steps of the variable, each with the one before it.
Result<void> add_steps(const arrays::Variable &variable, const arrays::Region &region, const Reader &read,
                       Sample *sample) {
  constexpr uint64_t kSteps = 4;
  if (!variable.record && variable.shape.size() < 2) return {};
  const uint64_t step = variable.record ? variable.slab : variable.slab / variable.shape[0];
  const uint64_t steps = step == 0 ? 0 : sample->all / step;
  const uint64_t bytes = std::min(step, arrays::kSplit);
  for (uint64_t i = 0; i < std::min(kSteps, steps == 0 ? 0 : steps - 1); ++i) {
    const uint64_t at = 1 + (steps - 1) * i / kSteps;
    Result<Piece> before = piece_of(variable, region, (at - 1) * step, bytes, read);
    if (!before) return tl::unexpected(before.error());
    Result<Piece> now = piece_of(variable, region, at * step, bytes, read);
    if (!now) return tl::unexpected(now.error());
    sample->steps.emplace_back(*std::move(before), *std::move(now));
  }
  return {};
}

Result<Sample> sample_of(const arrays::Variable &variable, const arrays::Region &region, uint64_t most,
                         const Reader &read) {
  Sample sample;
  sample.variable = variable.name;
  sample.type = name_of(variable.type);
  sample.element = arrays::element_of(variable.type);
  sample.all = region.bytes();
  const size_t element = codec::size_of(sample.element);
  const auto piece = [&](uint64_t from) {
    return std::min(arrays::piece_at(region, &variable, element, arrays::kSplit, from), sample.all - from);
  };
  const uint64_t first = piece(0);
  const uint64_t there = (sample.all + first - 1) / first;
  const uint64_t taken = std::min(there, std::max<uint64_t>(most / first, 1));
  for (uint64_t i = 0; i < taken; ++i) {
    const uint64_t from = there * i / taken * first;  // none twice: there are as many
    Result<Piece> next = piece_of(variable, region, from, piece(from), read);
    if (!next) return tl::unexpected(next.error());
    sample.pieces.push_back(*std::move(next));
  }
  if (auto added = add_steps(variable, region, read, &sample); !added) return tl::unexpected(added.error());
  return sample;
}

Result<std::vector<Sample>> samples_from(const std::string &path, const arrays::Header &header,
                                         const std::string &wanted, uint64_t most, const Reader &read,
                                         const std::function<arrays::Regions(const arrays::Variable &)> &where) {
  std::vector<Sample> samples;
  for (const arrays::Variable &variable : header.variables) {
    if (!wanted.empty() && variable.name != wanted) continue;
    const arrays::Regions regions = where(variable);
    if (regions.empty() || regions.front().run % arrays::size_of(variable.type) != 0) continue;
    Result<Sample> sample = sample_of(variable, regions.front(), most, read);
    if (!sample) return tl::unexpected(sample.error());
    samples.push_back(*std::move(sample));
  }
  if (!samples.empty()) return samples;
  if (wanted.empty()) return about(path, "there are no values in it", "name another file, or none for a made-up field");
  return about(path, ("there is no variable '" + wanted + "' with values").c_str(), "ncdump -h lists them");
}

}  // namespace

uint64_t Sample::bytes() const {
  uint64_t bytes = 0;
  for (const Piece &piece : pieces) bytes += piece.values.size();
  return bytes;
}

Result<std::vector<Sample>> samples_of(const std::string &path, const std::string &variable, uint64_t most) {
  const auto plain = arrays::PlainFile::open(path);
  if (!plain) return tl::unexpected(plain.error());
  if (!arrays::ours(plain->header())) {
    return samples_from(
        path, plain->header(), variable, most,
        [&](const arrays::Regions &regions, uint8_t *data) { return plain->read(regions, data); },
        [&](const arrays::Variable &each) { return plain->where(each); });
  }
  const auto stored = arrays::StoredFile::open(path);
  if (!stored) return tl::unexpected(stored.error());
  return samples_from(
      path, stored->header(), variable, most,
      [&](const arrays::Regions &regions, uint8_t *data) { return stored->read(regions, data); },
      [&](const arrays::Variable &each) { return stored->header().where(each); });
}

Sample made_up_field() {
  constexpr std::array<uint64_t, 3> kShape = {32, 256, 512};
  constexpr double kPi = 3.14159265358979323846;
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.01);
  Sample sample;
  sample.variable = "made-up field";
  sample.type = "float";
  sample.all = kShape[0] * kShape[1] * kShape[2] * sizeof(float);
  for (uint64_t z = 0; z < kShape[0]; z += 2) {
    Piece piece;
    piece.shape = {2, kShape[1], kShape[2]};
    for (uint64_t i = 0; i < 2 * kShape[1] * kShape[2]; ++i) {
      const uint64_t layer = z + i / (kShape[1] * kShape[2]);
      const uint64_t row = i / kShape[2] % kShape[1];
      const double height = static_cast<double>(layer) / kShape[0];
      const double y = static_cast<double>(row) / kShape[1];
      const double x = static_cast<double>(i % kShape[2]) / kShape[2];
      double value = 288 - 60 * height - 40 * std::pow(std::sin(kPi * y), 2) + noise(random);
      for (int wave = 1; wave <= 4; ++wave)
        value += std::sin(2 * kPi * (wave * x + height)) * std::cos(wave * kPi * y) / wave;
      const auto single = static_cast<float>(value);
      uint8_t bytes[sizeof single];
      memcpy(bytes, &single, sizeof single);
      piece.values.insert(piece.values.end(), std::begin(bytes), std::end(bytes));
    }
    sample.pieces.push_back(std::move(piece));
  }
  return sample;
}

}  // namespace cairn::array_tool
