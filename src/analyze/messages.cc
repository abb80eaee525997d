#include "analyze/messages.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "analyze/message_calls.h"
#include "analyze/message_queues.h"
#include "spec/ids.h"
#include "trace/model/losses.h"
#include "trace/read/corrections.h"
#include "trace/read/events.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

using trace::Event;

/// Beyond them stand no times of a run.
bool is_time(uint64_t ns) { return ns <= trace::Knots::kMost; }

/// A communicator, by its number here.
constexpr uint32_t kSelf = 0;
constexpr uint32_t kWorld = 1;

/// What the ranks of a run share, and does not change in a replay.
struct Shared {
  const trace::Trace *trace;
  Communicators communicators;
  std::vector<const Communicator *> by_number;  ///< of kSelf: nullptr
  std::map<std::string, uint32_t, std::less<>> numbers;
  std::vector<std::map<uint32_t, uint32_t>> places;  ///< ranks in each, by rank in MPI_COMM_WORLD; none: meets nobody
  std::vector<RowScope> scopes;                      ///< by class
  std::set<uint32_t> lossy;                          ///< ranks of which calls are missing
  size_t most_known = 0;                             ///< calls of a thread that are remembered
};

/// A collective call under way.
struct Gathering {
  Meeting meeting;
  uint32_t operation = 0;
  bool broken = false;  ///< its members do not call the same
  std::vector<bool> came;
  size_t missing = 0;  ///< have not begun
  size_t inside = 0;   ///< have not ended
  std::vector<size_t> wait_for_all;
  std::map<uint32_t, std::vector<size_t>> wait_for;  ///< who waits, by place of whom
};
using GatheringPointer = std::shared_ptr<Gathering>;

/// A rank's part in a collective call.
struct Part {
  GatheringPointer gathering;
  uint32_t place = 0;
  Awaited awaited;
};

/// A call of a rank that sends, receives or meets.
struct Step {
  Moment begin;
  Moment end;
  bool timed = false;
  std::vector<ChannelKey> sends;
  struct Arriving {
    ReceivePointer receive;
    bool probed = false;
  };
  std::vector<Arriving> arriving;
  std::vector<Part> enters;
  std::vector<Part> leaves;
  bool begun = false;
  size_t arrived = 0;  ///< of `arriving`
  size_t left = 0;     ///< of `leaves`
};

/// The collective calls of a run that somebody has not left.
class Gatherings {
 public:
  explicit Gatherings(const Shared &shared) : shared_(shared) {}

  /// A rank's `count`-th of a communicator.
  GatheringPointer of(uint32_t communicator, uint64_t count, uint32_t operation) {
    GatheringPointer &gathering = under_way_[{communicator, count}];
    if (!gathering) {
      const size_t members = shared_.places[communicator].size();
      gathering = std::make_shared<Gathering>();
      gathering->meeting.number = next_++;
      gathering->meeting.begins.resize(members);
      gathering->operation = operation;
      gathering->came.resize(members);
      gathering->missing = members;
      gathering->inside = members;
      keys_[gathering->meeting.number] = {communicator, count};
    }
    gathering->broken = gathering->broken || gathering->operation != operation;
    return gathering;
  }
  void left(const GatheringPointer &gathering, Arrivals *arrivals) {
    if (--gathering->inside != 0) return;
    arrivals->over(gathering->meeting);
    const auto key = keys_.find(gathering->meeting.number);
    under_way_.erase(key->second);
    keys_.erase(key);
  }
  void finish(Arrivals *arrivals) {
    for (const auto &[key, gathering] : under_way_) arrivals->over(gathering->meeting);
  }

 private:
  using Key = std::pair<uint32_t, uint64_t>;
  const Shared &shared_;
  uint64_t next_ = 0;
  std::map<Key, GatheringPointer> under_way_;
  std::map<uint64_t, Key> keys_;
};

/// Reads the calls of one rank and follows its requests.
class RankCalls {
 public:
  RankCalls(const Shared &shared, uint32_t rank, Channels *channels, Gatherings *gatherings, MessageCounts *counts)
      : shared_(shared),
        rank_(rank),
        events_(*shared.trace, rank),
        posts_(channels, rank),
        gatherings_(gatherings),
        counts_(*counts) {
    const auto sequences = shared.trace->sequences(rank);
    several_threads_ = !sequences.empty() && sequences.front().thread != sequences.back().thread;
  }

