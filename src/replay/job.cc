#include "replay/job.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "replay/report.h"
#include "replay/ticks.h"
#include "replay/walker.h"
#include "spec/ids.h"

namespace cairn::replay {

namespace id = spec::function_id;

namespace {

/// What is known of the order of threads is not all: who has waited for so long while none made a call goes on.
constexpr auto kLongTurn = std::chrono::milliseconds(200);

}  // namespace

Job::Job(const trace::Trace &of, const analyze::Sources &its_sources, uint32_t its_rank, Settings with)
    : trace(of),
      sources(its_sources),
      rank(its_rank),
      settings(std::move(with)),
      memory(settings.shared_buffers),
      files(settings.scratch),
      attachments(of, its_rank, settings.scratch),
      invokers(spec::functions().size(), nullptr),
      made(spec::functions().size()),
      begin_ticks(ticks()),
      begin_ns(now_ns()) {
  fill_invokers(invokers.data());
  fill_constants(&constants);
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    if (thread_numbers_.empty() || thread_numbers_.back() != sequence.thread)
      thread_numbers_.push_back(sequence.thread);
  }
  several_threads = thread_numbers_.size() > 1;
  follows_heap = !several_threads && !settings.shared_buffers;
  if (follows_heap) memory.follow_heap();
  if (settings.gaps != Gaps::none) mean_gap_ns = static_cast<uint64_t>(trace.mean_gap_ns(rank));
  standing_ = std::vector<Standing>(thread_numbers_.size());
  if (!several_threads) return;
  size_t number = SIZE_MAX;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    const bool first = number == SIZE_MAX || thread_numbers_[number] != sequence.thread;
    if (!first) continue;
    ++number;
    if (const auto order = trace.order(sequence)) standing_[number].ticket = order->first_ticket;
  }
}

Surroundings Job::surroundings() {
  const bool same = trace.run().mpi.starts_with(library_name());
  return {
      &memory, &slots, &files, &attachments, &constants, &invokers, same, settings.keep_wild, settings.random_payload};
}

std::string Job::text(const Plan &plan, const trace::Row &row) const {
  return analyze::call_text(analyze::Decoder(trace, sources).decode(plan.class_index, row));
}

void Job::run_thread(uint32_t number) {
  std::vector<trace::SequenceView> sequences;
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    if (sequence.thread == thread_numbers_[number]) sequences.push_back(sequence);
  }
  Walker walker(this, &standing_[number], std::move(sequences));
  auto done = walker.walk();
  standing_[number].ticket = UINT64_MAX;
  if (done) return wait_for_others(number);
  const std::lock_guard<std::mutex> guard(error_lock_);
  if (error_) error_ = std::move(done);
  if (number == 0) return;
  // The others may wait for what this thread does not do any more.
  fmt::print(stderr, "cairn replay: rank {}: {}\n", rank, error_.error().message);
  abort_job(1);
}

Result<void> Job::run() {
  if (thread_numbers_.empty()) return {};
  run_thread(0);
  if (!error_) return error_;
  join();
  // Processes that ended without it took the others with them.
  if (error_ && is_running()) {
    report(this);
    finalize();
  }
  return error_;
}

void Job::join() {
  for (std::thread &other : others_) other.join();
  others_.clear();
}

void Job::wait_for_turn(Standing *own, uint64_t ticket, bool gives_up) {
  own->ticket = ticket;
  const auto is_turn = [&] {
    return std::all_of(standing_.begin(), standing_.end(),
                       [&](const Standing &each) { return &each == own || each.ticket >= ticket; });
  };
  using Clock = std::chrono::steady_clock;
  uint64_t seen = calls();
  for (auto moved = Clock::now(); !is_turn(); sched_yield()) {
    if (const uint64_t now = calls(); now != seen) {
      seen = now;
      moved = Clock::now();
    } else if (!gives_up && Clock::now() - moved > kLongTurn) {
      return;
    }
  }
}

void Job::wait_for_others(uint32_t number) const {
  const auto has_ended = [](const Standing &each) { return each.ticket == UINT64_MAX; };
  // The first thread joins the others.
  while (number != 0 && !std::all_of(standing_.begin() + 1, standing_.end(), has_ended)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Job::wait_for_first_call(uint32_t number) const {
  const auto begin = std::chrono::steady_clock::now();
  while (standing_[number].calls == 0 && standing_[number].ticket != UINT64_MAX &&
         std::chrono::steady_clock::now() - begin < kLongTurn) {
    sched_yield();
  }
}

void Job::before(const Plan &plan) {
  if (plan.function->id != id::Finalize) return;
  join();
  if (is_running()) report(this);
}

void Job::after(const Plan &plan) {
  if (plan.function->id == id::Finalize || !others_.empty()) return;
  if (mpi_begin_ns == 0) mpi_begin_ns = now_ns();
  if (when_mpi_begins != nullptr) when_mpi_begins();
  for (uint32_t number = 1; number < thread_numbers_.size(); ++number) {
    others_.emplace_back([this, number] {
      wait_for_first_call(number - 1);
      run_thread(number);
    });
  }
}

uint64_t Job::calls() const {
  uint64_t all = 0;
  for (const Standing &each : standing_) all += each.calls.load(std::memory_order_relaxed);
  return all;
}

std::vector<std::string> Job::standing() const {
  std::vector<std::string> lines;
  for (const Standing &each : standing_) {
    const Plan *plan = each.plan.load(std::memory_order_acquire);
    const trace::Row *row = each.row.load(std::memory_order_relaxed);
    if (plan != nullptr && row != nullptr) lines.push_back(text(*plan, *row));
  }
  return lines;
}

}  // namespace cairn::replay
