#include "analyze/messages.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "analyze/lost_calls.h"
#include "analyze/rank_messages.h"
#include "base/in_order.h"
#include "trace/model/losses.h"

namespace cairn::analyze {
namespace {

using How = MessageStep::Arriving::How;

/// All ranks side by side.
class Replay {
 public:
  Replay(const MessageScope &scope, Arrivals *arrivals, const ReplayPart &part)
      : scope_(scope), gatherings_(scope), arrivals_(arrivals), all_(part.ranks == nullptr) {
    assert(all_ || !arrivals->wants_meetings());
    channels_.tell_unseen(
        [this](const Receive &receive, const Sent &message) { unseen(receive, message, receive.channel->key); });
    const std::vector<uint32_t> ranks = all_ ? scope.trace->ranks() : *part.ranks;
    // That decodes the first times of each.
    const auto open = [&](size_t place) {
      const auto of_rank = part.cuts.find(ranks[place]);
      return std::make_unique<RankMessages>(scope, ranks[place], &channels_, &gatherings_, &counts_, arrivals,
                                            of_rank == part.cuts.end() ? std::vector<Cut>() : of_rank->second);
    };
    in_order(ranks.size(), open, [&](size_t place, std::unique_ptr<RankMessages> &&opened) {
      place_of_.emplace(ranks[place], place);
      may_end_early_ = may_end_early_ && !opened->several_threads();
      ranks_.push_back(std::move(opened));
      return true;
    });
    waiting_.resize(ranks_.size());
  }

  Result<MessageCounts> run() {
    for (size_t place = 0; place < ranks_.size(); ++place) is_ready(place);
    while (!enough_) {
      if (ready_.empty() && !give_up_one()) break;
      const size_t place = ready_.top().second;
      ready_.pop();
      go_on(place);
    }
    gatherings_.finish(arrivals_);
    if (all_ && !enough_) tell_unmatched();
    for (const auto &rank : ranks_) {
      if (auto end = rank->end(); !end) return tl::unexpected(end.error());
    }
    return counts_;
  }

 private:
  static constexpr uint64_t kStretch = 128;
  void is_ready(size_t place) {
    waiting_[place] = false;
    const MessageStep *step = ranks_[place]->step();
    // Without times by their numbers, so that no rank runs far ahead of those that receive what it sends; by stretches
    // of them, since what is known of a rank leaves the cache when it is another one's turn.
    if (step != nullptr) ready_.emplace(step->timed ? step->call.begin_ns : step->call.call / kStretch, place);
  }
  void wake(size_t place) {
    if (waiting_[place]) is_ready(place);
  }

  /// One step, or as far as it goes.
  void go_on(size_t place) {
    MessageStep *step = ranks_[place]->step();
    if (step == nullptr) return;
    if (!step->begun) begin(*step);
    if (!arrive(*step) || !leave(*step, place)) {
      waiting_[place] = true;
      return;
    }
    end(*step);
    arrivals_->passed(step->call.rank, step->call.call);
    ranks_[place]->next();
    is_ready(place);
    constexpr uint64_t kOften = 1024;
    if (++steps_ % kOften != 0) return;
    const uint64_t begins = earliest();
    arrivals_->all_after(begins);
    arrivals_->gone_through(counts_.read - std::exchange(told_, counts_.read));
    enough_ = may_end_early_ && arrivals_->has_enough(begins);
  }

  void end(const MessageStep &step) {
    const uint64_t waited = step.timed ? arrivals_->ended(step.call) : 0;
    if (step.timed && step.lock) arrivals_->locked(*step.lock);
    if (!step.timed && !arrivals_->wants_untimed()) return;
    const auto late_until = step.completes.size() < 2 ? nullptr : std::make_shared<uint64_t>(0);
    for (const SentPointer &message : step.completes) {
      message->late_until = late_until;
      message->completed = true;
      message->completing = step.call;
      message->waited_ns = waited;
      deliver(*message);
    }
  }
  void deliver(const Sent &message) {
    if (!message.completed || !message.matched) return;
    arrivals_->delivered({message.from, message.completing, message.waited_ns, message.posted, message.anybody,
                          message.exposed, message.late_until.get()});
  }

  /// When the first of the calls began that have not ended.
  [[nodiscard]] uint64_t earliest() const {
    uint64_t found = UINT64_MAX;
    for (const auto &rank : ranks_) {
      if (rank->step() != nullptr) found = std::min(found, rank->none_before());
    }
    return found;
  }

