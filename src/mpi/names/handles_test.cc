#include "mpi/names/handles.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace cairn::recorder {
namespace {

using spec::Kind;

constexpr uint64_t kNull = 77;

struct HandlesTest : testing::Test {
  std::vector<uint64_t> memory = std::vector<uint64_t>(1 << 17);
  Arena arena{memory.data(), memory.size() * sizeof(uint64_t)};
  HandleTable *handles = arena.create<HandleTable>(arena);
  PlacePool pool;
  Site site{};
  Memo memos[HandleTable::kMostFresh + 1] = {};

  HandlesTest() {
    HandleEntry *null = handles->add(Kind::request, kNull);
    null->constant = 1;
    handles->set_null_request(kNull);
    handles->unshare();
    for (uint32_t i = 0; i < std::size(memos); ++i) {
      memos[i].pool = &pool;
      memos[i].site = &site;
      memos[i].place = i;
      memos[i].thread = 3;
      memos[i].posted = {PostedKind::envelope, static_cast<int32_t>(i), 5, 40};
    }
  }
};

TEST_F(HandlesTest, ThreadsTakeDifferentPlaces) {
  constexpr size_t kThreads = 4;
  constexpr size_t kHeld = 100;  // by each: more than one pool has
  constexpr size_t kRounds = 2000;
  std::array<std::atomic<int>, 2 * kThreads * kHeld> owners{};
  std::atomic<uint64_t> twice = 0;
  const auto take_and_give_back = [&] {
    for (size_t round = 0; round < kRounds; ++round) {
      std::array<uint32_t, kHeld> held{};
      for (uint32_t &place : held) {
        place = pool.take(arena, true);
        twice += place >= owners.size() || owners[place].fetch_add(1) != 0 ? 1 : 0;
      }
      for (const uint32_t place : held) {
        owners[place % owners.size()].fetch_sub(1);
        pool.give_back(place, true);
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) threads.emplace_back(take_and_give_back);
  for (std::thread &each : threads) each.join();
  EXPECT_EQ(twice, 0U);
  EXPECT_EQ(pool.peek(), 0U);
}

TEST_F(HandlesTest, FreshRequestsAreFoundWithTheirNames) {
  ASSERT_TRUE(handles->add_fresh(100, memos[0]));
  ASSERT_TRUE(handles->add_fresh(200, memos[1]));
  EXPECT_TRUE(handles->all_fresh());
  EXPECT_EQ(pool.peek(), 2U);
  const HandleEntry *entry = handles->find(Kind::request, 200);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->site, &site);
  EXPECT_EQ(entry->place, 1U);
  EXPECT_EQ(entry->thread, 3U);
  EXPECT_EQ(entry->pool, &pool);
  EXPECT_EQ(entry->posted.source, 1);
  EXPECT_EQ(entry->posted.bytes, 40);
  EXPECT_EQ(handles->fresh_count(), 0U);
}

TEST_F(HandlesTest, AmongEqualsTheOldestIsFoundFirst) {
  for (uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(handles->add_fresh(100, memos[i]));
  for (uint32_t i = 0; i < 3; ++i) {
    HandleEntry *entry = handles->find(Kind::request, 100);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->place, i);
    handles->remove(entry);
  }
  EXPECT_EQ(handles->find(Kind::request, 100), nullptr);
  EXPECT_EQ(pool.peek(), 0U);
}

TEST_F(HandlesTest, NoneIsFreshWhileOthersLive) {
  HandleEntry *other = handles->add(Kind::request, 300);
  EXPECT_FALSE(handles->all_fresh());
  EXPECT_FALSE(handles->add_fresh(100, memos[0]));
  EXPECT_EQ(pool.peek(), 0U);
  handles->remove(other);
  EXPECT_TRUE(handles->add_fresh(100, memos[0]));
  EXPECT_NE(handles->add(Kind::comm, 300), nullptr);
  EXPECT_EQ(handles->fresh_count(), 1U);
}

TEST_F(HandlesTest, AnotherPlaceThanTheMemosIsRefused) {
  EXPECT_FALSE(handles->add_fresh(100, memos[1]));
  EXPECT_EQ(pool.take(arena, false), 0U);
  EXPECT_FALSE(handles->add_fresh(100, memos[0]));
  EXPECT_TRUE(handles->add_fresh(100, memos[1]));
}

TEST_F(HandlesTest, WhatEndsGivesItsPlaceBack) {
  for (uint32_t i = 0; i < 4; ++i) ASSERT_TRUE(handles->add_fresh(100 + i, memos[i]));
  handles->end_fresh(0b0101);
  EXPECT_EQ(handles->fresh_count(), 2U);
  EXPECT_EQ(handles->fresh(0).raw, 101U);
  EXPECT_EQ(handles->fresh(1).raw, 103U);
  EXPECT_EQ(pool.peek(), 0U);
  handles->end_all_fresh();
  EXPECT_EQ(handles->fresh_count(), 0U);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(pool.take(arena, false), i);
}

TEST_F(HandlesTest, SettlingNeedsNoMemory) {
  uint32_t count = 0;
  while (count < std::size(memos) && handles->add_fresh(100 + count, memos[count])) ++count;
  EXPECT_EQ(count, HandleTable::kMostFresh);
  while (arena.allocate(16) != nullptr) {
  }
  handles->settle();
  for (uint32_t i = 0; i < count; ++i) {
    const HandleEntry *entry = handles->find(Kind::request, 100 + i);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->place, i);
  }
}

TEST_F(HandlesTest, SettlingAgainAndAgainTakesLittleMemory) {
  const size_t before = arena.used();
  for (uint32_t round = 0; round < 1000; ++round) {
    for (uint32_t i = 0; i < HandleTable::kMostFresh; ++i) ASSERT_TRUE(handles->add_fresh(round * 16 + i, memos[i]));
    for (uint32_t i = 0; i < HandleTable::kMostFresh; ++i) {
      handles->remove(handles->find(Kind::request, round * 16 + i));
    }
  }
  // Eight entries in each of 16 shards at most, and no new one each time.
  EXPECT_LE(arena.used() - before, 16 * HandleTable::kMostFresh * 256);
}

TEST_F(HandlesTest, WithASecondThreadNoMoreBecomeFresh) {
  ASSERT_TRUE(handles->add_fresh(100, memos[0]));
  handles->end_freshness();
  EXPECT_FALSE(handles->all_fresh());
  EXPECT_FALSE(handles->add_fresh(101, memos[1]));
  HandleEntry *entry = handles->find(Kind::request, 100);
  ASSERT_NE(entry, nullptr);
  handles->remove(entry);
  EXPECT_FALSE(handles->all_fresh());
}

TEST_F(HandlesTest, SharedTheyAreAllInTheTable) {
  ASSERT_TRUE(handles->add_fresh(100, memos[0]));
  handles->share();
  EXPECT_EQ(handles->fresh_count(), 0U);
  EXPECT_FALSE(handles->add_fresh(101, memos[1]));
  HandleEntry *entry = handles->find(Kind::request, 100, 3);
  ASSERT_NE(entry, nullptr);
  handles->remove(entry);
  EXPECT_FALSE(handles->add_fresh(101, memos[0]));
}

TEST_F(HandlesTest, WhatIsBeingFreedIsItsThreadsAlone) {
  handles->share();
  HandleEntry *old = handles->add(Kind::comm, 300);
  handles->claim(Kind::comm, 300, 1);
  // Nobody else has got the value yet.
  EXPECT_EQ(handles->find(Kind::comm, 300, 2), old);
  HandleEntry *fresh = handles->add(Kind::comm, 300);
  EXPECT_EQ(handles->find(Kind::comm, 300, 2), fresh);
  EXPECT_EQ(handles->find(Kind::comm, 300), fresh);
  EXPECT_EQ(handles->find(Kind::comm, 300, 1), old);
  handles->remove(old);
  EXPECT_EQ(handles->find(Kind::comm, 300, 1), fresh);
  // A call that failed has freed nothing.
  handles->claim(Kind::comm, 300, 1);
  HandleTable::unclaim(fresh);
  EXPECT_FALSE(HandleTable::is_claimed(fresh));
}

TEST_F(HandlesTest, WhatWasLookedUpLivesUntilAllHaveReleasedIt) {
  handles->share();
  HandleEntry *first = handles->look_up(Kind::group, 300, 1, &site, &pool);
  EXPECT_EQ(first->site, &site);
  handles->claim(Kind::group, 300, 1);
  // While the first gives it back another gets it.
  EXPECT_EQ(handles->look_up(Kind::group, 300, 2, &site, &pool), first);
  EXPECT_EQ(handles->release(Kind::group, 300, 1), nullptr);
  EXPECT_EQ(handles->find(Kind::group, 300, 3), first);
  handles->claim(Kind::group, 300, 2);
  EXPECT_EQ(handles->release(Kind::group, 300, 2), first);
  // It is not there any more, though nobody has taken it out yet.
  HandleEntry *second = handles->look_up(Kind::group, 300, 3, &site, &pool);
  EXPECT_NE(second, first);
  EXPECT_EQ(handles->find(Kind::group, 300, 2), second);
  handles->remove(first);
  EXPECT_EQ(handles->find(Kind::group, 300, 2), second);
  EXPECT_EQ(second->references, 1U);
}

TEST_F(HandlesTest, FromOutsideTheyAreFoundAsTheyLie) {
  for (uint32_t i = 0; i < 2; ++i) ASSERT_TRUE(handles->add_fresh(100, memos[i]));
  EXPECT_EQ(handles->living(Kind::request, 100, 3, 1)->place, 1U);
  EXPECT_EQ(handles->living(Kind::request, kNull, 3)->constant, 1);
  EXPECT_FALSE(handles->living(Kind::request, 300, 3));
  EXPECT_EQ(handles->fresh_count(), 2U);
  handles->settle();
  for (uint32_t i = 0; i < 2; ++i) EXPECT_EQ(handles->living(Kind::request, 100, 3, i)->place, i);
  handles->share();
  HandleEntry *other = handles->add(Kind::request, 100);
  other->thread = 4;
  other->place = 9;
  EXPECT_EQ(handles->living(Kind::request, 100, 4)->place, 9U);
  EXPECT_EQ(handles->living(Kind::request, 100, 5)->place, 0U);
}

}  // namespace
}  // namespace cairn::recorder