  /// The step at hand, whose receives all have their places; nullptr: there is none.
  Step *step() {
    while (!ended_ && (steps_.empty() || !settled())) read();
    return steps_.empty() ? nullptr : &steps_.front();
  }
  /// The step that stands so many behind it; nullptr: there is none, or nothing can stand in another order than it
  /// ends.
  Step *behind(size_t count) {
    while (several_threads_ && !ended_ && steps_.size() <= count) read();
    return several_threads_ && count < steps_.size() ? &steps_[count] : nullptr;
  }
  void next() {
    steps_.pop_front();
    settled_ = 0;
  }
  [[nodiscard]] const Result<void> &end() const { return events_.end(); }

 private:
  struct Request {
    bool persistent = false;
    bool partitions = false;
    std::optional<Envelope> send;
    std::optional<Envelope> receive;
    std::optional<uint32_t> communicator;
    ReceivePointer active;
    std::optional<Part> part;
  };
  /// What calls do, by their numbers in the sequence of a thread. Equal ones recur; where they do not, keeping more of
  /// them helps nothing.
  struct Known {
    uint32_t class_index = UINT32_MAX;
    uint32_t segment = UINT32_MAX;
    std::unordered_map<uint32_t, std::unique_ptr<MessageCall>> calls;
  };

  [[nodiscard]] bool settled() {
    const auto &arriving = steps_.front().arriving;
    while (settled_ < arriving.size() && arriving[settled_].receive->settled()) ++settled_;
    return settled_ == arriving.size();
  }

  void read() {
    const Event *event = events_.next();
    if (event == nullptr) {
      ended_ = true;
      posts_.finish();
      return;
    }
    names_.see(*event->values);
    const MessageCall *call = look_at(*event);
    if (call == nullptr) return;
    Step step;
    step.timed = event->timed && is_time(event->begin_ns) && is_time(event->end_ns);
    step.begin = {rank_, event->index, event->begin_ns};
    step.end = {rank_, event->index, event->end_ns};
    act(*call, &step);
    if (!step.sends.empty() || !step.arriving.empty() || !step.enters.empty() || !step.leaves.empty()) {
      steps_.push_back(std::move(step));
    }
  }

  const MessageCall *look_at(const Event &event) {
    Known &known = known_[event.thread];
    if (known.class_index != event.class_index || known.segment != event.segment) {
      known = {};
      known.class_index = event.class_index;
      known.segment = event.segment;
    }
    if (const auto found = known.calls.find(event.call); found != known.calls.end()) return found->second.get();
    if (known.calls.size() >= shared_.most_known) known.calls.clear();
    auto call = message_call(*event.values, shared_.scopes[event.class_index]);
    return known.calls.emplace(event.call, std::move(call)).first->second.get();
  }

  void act(const MessageCall &call, Step *step) {
    using Does = MessageCall::Does;
    switch (call.does) {
      case Does::transfer:
        return transfer(call, step);
      case Does::partitions:
        if (call.request) requests_[*call.request] = {true, true, {}, {}, {}, {}, {}};
        return;
      case Does::collective:
        return collective(call, step);
      case Does::start:
        for (const HandleName &name : call.requests) start(name, step);
        return;
      case Does::complete:
        for (size_t i = 0; i < call.requests.size(); ++i) complete(call.requests[i], call.outcomes[i], step);
        return;
      case Does::cancel:
        for (const HandleName &name : call.requests) {
          const auto found = requests_.find(name);
          if (found != requests_.end() && found->second.active) found->second.active->cancelled = true;
        }
        return;
      case Does::release:
        for (const HandleName &name : call.requests) {
          const auto found = requests_.find(name);
          if (found == requests_.end()) continue;
          if (found->second.active) posts_.let_go(found->second.active);
          if (found->second.part)
            step->leaves.push_back({found->second.part->gathering, found->second.part->place, {}});
          requests_.erase(found);
        }
        return;
    }
  }

  void transfer(const MessageCall &call, Step *step) {
    if (call.taken) {  // by MPI_Mrecv or MPI_Imrecv
      const auto found = found_.find(*call.taken);
      if (found == found_.end()) return;
      const ReceivePointer receive = found->second;
      found_.erase(found);
      if (call.request) {
        requests_[*call.request] = {false, false, {}, {}, {}, receive, {}};
      } else if (call.returned) {
        arrive(receive, call.outcome, step);
      }
      return;
    }
    const std::optional<uint32_t> communicator = number_of(call.communicator);
    if (!communicator) {
      if (call.receive) ++counts_.apart;
      return;
    }
    if (call.persistent) {
      if (call.request) {
        requests_[*call.request] = {true, false, call.send, call.receive, communicator, {}, {}};
      }
      return;
    }
    if (call.send) send(*call.send, *communicator, step);
    if (!call.receive) return;
    const ReceivePointer receive = post(*call.receive, *communicator);
    if (!receive) return;
    if (call.found) {
      found_[*call.found] = receive;
      if (call.outcome.told || (receive->from && receive->tag)) arrive(receive, call.outcome, step, true);
    } else if (call.request) {
      requests_[*call.request] = {false, false, {}, {}, {}, receive, {}};
    } else if (call.returned) {
      arrive(receive, call.outcome, step);
    }
  }