  void begin(MessageStep &step) {
    step.begun = true;
    const bool reaches_others = !step.sends.empty() || !step.enters.empty();
    const MarkPointer mark = step.timed ? arrivals_->begun(step.call, step.outside_ns, reaches_others) : nullptr;
    for (const auto &[key, message] : step.sends) {
      message->mark = mark;
      message->number = sent_++;
      if (key.window == 0 && (step.timed || arrivals_->wants_untimed()))
        arrivals_->sent(step.call, key.to, key.tag, message->number);
      const auto to = place_of_.find(key.to);
      if (!all_ && to == place_of_.end()) continue;
      channels_.send(&channels_.of(key), message);
      if (to != place_of_.end()) wake(to->second);
    }
    for (const MeetingPart &part : step.enters) {
      Gathering &gathering = *part.gathering;
      if (gathering.meeting.came[part.place]) continue;
      gathering.meeting.came[part.place] = true;
      gathering.meeting.begins[part.place] = step.call;
      if (!step.timed) gathering.meeting.begins[part.place].begin_ns = 0;
      gathering.meeting.marks[part.place] = mark;
      gathering.meeting.contents[part.place] = part.content;
      std::vector<size_t> free;
      if (--gathering.missing == 0) free.swap(gathering.wait_for_all);
      if (auto found = gathering.wait_for.find(part.place); found != gathering.wait_for.end()) {
        free.insert(free.end(), found->second.begin(), found->second.end());
        gathering.wait_for.erase(found);
      }
      for (const size_t each : free) wake(each);
    }
  }

  /// False if a message is still to be sent.
  bool arrive(MessageStep &step) {
    for (; step.arrived < step.arriving.size(); ++step.arrived) {
      const auto &[receive, how] = step.arriving[step.arrived];
      if (!receive->place) continue;  // it was dropped after all
      const SentPointer message = Channels::message(*receive);
      if (!message && !all_ && place_of_.count(receive->channel->key.from) == 0) {
        done_with(*receive, how);
        continue;
      }
      if (!message && !given_up_) return false;
      if (!message) given_up_ = false;
      if (how == How::received) {
        told(step, *receive, message);
      } else if (message && !is_lossy(message->from.rank) &&
                 ((step.timed && message->timed) || arrivals_->wants_untimed())) {
        arrivals_->message(edge(Edge::Kind::probed, *message, step, *receive, receive->channel->key));
      }
      done_with(*receive, how);
    }
    return true;
  }
  void told(const MessageStep &step, const Receive &receive, const SentPointer &message) {
    MessageCounts of_windows;  // which nobody asks for
    MessageCounts &counts = receive.window == 0 ? counts_ : of_windows;
    if (!message) {
      ++(is_lossy(receive.channel->key.from) ? counts.lost : counts.unsent);
    } else if (is_lossy(message->from.rank)) {
      ++counts.lost;
    } else if (!step.timed || !message->timed) {
      ++counts.untimed;
      if (arrivals_->wants_untimed()) match(step, receive, message.get());
    } else {
      ++counts.messages;
      match(step, receive, message.get());
    }
  }
  void done_with(const Receive &receive, How how) {
    if (how == How::received) channels_.take(receive);
    if (how == How::looked_at) channels_.looked(receive);
  }
  void match(const MessageStep &step, const Receive &receive, Sent *message) {
    message->exposed = receive.window != 0;
    const Edge::Kind kind = message->exposed ? Edge::Kind::exposed : Edge::Kind::message;
    Edge found = edge(kind, *message, step, receive, receive.channel->key);
    found.exact = found.exact && !is_lossy(step.call.rank);
    arrivals_->message(found);
    message->posted = receive.posting;
    message->anybody = receive.anybody;
    message->matched = true;
    deliver(*message);
  }
  /// A receive got, or will get, that message, and nobody sees when.
  void unseen(const Receive &receive, const Sent &message, const ChannelKey &key) {
    if (receive.window != 0 || is_lossy(message.from.rank) || is_lossy(receive.posting.rank)) return;
    MessageStep none;
    none.call = receive.posting;
    arrivals_->unseen(edge(Edge::Kind::message, message, none, receive, key));
  }
  static Edge edge(Edge::Kind kind, const Sent &message, const MessageStep &step, const Receive &receive,
                   const ChannelKey &key) {
    return {kind,
            message.from,
            step.call,
            receive.exact,
            message.mark,
            step.timed && message.timed,
            message.number,
            key.communicator,
            key.tag,
            message.bytes,
            receive.posting,
            message.content,
            receive.content,
            receive.anybody};
  }
  [[nodiscard]] bool is_lossy(uint32_t rank) const { return scope_.lossy.count(rank) != 0; }

