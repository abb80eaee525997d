#include "check/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "analyze/communicators.h"
#include "analyze/filter.h"
#include "analyze/lost_calls.h"
#include "analyze/message_calls.h"
#include "analyze/messages.h"
#include "analyze/rank_messages.h"
#include "analyze/rank_windows.h"
#include "analyze/volume.h"
#include "analyze/window_calls.h"
#include "check/agreement.h"
#include "check/buffering.h"
#include "check/contents.h"
#include "check/deadlock.h"
#include "check/distinct_calls.h"
#include "check/rank_calls.h"
#include "spec/ids.h"
#include "text/rank_list.h"
#include "trace/model/losses.h"
#include "turns/left_out.h"

namespace cairn::check {
namespace {

using analyze::CallTime;
using analyze::Edge;
using analyze::Meeting;
using analyze::Unmatched;

/// What is known of the ranks of a trace.
struct Ranks {
  std::vector<uint32_t> all;
  std::set<uint32_t> complete;  ///< reached the end of MPI_Finalize
  std::set<uint32_t> lossy;     ///< calls are missing
  std::map<uint32_t, size_t> threads;

  explicit Ranks(const trace::Trace &trace) : all(trace.ranks()) {
    for (const uint32_t rank : all) {
      const trace::Trace::RankInfo info = trace.rank_info(rank);
      if (info.complete) complete.insert(rank);
      for (const trace::Loss &loss : trace::read_losses(info.degraded)) {
        if (analyze::breaks_matching(loss)) lossy.insert(rank);
      }
      std::set<uint32_t> of_rank;
      for (const trace::SequenceView &sequence : trace.sequences(rank)) of_rank.insert(sequence.thread);
      threads[rank] = std::max<size_t>(1, of_rank.size());
    }
  }
  [[nodiscard]] bool is_complete(uint32_t rank) const { return complete.count(rank) != 0; }
  [[nodiscard]] bool one_thread(uint32_t rank) const {
    const auto found = threads.find(rank);
    return found != threads.end() && found->second <= 1;
  }
};

/// For accesses to windows, and for calls that ranks which did not end were in when the run was over, it counts which
/// was first.
bool needs_times(const trace::Trace &trace, const Ranks &ranks) {
  if (ranks.complete.size() != ranks.all.size()) return true;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    for (const trace::Structure::RowHead &row : trace::structure_of(trace, index).rows) {
      if (analyze::window_role(row.function) != analyze::WindowRole::none) return true;
    }
  }
  return false;
}

/// By how much times of two ranks may be wrong against each other; nullopt: their clocks were not compared.
std::optional<uint64_t> between_clocks(const trace::Axis &axis) {
  return axis.compared() ? std::optional(2 * axis.uncertainty_ns()) : std::nullopt;
}

class Follower : public analyze::Arrivals {
 public:
  Follower(const Ranks &ranks, const trace::Trace &trace, const Kinds &kinds, const analyze::Messages &messages,
           const Progress &progress, uint64_t whole, Findings *findings)
      : ranks_(ranks),
        times_(needs_times(trace, ranks)),
        progress_(progress),
        whole_(whole),
        kinds_(kinds),
        messages_(messages),
        findings_(*findings),
        shared_{{}, objects::TypeLayouts(trace), {}, Windows(findings, between_clocks(trace.axis()))},
        agreement_(
            kinds_, findings, [this](uint32_t number) { return messages_.name_of(number); },
            [this](uint32_t rank) { return ranks_.is_complete(rank); }),
        buffering_([this](uint32_t rank) { return ranks_.one_thread(rank) && ranks_.lossy.count(rank) == 0; }) {
    quiet_.remove(Kind::handles);
    quiet_.remove(Kind::buffers);
    quiet_.remove(Kind::windows);
    constexpr size_t kMost = size_t{1} << 16;
    constexpr size_t kLeast = 1024;
    const size_t most_known = std::max(kLeast, kMost / std::max<size_t>(1, ranks.all.size()));
    for (const uint32_t rank : ranks.all) {
      const Kinds &of_rank = ranks.lossy.count(rank) != 0 ? quiet_ : kinds_;
      calls_.emplace(rank, RankCalls(trace, rank, of_rank, ranks.one_thread(rank), most_known, &shared_, findings));
    }
  }

