#include "export/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>

#include "analyze/decode.h"
#include "analyze/messages.h"
#include "export/reach.h"
#include "export/walk.h"

namespace cairn::exporting {
namespace {

using analyze::CallTime;
using analyze::Edge;
using Kind = MessageEnd::Kind;

/// A message that a call sends or receives, by its number.
struct Numbered {
  uint32_t peer = 0;
  int64_t tag = 0;
  uint64_t number = 0;
};
struct Numbers {
  std::vector<Numbered> sent;
  std::vector<Numbered> received;
};

/// The first that is this one; 0: there is none.
uint64_t take(std::vector<Numbered> *all, const MessageEnd &end) {
  const auto found = std::find_if(all->begin(), all->end(), [&](const Numbered &each) {
    return each.number != 0 && each.peer == end.peer_in_world && each.tag == end.tag;
  });
  return found == all->end() ? 0 : std::exchange(found->number, 0);
}

/// One rank on its tracks.
class RankTracks {
 public:
  RankTracks(Scope *scope, uint32_t rank, TimelineWriter *writer, TimelineCounts *counts)
      : scope_(*scope),
        rank_(rank),
        writer_(*writer),
        counts_(*counts),
        walk_(scope, rank, &counts->left_out),
        nesting_([this](const Call &call) { begin(call); }, [this](const Call &call) { end(call); }) {
    const auto info = scope->trace->rank_info(rank);
    writer->process(rank + 1, fmt::format("rank {}{}", rank, info.host.empty() ? "" : " on " + info.host));
    std::vector<uint32_t> threads;
    for (const auto &sequence : scope->trace->sequences(rank)) {
      if (threads.empty() || threads.back() != sequence.thread) threads.push_back(sequence.thread);
    }
    for (const uint32_t thread : threads) {
      writer->thread(track_of(thread),
                     thread == 0 ? fmt::format("rank {}", rank) : fmt::format("rank {}, thread {}", rank, thread));
    }
  }

  void sends(uint64_t call, uint32_t to, int64_t tag, uint64_t number) {
    numbers_[call].sent.push_back({to, tag, number + 1});
  }
  void receives(uint64_t call, uint32_t from, int64_t tag, uint64_t number) {
    numbers_[call].received.push_back({from, tag, number + 1});
  }
  /// All that these calls send and receive was told.
  void write_until(uint64_t index) {
    while (Call *call = walk_.next_until(index)) {
      ++counts_.calls;
      nesting_.add(std::move(*call));
    }
    // What of a call is not wanted.
    if (!held()) numbers_.erase(numbers_.begin(), numbers_.upper_bound(index));
  }
  Result<void> finish() {
    write_until(UINT64_MAX);
    nesting_.finish();
    return walk_.end();
  }

 private:
  [[nodiscard]] Track track_of(uint32_t thread) const { return {rank_ + 1, thread + 1}; }
  [[nodiscard]] bool held() const { return begun_ != ended_ || nesting_.holds(); }

  void begin(const Call &call) {
    ++begun_;
    SliceBegin slice{name_of(call.function), "MPI"};
    if (const std::string &place = place_of(call.place); !place.empty()) {
      slice.details.push_back(Detail::of("at", place));
    }
    slice.details.push_back(Detail::of("call", call.index));
    if (call.failed) slice.details.push_back(Detail::of("failed", 1));
    writer_.begin(track_of(call.thread), call.begin_ns, slice);
    const auto found = numbers_.find(call.index);
    for (const MessageEnd &end : call.ends) {
      if (end.kind != Kind::send && end.kind != Kind::isend) continue;
      Arrow arrow;
      if (found != numbers_.end()) arrow.number = take(&found->second.sent, end);
      if (arrow.number != 0) arrow.here = Arrow::Ends::begins;
      mark(call, call.begin_ns, "send", "to", end, arrow);
    }
  }
  void end(const Call &call) {
    ++ended_;
    const auto found = numbers_.find(call.index);
    for (const MessageEnd &end : call.ends) {
      if (end.kind != Kind::receive && end.kind != Kind::receive_done) continue;
      Arrow arrow;
      if (found != numbers_.end()) arrow.number = take(&found->second.received, end);
      if (arrow.number != 0) {
        arrow.here = Arrow::Ends::ends;
        ++counts_.arrows;
      }
      mark(call, call.end_ns, "receive", "from", end, arrow);
    }
    writer_.end(track_of(call.thread), call.end_ns, parts_of(call));
  }
  void mark(const Call &call, uint64_t ns, const char *name, const char *peer, const MessageEnd &end,
            const Arrow &arrow) {
    SliceBegin what{name, "message"};
    what.details.push_back(Detail::of(peer, end.peer_in_world));
    if (end.known) what.details.push_back(Detail::of("bytes", end.bytes));
    what.details.push_back({"tag", end.tag});
    what.details.push_back(Detail::of("communicator", scope_.names[end.communicator]));
    writer_.mark(track_of(call.thread), ns, what, arrow);
  }
  /// In collective operations.
  [[nodiscard]] std::vector<Detail> parts_of(const Call &call) const {
    std::vector<Detail> details;
    for (const MessageEnd &end : call.ends) {
      if (end.kind != Kind::collective && end.kind != Kind::collective_begun) continue;
      details.push_back(Detail::of("communicator", scope_.names[end.communicator]));
      if (end.root) details.push_back(Detail::of("root", *end.root));
      if (end.known) {
        details.push_back(Detail::of("bytes sent", end.bytes));
        details.push_back(Detail::of("bytes received", end.received));
      }
      break;
    }
    return details;
  }
  const std::string &place_of(uint32_t number) {
    while (places_.size() <= number) places_.push_back(scope_.places()[places_.size()].position.short_text());
    return places_[number];
  }
  const std::string &name_of(uint32_t function) {
    std::string &name = names_[function];
    if (name.empty()) name = analyze::function_name(function);
    return name;
  }

