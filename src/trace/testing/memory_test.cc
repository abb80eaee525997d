// What a reader takes of memory is bounded by the bytes of the file (trace/values/bounds.h): files of which few bytes
// stand for as much as can be, and many that were damaged at random. All that operator new gives is counted.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/counted_memory.h"
#include "codec/codec.h"
#include "trace/file/file.h"
#include "trace/read/edit.h"
#include "trace/read/trace.h"
#include "trace/testing/synthetic.h"
#include "trace/values/bounds.h"
#include "trace/values/column_head.h"

namespace cairn::trace {
namespace {

/// Whether the file can be opened; a failure of the test where that takes more than it may.
bool opened(const Bytes &file, const std::string &what) {
  bool good = false;
  const uint64_t most = memory_for(file.size());
  const size_t taken = memory_taken(2 * most, [&] { good = Trace::from_bytes(file, "x.cairn").has_value(); });
  EXPECT_LE(taken, most) << what << ", " << file.size() << " bytes";
  return good;
}

std::vector<Section> sections_of(const Bytes &file) {
  std::vector<Section> sections;
  const std::vector<StoredSection> in_file = *read_file(file);
  for (const StoredSection &stored : in_file) {
    Section section{static_cast<SectionKind>(stored.kind), {}};
    EXPECT_TRUE(codec::decode(stored.codec, stored.bytes, stored.decoded_size, &section.bytes));
    section.level = 1;
    sections.push_back(std::move(section));
  }
  return sections;
}

std::vector<Section> some_sections(uint64_t seed) {
  Part part;
  for (const ProcessRecord &process : varying_program(3, seed)) {
    part = *Part::merge(std::move(part), *Part::of(process));
  }
  const Trace trace = *Trace::from_bytes(*part.to_file({}), "");
  std::vector<std::pair<Site, Source>> sources;
  for (const Site &site : trace.sites(0)) sources.emplace_back(site, Source{"main", "main.c", 12});
  return sections_of(with_sources(trace, sources));
}

constexpr size_t kBytes = size_t{16} << 20;  // decoded; in the file hardly more than a 128th of that

/// As often as kBytes hold it.
Bytes again_and_again(Bytes front, const Bytes &piece, const Bytes &back = {}) {
  const size_t times = kBytes / piece.size();
  ByteWriter out;
  out.raw(front);
  out.varint(times);
  for (size_t i = 0; i < times; ++i) out.raw(piece);
  out.raw(back);
  return out.take();
}

Bytes number(uint64_t value) {
  ByteWriter out;
  out.varint(value);
  return out.take();
}

Bytes all(std::initializer_list<Bytes> pieces) {
  Bytes bytes;
  for (const Bytes &piece : pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

struct Bomb {
  const char *what;
  SectionKind kind;
  Bytes bytes;
  Bytes grammars = {1, 1, 0};  ///< an empty one, unless that is the kind
  Bytes columns = {0, 1, 0, 1, 0, 0};
  Bytes rows = {1, 7, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0};  ///< a class of rank 0 with one row, of function 7
};

std::vector<std::function<Bomb()>> bombs() {
  using enum SectionKind;
  constexpr uint64_t kSixteenOn = (uint64_t{14} << 3) | 3;  // of a grammar: sixteen symbols
  constexpr uint64_t kFlat = uint64_t{1} << 21;
  return {
      [] {
        return Bomb{"empty grammars", grammars, again_and_again({}, {1, 0})};
      },
      [] {
        return Bomb{"grammars of a symbol", grammars, again_and_again({}, {1, 1, 0})};
      },
      [] {
        return Bomb{"rules", grammars, again_and_again({1}, {1, 0})};
      },
      [] {
        return Bomb{"terms", grammars, all({{1, 1}, number(16 * kBytes), Bytes(kBytes, kSixteenOn)})};
      },
      [] {
        return Bomb{"values", columns, again_and_again({}, {0})};
      },
      [] {
        return Bomb{"values of a byte", columns, again_and_again({}, {1, 7})};
      },
      [] {
        return Bomb{"columns of the ranks", columns, again_and_again({0}, all({number(kRanksPlus), {2}}))};
      },
      [] {
        return Bomb{"columns", columns, again_and_again({0}, {0, 1, 0})};
      },
      [] {
        return Bomb{"columns with bodies", columns, again_and_again({0}, {2, 1, 0, 0})};
      },
      [] {
        return Bomb{"irregular columns", columns, again_and_again({0}, all({number(kPlainColumn), {1, 9}}))};
      },
      [] {
        // All of one value, with no bytes but for that.
        const Bytes head = all({number(kRunColumns), number(kFreely), {1, 1, 0, 0}});
        return Bomb{"columns of runs", columns, all({{0}, number(kFreely), head, Bytes(2 * kFreely)})};
      },
      [] {
        return Bomb{"tables", columns, again_and_again({0, 0}, {0, 0, 0})};
      },
      [] {
        return Bomb{"tables of values", columns, again_and_again({1, 0, 0, 1}, {0})};
      },
      [] {
        return Bomb{"shapes", rows, again_and_again({}, {7, 0, 0})};
      },
      [] {
        return Bomb{"shapes of fields", rows, again_and_again({1, 7, 0}, {8})};
      },
      [] {
        return Bomb{"classes", rows, again_and_again({1, 7, 0, 0, 0}, {0, 1, 0, 0, 0, 0})};
      },
      [] {
        const Bytes head = {1, 7, 0, 0, 0, 1, 0, 1, 0, 0, 0};
        return Bomb{"rows", rows, again_and_again(all({head, number(kBytes / 2)}), {0, 0})};
      },
      [] {
        constexpr uint64_t kRows = 8000;
        const Bytes head = {0, 1, 0, 0, 0};
        const Bytes first = all({head, number(kRows), number(kRows), Bytes(2 * kRows)});
        const Bytes again = all({head, number(kRows), {0}, number(kRows), {1}, number(kRows - 2)});
        constexpr uint64_t kClasses = 200'000;
        Bytes bytes = all({{1, 7, 0, 0, 0}, number(kClasses), first});
        for (uint64_t i = 1; i < kClasses; ++i) bytes.insert(bytes.end(), again.begin(), again.end());
        return Bomb{"rows named again", rows, bytes};
      },
      [] {
        const Bytes fields = all({number(kBytes), Bytes(kBytes, 8)});
        return Bomb{"fields of a row", rows, all({{1, 7, 0}, fields, {0, 1, 0, 1, 0, 0, 0, 1, 1, 0, 0}})};
      },
      [] {
        return Bomb{"modules", sites, again_and_again({}, {0, 0})};
      },
      [] {
        return Bomb{"sites", sites, all({{1, 0, 0}, number(kBytes), {0}, number(kBytes), Bytes(kBytes)})};
      },
      [] {
        // One stream, whose values are the symbols of the second grammar, and a column in which they count up.
        Bomb bomb{"values of a stream", streams, all({{0, 1, 0, 0, 1, 2, 0, 1}, Bytes(kBytes)})};
        bomb.grammars = all({{2, 1, 0, 1}, number(kFlat), Bytes(kFlat / 16, kSixteenOn)});
        bomb.columns = all({{0, 2, 0, 1, 0, 0, 2, 0}, number((kFlat - 1) << 2 | 1), {2, 0}});
        return bomb;
      },
      [] {
        return Bomb{"variants", streams, again_and_again({0, 1, 0, 0}, {0, 0, 0, 0})};
      },
      [] {
        return Bomb{"hosts", meta, again_and_again({0, 0, 0, 0, 0, 0, 0, 0, 3}, {0})};
      },
      [] {
        return Bomb{"blocks of statistics", timing, again_and_again({4}, {0, 0, 0})};
      },
      [] {
        return Bomb{"slots of statistics", timing, again_and_again({4, 1, 0}, {0})};
      },
      [] {
        return Bomb{"times", timing, again_and_again({2}, {0, 0})};
      },
      [] {
        return Bomb{"folders", source, again_and_again({}, {0, 0})};
      },
      [] {
        return Bomb{"files", source, again_and_again({1, 'a', 0, 'b', 0}, {0, 0})};
      },
      [] {
        return Bomb{"orders", order, again_and_again({1}, {0})};
      },
  };
}

TEST(Memory, FewBytesDoNotStandForMuch) {
  const std::vector<Section> honest = some_sections(1);
  ASSERT_TRUE(opened(write_file(honest), "an honest file"));
  std::mt19937_64 random(30);
  for (const auto &make : bombs()) {
    const Bomb bomb = make();
    std::vector<Section> sections;
    const bool early = bomb.kind == SectionKind::grammars || bomb.kind == SectionKind::columns ||
                       bomb.kind == SectionKind::rows || bomb.kind == SectionKind::streams;
    for (const Section &section : honest) {
      if (section.kind == bomb.kind || (early && section.kind == SectionKind::streams)) continue;
      sections.push_back(section);
      if (!early) continue;
      if (section.kind == SectionKind::grammars) sections.back().bytes = bomb.grammars;
      if (section.kind == SectionKind::columns) sections.back().bytes = bomb.columns;
      if (section.kind == SectionKind::rows) sections.back().bytes = bomb.rows;
    }
    // What takes less than a 128th would be kept as it is (codec::decoded_bound).
    Bytes bytes = bomb.bytes;
    for (size_t i = 0; i < kBytes / 120; ++i) bytes.push_back(static_cast<uint8_t>(random()));
    sections.push_back({bomb.kind, std::move(bytes), false, 1});
    const Bytes file = write_file(sections);
    EXPECT_LT(file.size(), kBytes / 50) << bomb.what;
    EXPECT_FALSE(opened(file, bomb.what)) << bomb.what;
  }
}

// What is honest is far from the bound.
TEST(Memory, HonestFilesTakeLittle) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Bytes file = write_file(some_sections(seed));
    const size_t taken = memory_taken(SIZE_MAX / 2, [&] { EXPECT_TRUE(Trace::from_bytes(file, "").has_value()); });
    EXPECT_LE(taken, (size_t{64} << 10) + 128 * file.size());
  }
}

// A piece of a section many times, and a number before it that may count them.
TEST(Memory, RepeatedPiecesDoNotStandForMuch) {
  std::mt19937_64 random(31);
  constexpr size_t kLarge = size_t{1} << 20;
  const auto up_to = [&random](size_t n) { return n == 0 ? 0 : random() % n; };
  for (const uint64_t seed : {2U, 3U, 4U}) {
    const std::vector<Section> honest = some_sections(seed);
    for (int round = 0; round < 150; ++round) {
      std::vector<Section> sections = honest;
      Section &section = sections[up_to(sections.size())];
      const size_t from = up_to(section.bytes.size());
      const size_t length = 1 + up_to(std::min<size_t>(12, section.bytes.size() - from));
      const size_t times = kLarge / length;
      const size_t at = from < 12 ? up_to(from + 1) : from - up_to(12);
      ByteWriter out;
      const ByteView bytes(section.bytes);
      out.raw(bytes.first(at));
      out.varint(times + up_to(3));
      if (at < from) out.raw(bytes.subspan(at + 1, from - at - 1));
      for (size_t i = 0; i < times && from + length <= bytes.size(); ++i) out.raw(bytes.subspan(from, length));
      out.raw(bytes.subspan(std::min(bytes.size(), from + length)));
      section.bytes = out.take();
      (void)opened(write_file(sections), section_name(static_cast<uint8_t>(section.kind)));
    }
  }
}

}  // namespace
}  // namespace cairn::trace