  bool called(const trace::Event &event, const analyze::RowScope &scope) override {
    buffering_.called(event.rank, event.values->function);
    return calls_.at(event.rank).see(event, scope);
  }
  analyze::MarkPointer content(const trace::Event &event, const analyze::RowScope &scope) override {
    return contents_.of(*event.values, scope, calls_.at(event.rank).types());
  }
  [[nodiscard]] bool wants_times() const override { return times_; }
  [[nodiscard]] bool wants_untimed() const override { return true; }
  [[nodiscard]] bool wants_all_meetings() const override { return true; }
  [[nodiscard]] analyze::FollowWindows follow_windows() const override { return analyze::RankWindows::follow; }

  void message(const Edge &edge) override {
    if (edge.kind == Edge::Kind::exposed) {
      if (edge.from.function == spec::function_id::Win_complete) shared_.windows.exposed(edge.from, edge.to);
      return;
    }
    if (kinds_.has(Kind::buffering)) buffering_.message(edge);
    if (edge.kind == Edge::Kind::message) compare(edge);
  }
  void unseen(const Edge &edge) override { compare(edge); }

  void delivered(const analyze::Delivery &delivery) override {
    if (kinds_.has(Kind::buffering) && !delivery.exposed) buffering_.delivered(delivery);
  }

  void over(const Meeting &meeting) override {
    shared_.windows.met(meeting);
    const analyze::Communicator *communicator = messages_.communicator(meeting.communicator);
    std::vector<uint32_t> members;
    if (communicator == nullptr) return;
    for (const auto &group : communicator->groups) {
      for (const auto &member : group) members.push_back(member.in_world);
    }
    if (members.size() != meeting.came.size()) return;
    const bool two = !communicator->groups[1].empty();
    if (!two && !meeting.broken && !agreement_.gave_up(meeting.communicator)) {
      note_needs(meeting, members);
      if (kinds_.has(Kind::buffering)) buffering_.meeting(meeting, members);
    }
    agreement_.over(meeting, members, two ? communicator->groups[0].size() : 0);
  }

  void passed(uint32_t rank, uint64_t call) override { shared_.windows.passed(rank, call); }
  void all_after(uint64_t ns) override { shared_.windows.all_after(ns); }
  void gone_through(uint64_t calls) override {
    if (progress_) progress_(calls, whole_);
  }
  void spoiled(uint32_t communicator) override { agreement_.give_up(communicator); }

  void unmatched(const Unmatched &left) override {
    if (left.sends && left.peer) flying_.push_back(left);
    if (!left.exact) return;
    needs_[{left.call.rank, left.call.call}].push_back(whom(left));
    if (!kinds_.has(Kind::messages) || !ranks_.is_complete(left.call.rank)) return;
    if (left.peer ? !ranks_.is_complete(*left.peer) : ranks_.complete.size() != ranks_.all.size()) return;
    const std::string tag = left.tag ? fmt::format("tag {}", *left.tag) : "any tag";
    const std::string who = left.peer ? fmt::format("rank {}", *left.peer) : "anybody";
    const std::string &on = messages_.name_of(left.communicator);
    const bool sure = ranks_.one_thread(left.call.rank) && (!left.peer || ranks_.one_thread(*left.peer));
    findings_.add({.kind = Kind::messages,
                   .sure = sure,
                   .text = left.sends ? fmt::format("the message to {} ({}, {}) is never received", who, tag, on)
                                      : fmt::format("the receive from {} ({}, {}) gets no message", who, tag, on),
                   .sort = left.sends ? "sent" : "posted",
                   .others = left.peer ? std::vector<uint32_t>{*left.peer} : std::vector<uint32_t>()},
                  left.call);
  }

