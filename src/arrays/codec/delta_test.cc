// The parts of the codec "delta".
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "arrays/codec/array_codec.h"
#include "arrays/codec/bit_pack.h"
#include "arrays/codec/class_code.h"
#include "arrays/codec/cpu.h"
#include "arrays/codec/delta_plan.h"
#include "arrays/codec/huffman.h"
#include "arrays/codec/mask.h"

namespace cairn::codec {
namespace {

template <typename Word>
void pack_and_unpack(unsigned seed, size_t count, unsigned widest) {
  std::mt19937_64 random(seed);
  std::vector<Word> numbers(count);
  std::vector<uint8_t> widths(count);
  for (size_t i = 0; i < count; ++i) {
    widths[i] = static_cast<uint8_t>(random() % (widest + 1));
    numbers[i] = widths[i] == 0 ? 0 : static_cast<Word>(random() >> (64 - widths[i]));
  }
  Bytes packed(count * sizeof(Word) + kPackSlack);
  packed.resize(pack_bits(numbers.data(), widths.data(), count, packed.data()));
  packed.shrink_to_fit();  // nothing beyond may be read
  uint64_t bits = 0;
  for (const uint8_t width : widths) bits += width;
  ASSERT_LE(packed.size() * 8, bits + 256);
  std::vector<Word> back(count);
  ByteReader in(packed);
  ASSERT_TRUE(unpack_bits(in, widths.data(), count, back.data()));
  EXPECT_TRUE(in.at_end());
  EXPECT_EQ(back, numbers);
  // With more behind it, too little, and a bit that no number has.
  Bytes longer = packed;
  longer.resize(packed.size() + 40, 0xff);
  ByteReader in_longer(longer);
  ASSERT_TRUE(unpack_bits(in_longer, widths.data(), count, back.data()));
  EXPECT_EQ(in_longer.position(), packed.size());
  EXPECT_EQ(back, numbers);
  if (packed.empty()) return;
  ByteReader in_shorter(ByteView(packed).first(packed.size() - 1));
  EXPECT_FALSE(unpack_bits(in_shorter, widths.data(), count, back.data()));
  if (bits % (8 * sizeof(Word)) == 0) return;
  for (uint8_t &byte : packed) byte = 0xff;
  ByteReader in_wrong(packed);
  EXPECT_FALSE(unpack_bits(in_wrong, widths.data(), count, back.data()));
}

TEST(BitPack, GivesBackNumbersOfEveryWidth) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    portable_only = seed >= 20;
    for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{33}, size_t{1000}}) {
      pack_and_unpack<uint32_t>(seed, count, seed % 2 == 0 ? 32 : 5);
      pack_and_unpack<uint64_t>(seed, count, seed % 2 == 0 ? 64 : 11);
    }
  }
  portable_only = false;
}

TEST(Huffman, CodesAreFullAndNoLongerThanAllowed) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 300; ++round) {
    std::array<uint32_t, 256> frequencies = {};
    const size_t symbols = 1 + random() % 200;
    for (size_t i = 0; i < symbols; ++i) {
      // Some as steep as powers, which make the longest codes.
      frequencies[random() % 256] = static_cast<uint32_t>(round % 2 == 0 ? 1 + random() % 1000 : 1U << i % 28);
    }
    uint64_t all = 0;
    for (const uint32_t n : frequencies) all += n;
    double entropy = 0;
    const HuffmanCode code = HuffmanCode::of(frequencies);
    size_t room = 0;
    uint64_t bits = 0;
    for (unsigned s = 0; s < 256; ++s) {
      ASSERT_LE(code.length[s], kMaxCode);
      ASSERT_EQ(code.length[s] != 0, frequencies[s] != 0 && code.symbols > 1);
      if (code.length[s] != 0) room += kCodeTable >> code.length[s];
      bits += uint64_t{frequencies[s]} * code.length[s];
      if (frequencies[s] != 0) entropy += frequencies[s] * std::log2(static_cast<double>(all) / frequencies[s]);
    }
    ASSERT_EQ(room, code.symbols > 1 ? kCodeTable : 0);
    if (round % 2 == 0 && code.symbols > 30) {
      EXPECT_LT(static_cast<double>(bits), 1.03 * entropy + 0.1 * static_cast<double>(all));
    }
    Bytes bytes;
    code.write(&bytes);
    ByteReader in(bytes);
    HuffmanCode back;
    ASSERT_TRUE(back.read(in));
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(back.length, code.length);
    EXPECT_EQ(back.bits, code.bits);
  }
}

TEST(Huffman, RefusesWhatIsNoCode) {
  for (const Bytes &bytes : {Bytes{}, Bytes{3}, Bytes{200, 100, 1}, Bytes{0, 1, 0x21}, Bytes{0, 2, 0x11, 0x01},
                             Bytes{0, 1, 0xbb}, Bytes{0, 2, 0x11, 0x10}}) {
    ByteReader in(bytes);
    HuffmanCode code;
    EXPECT_FALSE(code.read(in)) << testing::PrintToString(bytes);
  }
}