  void send(const Envelope &envelope, uint32_t communicator, Step *step) {
    if (!envelope.rank || !envelope.tag) return;
    const auto to = in_world(communicator, *envelope.rank);
    if (to) step->sends.push_back({communicator, rank_, *to, *envelope.tag});
  }

  ReceivePointer post(const Envelope &envelope, uint32_t communicator) {
    auto receive = std::make_shared<Receive>();
    receive->communicator = communicator;
    receive->tag = envelope.tag;
    if (envelope.rank) {
      receive->from = in_world(communicator, *envelope.rank);
      if (!receive->from) {
        ++counts_.unsent;
        return nullptr;
      }
    }
    posts_.post(receive);
    return receive;
  }

  void start(const HandleName &name, Step *step) {
    const auto found = requests_.find(name);
    if (found == requests_.end()) return;
    Request &request = found->second;
    if (request.partitions) ++counts_.partitions;
    if (!request.communicator) return;
    if (request.send) send(*request.send, *request.communicator, step);
    if (request.receive) request.active = post(*request.receive, *request.communicator);
  }

  void complete(const HandleName &name, const Outcome &outcome, Step *step) {
    const auto found = requests_.find(name);
    if (found == requests_.end()) return;
    if (found->second.active) arrive(found->second.active, outcome, step);
    if (found->second.part) step->leaves.push_back(*std::move(found->second.part));
    found->second.active = nullptr;
    found->second.part.reset();
    if (!found->second.persistent) requests_.erase(found);
  }

  /// A receive is complete, or (`probed`) its message is there.
  void arrive(const ReceivePointer &receive, const Outcome &outcome, Step *step, bool probed = false) {
    // In other statuses MPICH leaves what lay there.
    if (receive->cancelled && (outcome.cancelled || !outcome.told)) {
      ++counts_.cancelled;
      return posts_.drop(receive, !outcome.told);
    }
    std::optional<uint32_t> from = receive->from;
    if (outcome.rank) from = in_world(receive->communicator, *outcome.rank);
    const std::optional<int64_t> tag = outcome.tag ? outcome.tag : receive->tag;
    if (receive->state == Receive::State::open) {
      if (!from || !tag) {
        ++counts_.nameless;
        return posts_.drop(receive, true);
      }
      posts_.received(receive, *from, *tag);
    }
    step->arriving.push_back({receive, probed});
  }

  void collective(const MessageCall &call, Step *step) {
    const std::optional<uint32_t> communicator = number_of(call.communicator);
    if (communicator == kSelf) return;
    if (!communicator || call.persistent || shared_.places[*communicator].empty()) {
      ++counts_.apart;
      return;
    }
    const auto place = shared_.places[*communicator].find(rank_);
    if (place == shared_.places[*communicator].end()) return;
    Part part;
    part.gathering = gatherings_->of(*communicator, meetings_[*communicator]++, call.operation);
    part.place = place->second;
    const size_t members = part.gathering->came.size();
    const bool at_root = call.root == int64_t{part.place};
    part.awaited = at_root ? call.awaited_at_root : call.awaited;
    std::erase_if(part.awaited.ranks, [&](uint32_t rank) { return rank >= members; });
    step->enters.push_back(part);
    if (call.request) {
      requests_[*call.request] = {false, false, {}, {}, {}, {}, std::move(part)};
    } else {
      if (!call.returned) part.awaited = {};
      step->leaves.push_back(std::move(part));
    }
  }

  /// nullopt: nobody knows which communicator that is.
  std::optional<uint32_t> number_of(const std::optional<HandleName> &name) {
    if (!name) return std::nullopt;
    if (name->special != 0) {
      trace::AtomValue value;
      value.special = true;
      value.value = name->special;
      if (value.constant() == spec::constant_id::k_COMM_WORLD) return kWorld;
      if (value.constant() == spec::constant_id::k_COMM_SELF) return kSelf;
      return std::nullopt;
    }
    if (names_version_ != names_.version()) numbers_.clear();
    names_version_ = names_.version();
    const auto [known, fresh] = numbers_.try_emplace(name->number);
    if (fresh) {
      const std::string *text = names_.name(name->number);
      const auto found = text == nullptr ? shared_.numbers.end() : shared_.numbers.find(*text);
      if (found != shared_.numbers.end()) known->second = found->second;
    }
    return known->second;
  }