  /// False if somebody is still to come.
  bool leave(MessageStep &step, size_t place) {
    for (; step.left < step.leaves.size(); ++step.left) {
      const MeetingPart &part = step.leaves[step.left];
      Gathering &gathering = *part.gathering;
      const auto missing = std::find_if(part.awaited.ranks.begin(), part.awaited.ranks.end(),
                                        [&](uint32_t each) { return !gathering.meeting.came[each]; });
      const bool alone = (part.awaited.all && gathering.missing != 0) || missing != part.awaited.ranks.end();
      if (alone && !given_up_ && !gathering.meeting.broken) {
        (part.awaited.all ? gathering.wait_for_all : gathering.wait_for[*missing]).push_back(place);
        return false;
      }
      given_up_ = given_up_ && !alone;
      if (!part.awaited.nobody()) {
        const bool together = !alone && !gathering.meeting.broken;
        const bool customary = gathering.meeting.customary;
        if (!customary) ++(!together ? counts_.apart : !step.timed ? counts_.untimed : counts_.collective);
        const bool wanted = !customary || arrivals_->wants_customary();
        if (wanted && together && step.timed) arrivals_->left(gathering.meeting, part.awaited.ranks, step.call);
      }
      gatherings_.left(part.gathering, arrivals_);
    }
    return true;
  }

  /// Channels with messages that nobody took, by receiver and by what a receive asks for that may take them.
  struct LeftFor {
    const Channel *first = nullptr;
    bool several = false;
  };
  using LeftChannels = std::map<std::pair<uint32_t, Question>, LeftFor>;
  static LeftChannels by_question(const std::vector<const Channel *> &left) {
    LeftChannels all;
    for (const Channel *channel : left) {
      if (channel->flying.empty()) continue;
      for (const Question &question : Question::met_by(channel->key)) {
        const auto [entry, fresh] = all.try_emplace({channel->key.to, question}, LeftFor{channel, false});
        if (!fresh) entry->second.several = true;
      }
    }
    return all;
  }

  /// What nobody received, and receives that got nothing.
  void tell_unmatched() {
    std::vector<Unmatched> all;
    const std::vector<const Channel *> left = channels_.left();
    for (const Channel *channel : left) {
      const ChannelKey &key = channel->key;
      if (key.window != 0) continue;
      const auto from = place_of_.find(key.from);
      const auto to = place_of_.find(key.to);
      const bool known = from != place_of_.end() && to != place_of_.end() && !is_lossy(key.from) && !is_lossy(key.to) &&
                         !ranks_[to->second]->posts().may_have_taken(key);
      channel->flying.each([&](uint64_t, const SentPointer &message) {
        all.push_back({message->from, true, key.communicator, key.to, key.tag, known});
      });
      for (const auto &[place, receive] : channel->unwanted) {
        if (receive) all.push_back({receive->posting, false, key.communicator, key.from, key.tag, known});
      }
    }
    const LeftChannels left_for = by_question(left);
    for (const auto &rank : ranks_) {
      for (const Receive &receive : rank->posts().left()) {
        const auto found = left_for.find({receive.posting.rank, Question::of(receive)});
        const bool known = scope_.lossy.empty() && found == left_for.end();
        if (found != left_for.end() && !found->second.several) {
          const Channel &channel = *found->second.first;
          unseen(receive, *channel.flying.first().value, channel.key);
        }
        all.push_back({receive.posting, false, receive.communicator, receive.from, receive.tag, known});
      }
    }
    std::sort(all.begin(), all.end(), [](const Unmatched &a, const Unmatched &b) {
      return std::pair(a.call.rank, a.call.call) < std::pair(b.call.rank, b.call.call);
    });
    for (const Unmatched &each : all) arrivals_->unmatched(each);
  }

  /// What other threads of a rank that waits have begun before that ends. Whether somebody can go on now.
  bool begin_behind(size_t place) {
    constexpr size_t kFarthest = 4096;
    const MessageStep *step = ranks_[place]->step();
    for (size_t i = 1; i < kFarthest && ready_.empty(); ++i) {
      MessageStep *behind = ranks_[place]->behind(i);
      if (behind == nullptr) break;
      if (!behind->begun && behind->call.begin_ns <= step->call.end_ns) begin(*behind);
    }
    return !ready_.empty();
  }

