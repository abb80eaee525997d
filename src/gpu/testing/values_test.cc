#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "gpu/testing/traced_kernel.h"

namespace cairn::gpu {
namespace {

constexpr uint16_t kLocations[] = {2, 7, 10, 200};  // 2 and 10 share what is known

StreamForm form(CoderKind coder, uint8_t lanes = 32, uint8_t location_bits = 8) {
  StreamForm made;
  made.coder = coder;
  made.location_bits = location_bits;
  made.lanes = lanes;
  made.value_locations = kLocations;
  return made;
}

Event event(uint16_t location, uint64_t mask, ValueType type, std::vector<uint64_t> values) {
  return {location, mask, type, std::move(values)};
}

/// Now functions of the lane that go on, now anything.
std::vector<Event> random_events(std::mt19937_64 &random, uint64_t all, size_t count) {
  struct Course {
    uint64_t base, stride, step;
  };
  std::map<uint16_t, Course> courses;
  std::vector<Event> made;
  uint64_t mask = all;
  while (made.size() < count) {
    if (random() % 6 == 0) mask = random() % 3 == 0 ? all : all & random();
    if (random() % 3 == 0) {
      made.push_back({static_cast<uint16_t>(20 + random() % 3), mask});
      continue;
    }
    const uint16_t location = kLocations[random() % 4];
    const auto type = random() % 10 == 0 ? static_cast<ValueType>(1 + random() % 6)
                                         : (location == 7 ? ValueType::u64 : ValueType::i32);
    Course &course = courses[location];
    const auto drawn = [&] { return random() >> random() % 64; };
    if (random() % 12 == 0) course = {drawn(), random() % 2 == 0 ? 0 : drawn(), uint64_t{0} - drawn()};
    course.base += course.step;
    Event next{location, mask, type, {}};
    for (unsigned lane = 0; lane < 64; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const uint64_t value = random() % 200 == 0 ? drawn() : course.base + course.stride * lane;
      next.values.push_back(type >= ValueType::i64 ? value : value & 0xffffffff);
    }
    made.push_back(std::move(next));
  }
  return made;
}

uint64_t size_of(const std::vector<Event> &events) {
  return encode_stream(form(CoderKind::predict), events, 0xffffffff).size() * 4;
}

TEST(Values, AnyComeBack) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 150; ++round) {
    for (const CoderKind coder : {CoderKind::raw, CoderKind::predict}) {
      for (const uint8_t lanes : {uint8_t{32}, uint8_t{64}}) {
        const uint64_t all = lanes == 32 ? 0xffffffff : ~uint64_t{0};
        const StreamForm how = form(coder, lanes, random() % 2 == 0 ? 8 : 16);
        const std::vector<Event> events = random_events(random, all, random() % 600);
        const auto back = decode_stream(how, encode_stream(how, events, all), events.size(), all);
        ASSERT_TRUE(back.has_value()) << back.error().message;
        ASSERT_EQ(*back, events);
      }
    }
  }
}