  [[nodiscard]] std::optional<uint32_t> in_world(uint32_t communicator, int64_t rank) const {
    if (communicator == kSelf) return rank_;
    return world_rank(*shared_.by_number[communicator], rank, rank_, Side::other);
  }

  const Shared &shared_;
  uint32_t rank_;
  trace::Events events_;
  Posts posts_;
  Gatherings *gatherings_;
  MessageCounts &counts_;
  CommunicatorNames names_;
  uint64_t names_version_ = 0;
  std::map<int64_t, std::optional<uint32_t>> numbers_;  ///< of communicators, as long as their names stay
  std::map<uint32_t, Known> known_;                     ///< by thread
  std::map<HandleName, Request> requests_;
  std::map<HandleName, ReceivePointer> found_;  ///< messages that were probed for
  std::map<uint32_t, uint64_t> meetings_;       ///< how many, by communicator
  std::deque<Step> steps_;
  size_t settled_ = 0;  ///< of the first one's receives
  bool ended_ = false;
  bool several_threads_ = false;  ///< then calls stand in the order of their ends, and may begin in another
};

/// All ranks side by side.
class Replay {
 public:
  Replay(const Shared &shared, Arrivals *arrivals) : shared_(shared), gatherings_(shared), arrivals_(arrivals) {
    for (const uint32_t rank : shared.trace->ranks()) {
      place_of_.emplace(rank, ranks_.size());
      ranks_.push_back(std::make_unique<RankCalls>(shared, rank, &channels_, &gatherings_, &counts_));
    }
  }

  Result<MessageCounts> run() {
    for (size_t place = 0; place < ranks_.size(); ++place) is_ready(place);
    while (true) {
      if (ready_.empty() && !give_up_one()) break;
      const size_t place = ready_.begin()->second;
      ready_.erase(ready_.begin());
      go_on(place);
      if (auto end = ranks_[place]->end(); !end) return tl::unexpected(end.error());
    }
    gatherings_.finish(arrivals_);
    return counts_;
  }

 private:
  void is_ready(size_t place) {
    waiting_.erase(place);
    const Step *step = ranks_[place]->step();
    if (step != nullptr) ready_.emplace(step->begin.ns, place);
  }
  void wake(size_t place) {
    if (waiting_.count(place) != 0) is_ready(place);
  }

  /// One step, or as far as it goes.
  void go_on(size_t place) {
    Step *step = ranks_[place]->step();
    if (step == nullptr) return;
    if (!step->begun) begin(*step);
    if (!arrive(*step) || !leave(*step, place)) {
      waiting_.insert(place);
      return;
    }
    ranks_[place]->next();
    is_ready(place);
  }