  /// All is told.
  const Windows &finish() {
    shared_.windows.finish();
    return shared_.windows;
  }
  /// Once all is told. False: not all of it was looked at.
  bool find_buffering() { return buffering_.find(&findings_); }
  void find_deadlocks() const {
    std::vector<Waiter> waiters;
    std::map<uint32_t, size_t> threads = ranks_.threads;
    for (const auto &[rank, calls] : calls_) {
      if (ranks_.lossy.count(rank) != 0) continue;
      const auto &last = calls.last();
      const auto finalize = std::find_if(last.begin(), last.end(),
                                         [](const auto &each) { return each.second.in == LastCall::In::finalize; });
      if (finalize != last.end()) {
        threads[rank] = 1;
        waiters.push_back({rank, finalize->first, finalize->second.call, true, {}, false});
        continue;
      }
      for (const auto &[thread, call] : last) {
        if (auto waiter = waiter_of(rank, thread, call)) waiters.push_back(*std::move(waiter));
      }
    }
    for (const Deadlock &deadlock : check::find_deadlocks(waiters, threads)) {
      check::tell(deadlock, waiters, &findings_);
    }
  }

 private:
  using Needs = std::vector<std::vector<uint32_t>>;

  /// What was sent, and the room for it.
  void compare(const Edge &edge) {
    if (!edge.sent_content || !edge.received_content) return;
    const auto fits = std::pair(edge.sent_content.get(), edge.received_content.get());
    if (fitting_.count(fits) != 0) return;
    const auto &sent = static_cast<const Content &>(*edge.sent_content);
    const auto &received = static_cast<const Content &>(*edge.received_content);
    const Content::Part &what = Content::of(sent.sends, 0);
    const Content::Part &room = Content::of(received.receives, 0);
    const Match found = what && room ? match(*what, *room) : Match::unknown;
    const bool bytes_too = what && room && what->bytes() > room->bytes();
    if (found == Match::longer || (found == Match::differs && bytes_too)) tell(Kind::truncation, edge, *what, *room);
    if (found == Match::differs) tell(Kind::types, edge, *what, *room);
    if (found == Match::longer || found == Match::differs) return;
    constexpr size_t kMost = size_t{1} << 18;
    if (fitting_.size() >= kMost) fitting_.clear();
    fitting_.insert(fits);
  }

  void tell(Kind kind, const Edge &edge, const Stretch &what, const Stretch &room) {
    if (!kinds_.has(kind)) return;
    const CallTime &receive = edge.posted;
    const bool sure = edge.exact && ranks_.one_thread(edge.from.rank) && ranks_.one_thread(receive.rank);
    findings_.add({kind, sure,
                   fmt::format("rank {} sends {}, rank {} has room for {}", edge.from.rank, what.text(), receive.rank,
                               room.text()),
                   ""},
                  edge.from, receive);
  }

  /// Whom calls of a meeting wait for that some have not come to.
  void note_needs(const Meeting &meeting, const std::vector<uint32_t> &members) {
    Needs absent;
    for (size_t i = 0; i < members.size(); ++i) {
      if (!meeting.came[i]) absent.push_back({members[i]});
    }
    if (absent.empty()) return;
    const std::string operation = analyze::operation(spec::functions()[meeting.operation]);
    const bool to_root = operation == "Gather" || operation == "Gatherv" || operation == "Reduce";
    const bool from_root = operation == "Bcast" || operation == "Scatter" || operation == "Scatterv";
    const bool some = operation == "Scan" || operation == "Exscan" || analyze::is_among_neighbors(meeting.operation);
    for (size_t i = 0; i < members.size() && !some; ++i) {
      if (!meeting.came[i]) continue;
      const int64_t root = content_of(meeting, i).root.value_or(-1);
      Needs &needs = needs_[{members[i], meeting.begins[i].call}];
      if (from_root || to_root) {
        if (root < 0 || std::cmp_greater_equal(root, members.size())) continue;
        const auto place = static_cast<size_t>(root);
        if (from_root && !meeting.came[place]) needs.push_back({members[place]});
        if (to_root && place == i) needs.insert(needs.end(), absent.begin(), absent.end());
      } else {
        needs.insert(needs.end(), absent.begin(), absent.end());
      }
    }
  }

