// Ranks are threads; their collectives go through shared memory.
#include "blocks/dense.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <barrier>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/test_folder.h"

namespace cairn::blocks {
namespace {

/// What a communicator is to its ranks.
struct World {
  explicit World(int size) : meet(size), values(static_cast<size_t>(size)) {}
  std::barrier<> meet;
  std::vector<std::vector<uint64_t>> values;  ///< by rank
  Bytes message;
};

struct Member {
  World *world = nullptr;
  int rank = 0;
  bool hears = true;              ///< or else its broadcasts fail
  std::string sees_another_path;  ///< a node on which the name means another file
  int calls = 0;
};

std::vector<std::vector<uint64_t>> exchange(Member &member, std::vector<uint64_t> mine) {
  ++member.calls;
  World &world = *member.world;
  world.values[static_cast<size_t>(member.rank)] = std::move(mine);
  world.meet.arrive_and_wait();
  std::vector<std::vector<uint64_t>> all = world.values;
  world.meet.arrive_and_wait();
  return all;
}

bool sum(void *context, uint64_t *values, int count) {
  const auto all = exchange(*static_cast<Member *>(context), {values, values + count});
  for (int i = 0; i < count; ++i) {
    values[i] = 0;
    for (const auto &each : all) values[i] += each[static_cast<size_t>(i)];
  }
  return true;
}

bool sum_below(void *context, uint64_t value, uint64_t *below) {
  auto &member = *static_cast<Member *>(context);
  const auto all = exchange(member, {value});
  *below = 0;
  for (int i = 0; i < member.rank; ++i) *below += all[static_cast<size_t>(i)][0];
  return true;
}

bool broadcast(void *context, void *bytes, size_t size) {
  auto &member = *static_cast<Member *>(context);
  const auto *begin = static_cast<const uint8_t *>(bytes);
  if (member.rank == 0) member.world->message.assign(begin, begin + size);
  exchange(member, {});
  if (member.rank != 0) memcpy(bytes, member.world->message.data(), size);
  exchange(member, {});
  if (!member.sees_another_path.empty()) {
    constexpr size_t kPath = 16;  // behind the mark
    memcpy(static_cast<char *>(bytes) + kPath, member.sees_another_path.c_str(), member.sees_another_path.size() + 1);
  }
  return member.hears;
}

class DenseTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_ + "/shared"; }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(path()); }

  /// All ranks write; rank i the bytes `own(i)`, in two pieces.
  std::vector<Dense> write(int ranks, uint64_t front, const std::function<void(Member &)> &prepare = {}) {
    World world(ranks);
    std::vector<Member> members(static_cast<size_t>(ranks));
    std::vector<Dense> results(members.size());
    std::vector<std::thread> threads;
    uint64_t total = 0;
    for (int i = 0; i < ranks; ++i) total += own(i).size();
    for (int i = 0; i < ranks; ++i) {
      Member &member = members[static_cast<size_t>(i)];
      member.world = &world;
      member.rank = i;
      if (prepare) prepare(member);
      threads.emplace_back([&, i] {
        const Calls calls{&member, i, sum, sum_below, broadcast};
        const Bytes bytes = own(i);
        const size_t half = bytes.size() / 2;
        std::vector<ByteView> pieces = {ByteView(bytes).first(half), ByteView(bytes).subspan(half)};
        // A write from there fails with EFAULT, as one to a broken disk does with EIO.
        if (i == broken_) pieces[1] = {static_cast<const uint8_t *>(unreadable()), pieces[1].size()};
        results[static_cast<size_t>(i)] = write_dense(calls, path().c_str(), target_, front, total, pieces);
      });
    }
    for (std::thread &thread : threads) thread.join();
    for (const Member &member : members) EXPECT_EQ(member.calls, members[0].calls);
    return results;
  }

  static Bytes own(int rank) {
    if (rank % 5 == 3) return {};
    return Bytes(static_cast<size_t>(1 + rank * 7919 % 20000), static_cast<uint8_t>('a' + rank));
  }

  [[nodiscard]] Bytes read() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  static void expect_refused(const std::vector<Dense> &results, uint64_t opposing) {
    for (const Dense &result : results) {
      EXPECT_FALSE(result.written);
      EXPECT_EQ(result.opposing, opposing);
    }
  }

  int broken_ = -1;
  Target target_ = Target::fresh;

 private:
  static void *unreadable() { return mmap(nullptr, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
  const TestFolder made_;
  const std::string folder_ = made_.path();
};

TEST_F(DenseTest, BytesOfAllRanksFollowEachOther) {
  for (const int ranks : {1, 2, 3, 7, 16}) {
    for (const uint64_t front : {uint64_t{0}, uint64_t{12}, uint64_t{70000}}) {
      const std::vector<Dense> results = write(ranks, front);
      Bytes expected(front);
      for (int i = 0; i < ranks; ++i) {
        const Dense &result = results[static_cast<size_t>(i)];
        EXPECT_TRUE(result.written) << strerror(result.error);
        EXPECT_EQ(result.opposing, 0U);
        EXPECT_EQ(result.begin, expected.size() - front);
        const Bytes bytes = own(i);
        expected.insert(expected.end(), bytes.begin(), bytes.end());
      }
      EXPECT_EQ(read(), expected);
    }
  }
}

TEST_F(DenseTest, WhatWasThereBeforeGoes) {
  std::ofstream(path()) << std::string(1'000'000, '!');
  EXPECT_TRUE(write(3, 4)[1].written);
  EXPECT_EQ(read().size(), 4 + own(0).size() + own(1).size() + own(2).size());
  EXPECT_EQ(read()[0], 0);
}

TEST_F(DenseTest, ARankThatCannotWriteStopsAll) {
  for (const int broken : {0, 1, 4}) {
    broken_ = broken;
    const std::vector<Dense> results = write(5, 12);
    expect_refused(results, 1);
    EXPECT_EQ(results[static_cast<size_t>(broken)].error, EFAULT);
    EXPECT_EQ(results[2].error, 0);
    EXPECT_FALSE(is_there());
  }
}

TEST_F(DenseTest, ARankThatDoesNotSeeTheFileStopsAll) {
  const std::vector<Dense> results = write(5, 12, [this](Member &member) {
    if (member.rank == 3) member.sees_another_path = path() + "-of-another-node";
  });
  expect_refused(results, 1);
  EXPECT_EQ(results[3].error, ENOENT);
  EXPECT_FALSE(is_there());
}

TEST_F(DenseTest, AnotherFileOfThatNameIsNotTakenForIt) {
  const std::string other = path() + "-of-another-node";
  const std::string before(2'000'000, 'x');
  std::ofstream(other) << before;
  const std::vector<Dense> results = write(4, 12, [&other](Member &member) {
    if (member.rank >= 2) member.sees_another_path = other;
  });
  expect_refused(results, 2);
  EXPECT_EQ(results[2].error, ESTALE);
  EXPECT_FALSE(is_there());
  std::ifstream in(other);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), before);  // and nothing was written to it
}