  /// Where nobody goes on, what the earliest waits for will not come: that is left out. False: nobody waits.
  bool give_up_one() {
    const std::vector<bool> waiting = waiting_;
    for (size_t place = 0; place < waiting.size(); ++place) {
      if (waiting[place] && begin_behind(place)) return true;
    }
    std::optional<size_t> first;
    // What a probe saw is the least sure.
    const auto order = [&](size_t place) {
      const MessageStep *step = ranks_[place]->step();
      const bool looks = step->arrived < step->arriving.size() && step->arriving[step->arrived].how == How::looked_at;
      return std::pair(!looks, step->call.end_ns);
    };
    for (size_t place = 0; place < waiting_.size(); ++place) {
      if (waiting_[place] && (!first || order(place) < order(*first))) first = place;
    }
    if (!first) return false;
    given_up_ = true;
    is_ready(*first);
    return true;
  }

  const MessageScope &scope_;
  Channels channels_;
  Gatherings gatherings_;
  Arrivals *arrivals_;
  MessageCounts counts_;
  std::vector<std::unique_ptr<RankMessages>> ranks_;
  std::unordered_map<uint32_t, size_t> place_of_;
  using Ready = std::pair<uint64_t, size_t>;  ///< when the step begins, and whose it is
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::vector<bool> waiting_;
  bool all_;  ///< ranks
  bool may_end_early_ = true;
  bool enough_ = false;
  uint64_t steps_ = 0;
  uint64_t told_ = 0;  ///< of MessageCounts::read
  uint64_t sent_ = 0;
  bool given_up_ = false;  ///< the next thing that is waited for will not come
};

}  // namespace

struct Messages::Known : MessageScope {};

Messages::Messages(std::unique_ptr<Known> known) : known_(std::move(known)) {}
Messages::Messages(Messages &&) noexcept = default;
Messages &Messages::operator=(Messages &&) noexcept = default;
Messages::~Messages() = default;

Result<Messages> Messages::of(const trace::Trace &trace, const Sources &sources) {
  auto communicators = Communicators::of(trace, sources);
  if (!communicators) return tl::unexpected(communicators.error());
  auto known = std::make_unique<Known>();
  known->trace = &trace;
  known->communicators = std::move(*communicators);
  constexpr size_t kMost = size_t{1} << 16;  // some 30 MB
  constexpr size_t kLeast = 1024;
  known->most_known = std::max(kLeast, kMost / std::max<size_t>(1, trace.ranks().size()));
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::Loss &loss : trace::read_losses(trace.rank_info(rank).degraded)) {
      if (breaks_matching(loss)) known->lossy.insert(rank);
    }
  }
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    known->scopes.push_back({trace.sites(index), trace.class_view(index).thread});
  }
  known->by_number.push_back(nullptr);
  known->places.emplace_back();
  known->first_groups.push_back(0);
  known->members.emplace_back();
  // MPI_COMM_WORLD is the first, then that of each further job.
  for (const Communicator &communicator : known->communicators.all()) {
    known->numbers.emplace(communicator.name, known->by_number.size());
    known->by_number.push_back(&communicator);
    std::map<uint32_t, uint32_t> places;
    const bool two = !communicator.groups[1].empty();
    bool known_to_all = communicator.complete && !communicator.foreign;
    uint32_t first = 0;  // of the group
    for (const auto &group : communicator.groups) {
      for (const Communicator::Member &member : group) {
        known_to_all = known_to_all && known->lossy.count(member.in_world) == 0;
        known_to_all = known_to_all && member.rank >= 0 && std::cmp_less(member.rank, group.size());
        places.emplace(member.in_world, first + static_cast<uint32_t>(member.rank));
      }
      first += static_cast<uint32_t>(group.size());
    }
    known_to_all = known_to_all && places.size() == first;
    if (!known_to_all) places.clear();
    std::shared_ptr<std::vector<uint32_t>> members;
    if (known_to_all && !two) {
      members = std::make_shared<std::vector<uint32_t>>(places.size());
      for (const auto &[in_world, place] : places) (*members)[place] = in_world;
    }
    known->places.push_back(std::move(places));
    known->first_groups.push_back(two ? static_cast<uint32_t>(communicator.groups[0].size()) : 0);
    known->members.push_back(std::move(members));
  }
  return Messages(std::move(known));
}

Result<MessageCounts> Messages::replay(Arrivals *arrivals, const ReplayPart &part) const {
  return Replay(*known_, arrivals, part).run();
}

const MessageScope &Messages::scope() const { return *known_; }

const std::string &Messages::name_of(uint32_t communicator) const {
  static const std::string self = "MPI_COMM_SELF";
  const Communicator *found = known_->by_number[communicator];
  return found == nullptr ? self : found->name;
}

const Communicator *Messages::communicator(uint32_t number) const { return known_->by_number[number]; }

}  // namespace cairn::analyze
