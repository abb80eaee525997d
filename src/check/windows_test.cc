#include "check/windows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/sites_testing.h"
#include "spec/ids.h"

namespace cairn::check {
namespace {

using analyze::CallTime;
using Role = analyze::WindowRole;

/// Three ranks with a window of 64 bytes each; a call is `from` to `until`, at a site of its own.
class WindowsTest : public testing::Test {
 protected:
  WindowsTest() {
    for (uint32_t rank = 0; rank < 3; ++rank) {
      WindowCall what = of(Role::makes);
      what.size = 64;
      making.begins.push_back(call(rank, spec::function_id::Win_create));
      windows.see(what, making.begins.back());
      making.came.push_back(true);
    }
    making.operation = spec::function_id::Win_create;
  }
  static WindowCall of(Role role, std::optional<int64_t> whose = std::nullopt) {
    WindowCall what;
    what.role = role;
    what.window.number = 7;
    what.whose = whose;
    return what;
  }
  CallTime call(uint32_t rank, uint32_t function, uint64_t from = 0, uint64_t until = 0) {
    CallTime made;
    made.rank = rank;
    made.call = calls++;
    made.function = function;
    made.site = static_cast<uint32_t>(made.call);
    made.begin_ns = from;
    made.end_ns = until;
    return made;
  }
  CallTime see(uint32_t rank, const WindowCall &what, uint64_t from = 0, uint64_t until = 0) {
    const CallTime made = call(rank, spec::function_id::Win_complete, from, until);
    windows.see(what, made);
    return made;
  }
  CallTime access(uint32_t rank, Role role, int64_t target, int64_t at, uint64_t from = 0, uint64_t until = 0) {
    WindowCall what = of(role);
    what.target = target;
    what.displacement = at;
    what.layout = &four;
    what.fetches = role == Role::gets;
    return see(rank, what, from, until);
  }
  /// By a lock from `from` to `until`.
  void locked(uint32_t rank, Role role, int64_t at, uint64_t from, uint64_t until, bool exclusive = false) {
    WindowCall lock = of(Role::locks, 0);
    lock.exclusive = exclusive;
    see(rank, lock, from, from);
    access(rank, role, 0, at, from, from + 1);
    see(rank, of(Role::unlocks, 0), until - 1, until);
  }
  std::vector<std::string> found() {
    windows.finish();
    std::vector<std::string> texts;
    for (const Finding &each : findings.take()) texts.push_back(each.text);
    return texts;
  }
  static std::string told(const std::string &what, const std::string &when) {
    return "rank 1 puts " + what + ", too, " + when;
  }