TEST(ClassCode, GivesBackClassesAndLearnsFromTheOneBefore) {
  std::mt19937_64 random(5);
  for (const size_t count : {size_t{1}, size_t{5}, size_t{2048}, size_t{65536}}) {
    std::vector<uint8_t> classes(count);
    std::array<uint32_t, 256> some = {};
    for (size_t i = 0; i < count; ++i) {
      // Large ones stand beside large ones.
      classes[i] = static_cast<uint8_t>(class_of(static_cast<uint32_t>(random() >> (i / 500 % 2 == 0 ? 32 : 56))));
      ASSERT_TRUE(is_class<uint32_t>(classes[i]));
      ++some[classes[i]];
    }
    Bytes room(count * 4 + 128);
    Bytes out;
    ASSERT_TRUE(write_class_codes(classes.data(), count, some, 0, room.data(), &out));
    if (count > 10000) {
      EXPECT_LT(out.size() * 8, count * 22 / 5);  // five bits if contexts were not used
    }
    std::vector<uint8_t> back(count);
    ByteReader in(out);
    ASSERT_TRUE(read_class_codes(in, back.data(), count));
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(back, classes);
    Bytes nothing;
    EXPECT_FALSE(write_class_codes(classes.data(), count, some, 100, room.data(), &nothing));
    EXPECT_TRUE(nothing.empty());
  }
}

template <typename Word>
void classes_are_what_they_say() {
  std::mt19937_64 random(9);
  for (int i = 0; i < 4000; ++i) {
    const Word x = static_cast<Word>(static_cast<Word>(random()) >> (random() % (8 * sizeof(Word))));
    const uint32_t klass = class_of(x);
    const uint32_t width = width_of_class(klass);
    const Word high = klass < 4 ? klass : (klass & 3) | 4;
    ASSERT_TRUE(is_class<Word>(klass));
    ASSERT_EQ(static_cast<Word>(high << width | (x & ((Word(1) << width) - 1))), x);
  }
}

TEST(ClassCode, ClassesSayWhatStandsAboveTheLowBits) {
  classes_are_what_they_say<uint32_t>();
  classes_are_what_they_say<uint64_t>();
}

TEST(FindStep, FindsStepsOfPackedIntegersAndOfDecimals) {
  std::mt19937 random(6);
  for (const double step : {0.01, 0.1, 1.0, 3.28, 0.000041008}) {
    for (const double base : {0.0, 273.15, -17.5}) {
      std::vector<double> numbers;
      for (int i = 0; i < 2000; ++i) {
        const double exact = base + step * static_cast<double>(random() % 3000);
        numbers.push_back(static_cast<double>(static_cast<float>(exact)));
      }
      double found = 0;
      double found_base = 0;
      const bool fine = std::abs(base) + 3000 * step > step * (1 << 21);  // below what a float holds
      EXPECT_EQ(find_step(numbers, 24, &found_base, &found), !fine) << step << " " << base;
      if (fine) continue;
      EXPECT_NEAR(found, step, 1e-4 * step) << base;
    }
  }
  std::normal_distribution<float> normal(280, 10);
  std::vector<double> noise;
  for (int i = 0; i < 2000; ++i) noise.push_back(static_cast<double>(normal(random)));
  double base = 0;
  double step = 0;
  EXPECT_FALSE(find_step(noise, 24, &base, &step));
}

/// Runs a check with what this CPU has, and with the portable form.
template <typename Function>
void on_any_cpu(Function check) {
  check();
  portable_only = true;
  check();
  portable_only = false;
}

template <typename Word>
void squeezes_and_spreads(size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> held(count + 8);
  std::vector<Word> numbers(count);
  std::vector<Word> expected;
  std::vector<Word> gaps(count);
  for (size_t i = 0; i < count; ++i) {
    held[i] = static_cast<uint8_t>(random() % (1 + seed % 4) == 0 ? 1 : 0);
    numbers[i] = static_cast<Word>(random());
    if (held[i] != 0) continue;
    expected.push_back(numbers[i]);
    gaps[i] = numbers[i];
  }
  on_any_cpu([&] {
    std::vector<Word> some(count + 8);
    ASSERT_EQ(squeeze(held.data(), count, numbers.data(), some.data()), expected.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), some.begin()));
    std::vector<Word> back(count);
    spread(held.data(), count, some.data(), back.data());
    EXPECT_EQ(back, gaps);
    std::vector<uint8_t> mask(count / 8 + 8);
    std::vector<uint8_t> held_again(count + 8);
    put_mask(held.data(), count, mask.data());
    EXPECT_EQ(get_mask(mask.data(), count, held_again.data()), expected.size());
    EXPECT_TRUE(std::equal(held.begin(), held.begin() + static_cast<ptrdiff_t>(count), held_again.begin()));
  });
}

TEST(Mask, SqueezesAndSpreadsWordsOfEitherWidth) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    for (const size_t count : {size_t{0}, size_t{3}, size_t{8}, size_t{500}, size_t{1001}}) {
      squeezes_and_spreads<uint32_t>(count, seed);
      squeezes_and_spreads<uint64_t>(count, seed);
    }
  }
}

