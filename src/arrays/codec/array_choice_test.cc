#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "arrays/codec/array_codec.h"
#include "arrays/codec/made_up_corners.h"
#include "arrays/codec/sample.h"

namespace cairn::codec {
namespace {

TEST(ParseArrayCodec, TakesNamesLevelsAndGoals) {
  for (const ArrayCodec &codec : array_codecs()) {
    if (codec.lossy) continue;
    const auto choice = parse_array_codec(codec.name);
    ASSERT_TRUE(choice.has_value()) << codec.name;
    EXPECT_EQ(choice->codec, &codec);
    EXPECT_EQ(choice->options.level, 0);
  }
  const auto level = parse_array_codec("zstd:3");
  ASSERT_TRUE(level.has_value());
  EXPECT_EQ(level->options.level, 3);
  const auto automatic = parse_array_codec("auto");
  ASSERT_TRUE(automatic.has_value());
  EXPECT_EQ(automatic->codec, nullptr);
  EXPECT_EQ(automatic->goal.kind, Goal::Kind::ratio);
  EXPECT_EQ(parse_array_codec("auto:speed")->goal.kind, Goal::Kind::speed);
  const auto bandwidth = parse_array_codec("auto:bandwidth=2e7");
  ASSERT_TRUE(bandwidth.has_value());
  EXPECT_EQ(bandwidth->goal.kind, Goal::Kind::bandwidth);
  EXPECT_EQ(bandwidth->goal.bytes_per_second, 2e7);
}

TEST(ParseArrayCodec, SaysWhatIsWrong) {
  for (const char *words : {"", "brotli", "zstd:", "zstd:x", "zstd:3x", "zstd:99", "auto:", "auto:fast",
                            "auto:bandwidth=", "auto:bandwidth=0", "auto:bandwidth=inf", "auto:bandwidth=-1"}) {
    const auto choice = parse_array_codec(words);
    ASSERT_FALSE(choice.has_value()) << words;
    EXPECT_EQ(choice.error().kind, ErrorKind::usage);
    EXPECT_FALSE(choice.error().message.empty());
  }
  EXPECT_NE(parse_array_codec("brotli").error().hint.find("shuffle+zstd"), std::string::npos);
}

TEST(ParseArrayCodec, LossyNeedsATolerance) {
  if (find_array_codec("zfp-lossy") == nullptr) GTEST_SKIP() << "built without zfp";
  EXPECT_EQ(parse_array_codec("zfp-lossy:0.001")->options.tolerance, 0.001);
  for (const char *words : {"zfp-lossy", "zfp-lossy:0", "zfp-lossy:-1", "zfp-lossy:nan"})
    EXPECT_FALSE(parse_array_codec(words).has_value()) << words;
}

TEST(Sample, IsBoxesOfEveryPart) {
  const Bytes values(size_t{4} * 30 * 1000 * 100);
  const uint64_t shape[] = {30, 1000, 100};
  const auto stretches = sample(values, {Element::f32, shape, values}, 4, 65536);
  ASSERT_EQ(stretches.size(), 4U);
  for (const Stretch &stretch : stretches) {
    EXPECT_EQ(stretch.shape, (std::vector<uint64_t>{1, 163, 100}));
    EXPECT_EQ(stretch.values.size(), 163U * 400);
    EXPECT_EQ(stretch.reference.data(), stretch.values.data());
    const auto row = static_cast<size_t>(stretch.values.data() - values.data()) / 400;
    EXPECT_EQ(row / 1000, (row + 162) / 1000) << "a stretch lies in two planes";
  }
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(static_cast<size_t>(stretches[i].values.data() - values.data()) * 4 / values.size(), i);
}

TEST(Sample, OfALittleIsAllOfIt) {
  const Bytes values(400);
  const uint64_t shape[] = {100};
  const auto stretches = sample(values, {Element::f32, shape, {}}, 4, 100);
  ASSERT_EQ(stretches.size(), 1U);
  EXPECT_EQ(stretches[0].values.size(), 400U);
}

TEST(ChooseArrayCodec, StoresNoiseAndPacksWaves) {
  Bytes noise(1 << 20);
  std::mt19937_64 random(1);
  for (uint8_t &byte : noise) byte = static_cast<uint8_t>(random());
  const uint64_t shape[] = {512, 512};
  const Grid grid{Element::f32, shape, {}};
  EXPECT_EQ(choose_array_codec(noise, grid, {})->id, kStore);
  Bytes waves(1 << 20);
  for (size_t i = 0; i < waves.size() / 4; ++i) {
    const auto value = static_cast<float>(std::sin(static_cast<double>(i) * 0.001));
    memcpy(waves.data() + 4 * i, &value, 4);
  }
  EXPECT_NE(choose_array_codec(waves, grid, {})->id, kStore);
  EXPECT_NE(choose_array_codec(waves, grid, {Goal::Kind::bandwidth, 1e6})->id, kStore);
  EXPECT_EQ(choose_array_codec(waves, grid, {Goal::Kind::bandwidth, 1e12})->id, kStore);
  // With the plan that choosing made, encoding makes the bytes that it makes without.
  ArrayOptions options;
  const ArrayCodec *codec = choose_array_codec(waves, grid, {}, &options);
  ASSERT_NE(options.plan, nullptr);
  Bytes with;
  Bytes without;
  ASSERT_TRUE(codec->encode(waves, grid, options, &with));
  ASSERT_TRUE(codec->encode(waves, grid, {}, &without));
  EXPECT_TRUE(with == without);
}

template <typename T>
Bytes bytes_of(const std::vector<T> &numbers) {
  Bytes bytes(numbers.size() * sizeof(T));
  memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// The bytes with that codec, or what is chosen.
size_t coded_size(const Bytes &values, const Grid &grid, std::string_view name) {
  ArrayOptions options;
  const ArrayCodec *codec = name == "auto" ? choose_array_codec(values, grid, {}, &options) : find_array_codec(name);
  Bytes out;
  EXPECT_TRUE(codec->encode(values, grid, options, &out)) << name;
  return out.size();
}

// Corners that cells share, and numbers of corners: compressors see what comes again some way behind.
TEST(ChooseArrayCodec, IsNoLongerThanCompressorsWhereValuesComeAgain) {
  constexpr size_t kRows = 150;
  constexpr size_t kColumns = 300;
  const MadeUpCorners corners(kRows, kColumns);
  const auto check = [](const char *what, Element element, const std::vector<uint64_t> &shape, const Bytes &values) {
    const Grid grid{element, shape, {}};
    const size_t chosen = coded_size(values, grid, "auto");
    for (const char *name : {"zstd", "shuffle+zstd", "delta"})
      EXPECT_LE(chosen, coded_size(values, grid, name) * 101 / 100) << what << ": " << name;
  };
  check("cells", Element::f64, {kRows, kColumns, 4}, bytes_of(corners.cells));
  check("triangles", Element::f64, {kRows * kColumns * 2, 3}, bytes_of(corners.triangles));
  check("connectivity", Element::i32, {kRows * kColumns * 2, 3}, bytes_of(corners.numbers));
}

}  // namespace
}  // namespace cairn::codec