  trace::Trace trace = trace_of_sites(64);
  analyze::Sources sources{trace, analyze::Sources::Look::in_trace_only};
  Findings findings{sources};
  Windows windows{&findings, 5};
  analyze::Meeting making;
  objects::TypeLayout four = [] {
    objects::TypeLayout made;
    made.size = made.upper_bound = made.true_upper_bound = 4;
    return made;
  }();
  uint64_t calls = 0;
};
const std::string kPuts = "4 bytes of rank 0's memory that rank 2 puts";

TEST_F(WindowsTest, AccessesBySharedLocksCollideAtOneTime) {
  windows.met(making);
  locked(1, Role::puts, 0, 100, 200);
  locked(2, Role::puts, 0, 150, 250);  // at one time
  locked(2, Role::puts, 8, 150, 250);  // elsewhere
  locked(1, Role::puts, 16, 300, 400);
  locked(2, Role::puts, 16, 400, 500);  // afterwards
  locked(1, Role::puts, 24, 600, 700);
  locked(2, Role::puts, 24, 696, 800);  // perhaps, as far as clocks go
  locked(1, Role::accumulates, 32, 900, 990);
  locked(2, Role::accumulates, 32, 900, 990);
  locked(1, Role::puts, 40, 1100, 1200, true);
  locked(2, Role::puts, 40, 1100, 1200);  // once the other has let go
  EXPECT_EQ(found(), (std::vector<std::string>{told(kPuts, "at the same time")}));
  EXPECT_EQ(windows.untimed(), 0U);
}

TEST_F(WindowsTest, WhatIsOverIsForgottenAndWhatGoesOnIsNot) {
  windows.met(making);
  for (uint64_t i = 0; i < 200; ++i) {
    locked(2, Role::puts, 0, 1000 * i, 1000 * i + 10);
    windows.all_after(1000 * i + 20);
  }
  // Under way since the beginning, beside all of these.
  see(1, of(Role::locks, 0), 500'000, 500'000);
  access(1, Role::gets, 0, 0, 500'000, 500'001);
  locked(2, Role::puts, 0, 600'000, 600'010);
  windows.all_after(700'000);
  see(1, of(Role::unlocks, 0), 800'000, 800'010);
  EXPECT_EQ(
      found(),
      (std::vector<std::string>{"rank 1 gets 4 bytes of rank 0's memory that rank 2 puts, too, at the same time"}));
}

TEST_F(WindowsTest, WithoutTimesOnlyOneRanksAccessesCollide) {
  windows.met(making);
  see(1, of(Role::locks));
  see(2, of(Role::locks));
  access(2, Role::puts, 0, 0);
  access(1, Role::puts, 0, 0);
  access(1, Role::gets, 0, 2);
  see(1, of(Role::flushes, 0));
  access(1, Role::gets, 0, 0);
  see(1, of(Role::unlocks));
  see(2, of(Role::unlocks));
  EXPECT_EQ(
      found(),
      (std::vector<std::string>{told("2 bytes of rank 0's memory that rank 1 gets", "without a flush between them")}));
  EXPECT_EQ(windows.untimed(), 4U);
}

TEST_F(WindowsTest, NorDoThoseOfTwoRanksWhoseClocksWereNotCompared) {
  Windows apart{&findings, std::nullopt};
  for (const uint32_t rank : {0U, 1U, 2U}) {
    WindowCall what = of(Role::makes);
    what.size = 64;
    apart.see(what, making.begins[rank]);
  }
  apart.met(making);
  WindowCall put = of(Role::puts);
  put.layout = &four;
  for (const uint32_t rank : {1U, 2U}) apart.see(of(Role::locks), call(rank, spec::function_id::Win_lock, 100, 101));
  for (const uint32_t rank : {1U, 2U}) apart.see(put, call(rank, spec::function_id::Put, 110, 120));
  for (const uint32_t rank : {1U, 2U})
    apart.see(of(Role::unlocks), call(rank, spec::function_id::Win_unlock, 130, 140));
  EXPECT_EQ(found(), std::vector<std::string>());
  EXPECT_EQ(apart.untimed(), 2U);
}

TEST_F(WindowsTest, ALocalFlushCompletesOnlyWhatWasGot) {
  windows.met(making);
  see(1, of(Role::locks));
  access(1, Role::gets, 0, 0);
  WindowCall local = of(Role::flushes);
  local.local = true;
  see(1, local);
  access(1, Role::puts, 0, 0);  // behind it
  see(1, local);
  access(1, Role::puts, 0, 2);  // beside it
  see(1, of(Role::unlocks));
  EXPECT_EQ(
      found(),
      (std::vector<std::string>{told("2 bytes of rank 0's memory that rank 1 puts", "without a flush between them")}));
}

TEST_F(WindowsTest, AccessesCollideInOneExposure) {
  const auto both = [&](int64_t at_one, int64_t at_other) {
    std::vector<CallTime> ended;
    for (const uint32_t rank : {1U, 2U}) {
      see(rank, of(Role::starts));
      access(rank, Role::puts, 0, rank == 1 ? at_one : at_other);
      access(rank, Role::puts, rank, 0);  // at another process
      ended.push_back(see(rank, of(Role::completes)));
    }
    const CallTime wait = call(0, spec::function_id::Win_wait);
    for (const CallTime &each : ended) windows.exposed(each, wait);
    windows.passed(0, wait.call);
  };
  // Before it is known who has the window, and afterwards.
  both(0, 2);
  windows.met(making);
  both(8, 8);
  both(16, 20);
  both(20, 16);
  const std::string when = "between the same MPI_Win_post and MPI_Win_wait";
  EXPECT_EQ(found(),
            (std::vector<std::string>{told("2 bytes of rank 0's memory that rank 2 puts", when), told(kPuts, when)}));
}

TEST_F(WindowsTest, BoundsAreThoseOfTheTarget) {
  see(1, of(Role::locks));
  access(1, Role::puts, 2, 60);
  access(1, Role::puts, 2, 61);
  access(1, Role::puts, 3, 0);  // which is not there: the call failed
  see(1, of(Role::unlocks));
  windows.met(making);
  // What no fence ends, nor MPI_Win_complete.
  see(2, of(Role::fences));
  access(2, Role::puts, 1, 62);
  see(2, of(Role::starts));
  access(2, Role::gets, 0, 63);
  see(2, of(Role::frees));
  const std::string part = "'s part of the window, which has 64 bytes";
  EXPECT_EQ(found(), (std::vector<std::string>{"rank 1 puts what ends 1 byte behind rank 2" + part,
                                               "rank 2 puts what ends 2 bytes behind rank 1" + part,
                                               "rank 2 gets what ends 3 bytes behind rank 0" + part}));
}

}  // namespace
}  // namespace cairn::check