TEST(Values, CountersAndIndicesCostNothing) {
  std::vector<Event> counts;
  std::vector<Event> indices;
  for (uint64_t i = 0; i < 100'000; ++i) {
    counts.push_back(event(2, 0xffffffff, ValueType::i32, std::vector<uint64_t>(32, i)));
    Event own{7, i < 50'000 ? 0xffffffffu : 0xffu, ValueType::u64, {}};
    for (uint64_t lane = 0; lane < (i < 50'000 ? 32 : 8); ++lane)
      own.values.push_back(0x7f0000000000 + i * 512 + lane * 8);
    indices.push_back(std::move(own));
  }
  EXPECT_LE(size_of(counts), 24);
  EXPECT_LE(size_of(indices), 64);
}

TEST(Values, ACounterThatBeginsAnewCostsItsBase) {
  std::vector<Event> events;
  for (int round = 0; round < 1000; ++round) {
    for (uint64_t i = 0; i < 20; ++i) events.push_back(event(2, 0xffffffff, ValueType::i32, {}));
    for (uint64_t i = 0; i < 20; ++i) events[events.size() - 20 + i].values.assign(32, i);
  }
  // How many were as expected, the location, the mask, that the values are not, and by how much: some 3 bytes.
  EXPECT_LE(size_of(events), 1000 * 4);
}

TEST(Values, ThoseWithoutAnyOrderCostTheirDifferences) {
  std::mt19937_64 random(9);
  std::vector<Event> events;
  for (int i = 0; i < 1000; ++i) {
    Event next{2, 0xffffffff, ValueType::i32, {}};
    for (int lane = 0; lane < 32; ++lane) next.values.push_back(1'000'000 + random() % 512);
    events.push_back(std::move(next));
  }
  EXPECT_LE(size_of(events), 1000 * (31 * 10 / 8 + 6));  // 10 bits a lane, where they are 32
}

TEST(Values, DamagedWordsGiveAnErrorOrOtherEvents) {
  std::mt19937_64 random(12);
  uint64_t errors = 0;
  for (int round = 0; round < 2000; ++round) {
    const StreamForm how = form(random() % 2 == 0 ? CoderKind::raw : CoderKind::predict, random() % 2 == 0 ? 32 : 64);
    const uint64_t all = how.lanes == 32 ? 0xffffffff : ~uint64_t{0};
    const std::vector<Event> events = random_events(random, all, 100);
    std::vector<uint32_t> words = encode_stream(how, events, all);
    if (random() % 2 == 0) {
      words.resize(random() % words.size());
    } else {
      words[random() % words.size()] ^= 1u << random() % 32;
    }
    const auto back = decode_stream(how, words, events.size(), all);
    errors += back ? 0 : 1;
    if (back) {
      EXPECT_EQ(back->size(), events.size());
    }
  }
  EXPECT_GT(errors, 1000);
}

/// A kernel that tells of each lane what it works with, and what that should be.
constexpr unsigned kBlocks = 4;
void kernel() {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  point(1);
  uint32_t draw = thread * 2654435761u;
  for (uint32_t i = 0; i < 40 + thread % 7; ++i) {
    value_point(2, i);
    value_point(7, reinterpret_cast<const double *>(uintptr_t{0x1000}) + thread);
    draw = draw * 1664525u + 1013904223u;
    if (draw >> 30 == 0) value_point(10, static_cast<float>(draw) * 0.25f);
    if (draw >> 30 == 1) value_point(200, -static_cast<int64_t>(draw));
  }
}

std::vector<Traced> traced(Buffers buffers, size_t capacity, std::function<DrainEnd *()> stop = nullptr) {
  return trace_kernel(dim3(kBlocks), dim3(48), buffers, capacity, kernel,
                      {std::move(stop), {std::begin(kLocations), std::end(kLocations)}});
}

/// What each lane of a warp told, in its order: all that does not depend on who was there together.
std::map<unsigned, std::vector<std::pair<uint16_t, uint64_t>>> by_lane(const std::vector<Event> &events) {
  std::map<unsigned, std::vector<std::pair<uint16_t, uint64_t>>> told;
  for (const Event &each : events) {
    size_t next = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((each.mask >> lane & 1) == 0 || each.type == ValueType::none) continue;
      told[lane].emplace_back(each.location, each.values.at(next++));
    }
    EXPECT_EQ(next, each.values.size());
  }
  return told;
}

class TracedValues : public ::testing::Test {
 protected:
  ~TracedValues() override { emulator::set_schedule(emulator::Schedule::lowest_location); }
};

TEST_F(TracedValues, AreThoseOfTheLanes) {
  for (const auto schedule : {emulator::Schedule::lowest_location, emulator::Schedule::random}) {
    emulator::set_schedule(schedule, 6);
    const auto warps = traced({}, 1 << 18);
    ASSERT_EQ(warps.size(), 2 * kBlocks);
    for (const Traced &warp : warps) {
      for (const auto &[lane, told] : by_lane(warp.events)) {
        const uint32_t thread = warp.record.index / 2 * 48 + warp.record.index % 2 * 32 + lane;
        uint32_t draw = thread * 2654435761u;
        size_t at = 0;
        for (uint32_t i = 0; i < 40 + thread % 7; ++i) {
          ASSERT_EQ(told.at(at++), std::pair(uint16_t{2}, uint64_t{i}));
          ASSERT_EQ(told.at(at++), std::pair(uint16_t{7}, uint64_t{0x1000} + 8 * thread));
          draw = draw * 1664525u + 1013904223u;
          if (draw >> 30 == 0) {
            ASSERT_EQ(told.at(at++), std::pair(uint16_t{10}, value_bits(static_cast<float>(draw) * 0.25f)));
          }
          if (draw >> 30 == 1) {
            ASSERT_EQ(told.at(at++), std::pair(uint16_t{200}, value_bits(-static_cast<int64_t>(draw))));
          }
        }
        EXPECT_EQ(at, told.size());
      }
    }
  }
}

TEST_F(TracedValues, AreKeptByEveryPolicy) {
  const auto whole = traced({}, 1 << 18);
  Buffers ring{};
  ring.policy = Policy::ring;
  ring.ring_words = kChunkHead + Coder::kMostWords + kMostValueWords<LaneMask>;
  ring.ring_chunks = 4;
  const auto end = traced(ring, kChunkHead + whole.size() * ring.ring_words * ring.ring_chunks);
  std::vector<DrainSlot> slots(1024);
  uint32_t consumed = 0;
  DrainEnd host;
  host.begin(slots.data(), &consumed, 1024, static_cast<uint32_t>(whole.size()));
  Buffers drain{};
  drain.policy = Policy::drain;
  drain.drain = host.ring(slots.data(), &consumed);
  const auto drained = traced(drain, kChunkHead + whole.size() * kDrainChunk, [&host] { return &host; });
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(drained[i].events, whole[i].events);
    ASSERT_GT(end[i].record.lost, 0);
    ASSERT_GE(end[i].events.size(), 4);  // a chunk holds one at least
    EXPECT_TRUE(std::equal(end[i].events.rbegin(), end[i].events.rend(), whole[i].events.rbegin()));
  }
  for (const size_t capacity : {300, 1000, 2000, 4000}) {
    const auto begin = traced({}, capacity);
    for (size_t i = 0; i < whole.size(); ++i) {
      ASSERT_EQ(begin[i].record.events + begin[i].record.lost, whole[i].record.events);
      EXPECT_TRUE(std::equal(begin[i].events.begin(), begin[i].events.end(), whole[i].events.begin()));
    }
  }
}

TEST_F(TracedValues, WithoutLocationsForThemPointsArePoints) {
  const auto warps = trace_kernel(dim3(1), dim3(32), {}, 1 << 14, [] { EXPECT_EQ(value_point(2, 5), 5); });
  ASSERT_EQ(warps.size(), 1);
  EXPECT_EQ(warps[0].events, (std::vector<Event>{{2, 0xffffffff}}));
}

}  // namespace
}  // namespace cairn::gpu
