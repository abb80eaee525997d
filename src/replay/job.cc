#include "replay/job.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "analyze/heap_events.h"
#include "base/launcher.h"
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
      memory(settings.shared_buffers, settings.device_memory),
      files(settings.scratch),
      attachments(of, its_rank, settings.scratch, settings.first),
      other_jobs(settings.scratch, settings.job, its_rank),
      cancellations(of, its_rank),
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
  if (done) return;
  const std::lock_guard<std::mutex> guard(error_lock_);
  if (error_) error_ = std::move(done);
  if (number == 0) return;
  // The others may wait for what this thread does not do any more.
  fmt::print(stderr, "cairn replay: rank {}: {}\n", rank, error_.error().message);
  abort_job(1);
}

Result<void> Job::run() {
  if (thread_numbers_.empty()) return {};
  const int on_node = launched_on_node();
  memory.open_devices(analyze::device_sizes(trace, rank), on_node < 0 ? rank : static_cast<uint32_t>(on_node));
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

template <typename Condition>
void Job::wait_until(Standing *own, const Condition &holds) {
  using Clock = std::chrono::steady_clock;
  const auto is_idle = [&](const Standing &each) { return &each == own || each.waits || each.ticket == UINT64_MAX; };
  own->waits = true;
  uint64_t seen = calls();
  for (auto moved = Clock::now(); !holds(); sched_yield()) {
    const uint64_t now = calls();
    if (now != seen || !std::all_of(standing_.begin(), standing_.end(), is_idle)) {
      seen = now;
      moved = Clock::now();
    } else if (Clock::now() - moved > kLongTurn) {
      break;
    }
  }
  own->waits = false;
}

void Job::happens(uint32_t thread, Standing *own, const trace::ThreadEvent &event) {
  const auto at = std::lower_bound(thread_numbers_.begin(), thread_numbers_.end(), event.thread);
  if (at == thread_numbers_.end() || *at != event.thread) return;  // one that never called MPI
  Standing &of = standing_[static_cast<size_t>(at - thread_numbers_.begin())];
  if (event.thread == thread) {
    if (!event.ends) {
      wait_until(own, [&] { return of.made > of.begun; });
      of.is_alive = true;
      ++of.begun;
    } else {
      of.is_alive = false;
    }
  } else if (!event.ends) {
    ++of.made;
  } else {
    wait_until(own, [&] { return of.ticket == UINT64_MAX || (of.made <= of.begun && !of.is_alive); });
  }
}

void Job::before(const Plan &plan, const Standing *own) {
  if (plan.function->id != id::Finalize) return;
  if (own == standing_.data()) {
    join();
  } else {  // the first thread joins this one
    const auto has_ended = [own](const Standing &each) { return &each == own || each.ticket == UINT64_MAX; };
    while (!std::all_of(standing_.begin(), standing_.end(), has_ended)) sched_yield();
  }
  if (is_running()) report(this);
}

void Job::after(const Plan &plan) {
  if (plan.function->id == id::Finalize || !others_.empty()) return;
  if (mpi_begin_ns == 0) mpi_begin_ns = now_ns();
  if (when_mpi_begins != nullptr) when_mpi_begins();
  for (uint32_t number = 1; number < thread_numbers_.size(); ++number) {
    others_.emplace_back([this, number] { run_thread(number); });
  }
}

uint64_t Job::calls() const {
  uint64_t all = 0;
  for (const Standing &each : standing_) all += each.calls.load(std::memory_order_relaxed);
  return all;
}

std::vector<std::string> Job::standing() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < standing_.size(); ++i) {
    const Standing &each = standing_[i];
    const Plan *plan = each.plan.load(std::memory_order_acquire);
    const trace::Row *row = each.row.load(std::memory_order_relaxed);
    if (plan == nullptr || row == nullptr) continue;
    const std::string whose = several_threads ? fmt::format(" of thread {}", thread_numbers_[i]) : "";
    lines.push_back(
        fmt::format("call {}{}, {}", each.number.load(std::memory_order_relaxed), whose, text(*plan, *row)));
  }
  return lines;
}

}  // namespace cairn::replay
