#include "replay/walker.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "replay/completion.h"
#include "replay/meeting.h"
#include "replay/ticks.h"
#include "spec/ids.h"
#include "timing/mode.h"

namespace cairn::replay {
namespace {

thread_local Walker *walking = nullptr;

/// The parameter of MPI_Win_attach.
constexpr size_t kAttachedBase = 1;

bool begins_or_ends_mpi(const Plan &plan) {
  namespace id = spec::function_id;
  const uint16_t function = plan.function->id;
  return function == id::Init || function == id::Init_thread || function == id::Session_init ||
         function == id::Finalize;
}

}  // namespace

void make_nested_calls(void *status) {
  if (walking != nullptr) walking->make_nested(status);
}

bool is_to_fail() { return walking != nullptr && walking->is_to_fail(); }

Walker::Walker(Job *job, Standing *standing, std::vector<trace::SequenceView> sequences)
    : job_(*job),
      standing_(*standing),
      sequences_(std::move(sequences)),
      planner_(job->surroundings()),
      heard_(job->trace, sequences_) {
  if (job->settings.gaps == Gaps::none || timing::keeps_times(job->trace.run().timing)) return;
  drawn_gaps_.emplace(job->trace, job->rank);
  if (!drawn_gaps_->known()) drawn_gaps_.reset();
}

Result<void> Walker::walk() {
  walking = this;
  job_.memory.enter_devices();
  Result<void> done;
  for (const trace::SequenceView &sequence : sequences_) {
    if (done = walk_sequence(sequence); !done) break;
  }
  walking = nullptr;
  return done;
}

Result<void> Walker::walk_sequence(const trace::SequenceView &sequence) {
  // Nested calls may be of the segment before: their rows stay until they are made.
  auto last_reader = std::move(reader_);
  auto last_plans = std::move(plans_);
  plans_.clear();
  scope_ = analyze::RowScope::of(job_.trace, sequence);
  class_index_ = sequence.class_index;
  heap_ = job_.follows_heap ? analyze::HeapEvents(job_.trace, sequence) : analyze::HeapEvents();
  threads_ = job_.several_threads ? analyze::ThreadEvents(job_.trace, sequence) : analyze::ThreadEvents();
  const auto thread_happens = [this](const trace::ThreadEvent &event) { job_.happens(thread(), &standing_, event); };
  reader_ = std::make_unique<trace::CallReader>(job_.trace, sequence);
  times_.reset();
  if (timing::keeps_times(job_.trace.run().timing)) {
    auto times = trace::CallTimes::of(job_.trace, sequence);
    if (!times) return tl::unexpected(times.error());
    times_.emplace(*std::move(times));
  }
  const auto order = job_.several_threads ? job_.trace.order(sequence) : std::nullopt;
  std::optional<grammar::Walker> skips;
  if (order) skips.emplace(order->skips);
  uint64_t ticket = order ? order->first_ticket : 0;
  uint64_t call = 0;
  for (grammar::Symbol number = reader_->next(); number != grammar::kNoSymbol; number = reader_->next(), ++call) {
    const auto plan = plan_of(number);
    if (!plan) return tl::unexpected(plan.error());
    standing_.number.store(read_++, std::memory_order_relaxed);
    recorded_.reset();
    if (times_ && call < times_->count()) {
      if (const auto placed = times_->at(call)) recorded_ = placed->time;
    }
    if (job_.settings.gaps != Gaps::none && (*plan)->depth == 0) wait_for_gap(**plan);
    if (skips) {
      const grammar::Symbol skip = skips->next();
      if (call != 0 && skip != grammar::kNoSymbol) ticket += skip + 1;
      standing_.ticket = ticket;
      threads_.before_call(thread_happens);
      job_.wait_for_turn(&standing_, ticket, (*plan)->gives_up);
      standing_.ticket = ticket + 1;
    }
    if (recorded_ && keeps_sums()) job_.made[(*plan)->function->id].recorded_ns += recorded_->duration;
    const trace::Row *const row = &reader_->call(number);
    heap_.before_call(row->function, [this](const trace::HeapEvent &event) { happens(event); });
    Result<void> done;
    if ((*plan)->depth == 0 && pending_.empty()) {
      Node alone{*plan, row, {}, read_ - 1};
      done = make(&alone);
    } else {
      done = take({*plan, row, {}, read_ - 1});
    }
    if (!done) return done;
  }
  heap_.at_end([this](const trace::HeapEvent &event) { happens(event); });
  threads_.at_end(thread_happens);
  return {};
}

void Walker::happens(const trace::HeapEvent &event) {
  if (trace::DeviceEvent::is(event)) return;  // these are there from the begin
  if (!event.ends()) {
    // Calls that are still to be made may mean the segment before.
    const bool again = std::erase(ended_, event.number) != 0;
    const uint64_t before = again ? job_.memory.segment_bytes(event.number) : 0;
    job_.memory.begin_segment(event.number, std::max(event.bytes, before));
  } else if (pending_.empty()) {
    job_.memory.end_segment(event.number);
  } else {
    ended_.push_back(event.number);
  }
}

Result<Plan *> Walker::plan_of(grammar::Symbol number) {
  if (number < plans_.size() && plans_[number] != nullptr) return plans_[number].get();
  if (number >= plans_.size()) plans_.resize(number + 1);
  const std::lock_guard<std::mutex> guard(job_.lock);
  auto made = planner_.plan(reader_->call(number), class_index_, scope_);
  if (!made) return tl::unexpected(made.error());
  plans_[number] = *std::move(made);
  return plans_[number].get();
}

Result<void> Walker::take(Node node) {
  const uint32_t depth = node.plan->depth;
  while (!pending_.empty() && pending_.back().plan->depth > depth) {
    node.nested.insert(node.nested.begin(), std::move(pending_.back()));
    pending_.pop_back();
  }
  if (depth != 0) {
    pending_.push_back(std::move(node));
    return {};
  }
  auto made = make(&node);
  for (const int64_t number : std::exchange(ended_, {})) job_.memory.end_segment(number);
  return made;
}

void Walker::make_nested(void *status) {
  if (status != nullptr && made_ != nullptr && next_status_ < made_->statuses.size()) {
    write_status(status, made_->statuses[next_status_++]);
  }
  if (nested_ == nullptr) return;
  void *outer_status = std::exchange(callback_status_, status);
  std::vector<Node> now = std::exchange(*nested_, {});
  std::vector<Node> *of = std::exchange(nested_, nullptr);
  for (Node &node : now) {
    if (auto done = make(&node); !done && nested_error_) nested_error_ = std::move(done);
  }
  nested_ = of;
  callback_status_ = outer_status;
}

tl::unexpected<Error> Walker::failed(const Node &node, const std::string &why) const {
  return fail(ErrorKind::environment, fmt::format("{}: {}", job_.text(*node.plan, *node.row), why));
}

Result<void> Walker::make(Node *node) {
  Plan &plan = *node->plan;
  if (plan.passed_over != nullptr) {
    const std::lock_guard<std::mutex> guard(job_.lock);
    ++job_.passed_over[fmt::format("{} ({})", plan.function->name, plan.passed_over)];
    return {};
  }
  std::array<Word, spec::kMaxParameters> words;  // as many as there are parameters
  std::array<Word, spec::kMaxParameters> handles;
  std::copy_n(plan.words.begin(), plan.function->parameter_count, words.begin());
  if (auto done = gather(plan, words.data(), handles.data()); !done) return failed(*node, done.error().message);
  if (plan.wild_source != 0 || plan.wild_tag != 0) {
    const analyze::Envelope heard = heard_.next().value_or(analyze::Heard::Receive()).heard;
    if (plan.wild_source != 0 && heard.rank) words[plan.wild_source - 1] = static_cast<Word>(*heard.rank);
    if (plan.wild_tag != 0 && heard.tag) words[plan.wild_tag - 1] = static_cast<Word>(*heard.tag);
  }
  if (job_.settings.echo) fmt::print(stderr, "rank {}: {}\n", job_.rank, job_.text(plan, *node->row));
  const bool lifecycle = begins_or_ends_mpi(plan);
  if (lifecycle) job_.before(plan, &standing_);
  standing_.row.store(node->row, std::memory_order_relaxed);
  standing_.plan.store(&plan, std::memory_order_release);
  if (!job_.cancellations.empty()) force_cancellation(*node, words.data());
  const bool takes_any = job_.settings.free_order && (plan.await != Await::some_requests || !has_persistent(plan));
  if (plan.await != Await::nothing && !takes_any) wait_for_outcome(plan, words.data());
  if (plan.attaches) {
    if (auto told = job_.attachments.tell(*plan.attaches, words[kAttachedBase]); !told) return told;
  }
  if (plan.remote) {
    if (auto aimed = aim(plan, words.data()); !aimed) return failed(*node, aimed.error().message);
  }
  if (plan.meeting) {
    if (auto ready = prepare(&*plan.meeting, &job_.other_jobs, job_.settings.words, words.data()); !ready) {
      return failed(*node, ready.error().message);
    }
  }
  if (!plan.filled.empty()) fill(plan, words.data());
  if (!plan.must_not_exist.empty() && rank_in(words[0]) == 0) job_.files.remove(plan.must_not_exist);

  const Plan *outer_made = std::exchange(made_, &plan);
  const size_t outer_status = std::exchange(next_status_, 0);
  std::vector<Node> *outer = std::exchange(nested_, node->nested.empty() ? nullptr : &node->nested);
  const uint64_t begin = ticks();
  Word result = 0;
  do {
    result = plan.invoke(words.data());
  } while (plan.await != Await::nothing && plan.function->answer != 0 &&
           *reinterpret_cast<const int *>(words[plan.function->answer - 1U]) == 0 && sched_yield() == 0);
  if (takes_any && plan.await == Await::some_requests) complete_as_many(&plan, words.data());
  const uint64_t end = ticks();
  if (job_.settings.gaps != Gaps::none) last_end_ns_ = now_ns();
  nested_ = outer;
  made_ = outer_made;
  next_status_ = outer_status;
  standing_.plan.store(nullptr, std::memory_order_release);
  standing_.calls.store(standing_.calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);

  Made &made = job_.made[plan.function->id];
  if (keeps_sums()) {
    ++made.calls;
    made.ticks += end - begin;
  }
  settle(plan, words.data(), handles.data(), result);
  if (!nested_error_) return std::exchange(nested_error_, {});
  if (plan.function->returns == spec::ReturnKind::error_code) {
    const bool fails = static_cast<int>(result) != 0;
    if (fails && !plan.fails) {
      return failed(*node, fmt::format("failed here with an error of class {}, and did not in the recording",
                                       error_class(result)));
    }
    if (!fails && plan.fails) ++job_.differs;
    if (!fails && plan.meeting) {
      if (auto done = conclude(*plan.meeting, &job_.other_jobs, words.data()); !done) return done;
    }
  }
  if (lifecycle) job_.after(plan);
  // Functions of the program may not have been called this time.
  for (Node &left : node->nested) {
    if (auto done = make(&left); !done) return done;
  }
  return {};
}

void Walker::force_cancellation(const Node &node, Word *words) const {
  using Came = analyze::Cancellation::Came;
  const Plan &plan = *node.plan;
  const analyze::Cancellation *begun = job_.cancellations.begun_by_thread(thread(), node.number);
  if (begun != nullptr && begun->came == Came::cancelled) {
    if (begun->receive && plan.function->asked_tag != 0) {
      words[plan.function->asked_tag - 1U] = static_cast<Word>(analyze::kNobodysTag);
    }
    for (uint8_t i = 0; i < plan.function->parameter_count && !begun->receive; ++i) {
      const auto nobody = job_.constants[spec::constant_id::k_PROC_NULL];
      if (std::string_view(plan.function->parameters[i].name) == "dest" && nobody) words[i] = *nobody;
    }
  }
  const analyze::Cancellation *asked = job_.cancellations.asked_by_thread(thread(), node.number);
  // Of a send that would wait for the receiver, which may wait for what comes behind this call.
  const bool came = asked != nullptr && asked->came == Came::complete && asked->receive;
  if (!came || job_.settings.keep_wild || job_.settings.free_order) return;
  for (const Plan::HandleUse &use : plan.handles) {
    const Word request =
        use.by_pointer ? load(reinterpret_cast<const char *>(words[use.parameter]), use.bytes) : words[use.parameter];
    wait_until([&] { return is_done(request); });
  }
}

Result<void> Walker::gather(const Plan &plan, Word *words, Word *handles) {
  std::unique_lock<std::mutex> guard(job_.lock, std::defer_lock);
  if (job_.several_threads) guard.lock();
  const auto is_there = [&](const Slot *slot) {
    while (slot->empty() && job_.several_threads) {
      guard.unlock();
      sched_yield();  // another thread makes it
      guard.lock();
    }
    return !slot->empty();
  };
  for (const Plan::HandleUse &use : plan.handles) {
    if (!is_there(use.slot)) {
      // What completed first may be another one than in the recording.
      if (job_.settings.free_order && plan.function->parameters[use.parameter].kind == spec::Kind::request) {
        handles[use.parameter] = use.null;
        words[use.parameter] = use.by_pointer ? reinterpret_cast<Word>(&handles[use.parameter]) : use.null;
        continue;
      }
      return fail(ErrorKind::internal, fmt::format("the replay has no such {} any more",
                                                   spec::kind_name(plan.function->parameters[use.parameter].kind)));
    }
    handles[use.parameter] = use.slot->use(thread());
    words[use.parameter] = use.by_pointer ? reinterpret_cast<Word>(&handles[use.parameter]) : handles[use.parameter];
    // From now on another thread may make one of that name; but functions of the program may still use it.
    if (use.given_up && job_.several_threads) use.slot->drop(thread());
  }
  for (const Plan::HandleArray &array : plan.handle_arrays) {
    char *to = const_cast<char *>(array.buffer.data());
    for (size_t i = 0; i < array.slots.size(); ++i) {
      Word handle = array.constants[i];
      Slot *slot = array.slots[i];
      // One that is not there any more was given up: MPI has put MPI_REQUEST_NULL there.
      if (slot != nullptr && !is_there(slot)) slot = nullptr, handle = array.null;
      if (slot != nullptr && !array.changes) handle = slot->use(thread());
      if (slot != nullptr && array.changes && !slot->take(thread(), &handle)) handle = array.null;
      std::memcpy(to + i * array.bytes, &handle, array.bytes);
    }
    words[array.parameter] = reinterpret_cast<Word>(to);
  }
  for (const Plan::HandleMade &made : plan.made) {
    Word *place = &handles[made.parameter];
    *place = 0;
    if (made.in_place && !made.slots.empty() && made.slots[0] != nullptr) place = made.slots[0]->place(thread());
    words[made.parameter] = made.count > 1 ? reinterpret_cast<Word>(room(made.parameter, made.count * made.bytes))
                                           : reinterpret_cast<Word>(place);
  }
  for (const Plan::Number &number : plan.numbers) {
    words[number.parameter] = job_.slots.number(number.kind, number.recorded);
  }
  const auto no_room = [] { return fail(ErrorKind::environment, "the system has no addresses for a buffer"); };
  for (const Plan::AddressUse &use : plan.addresses) {
    if (!job_.memory.provide(use.region)) return no_room();
    words[use.parameter] = reinterpret_cast<Word>(use.region->origin) + static_cast<Word>(use.offset);
  }
  for (const Plan::AddressArray &array : plan.address_arrays) {
    // Stays as it is until the next such call: what reads it later has the same values.
    char *to = const_cast<char *>(array.buffer.data());
    for (size_t i = 0; i < array.places.size(); ++i) {
      const auto &[region, offset] = array.places[i];
      if (region != nullptr && !job_.memory.provide(region)) return no_room();
      const Word value = (region == nullptr ? 0 : reinterpret_cast<Word>(region->origin)) + static_cast<Word>(offset);
      std::memcpy(to + i * sizeof value, &value, sizeof value);
    }
    words[array.parameter] = reinterpret_cast<Word>(to);
  }
  for (const Plan::Updated &updated : plan.updated) {
    char *to = room(updated.parameter, updated.before.size());
    if (callback_status_ != nullptr && plan.function->parameters[updated.parameter].layout == spec::Layout::status) {
      words[updated.parameter] = reinterpret_cast<Word>(callback_status_);
      continue;
    }
    std::memcpy(to, updated.before.data(), updated.before.size());
    words[updated.parameter] = reinterpret_cast<Word>(to);
  }
  for (const Plan::Output &output : plan.outputs) {
    words[output.parameter] = reinterpret_cast<Word>(room(output.parameter, output.bytes));
  }
  return {};
}

Result<void> Walker::aim(const Plan &plan, Word *words) {
  const Plan::Remote &remote = *plan.remote;
  const auto target = dynamic_target(words[remote.window], static_cast<int>(words[remote.target]));
  if (!target) return {};
  const std::vector<Attachments::Place> places = job_.attachments.places(*target, remote.raw);
  if (places.empty()) return {};  // as it was: MPI may say that nothing is there
  // The program had the address from the target, so it tells, or is about to. It may have to get at this process's
  // memory first.
  std::optional<Word> now;
  wait_until([&] {
    now = job_.attachments.find(*target, places);
    if (!now) go_on();
    return now.has_value();
  });
  words[remote.parameter] = *now;
  return {};
}

char *Walker::room(uint8_t parameter, size_t bytes) {
  auto &rooms = rooms_[parameter];
  // What is too small stays: a call that encloses this one may still have it.
  if (rooms.empty() || rooms.back().size() < bytes || nested_ != nullptr) rooms.emplace_back(bytes);
  return rooms.back().data();
}

void Walker::settle(Plan &plan, const Word *words, const Word *handles, Word result) {
  std::unique_lock<std::mutex> guard(job_.lock, std::defer_lock);
  if (job_.several_threads) guard.lock();
  for (const Plan::HandleUse &use : plan.handles) {
    const bool changes = use.by_pointer && plan.function->parameters[use.parameter].direction != spec::Direction::in;
    if (!changes) continue;
    const Word left = load(reinterpret_cast<const char *>(&handles[use.parameter]), use.bytes);
    if (!use.given_up || !job_.several_threads) {
      use.slot->replace(thread(), left, use.null);
    } else if (plan.fails) {
      use.slot->add(left, thread());
    }
  }
  for (Plan::HandleArray &array : plan.handle_arrays) {
    if (!array.changes) continue;
    for (size_t i = array.slots.size(); i-- > 0;) {
      if (array.slots[i] == nullptr) continue;
      const bool hidden = i < array.hidden.size() && array.hidden[i];
      const Word left = hidden ? array.kept[i] : load(array.buffer.data() + i * array.bytes, array.bytes);
      Slot *const name = i < array.renamed.size() && array.renamed[i] != nullptr ? array.renamed[i] : array.slots[i];
      if (left != array.null) name->give_back(thread(), left);
    }
  }
  for (const Plan::HandleMade &made : plan.made) {
    const auto *from = reinterpret_cast<const char *>(words[made.parameter]);
    for (size_t i = 0; i < made.slots.size(); ++i) {
      if (made.slots[i] == nullptr || made.in_place) continue;
      if (plan.function->persistent) made.slots[i]->persistent = true;
      const Word handle = load(from + i * made.bytes, made.bytes);
      if (plan.function->id == spec::function_id::Comm_get_parent) {
        made.slots[i]->know(handle, thread());
      } else {
        made.slots[i]->add(handle, thread());
      }
    }
  }
  if (plan.returned != nullptr) plan.returned->know(result, thread());
  if (const auto &number = plan.returned_number) job_.slots.tell_number(number->kind, number->recorded, result);
  for (const Plan::Bound &bound : plan.bound) {
    char *given = nullptr;
    std::memcpy(&given, reinterpret_cast<const char *>(words[bound.parameter]), sizeof given);
    bound.region->origin = given - bound.offset;
  }
}

void Walker::wait_for_gap(const Plan &plan) {
  if (last_end_ns_ == 0) last_end_ns_ = now_ns();
  uint64_t recorded = job_.mean_gap_ns;
  if (times_) {
    recorded = recorded_ ? recorded_->gap : 0;
  } else if (drawn_gaps_) {
    recorded = drawn_gaps_->next(class_index_, plan.site);
  }
  const auto gap = static_cast<uint64_t>(static_cast<double>(recorded) * job_.settings.scale);
  const uint64_t until = last_end_ns_ + gap;
  if (job_.settings.gaps == Gaps::sleep) {
    const uint64_t now = now_ns();
    if (now < until) std::this_thread::sleep_for(std::chrono::nanoseconds(until - now));
    return;
  }
  while (now_ns() < until) {
  }
}

void Walker::fill(const Plan &plan, const Word *words) {
  for (const Plan::Filled &filled : plan.filled) {
    const Span span = span_of(static_cast<int64_t>(words[filled.count]), words[filled.datatype]);
    Region &region = *filled.region;
    const int64_t begin = filled.offset + span.begin;
    const int64_t end = std::min(begin + span.bytes, region.end);
    if (region.end != INT64_MAX && (begin < 0 || end <= begin)) continue;
    const auto put = [&](int64_t from, int64_t to) {
      uint64_t state = static_cast<uint64_t>(from) * 0x9e3779b97f4a7c15U + job_.rank + 1;
      std::array<char, 4096> part;
      while (from < to) {
        const auto bytes = static_cast<size_t>(std::min<int64_t>(to - from, part.size()));
        for (size_t i = 0; i < bytes; ++i) {
          state ^= state << 13U;
          state ^= state >> 7U;
          state ^= state << 17U;
          part[i] = static_cast<char>(state);
        }
        job_.memory.write(region, from, part.data(), bytes);
        from += static_cast<int64_t>(bytes);
      }
    };
    if (region.filled_begin == region.filled_end) region.filled_begin = region.filled_end = begin;
    if (begin < region.filled_begin) put(begin, region.filled_begin), region.filled_begin = begin;
    if (end > region.filled_end) put(region.filled_end, end), region.filled_end = end;
  }
}

}  // namespace cairn::replay
