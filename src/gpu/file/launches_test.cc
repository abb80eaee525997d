#include "gpu/file/launches.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "gpu/analyze/points.h"
#include "gpu/file/collect.h"
#include "trace/read/trace.h"

namespace cairn::gpu {
namespace {

ProgramRecord program(const std::string &file) {
  ProgramRecord made;
  made.file = file;
  made.source_hash = 77;
  made.kernels = {"first", "second<int>"};
  made.locations = {
      {1, Kind::entry, "first", file, 10}, {2, Kind::loop, "first", file, 12}, {9, Kind::then, "f", "h.h", 3}};
  made.successors = {{0, 1}, {1, 2}, {2, 2}, {2, 9}};
  return made;
}

std::vector<Event> events(std::mt19937_64 &random, size_t count) {
  std::vector<Event> made{{1, 0xffffffff}};
  uint32_t here = 0xffffffff;
  while (made.size() < count) {
    made.push_back({2, here});
    if (random() % 9 == 0) here &= static_cast<uint32_t>(random()) | 1;
    if (random() % 5 == 0) made.push_back({9, here & static_cast<uint32_t>(random() | 1)});
  }
  made.resize(count);
  return made;
}

Bytes bytes_of(const std::vector<uint32_t> &words) {
  Bytes bytes(words.size() * 4);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

/// Launches whose warps often do the same; `*all` gets what each did.
Launches sample(uint64_t seed, std::vector<std::vector<Event>> *all) {
  std::mt19937_64 random(seed);
  Launches made;
  for (int i = 0; i < 4; ++i) {
    LaunchRecord launch;
    launch.program = made.add(program(i % 2 == 0 ? "a.cu" : "b.cu"));
    launch.kernel = static_cast<uint32_t>(i % 3);
    launch.grid = {5, 1, 1};
    launch.block = {64, 1, 1};
    launch.end_block = 5;
    launch.coder = i % 2 == 0 ? CoderKind::raw : CoderKind::predict;
    StreamForm form;
    form.coder = launch.coder;
    form.guesses = made.programs[launch.program].guesses();
    for (uint32_t w = 0; w < 10; ++w) {
      std::mt19937_64 own(random() % 3);
      const std::vector<Event> did = w == 7 ? std::vector<Event>() : events(own, 1 + seed % 300);
      WarpStreams warp{w, w == 3 ? 5u : 0u, {}};
      if (!did.empty()) {
        warp.streams = {made.add(StreamRecord{did.size(), 0xffffffff, bytes_of(encode_stream(form, did, 0xffffffff))})};
      }
      launch.warps.push_back(warp);
      if (all != nullptr) all->push_back(did);
    }
    made.launches.push_back(launch);
  }
  return made;
}

void expect_same(const Launches &got, const Launches &wanted, const std::vector<std::vector<Event>> &all) {
  ASSERT_EQ(got.programs, wanted.programs);
  ASSERT_EQ(got.launches.size(), wanted.launches.size());
  size_t at = 0;
  for (size_t i = 0; i < got.launches.size(); ++i) {
    EXPECT_EQ(got.launches[i].kernel, wanted.launches[i].kernel);
    EXPECT_EQ(got.launches[i].grid, wanted.launches[i].grid);
    EXPECT_EQ(got.launches[i].coder, wanted.launches[i].coder);
    ASSERT_EQ(got.launches[i].warps.size(), wanted.launches[i].warps.size());
    for (size_t w = 0; w < got.launches[i].warps.size(); ++w) {
      EXPECT_EQ(got.launches[i].warps[w].index, wanted.launches[i].warps[w].index);
      EXPECT_EQ(got.launches[i].warps[w].lost, wanted.launches[i].warps[w].lost);
      const auto back = got.events(got.launches[i], got.launches[i].warps[w]);
      ASSERT_TRUE(back.has_value()) << back.error().message;
      EXPECT_EQ(*back, all[at++]);
    }
  }
}

TEST(Launches, AreReadAsWritten) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<std::vector<Event>> all;
    const Launches made = sample(seed, &all);
    const auto [gpu, warps] = made.write();
    const auto back = Launches::read(gpu, warps);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    expect_same(*back, made, all);
  }
}

/// Of `sample`: some launches with all that can be known, some with less.
Launches with_moments() {
  Launches made = sample(3, nullptr);
  made.launches[0].moment = {true, true, true, -500, 0, 0, -400, 1'234'567};
  made.launches[1].moment = {true, true, false, 7'000'000'000, 3, 14, 0, 0};
  made.launches[3].moment = {true, true, true, 6'999'999'000, LaunchMoment::kNoThread, 2, 7'000'000'001, 0};
  return made;
}

TEST(Launches, KeepWhenTheyWereMade) {
  const Launches made = with_moments();
  const auto [gpu, warps] = made.write();
  const auto back = Launches::read(gpu, warps);
  ASSERT_TRUE(back.has_value()) << back.error().message;
  for (size_t i = 0; i < made.launches.size(); ++i) {
    EXPECT_EQ(back->launches[i].moment, made.launches[i].moment) << "launch " << i;
  }
  // Where nothing is known it is as it was before there were moments.
  EXPECT_LT(sample(3, nullptr).write().first.size(), gpu.size());
  for (size_t size = gpu.size() - 1; size > sample(3, nullptr).write().first.size(); --size) {
    EXPECT_FALSE(Launches::read(ByteView(gpu).first(size), warps).has_value()) << size;
  }
}

/// Of one thread.
cairn_gpu_launch launch_of(const cairn_gpu_program &program) {
  cairn_gpu_launch launch{};
  launch.program = &program;
  launch.coder = 2;
  launch.location_bits = 8;
  launch.lanes = 32;
  launch.one_in = 1;
  for (int i = 0; i < 3; ++i) launch.grid[i] = launch.block[i] = 1;
  return launch;
}

/// Of `sample`, the second launch with clocks, and if wanted its moment.
Launches with_clocks(bool moments) {
  Launches made = moments ? with_moments() : sample(3, nullptr);
  LaunchRecord &launch = made.launches[1];
  launch.processors = 132;
  for (uint32_t i = 0; i < launch.warps.size(); ++i) {
    launch.clocks.push_back({i * 37 % 132, i != 4, i == 2 ? WarpClock::kMost - 1 : 1000 * i, i == 4 ? 0 : 77 + i});
  }
  return made;
}

TEST(Launches, KeepWhenAndWhereTheirWarpsRan) {
  for (const bool moments : {true, false}) {
    const Launches made = with_clocks(moments);
    const auto [gpu, warps] = made.write();
    const auto back = Launches::read(gpu, warps);
    ASSERT_TRUE(back.has_value()) << back.error().message;
    for (size_t i = 0; i < made.launches.size(); ++i) {
      EXPECT_EQ(back->launches[i].clocks, made.launches[i].clocks) << "launch " << i;
      EXPECT_EQ(back->launches[i].processors, made.launches[i].processors);
      EXPECT_EQ(back->launches[i].moment, made.launches[i].moment);
    }
    // What is there without them ends before they begin.
    const size_t without = (moments ? with_moments() : sample(3, nullptr)).write().first.size();
    EXPECT_LT(without, gpu.size());
    for (size_t size = gpu.size() - 1; size > without + 4; --size) {
      EXPECT_FALSE(Launches::read(ByteView(gpu).first(size), warps).has_value()) << size;
    }
  }
}

TEST(Launches, ClocksThatContradictThemselvesAreNotKept) {
  cairn_gpu_program source{};
  cairn_gpu_warp all_warps[4] = {};
  for (uint32_t i = 0; i < 4; ++i) all_warps[i].index = i;
  cairn_gpu_launch launch = launch_of(source);
  launch.warps = all_warps;
  launch.warp_count = 4;
  const cairn_gpu_clock clocks[4] = {{500, 700, 3, 2}, {400, 0, 1, 1}, {450, 440, 2, 2}, {0, 0, 0, 0}};
  Collected kept;
  ASSERT_TRUE(kept.add(launch, {nullptr, clocks, 8, Untraced::not_told}));
  const LaunchRecord &record = kept.launches().launches[0];
  EXPECT_EQ(record.processors, 8U);
  const std::vector<WarpClock> wanted = {{3, true, 100, 200}, {1, false, 0, 0}, {2, false, 50, 0}, {}};
  EXPECT_EQ(record.clocks, wanted);
}

TEST(Launches, CountTimesFromAnotherZero) {
  Launches made = with_moments();
  made.count_from(-1000);
  EXPECT_EQ(made.launches[0].moment.made_ns, 500);
  EXPECT_EQ(made.launches[0].moment.begin_ns, 600);
  EXPECT_EQ(made.launches[1].moment.begin_ns, 0);
  EXPECT_EQ(made.launches[2].moment, LaunchMoment());
}

TEST(Launches, EqualStreamsAndProgramsAreKeptOnce) {
  const Launches made = sample(200, nullptr);
  EXPECT_EQ(made.programs.size(), 2);
  EXPECT_LE(made.streams.size(), 12);  // 36 warps, four launches of two coders, three behaviours
}

TEST(Launches, ThoseOfOtherProcessesAreAppended) {
  std::vector<std::vector<Event>> all;
  Launches joined = sample(20, &all);
  const size_t streams = joined.streams.size();
  joined.append(sample(20, &all), 3);
  EXPECT_EQ(joined.streams.size(), streams);
  ASSERT_EQ(joined.launches.size(), 8);
  EXPECT_EQ(joined.launches[7].rank, 3);
  const auto back = joined.events(joined.launches[7], joined.launches[7].warps[9]);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, all.back());
}

TEST(Launches, AreSectionsOfATrace) {
  std::vector<std::vector<Event>> all;
  const Launches made = sample(30, &all);
  const Bytes file = file_of(made, "./app", 1, 2);
  const auto trace = trace::Trace::from_bytes(file, "test");
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  EXPECT_EQ(trace->run().command, "./app");
  EXPECT_GT(trace->section_bytes().at("warps"), 0);
  const auto sections = trace->gpu();
  ASSERT_TRUE(sections.has_value());
  const auto back = Launches::read(sections->first, sections->second);
  ASSERT_TRUE(back.has_value());
  expect_same(*back, made, all);
}

TEST(Launches, DamageGivesAnErrorThatNamesTheSection) {
  std::mt19937_64 random(7);
  Launches made = sample(60, nullptr);
  made.launches[1].clocks.resize(made.launches[1].warps.size(), {5, true, 900, 80});
  const auto [gpu, warps] = made.write();
  uint64_t errors = 0;
  for (int round = 0; round < 1500; ++round) {
    Bytes first = gpu;
    Bytes second = warps;
    Bytes &hit = random() % 2 == 0 ? first : second;
    if (random() % 2 == 0) {
      hit[random() % hit.size()] = static_cast<uint8_t>(random());
    } else {
      hit.resize(random() % hit.size());
    }
    const auto back = Launches::read(first, second);
    if (!back) {
      ++errors;
      EXPECT_EQ(back.error().message.find("section '"), 0) << back.error().message;
      continue;
    }
    for (const LaunchRecord &launch : back->launches) {
      for (const WarpStreams &warp : launch.warps) {
        const auto decoded = back->events(launch, warp);
        if (!decoded) {
          EXPECT_NE(decoded.error().message.find(" of warp "), std::string::npos);
        }
      }
    }
  }
  EXPECT_GT(errors, 600);
}

TEST(Launches, ALaunchThatContradictsItselfIsRefused) {
  cairn_gpu_program source{};
  const uint32_t words[2] = {1, 2};
  cairn_gpu_warp warp{};
  warp.events = 1;
  warp.words = 2;
  cairn_gpu_launch launch = launch_of(source);
  launch.warps = &warp;
  launch.warp_count = 1;
  launch.words = words;
  launch.word_count = 2;
  Collected kept;
  EXPECT_TRUE(kept.add(launch));
  warp.offset = 1;
  EXPECT_FALSE(kept.add(launch));
  warp.offset = 0;
  for (const uint8_t unknown : {uint8_t{1}, uint8_t{9}}) {
    launch.coder = unknown;
    EXPECT_FALSE(kept.add(launch));
  }
  launch.coder = 2;
  EXPECT_TRUE(kept.add(launch));
  EXPECT_EQ(kept.launches().launches.size(), 2);
  EXPECT_EQ(kept.launches().programs.size(), 1);
}

TEST(Launches, WhyOneWasNotTracedIsKept) {
  cairn_gpu_program source{};
  cairn_gpu_launch launch = launch_of(source);
  launch.end_block = 1;
  const uint32_t word = 0;
  cairn_gpu_warp warp{};
  const cairn_gpu_moment moment{10, 20, 30, 0, 0};
  launch.words = &word;
  Collected kept;
  const auto add = [&](uint32_t warps, const AboutLaunch &about) {
    launch.warps = warps == 0 ? nullptr : &warp;
    launch.warp_count = warps;
    ASSERT_TRUE(kept.add(launch, about));
  };
  add(0, {&moment, nullptr, 0, Untraced::memory});
  add(1, {&moment, nullptr, 0, Untraced::graph});  // but there is a warp
  add(0, {nullptr, nullptr, 0, Untraced::graph});
  add(0, {});
  add(0, {nullptr, nullptr, 0, untraced_of(99)});
  add(0, {nullptr, nullptr, 0, Untraced::failed});
  const auto [gpu, warps] = kept.launches().write();
  const auto back = Launches::read(gpu, warps);
  ASSERT_TRUE(back.has_value());
  std::vector<Untraced> reasons;
  for (const LaunchRecord &each : back->launches) reasons.push_back(each.why);
  EXPECT_EQ(reasons, (std::vector<Untraced>{Untraced::memory, Untraced::not_told, Untraced::graph, Untraced::not_told,
                                            Untraced::not_told, Untraced::failed}));
  EXPECT_TRUE(back->launches[1].moment.ran);
  const analyze::GpuOverview view = analyze::gpu_overview(*back);
  EXPECT_EQ(view.untraced, (std::array<uint64_t, kUntraced>{2, 1, 1, 1}));
}

TEST(Launches, OneThatWasNotTracedIsKeptInItsPlace) {
  static const char *const names[] = {"first", "second"};
  cairn_gpu_program source{};
  source.kernels = names;
  source.kernel_count = 2;
  cairn_gpu_launch launch = launch_of(source);
  launch.end_block = 7;
  launch.grid[0] = 7;
  const uint32_t word = 0;
  cairn_gpu_warp warp{};
  Collected kept;
  for (uint32_t i = 0; i < 3; ++i) {
    launch.kernel = i % 2;
    launch.warps = i == 1 ? nullptr : &warp;
    launch.warp_count = i == 1 ? 0 : 1;
    launch.words = &word;
    ASSERT_TRUE(kept.add(launch));
  }
  const auto [gpu, warps] = kept.launches().write();
  const auto back = Launches::read(gpu, warps);
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(back->launches.size(), 3U);
  EXPECT_TRUE(back->launches[1].warps.empty());
  EXPECT_EQ(back->programs[0].kernel(back->launches[1].kernel), "second");
  EXPECT_EQ(back->launches[1].grid[0], 7U);
  const analyze::GpuOverview view = analyze::gpu_overview(*back);
  EXPECT_EQ(view.launches, 3U);
  EXPECT_EQ(view.untraced, (std::array<uint64_t, kUntraced>{1, 0, 0, 0}));
}

}  // namespace
}  // namespace cairn::gpu