template <typename Word>
void predictions_are_restored(const Lags &lags, bool some_held) {
  std::mt19937_64 random(10);
  constexpr size_t kCount = 997;
  std::vector<Word> all(history(lags) + kCount);
  Word *integers = all.data() + history(lags);
  std::vector<uint8_t> held(kCount + 8);
  for (size_t i = 0; i < kCount; ++i) {
    integers[i] = static_cast<Word>(random());
    held[i] = static_cast<uint8_t>(some_held && random() % 5 < i / 64 % 4 ? 1 : 0);
  }
  std::vector<Word> first;
  on_any_cpu([&] {
    std::vector<Word> known = all;
    Word *from = known.data() + history(lags);
    hold(lags, held.data(), kCount, from);
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(from[i], held[i] == 0 ? integers[i] : lags.count == 0 ? 0 : *(from + i - lags.of[0])) << i;
    }
    std::vector<Word> residuals(kCount);
    predict(lags, from, kCount, residuals.data());
    if (first.empty()) first = residuals;
    EXPECT_EQ(residuals, first);
    std::vector<Word> back(all.size());
    restore(lags, residuals.data(), held.data(), kCount, back.data() + history(lags));
    EXPECT_EQ(back, known) << lags.of[0] << " " << lags.of[1] << " " << lags.of[2];
  });
}

TEST(DeltaPredict, RestoresWhatItPredictedOverAnyLags) {
  for (const bool some_held : {false, true}) {
    predictions_are_restored<uint32_t>({}, some_held);
    for (size_t lag = 1; lag < 20; ++lag) {
      predictions_are_restored<uint32_t>({1, {lag}}, some_held);
      predictions_are_restored<uint64_t>({1, {lag}}, some_held);
      predictions_are_restored<uint32_t>({2, {lag, lag + 30}}, some_held);
      predictions_are_restored<uint64_t>({3, {lag, lag + 1, 5 * lag + 7}}, some_held);
    }
  }
}

TEST(Delta, LagsOfMoreThanABlockReachBackOverBlocks) {
  // Four planes of more values than a block has, which resemble nothing but each other.
  std::mt19937 random(11);
  std::normal_distribution<float> normal(0, 1);
  constexpr size_t kPlane = 300 * 250;
  const uint64_t shape[] = {4, 300, 250};
  std::vector<float> values(4 * kPlane);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i < kPlane ? 300 + 20 * normal(random) : values[i - kPlane] + 0.001F * normal(random);
  const ByteView bytes{reinterpret_cast<const uint8_t *>(values.data()), values.size() * 4};
  const Grid grid{Element::f32, shape, {}};
  const ArrayCodec *codec = find_array_codec("delta");
  Bytes first;
  on_any_cpu([&] {
    Bytes out;
    ASSERT_TRUE(codec->encode(bytes, grid, {}, &out));
    EXPECT_LT(out.size() * 2, bytes.size());
    if (first.empty()) first = out;
    EXPECT_TRUE(out == first);
    Bytes back(bytes.size());
    ASSERT_TRUE(codec->decode(out, grid, back));
    EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.begin()));
  });
}

/// The plan for a field of 40 x 50 x 60 floats.
template <typename Function>
DeltaPlan plan_of(Function function) {
  static const uint64_t shape[] = {40, 50, 60};
  std::vector<float> values;
  for (int z = 0; z < 40; ++z) {
    for (int y = 0; y < 50; ++y) {
      for (int x = 0; x < 60; ++x) values.push_back(static_cast<float>(function(x, y, z)));
    }
  }
  return choose_delta_plan({reinterpret_cast<const uint8_t *>(values.data()), values.size() * 4},
                           {Element::f32, shape, {}});
}

TEST(DeltaPlan, ChoosesWhatSuitsTheValues) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 1);
  const auto columns = plan_of([&](int x, int y, int) { return std::sin(x * y) * 100 + 300 + 0.01 * normal(random); });
  ASSERT_EQ(columns.lags.count, 1U);  // only along the slowest axis do values resemble each other
  EXPECT_EQ(columns.lags.of[0], 3000U);

  const auto crossing = plan_of([&](int x, int, int) { return x - 30 + normal(random); });
  EXPECT_EQ(crossing.map.kind, Mapping::fixed);

  const auto decimals = plan_of([&](int x, int, int) { return std::round(100 * (x + normal(random))) / 100; });
  EXPECT_EQ(decimals.map.kind, Mapping::scaled);
  EXPECT_EQ(decimals.map.step, 0.01);
  EXPECT_EQ(decimals.map.base, 0);
  EXPECT_FALSE(decimals.has_fill);

  const auto coasts =
      plan_of([&](int x, int y, int) { return (x / 7 + y / 9) % 3 == 0 ? -1e34 : 280 + normal(random); });
  EXPECT_TRUE(coasts.has_fill);
  EXPECT_EQ(coasts.fill, std::bit_cast<uint32_t>(-1e34F));
}

}  // namespace
}  // namespace cairn::codec
