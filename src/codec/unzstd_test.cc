// Held against libzstd: what it compresses, at all levels and of all kinds of content, comes back; what is damaged is
// refused or decoded as libzstd does it.
#include "codec/unzstd.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <optional>
#include <random>
#include <string>

namespace cairn::codec {
namespace {

Bytes compressed(const Bytes &plain, int level, bool checksum = false, bool size = false) {
  Bytes frame(ZSTD_compressBound(plain.size()));
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, checksum ? 1 : 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, size ? 1 : 0);
  frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), plain.data(), plain.size()));
  ZSTD_freeCCtx(context);
  return frame;
}

/// Bytes of a certain entropy, in which pieces from before come again.
Bytes mixed(size_t size, unsigned seed) {
  std::mt19937 random(seed);
  const unsigned alphabet = 1U << random() % 9;
  const size_t repeats = random() % 100;
  Bytes bytes;
  while (bytes.size() < size) {
    if (!bytes.empty() && random() % 100 < repeats) {
      const size_t from = random() % bytes.size();
      const size_t length = 1 + random() % (random() % 8 == 0 ? 70000 : 40);
      for (size_t i = 0; i < length && bytes.size() < size; ++i) bytes.push_back(bytes[from + i]);
    } else {
      // The sum of two: some come more often.
      bytes.push_back(static_cast<uint8_t>((random() % alphabet + random() % alphabet) / 2));
    }
  }
  return bytes;
}

std::optional<Bytes> by_libzstd(const Bytes &frame, size_t size) {
  Bytes out(size);
  const size_t result = ZSTD_decompress(out.data(), size, frame.data(), frame.size());
  if (ZSTD_isError(result) != 0U || result != size) return std::nullopt;
  return out;
}

std::optional<Bytes> by_ours(const Bytes &frame, size_t size) {
  Bytes out(size);
  if (!unzstd(frame, out)) return std::nullopt;
  return out;
}

TEST(Unzstd, DecodesWhatLibzstdWrites) {
  constexpr size_t kSizes[] = {0, 1, 2, 7, 100, 255, 256, 1000, 5000, 70000, 131072, 131073, 400000};
  for (unsigned seed = 0; seed < 40; ++seed) {
    for (const size_t size : kSizes) {
      const Bytes plain = mixed(size, 1000 * seed + static_cast<unsigned>(size));
      for (const int level : {-5, 1, 3, 9, 19}) {
        if (level == 19 && seed >= 8) continue;
        const Bytes frame = compressed(plain, level, seed % 3 == 0, seed % 2 == 0);
        ASSERT_EQ(by_ours(frame, size), plain) << "seed " << seed << ", " << size << " bytes, level " << level;
      }
    }
  }
}

TEST(Unzstd, RefusesOtherSizesAndWhatIsCutShort) {
  const Bytes plain = mixed(3000, 5);
  const Bytes frame = compressed(plain, 9);
  EXPECT_EQ(by_ours(frame, plain.size() - 1), std::nullopt);
  EXPECT_EQ(by_ours(frame, plain.size() + 1), std::nullopt);
  for (size_t cut = 0; cut < frame.size(); ++cut) {
    EXPECT_EQ(by_ours(Bytes(frame.begin(), frame.begin() + static_cast<ptrdiff_t>(cut)), plain.size()), std::nullopt);
  }
  Bytes longer = frame;
  longer.push_back(0);
  EXPECT_EQ(by_ours(longer, plain.size()), std::nullopt);
}

// Where both take what is damaged, they make the same of it. One may refuse what the other takes: libzstd looks at the
// window, and not at bits that are left over where it need not.
TEST(Unzstd, TakesAnyBytes) {
  std::mt19937 random(11);
  size_t both = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const Bytes plain = mixed(seed % 2 == 0 ? 300 : 6000, seed);
    const Bytes frame = compressed(plain, seed % 3 == 0 ? 1 : 12);
    for (int i = 0; i < 200; ++i) {
      Bytes damaged = frame;
      for (size_t changes = 1 + random() % 3; changes != 0; --changes) {
        damaged[random() % damaged.size()] = static_cast<uint8_t>(random());
      }
      const auto ours = by_ours(damaged, plain.size());
      const auto theirs = by_libzstd(damaged, plain.size());
      if (!ours || !theirs) continue;
      ++both;
      ASSERT_EQ(*ours, *theirs) << "seed " << seed << ", " << i;
    }
  }
  EXPECT_GT(both, 100U);
}

}  // namespace
}  // namespace cairn::codec