  /// Ranks of which one must do something for it.
  [[nodiscard]] std::vector<uint32_t> whom(const Unmatched &left) const {
    if (left.peer) return {*left.peer};
    const analyze::Communicator *communicator = messages_.communicator(left.communicator);
    if (communicator == nullptr) return {left.call.rank};
    if (!communicator->complete) return {UINT32_MAX};  // one that nobody knows
    std::vector<uint32_t> ranks;
    for (const auto &group : communicator->groups) {
      for (const auto &member : group) ranks.push_back(member.in_world);
    }
    return ranks;
  }

  /// Whether a probe of a rank on MPI_COMM_WORLD may be of that message.
  [[nodiscard]] bool may_find(uint32_t rank, const LastCall &probe, const Unmatched &message) const {
    const analyze::MessageScope &scope = messages_.scope();
    return message.peer == rank && message.communicator == scope.world_of(rank) &&
           (!probe.source || *probe.source == int64_t{message.call.rank} - int64_t{scope.trace->job_of(rank).first}) &&
           (!probe.tag || probe.tag == message.tag);
  }

  [[nodiscard]] std::optional<Waiter> waiter_of(uint32_t rank, uint32_t thread, const LastCall &last) const {
    Waiter waiter{rank, thread, last.call, false, {}, last.any};
    const auto needs_of = [&](uint64_t call) -> const Needs * {
      const auto found = needs_.find({rank, call});
      return found == needs_.end() || found->second.empty() ? nullptr : &found->second;
    };
    switch (last.in) {
      case LastCall::In::call:
        if (const Needs *needs = needs_of(last.call.call)) waiter.needs = *needs;
        break;
      case LastCall::In::probe:
        if (std::any_of(flying_.begin(), flying_.end(),
                        [&](const Unmatched &message) { return may_find(rank, last, message); })) {
          return std::nullopt;
        }
        if (last.source) {
          waiter.needs = {{static_cast<uint32_t>(*last.source)}};
        } else {
          waiter.needs = {ranks_.all};
        }
        break;
      case LastCall::In::requests:
        for (const uint64_t maker : last.makers) {
          const Needs *needs = needs_of(maker);
          if (needs == nullptr && last.any) return std::nullopt;
          if (needs == nullptr) continue;
          if (last.any && needs->size() > 1) return std::nullopt;  // would have to be all of these, or the others
          waiter.needs.insert(waiter.needs.end(), needs->begin(), needs->end());
        }
        break;
      default:
        return std::nullopt;
    }
    return waiter.needs.empty() ? std::nullopt : std::optional(std::move(waiter));
  }

  const Ranks &ranks_;
  bool times_;  ///< are needed
  const Progress &progress_;
  uint64_t whole_;  ///< how many calls will be gone through
  Kinds kinds_;
  Kinds quiet_ = kinds_;  ///< of ranks of which calls are missing
  const analyze::Messages &messages_;
  Findings &findings_;
  RankCalls::Shared shared_;
  Contents contents_;
  Agreement agreement_;
  Buffering buffering_;
  std::map<uint32_t, RankCalls> calls_;
  struct Hash {
    size_t operator()(const std::pair<const analyze::Mark *, const analyze::Mark *> &pair) const {
      const std::hash<const analyze::Mark *> of;
      return of(pair.first) * 31 + of(pair.second);
    }
  };
  std::unordered_set<std::pair<const analyze::Mark *, const analyze::Mark *>, Hash> fitting_;
  std::map<std::pair<uint32_t, uint64_t>, Needs> needs_;  ///< of calls, by rank and number
  std::vector<Unmatched> flying_;                         ///< messages that nobody received
};

std::vector<std::string> not_judged(const trace::Trace &trace, const Ranks &ranks) {
  std::vector<std::string> lines;
  if (ranks.all.size() != trace.rank_count()) {
    lines.push_back(fmt::format(
        "the trace has {} of {} ranks: messages and collective calls that others take part in are not judged",
        ranks.all.size(), trace.rank_count()));
  }
  std::vector<uint32_t> incomplete;
  std::set_difference(ranks.all.begin(), ranks.all.end(), ranks.complete.begin(), ranks.complete.end(),
                      std::back_inserter(incomplete));
  if (!incomplete.empty()) {
    lines.push_back(
        fmt::format("{} did not reach the end of MPI_Finalize: leaks and unmatched messages of {} are not judged",
                    named_ranks(incomplete), incomplete.size() == 1 ? "it" : "them"));
  }
  if (!ranks.lossy.empty()) {
    const std::vector<uint32_t> lossy(ranks.lossy.begin(), ranks.lossy.end());
    lines.push_back(
        fmt::format("calls of {} are missing: only arguments, and types as far as messages are matched, "
                    "are judged there",
                    named_ranks(lossy)));
  }
  return lines;
}

}  // namespace