  void begin(Step &step) {
    step.begun = true;
    const Moment from = step.timed ? step.begin : Moment{step.begin.rank, step.begin.call, UINT64_MAX};
    for (const ChannelKey &key : step.sends) {
      channels_.send(&channels_.of(key), from);
      if (const auto to = place_of_.find(key.to); to != place_of_.end()) wake(to->second);
    }
    for (const Part &part : step.enters) {
      Gathering &gathering = *part.gathering;
      if (gathering.came[part.place]) continue;
      gathering.came[part.place] = true;
      gathering.meeting.begins[part.place] = {step.begin.rank, step.begin.call, step.timed ? step.begin.ns : 0};
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
  bool arrive(Step &step) {
    for (; step.arrived < step.arriving.size(); ++step.arrived) {
      const auto &[receive, probed] = step.arriving[step.arrived];
      if (!receive->place) continue;  // it was dropped after all
      const std::optional<Moment> message = Channels::message(*receive);
      if (!message && !given_up_) return false;
      if (!message) given_up_ = false;
      if (!probed) {
        told(step, *receive, message);
      } else if (message && is_timed(step, *message) && !is_lossy(message->rank)) {
        arrivals_->message({Edge::Kind::probed, *message, step.end, receive->exact});
      }
    }
    return true;
  }
  static bool is_timed(const Step &step, const Moment &message) { return step.timed && message.ns != UINT64_MAX; }
  void told(const Step &step, const Receive &receive, const std::optional<Moment> &message) {
    if (!message) {
      ++(is_lossy(receive.channel->key.from) ? counts_.lost : counts_.unsent);
    } else if (is_lossy(message->rank)) {
      ++counts_.lost;
    } else if (!is_timed(step, *message)) {
      ++counts_.untimed;
    } else {
      ++counts_.messages;
      const bool exact = receive.exact && !is_lossy(step.end.rank);
      arrivals_->message({Edge::Kind::message, *message, step.end, exact});
    }
    channels_.take(receive);
  }
  [[nodiscard]] bool is_lossy(uint32_t rank) const { return shared_.lossy.count(rank) != 0; }

  /// False if somebody is still to come.
  bool leave(Step &step, size_t place) {
    for (; step.left < step.leaves.size(); ++step.left) {
      const Part &part = step.leaves[step.left];
      Gathering &gathering = *part.gathering;
      const auto missing = std::find_if(part.awaited.ranks.begin(), part.awaited.ranks.end(),
                                        [&](uint32_t each) { return !gathering.came[each]; });
      const bool alone = (part.awaited.all && gathering.missing != 0) || missing != part.awaited.ranks.end();
      if (alone && !given_up_ && !gathering.broken) {
        (part.awaited.all ? gathering.wait_for_all : gathering.wait_for[*missing]).push_back(place);
        return false;
      }
      given_up_ = given_up_ && !alone;
      if (!part.awaited.nobody()) {
        const bool together = !alone && !gathering.broken;
        ++(!together ? counts_.apart : !step.timed ? counts_.untimed : counts_.collective);
        if (together && step.timed) arrivals_->left(gathering.meeting, part.awaited.ranks, step.end);
      }
      gatherings_.left(part.gathering, arrivals_);
    }
    return true;
  }

  /// What other threads of a rank that waits have begun before that ends. Whether somebody can go on now.
  bool begin_behind(size_t place) {
    constexpr size_t kFarthest = 4096;
    const Step *step = ranks_[place]->step();
    for (size_t i = 1; i < kFarthest && ready_.empty(); ++i) {
      Step *behind = ranks_[place]->behind(i);
      if (behind == nullptr) break;
      if (!behind->begun && behind->begin.ns <= step->end.ns) begin(*behind);
    }
    return !ready_.empty();
  }

  /// Where nobody goes on, what the earliest waits for will not come: that is left out. False: nobody waits.
  bool give_up_one() {
    const std::set<size_t> waiting = waiting_;
    for (const size_t place : waiting) {
      if (begin_behind(place)) return true;
    }
    std::optional<size_t> first;
    const auto end = [&](size_t place) { return ranks_[place]->step()->end.ns; };
    for (const size_t place : waiting_) {
      if (!first || end(place) < end(*first)) first = place;
    }
    if (!first) return false;
    given_up_ = true;
    is_ready(*first);
    return true;
  }

  const Shared &shared_;
  Channels channels_;
  Gatherings gatherings_;
  Arrivals *arrivals_;
  MessageCounts counts_;
  std::vector<std::unique_ptr<RankCalls>> ranks_;
  std::unordered_map<uint32_t, size_t> place_of_;
  std::set<std::pair<uint64_t, size_t>> ready_;  ///< by when their steps begin
  std::set<size_t> waiting_;
  bool given_up_ = false;  ///< the next thing that is waited for will not come
};

}  // namespace

struct Messages::Known : Shared {};

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
  constexpr size_t kLeast = 256;
  known->most_known = std::max(kLeast, kMost / std::max<size_t>(1, trace.ranks().size()));
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::Loss &loss : trace::read_losses(trace.rank_info(rank).degraded)) {
      if (loss.missing || loss.asked) known->lossy.insert(rank);
    }
  }
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    known->scopes.push_back({trace.sites(index), trace.class_view(index).thread});
  }
  known->by_number.push_back(nullptr);
  known->places.emplace_back();
  for (const Communicator &communicator : known->communicators.all()) {  // MPI_COMM_WORLD is the first
    known->numbers.emplace(communicator.name, known->by_number.size());
    known->by_number.push_back(&communicator);
    std::map<uint32_t, uint32_t> places;
    bool known_to_all = communicator.complete && communicator.groups[1].empty();
    for (const Communicator::Member &member : communicator.groups[0]) {
      known_to_all = known_to_all && known->lossy.count(member.in_world) == 0;
      known_to_all = known_to_all && member.rank >= 0 && std::cmp_less(member.rank, communicator.groups[0].size());
      places.emplace(member.in_world, static_cast<uint32_t>(member.rank));
    }
    known_to_all = known_to_all && places.size() == communicator.groups[0].size();
    if (!known_to_all) places.clear();
    known->places.push_back(std::move(places));
  }
  return Messages(std::move(known));
}

Result<MessageCounts> Messages::replay(Arrivals *arrivals) const { return Replay(*known_, arrivals).run(); }

}  // namespace cairn::analyze