  Scope &scope_;
  uint32_t rank_;
  TimelineWriter &writer_;
  TimelineCounts &counts_;
  Walk walk_;
  Nesting nesting_;
  std::map<uint64_t, Numbers> numbers_;  ///< by call
  std::unordered_map<uint32_t, std::string> names_;
  std::vector<std::string> places_;  ///< as they are shown, by their numbers
  uint64_t begun_ = 0;
  uint64_t ended_ = 0;
};

/// Writes each rank as far as all is told of its messages.
class WithArrows : public analyze::Arrivals {
 public:
  WithArrows(Scope *scope, TimelineWriter *writer, TimelineCounts *counts) : scope_(*scope) {
    if (scope->wanted.window) end_ns_ = scope->wanted.window->end_ns;
    for (const uint32_t rank : scope->wanted.ranks) {
      ranks_.emplace(rank, std::make_unique<RankTracks>(scope, rank, writer, counts));
    }
  }
  void sent(const CallTime &from, uint32_t to, int64_t tag, uint64_t number) override {
    RankTracks *rank = of(from.rank);
    if (rank != nullptr && of(to) != nullptr) rank->sends(from.call, to, tag, number);
  }
  void message(const Edge &edge) override {
    if (edge.kind != Edge::Kind::message) return;
    if (!scope_.writes(edge.from) || !scope_.writes(edge.to)) return;
    if (RankTracks *rank = of(edge.to.rank)) rank->receives(edge.to.call, edge.from.rank, edge.tag, edge.number);
  }
  void passed(uint32_t rank, uint64_t call) override {
    if (RankTracks *tracks = of(rank)) tracks->write_until(call);
  }
  Result<void> finish() {
    Result<void> done;
    for (const auto &[number, rank] : ranks_) {
      auto end = rank->finish();
      if (done) done = std::move(end);
    }
    return done;
  }

  [[nodiscard]] bool wants_meetings() const override { return false; }
  [[nodiscard]] bool has_enough(uint64_t ns) const override { return ns > end_ns_; }

 private:
  RankTracks *of(uint32_t rank) {
    const auto found = ranks_.find(rank);
    return found == ranks_.end() ? nullptr : found->second.get();
  }
  const Scope &scope_;
  std::map<uint32_t, std::unique_ptr<RankTracks>> ranks_;
  uint64_t end_ns_ = UINT64_MAX;
};

}  // namespace

Result<void> write_calls(Scope *scope, bool arrows, TimelineWriter *writer, TimelineCounts *counts) {
  if (arrows && !scope->logical) {
    const auto messages = analyze::Messages::of(*scope->trace, *scope->sources);
    if (!messages) return tl::unexpected(messages.error());
    WithArrows ranks(scope, writer, counts);
    const auto told = replay_wanted(*scope, *messages, &ranks);
    auto done = ranks.finish();
    if (done && !told) return tl::unexpected(told.error());
    return done;
  }
  Result<void> done;
  for (const uint32_t rank : scope->wanted.ranks) {
    auto end = RankTracks(scope, rank, writer, counts).finish();
    if (done) done = std::move(end);
  }
  return done;
}

}  // namespace cairn::exporting
