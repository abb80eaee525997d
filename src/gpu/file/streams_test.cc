#include "gpu/file/streams.h"

#include <gtest/gtest.h>

#include <random>

#include "gpu/testing/decode_stream.h"

namespace cairn::gpu {
namespace {

StreamForm form(CoderKind coder, uint8_t location_bits = 8, uint8_t lanes = 32) {
  StreamForm made;
  made.coder = coder;
  made.location_bits = location_bits;
  made.lanes = lanes;
  return made;
}

constexpr CoderKind kAll[] = {CoderKind::raw, CoderKind::predict};

void expect_same(const StreamForm &how, const std::vector<Event> &events, uint64_t all) {
  const auto words = encode_stream(how, events, all);
  const auto back = decode_stream(how, words, events.size(), all);
  ASSERT_TRUE(back.has_value()) << name_of(how.coder) << ": " << back.error().message;
  ASSERT_EQ(*back, events) << name_of(how.coder);
}

/// A structured program: loops that lanes leave, branches, now and then anything.
std::vector<Event> program(std::mt19937_64 &random, uint64_t all, size_t wanted, uint32_t locations) {
  std::vector<Event> events;
  std::vector<uint64_t> outer{all};
  while (events.size() < wanted) {
    const uint64_t here = outer.back();
    const auto location = static_cast<uint16_t>(1 + random() % locations);
    switch (random() % 8) {
      case 0:
        events.push_back({location, random() & all});
        break;
      case 1:
        for (uint64_t left = here; left != 0; left &= random() | random()) events.push_back({location, left});
        break;
      case 2: {
        const uint64_t taken = here & random();
        if (taken != 0) events.push_back({location, taken});
        if ((here & ~taken) != 0) events.push_back({static_cast<uint16_t>(location + 1), here & ~taken});
        break;
      }
      case 3:
        if (const uint64_t inner = here & (random() | random()); inner != 0) outer.push_back(inner);
        break;
      case 4:
        if (outer.size() > 1) outer.pop_back();
        break;
      default:
        for (uint64_t n = random() % 200; n != 0; --n) events.push_back({location, here});
    }
  }
  return events;
}

TEST(Streams, AnyEventsComeBack) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 80; ++round) {
    for (const CoderKind coder : kAll) {
      for (const uint8_t lanes : {uint8_t{32}, uint8_t{64}}) {
        for (const uint8_t bits : {uint8_t{8}, uint8_t{16}}) {
          const uint64_t all = random() % 3 == 0 ? random() | 1 : ~uint64_t{0};
          const uint64_t lanes_alive = lanes == 32 ? all & 0xffffffff : all;
          expect_same(form(coder, bits, lanes), program(random, lanes_alive, random() % 2000, bits == 8 ? 254 : 60'000),
                      lanes_alive);
        }
      }
    }
  }
}

TEST(Streams, NoEventsAreNoWords) {
  for (const CoderKind coder : kAll) {
    EXPECT_TRUE(encode_stream(form(coder), {}, ~0u).empty());
    expect_same(form(coder), {}, ~0u);
  }
}

TEST(Streams, ALoopCostsAFewBytes) {
  std::vector<Event> events;
  for (int i = 0; i < 1'000'000; ++i) {
    events.push_back({7, 0xffffffff});
    events.push_back({9, 0xffffffff});
  }
  EXPECT_LE(encode_stream(form(CoderKind::predict), events, 0xffffffff).size() * 4, 16);
  EXPECT_EQ(encode_stream(form(CoderKind::raw), events, 0xffffffff).size() * 4, 10'000'000);
}

TEST(Streams, ALaneThatLeavesCostsItsNumber) {
  std::vector<Event> events;
  uint32_t here = 0xffffffff;
  for (uint32_t lane = 0; lane < 31; ++lane) {
    for (int i = 0; i < 50; ++i) events.push_back({3, here});
    here &= ~(1u << (lane * 7 % 32));
  }
  // The run before, the location, the relation, one lane of those left: 3 bytes where the mask alone has 4.
  EXPECT_LE(encode_stream(form(CoderKind::predict), events, 0xffffffff).size() * 4, 31 * 3 + 8);
}

TEST(Streams, BranchesThatRepeatAreForeseen) {
  std::mt19937 random(3);
  std::vector<Event> events;
  for (int i = 0; i < 1000; ++i) {
    const uint32_t taken = static_cast<uint32_t>(random()) | 1;
    events.push_back({1, 0xffffffff});
    events.push_back({2, taken});
    events.push_back({3, ~taken});
    events.push_back({4, 0xffffffff});
  }
  // Each round has 31 bits that nobody can know; the else arm and what follows cost next to nothing.
  EXPECT_LE(encode_stream(form(CoderKind::predict), events, 0xffffffff).size() * 4, 1000 * 7);
}

TEST(Streams, DamagedWordsGiveAnErrorOrOtherEvents) {
  std::mt19937_64 random(11);
  uint64_t errors = 0;
  for (int round = 0; round < 2000; ++round) {
    const StreamForm how = form(kAll[random() % 2], 8, random() % 2 == 0 ? 32 : 64);
    const uint64_t all = how.lanes == 32 ? 0xffffffff : ~uint64_t{0};
    const std::vector<Event> events = program(random, all, 300, 254);
    std::vector<uint32_t> words = encode_stream(how, events, all);
    switch (random() % 3) {
      case 0:
        words.resize(random() % words.size());
        break;
      case 1:
        words[random() % words.size()] ^= 1u << random() % 32;
        break;
      default:
        for (uint32_t &word : words) word = static_cast<uint32_t>(random());
    }
    const auto back = decode_stream(how, words, events.size(), all);
    if (!back) {
      ++errors;
      EXPECT_NE(back.error().message.find("at event"), std::string::npos);
    } else {
      EXPECT_EQ(back->size(), events.size());
    }
  }
  EXPECT_GT(errors, 500);
}

TEST(Streams, TruncatedStreamsAlwaysGiveAnError) {
  std::mt19937_64 random(17);
  for (const CoderKind coder : kAll) {
    const std::vector<Event> events = program(random, 0xffffffff, 500, 254);
    std::vector<uint32_t> words = encode_stream(form(coder), events, 0xffffffff);
    while (!words.empty()) {
      words.pop_back();
      EXPECT_FALSE(decode_stream(form(coder), words, events.size(), 0xffffffff).has_value()) << name_of(coder);
    }
  }
}

}  // namespace
}  // namespace cairn::gpu
