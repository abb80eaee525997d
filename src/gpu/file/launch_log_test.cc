#include "gpu/file/launch_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "gpu/file/collect.h"

namespace cairn::gpu {
namespace {

namespace fs = std::filesystem;

const char *const kKernels[] = {"first", "second"};
const cairn_gpu_location kLocations[] = {{1, 1, "first", "a.cu", 3, 0}, {2, 4, "first", "a.cu", 4, 0}};
const cairn_gpu_program kPrograms[] = {{"a.cu", 7, kLocations, 2, kKernels, 2, nullptr},
                                       {"b.cu", 8, kLocations, 1, kKernels, 1, nullptr}};
constexpr Zero kZero{1000, true};

struct LaunchLogTest : testing::Test {
  void SetUp() override {
    char name[] = "/tmp/cairn-launches-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  /// A launch whose warps do some of three things, made at a moment of its own; where it has ended, with its warps.
  LaunchRecord made(uint64_t number, bool has_ended) {
    LaunchRecord launch;
    launch.program = all.add(program_of(kPrograms[number % 2]));
    launch.kernel = static_cast<uint32_t>(number % 2 == 0 ? number / 2 % 2 : 0);
    launch.grid = {2, 1, 1};
    launch.block = {64, 1, 1};
    launch.end_block = 2;
    launch.moment = {true,
                     true,
                     has_ended,
                     1000 + static_cast<int64_t>(number),
                     0,
                     number % 4,
                     has_ended ? 2000 : 0,
                     has_ended ? 5u : 0u};
    if (!has_ended) launch.why = Untraced::killed;
    for (uint32_t warp = 0; warp < 4 && has_ended; ++warp) {
      const auto kind = static_cast<uint8_t>((number + warp / 2) % 3);
      launch.warps.push_back({warp, 0, {all.add(StreamRecord{10, 0xffffffff, Bytes(500, kind)})}});
    }
    return launch;
  }
  int begin(uint64_t number) { return log().began(kPrograms[number % 2], made(number, false), kZero); }
  int end(uint64_t number) {
    all.launches.push_back(made(number, true));
    return log().ended(kPrograms[number % 2], all, all.launches.size() - 1, kZero);
  }
  LaunchLog &log() {
    if (logs.empty()) logs.push_back(std::make_unique<LaunchLog>(folder.string() + "/", 3, "./app", 77));
    return *logs.back();
  }
  Bytes file() {
    std::ifstream in(log().path(), std::ios::binary);
    return Bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  /// The first of all launches, as a reader of their file has them.
  Launches first(size_t count) const {
    Launches some;
    for (size_t i = 0; i < count; ++i) {
      Launches one = all;
      one.launches = {all.launches[i]};
      const auto [gpu, warps] = one.write();
      some.append(*Launches::read(gpu, warps), 0);
    }
    some.count_from(static_cast<int64_t>(kZero.ns));
    return some;
  }

  fs::path folder;
  std::vector<std::unique_ptr<LaunchLog>> logs;
  Launches all;
};

/// The sections, with programs and streams in the order in which launches have them.
std::pair<Bytes, Bytes> sections_of(const Launches &launches) {
  Launches some;
  for (LaunchRecord launch : launches.launches) {
    launch.program = some.add(launches.programs[launch.program]);
    for (WarpStreams &warp : launch.warps) {
      for (uint32_t &stream : warp.streams) stream = some.add(launches.streams[stream]);
    }
    some.launches.push_back(std::move(launch));
  }
  return some.write();
}

TEST_F(LaunchLogTest, LaunchesOutliveAProcessThatDidNotFinish) {
  EXPECT_EQ(begin(0), 0);
  EXPECT_EQ(begin(1), 0);
  EXPECT_EQ(begin(2), 0);
  EXPECT_EQ(end(1), 0);
  EXPECT_EQ(end(0), 0);
  EXPECT_EQ(end(7), 0);  // nobody said that it was made
  const auto back = read_spooled(file());
  ASSERT_TRUE(back.has_value()) << back.error().message;
  EXPECT_FALSE(back->damage);
  EXPECT_EQ(back->head.rank, 3U);
  EXPECT_EQ(back->head.command, "./app");
  EXPECT_EQ(back->head.start_unix_ns, 77);
  EXPECT_FALSE(back->head.over);
  EXPECT_EQ(back->unwritten, 0U);
  EXPECT_EQ(back->in_flight, 1U);
  ASSERT_EQ(back->launches.launches.size(), 4U);
  EXPECT_EQ(back->launches.launches[3].why, Untraced::killed);
  EXPECT_EQ(back->launches.launches[3].moment.made_ns, 2);
  Launches without = back->launches;
  without.launches.pop_back();
  EXPECT_EQ(sections_of(without), sections_of(first(3)));
}

TEST_F(LaunchLogTest, ALaunchIsKnownByTheMomentThatItGetsInTheEnd) {
  begin(0);
  begin(0);
  log().made_at(1004);
  end(4);  // of the same kernel, at 1004
  const auto back = read_spooled(file());
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(back->launches.launches.size(), 2U);
  EXPECT_EQ(back->launches.launches[0].moment.made_ns, 4);
  EXPECT_EQ(back->launches.launches[1].moment.made_ns, 0);
}

TEST_F(LaunchLogTest, WhoFinishesLeavesAllAndNothingInFlight) {
  begin(0);
  end(0);
  begin(1);
  EXPECT_EQ(log().finish(all, {500, false}), 0);
  const auto back = read_spooled(file());
  ASSERT_TRUE(back.has_value());
  EXPECT_TRUE(back->head.over);
  EXPECT_EQ(back->in_flight, 0U);
  EXPECT_EQ(back->unwritten, 0U);
  ASSERT_EQ(back->launches.launches.size(), 1U);
  EXPECT_EQ(back->launches.launches[0].moment.made_ns, 500);
  EXPECT_FALSE(back->launches.launches[0].moment.placed);
  // Another trace begins: there it is in flight.
  const std::string before = log().path();
  log().begin_anew();
  all = {};
  end(2);
  EXPECT_NE(log().path(), before);
  const auto next = read_spooled(file());
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->launches.launches.size(), 2U);
  EXPECT_EQ(next->in_flight, 1U);
  log().remove();
  EXPECT_FALSE(fs::exists(log().path()));
  EXPECT_TRUE(fs::exists(before));
}

TEST_F(LaunchLogTest, WhatALaunchRepeatsTakesFewBytes) {
  end(0);
  end(1);
  const size_t before = file().size();
  for (uint64_t number = 6; number < 206; ++number) end(number);
  EXPECT_LT(file().size() - before, 200 * 200 + 1000);  // one of the three streams is new
  const auto back = read_spooled(file());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->launches.streams.size(), 3U);
  EXPECT_EQ(sections_of(back->launches), sections_of(first(202)));
}

TEST_F(LaunchLogTest, AnyPartOfAFileGivesThoseThatAreWhole) {
  for (uint64_t number = 0; number < 4; ++number) {
    begin(number);
    end(number);
  }
  const Bytes whole = file();
  size_t most = 0;
  for (size_t size = 0; size <= whole.size(); ++size) {
    const auto back = read_spooled(ByteView(whole).first(size));
    if (!back) {
      EXPECT_EQ(most, 0U);  // the head was not all there
      continue;
    }
    EXPECT_FALSE(back->damage);
    const size_t ended = back->launches.launches.size() - back->in_flight;
    EXPECT_GE(ended, most);
    EXPECT_EQ(ended + back->in_flight + back->unwritten, 4U);
    if (ended == most) continue;
    most = ended;
    Launches without = back->launches;
    without.launches.resize(ended);
    EXPECT_EQ(sections_of(without), sections_of(first(ended)));
  }
  EXPECT_EQ(most, 4U);
}

TEST_F(LaunchLogTest, DamageIsToldAndWhatStandsBeforeItIsThere) {
  begin(0);
  end(0);
  const size_t sound = file().size();
  begin(1);
  end(1);
  const Bytes whole = file();
  for (size_t at = sound + 8; at < whole.size(); ++at) {
    Bytes changed = whole;
    changed[at] ^= 1;
    const auto back = read_spooled(changed);
    ASSERT_TRUE(back.has_value());
    EXPECT_LE(back->launches.launches.size() - back->in_flight, 2U);
    EXPECT_GE(back->launches.launches.size() - back->in_flight, 1U);
    if (at < sound + 16) {
      ASSERT_TRUE(back->damage);
      EXPECT_EQ(back->damage->offset, sound);
    }
  }
  Bytes changed = whole;
  changed[0] ^= 1;
  EXPECT_FALSE(read_spooled(changed).has_value());
}

/// A record that says the right hash of what cannot be.
TEST_F(LaunchLogTest, RecordsThatContradictThoseBeforeAreDamage) {
  all.launches.push_back(made(0, true));
  Launches one = all;
  one.launches[0].program = 0;
  const Bytes head = write_spooled_head({});
  const auto reads = [&](uint64_t program, const std::vector<uint32_t> &streams) {
    Bytes bytes = head;
    const Bytes record = write_spooled_launch(1, program, streams, one);
    bytes.insert(bytes.end(), record.begin(), record.end());
    const auto back = read_spooled(bytes);
    return back.has_value() && !back->damage;
  };
  ASSERT_EQ(one.streams.size(), 2U);
  EXPECT_TRUE(reads(0, {0, 1}));
  EXPECT_FALSE(reads(1, {0, 1}));
  EXPECT_FALSE(reads(0, {0, 2}));
  EXPECT_FALSE(reads(0, {0}));
  EXPECT_FALSE(reads(0, {0, 1, 2}));
}

TEST_F(LaunchLogTest, WhereThereIsNoRoomThoseThatEndedAreWrittenLater) {
  begin(0);
  end(0);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit none{file().size(), limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_NE(begin(1), 0);
  EXPECT_NE(end(1), 0);
  for (uint64_t number = 2; number < 10; ++number) end(number);
  const auto meanwhile = read_spooled(file());
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  ASSERT_TRUE(meanwhile.has_value());
  EXPECT_FALSE(meanwhile->damage);
  EXPECT_EQ(meanwhile->launches.launches.size(), 1U);
  EXPECT_EQ(meanwhile->unwritten, 9U);
  EXPECT_EQ(log().unwritten(), 9U);
  EXPECT_EQ(log().finish(all, kZero), 0);
  EXPECT_EQ(log().unwritten(), 0U);
  const auto back = read_spooled(file());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->unwritten, 0U);
  EXPECT_EQ(sections_of(back->launches), sections_of(first(10)));
}

TEST_F(LaunchLogTest, WithoutAFolderItIsTriedAgainAndAllIsWrittenAtTheEnd) {
  fs::remove(folder);
  EXPECT_EQ(begin(0), ENOENT);
  EXPECT_EQ(end(0), ENOENT);
  fs::create_directory(folder);
  EXPECT_EQ(log().finish(all, kZero), 0);
  const auto back = read_spooled(file());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(sections_of(back->launches), sections_of(first(1)));
}

TEST_F(LaunchLogTest, AForkedChildWritesNothing) {
  begin(0);
  const Bytes before = file();
  const pid_t child = fork();
  if (child == 0) {
    end(0);
    log().finish(all, kZero);
    log().remove();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(file(), before);
}

}  // namespace
}  // namespace cairn::gpu