TEST_F(DenseTest, ARankThatHearsNothingStopsAll) {
  const std::vector<Dense> results = write(4, 0, [](Member &member) { member.hears = member.rank != 1; });
  expect_refused(results, 1);
  EXPECT_FALSE(is_there());
}

TEST_F(DenseTest, AFileGrowsAndKeepsWhatItHas) {
  const Bytes before(70001, 'x');
  const auto put_back = [&] {
    std::ofstream(path(), std::ios::binary).write(reinterpret_cast<const char *>(before.data()), 70001);
  };
  put_back();
  target_ = Target::longer;
  EXPECT_TRUE(write(5, before.size())[4].written);
  Bytes expected = before;
  for (int i = 0; i < 5; ++i) {
    const Bytes bytes = own(i);
    expected.insert(expected.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(read(), expected);
  for (const int broken : {0, 4}) {
    put_back();
    broken_ = broken;
    expect_refused(write(5, before.size()), 1);
    EXPECT_EQ(read(), before);
  }
}

TEST_F(DenseTest, AFileThatIsToGrowMustBeThere) {
  target_ = Target::longer;
  expect_refused(write(3, 12), 3);
  EXPECT_FALSE(is_there());
}

TEST_F(DenseTest, WithoutAPlaceForTheFileAllAreTold) {
  std::filesystem::create_directory(path());
  expect_refused(write(4, 0), 4);
  EXPECT_TRUE(std::filesystem::is_directory(path()));
}

TEST_F(DenseTest, FilesThatMayNotGrowAreRefusedBeforeTheyDo) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{20000, before.rlim_max};  // SIGXFSZ would end the test
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::vector<Dense> results = write(7, 12);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  expect_refused(results, 7);
  EXPECT_EQ(results[0].error, EFBIG);
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace cairn::blocks
