#include "analyze/replay_diff.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "analyze/heap_events.h"
#include "analyze/paired_calls.h"
#include "analyze/repeatable.h"
#include "analyze/thread_calls.h"
#include "trace/read/events.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

class Comparison {
 public:
  Comparison(const trace::Trace &first, const trace::Trace &second) : first_(first), second_(second) {}

  ReplayDiff of(const std::vector<uint32_t> &wanted) {
    const std::vector<uint32_t> before = first_.trace.ranks();
    const std::vector<uint32_t> after = second_.trace.ranks();
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(diff_.only_first));
    std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                        std::back_inserter(diff_.only_second));
    for (const uint32_t rank : before) {
      if (!std::binary_search(after.begin(), after.end(), rank)) continue;
      if (!wanted.empty() && !std::binary_search(wanted.begin(), wanted.end(), rank)) continue;
      ++diff_.ranks;
      compare(rank);
    }
    return std::move(diff_);
  }

 private:
  /// The second side's part of one thread.
  struct Thread {
    std::optional<ThreadCalls> calls;
    RowScope scope;
    size_t sequence = 0;
    uint64_t index = 0;
    bool differs = false;
    bool next() {
      do {
        if (!calls->next()) return false;
      } while (!is_compared(calls->row()));
      return true;
    }
  };
  /// What cannot be made again is left out on both sides.
  static bool is_compared(const trace::Row &row) {
    if (found_nothing(row)) return false;
    if (row.function < spec::functions().size() && why_not_repeated(spec::functions()[row.function]) != nullptr)
      return false;
    return row.fields.empty() || row.fields.back().atoms != std::vector<trace::Atom>{trace::kNoReturn};
  }
  static bool same_shape(const trace::Row &a, const trace::Row &b) {
    return a.function == b.function && a.depth == b.depth && a.function < spec::functions().size() &&
           a.fields.size() == b.fields.size() &&
           a.fields.size() == size_t{spec::functions()[a.function].parameter_count} + 1;
  }

  /// What a thread calls, as a number: functions, and integers that they are given; and with communicators, whose
  /// numbers may be others on the second side.
  struct Digest {
    uint64_t calls = 0;
    uint64_t with_communicators = 0;
  };
  static void add_to(uint64_t *digest, uint64_t value) {
    *digest = (*digest ^ value) * 0x9e3779b97f4a7c15U + (*digest >> 29U);
  }
  static Digest digest(const Run &run, uint32_t rank, uint32_t thread) {
    Digest digest;
    const auto add = [&](uint64_t value) {
      add_to(&digest.calls, value);
      add_to(&digest.with_communicators, value);
    };
    for (ThreadCalls calls(run, rank, thread); calls.next();) {
      const trace::Row &row = calls.row();
      if (!is_compared(row) || row.function >= spec::functions().size()) continue;
      add(row.function);
      const spec::Function &function = spec::functions()[row.function];
      for (size_t i = 0; i < function.parameter_count && i < row.fields.size(); ++i) {
        const spec::Parameter &parameter = function.parameters[i];
        if (parameter.layout == spec::Layout::comm && !row.fields[i].atoms.empty()) {
          add_to(&digest.with_communicators, static_cast<uint64_t>(row.fields[i].atoms[0]));
        }
        const bool given = parameter.passing == spec::Passing::value && parameter.layout == spec::Layout::integer;
        const bool asked = i + 1 == function.asked_source || i + 1 == function.asked_tag;
        if (!given || asked || is_number_of_handle(parameter.kind) || row.fields[i].atoms.empty()) continue;
        add(static_cast<uint64_t>(trace::AtomReader(row.fields[i].atoms).next().value));
      }
    }
    return digest;
  }
  static std::vector<uint32_t> threads_of(const trace::Trace &trace, uint32_t rank) {
    std::set<uint32_t> all;
    for (const trace::SequenceView &sequence : trace.sequences(rank)) all.insert(sequence.thread);
    return {all.begin(), all.end()};
  }
  /// For each thread of the first side that of the second which makes the same calls; where there is none, one is left.
  std::map<uint32_t, uint32_t> match_threads(uint32_t rank) const {
    const std::vector<uint32_t> before = threads_of(first_.trace, rank);
    std::vector<uint32_t> left = threads_of(second_.trace, rank);
    std::map<uint32_t, uint32_t> matched;
    const auto take = [&](uint32_t thread, auto fits) {
      const auto place = std::find_if(left.begin(), left.end(), fits);
      if (place == left.end()) return;
      matched[thread] = *place;
      left.erase(place);
    };
    if (before.size() > 2) {
      std::map<uint32_t, Digest> first;
      std::map<uint32_t, Digest> second;
      for (const uint32_t thread : before) first[thread] = digest(first_, rank, thread);
      for (const uint32_t thread : left) second[thread] = digest(second_, rank, thread);
      for (const auto part : {&Digest::with_communicators, &Digest::calls}) {
        for (const uint32_t thread : before) {
          const auto is_alike = [&](uint32_t other) { return second[other].*part == first[thread].*part; };
          if (matched.contains(thread)) continue;
          take(thread, [&](uint32_t other) { return other == thread && is_alike(other); });
          if (!matched.contains(thread)) take(thread, is_alike);
        }
      }
    }
    for (const uint32_t thread : before) {
      if (!matched.contains(thread)) take(thread, [&](uint32_t other) { return other == thread; });
    }
    for (const uint32_t thread : before) {
      if (!matched.contains(thread)) take(thread, [](uint32_t) { return true; });
    }
    return matched;
  }

  /// In the order in which the first side made its calls, so that what one thread made is known on the others.
  void compare(uint32_t rank) {
    Meanings meanings(&attached_);
    std::map<uint32_t, Thread> threads;  // by the first side's number
    const std::map<uint32_t, uint32_t> matched = match_threads(rank);
    std::set<uint32_t> taken;
    const auto thread_of = [&](uint32_t number) -> Thread & {
      Thread &thread = threads[number];
      if (thread.calls) return thread;
      const auto other = matched.find(number);
      thread.calls.emplace(second_, rank, other == matched.end() ? UINT32_MAX : other->second);
      if (other != matched.end()) taken.insert(other->second);
      return thread;
    };
    std::map<uint32_t, RowScope> scopes;   // by sequence's class
    std::map<uint32_t, HeapEvents> heaps;  // the same
    for (const trace::SequenceView &sequence : first_.trace.sequences(rank)) {
      scopes.try_emplace(sequence.class_index, RowScope::of(first_.trace, sequence));
      heaps.try_emplace(sequence.class_index, first_.trace, sequence);
      thread_of(sequence.thread);
    }
    trace::Events events(first_.trace, rank);
    while (const trace::Event *event = events.next()) {
      const trace::Row &a = *event->values;
      heaps[event->class_index].before_call(a.function, [&](const trace::HeapEvent &each) {
        if (each.number >= 0) meanings.forget_heap(each.number);
      });
      if (!is_compared(a)) continue;
      Thread &thread = thread_of(event->thread);
      if (thread.differs) continue;
      const uint64_t index = thread.index++;
      ReplayDifference difference{rank, event->thread, index, {}, {}, {}};
      const bool also = thread.next();
      if (also && same_shape(a, thread.calls->row())) {
        if (std::exchange(thread.sequence, thread.calls->sequence()) != thread.calls->sequence()) {
          thread.scope = RowScope::of(second_.trace, thread.calls->view());
        }
        auto paired = pair_calls({a, scopes[event->class_index]}, {thread.calls->row(), thread.scope}, &meanings);
        difference.names = std::move(paired.differ);
        diff_.forced += paired.forced ? 1 : 0;
        ++diff_.calls;
        if (difference.names.empty()) continue;
      }
      difference.first = first_.decoder.decode(event->class_index, a);
      if (also) difference.second = thread.calls->call();
      add(&thread, std::move(difference));
    }
    for (auto &[number, thread] : threads) add_left(rank, number, &thread);
    for (const uint32_t number : threads_of(second_.trace, rank)) {
      if (taken.contains(number)) continue;
      Thread alone;
      alone.calls.emplace(second_, rank, number);
      add_left(rank, number, &alone);
    }
  }
  /// What is left after all of the first side's calls.
  void add_left(uint32_t rank, uint32_t number, Thread *thread) {
    if (thread->differs || !thread->next()) return;
    add(thread, {rank, number, thread->index, {}, {}, thread->calls->call()});
  }
  void add(Thread *thread, ReplayDifference difference) {
    thread->differs = true;
    diff_.differences.push_back(std::move(difference));
  }

  Run first_;
  Run second_;
  AttachedPairs attached_{first_, second_};
  ReplayDiff diff_;
};

}  // namespace

ReplayDiff replay_diff(const trace::Trace &first, const trace::Trace &second, const std::vector<uint32_t> &ranks) {
  return Comparison(first, second).of(ranks);
}

}  // namespace cairn::analyze