Result<Report> check(const trace::Trace &trace, const analyze::Sources &sources, const Kinds &kinds, bool every_call,
                     const Progress &progress) {
  const Ranks ranks(trace);
  Findings findings(sources);
  Report report;
  report.left_out = not_judged(trace, ranks);
  for (const uint32_t rank : ranks.all) report.calls += trace.call_count(rank);
  std::vector<uint32_t> leaking;
  std::set_difference(ranks.complete.begin(), ranks.complete.end(), ranks.lossy.begin(), ranks.lossy.end(),
                      std::back_inserter(leaking));
  if (auto done = look_at_distinct_calls(trace, ranks.all, leaking, kinds, &findings); !done) {
    return tl::unexpected(done.error());
  }
  Kinds in_order = kinds;
  in_order.remove(Kind::arguments);
  in_order.remove(Kind::leaks);
  if (!in_order.empty()) {
    const auto messages = analyze::Messages::of(trace, sources);
    if (!messages) return tl::unexpected(messages.error());
    turns::LeftOut turns;
    if (!every_call) {
      auto found = turns::LeftOut::of(trace, *messages);
      if (!found) return tl::unexpected(found.error());
      turns = *std::move(found);
      findings.count_as([&turns](const CallTime &call) { return turns.stands_for(call.rank, call.call); });
    }
    report.repeated = turns.left_out();
    Follower follower(ranks, trace, kinds, *messages, progress, report.calls - report.repeated, &findings);
    const auto counts = messages->replay(&follower, {turns.cuts()});
    if (!counts) return tl::unexpected(counts.error());
    const Windows &windows = follower.finish();
    if (kinds.has(Kind::deadlock)) follower.find_deadlocks();
    if (kinds.has(Kind::buffering) && !follower.find_buffering()) {
      report.left_out.push_back(
          fmt::format("whether sends end only since their messages are buffered is judged for the "
                      "first {} waits alone",
                      Buffering::kMost));
    }
    const auto say = [&](uint64_t count, const char *one, const char *several) {
      if (count != 0) report.left_out.push_back(fmt::format("{} {} not judged", count, count == 1 ? one : several));
    };
    say(counts->nameless, "receive of which nobody knows whose message it got is",
        "receives of which nobody knows whose message they got are");
    const auto apart = [&](uint64_t count, const char *why) {
      if (count == 0) return;
      report.left_out.push_back(
          fmt::format("{} accesses by shared locks {}: they are not judged against those of other ranks", count, why));
    };
    apart(windows.untimed(), "have no times that can be compared");
    apart(windows.too_many(), "were under way with too many others");
    say(counts->apart, "collective call of processes that are not known, or of which calls are missing, is",
        "collective calls of processes that are not known, or of which calls are missing, are");
  }
  report.findings = findings.take();
  report.places = findings.places();
  report.more = findings.left_out();
  return report;
}

}  // namespace cairn::check
