#include "analyze/message_queues.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace cairn::analyze {

size_t Channels::Hash::operator()(const ChannelKey &key) const {
  const uint64_t words[] = {uint64_t{key.communicator} << 32 | key.from, uint64_t{key.window} << 32 | key.to,
                            static_cast<uint64_t>(key.tag), key.pair};
  return static_cast<size_t>(hash64({reinterpret_cast<const uint8_t *>(words), sizeof words}));
}

Channel &Channels::of(const ChannelKey &key) {
  Channel &channel = all_[key];
  channel.key = key;
  return channel;
}

void Channels::send(Channel *channel, SentPointer message) {
  const uint64_t place = channel->sent++;
  if (const auto unwanted = channel->unwanted.find(place); unwanted == channel->unwanted.end()) {
    channel->flying.emplace(place, std::move(message));
  } else {
    if (unwanted->second && unseen_) unseen_(*unwanted->second, *message);
    channel->unwanted.erase(unwanted);
  }
  forget_if_empty(channel);
}

SentPointer Channels::message(const Receive &receive) {
  const auto found = receive.channel->flying.find(*receive.place);
  return found == receive.channel->flying.end() ? nullptr : found->second;
}

void Channels::take(const Receive &receive) {
  Channel *channel = receive.channel;
  --channel->expected;
  if (const auto message = channel->flying.find(*receive.place); message == channel->flying.end()) {
    channel->unwanted.emplace(*receive.place, receive.wanted ? std::nullopt : std::optional(receive));
  } else {
    if (!receive.wanted && unseen_) unseen_(receive, *message->second);
    channel->flying.erase(message);
  }
  forget_if_empty(channel);
}

void Channels::looked(const Receive &look) {
  --look.channel->looks;
  forget_if_empty(look.channel);
}

std::vector<const Channel *> Channels::left() const {
  std::vector<const Channel *> found;
  for (const auto &[key, channel] : all_) {
    if (!channel.flying.empty() || !channel.unwanted.empty()) found.push_back(&channel);
  }
  return found;
}

void Channels::forget_if_empty(Channel *channel) {
  if (channel->sent != channel->placed || channel->expected != 0 || channel->looks != 0) return;
  if (!channel->open.empty()) return;
  if (channel->flying.empty() && channel->unwanted.empty()) all_.erase(ChannelKey(channel->key));
}

void Posts::post(const ReceivePointer &receive) {
  receive->posted = posted_++;
  open_.emplace(receive->posted, receive);
  if (receive->from && receive->tag) {
    receive->channel =
        &channels_->of({receive->communicator, *receive->from, rank_, *receive->tag, receive->window, receive->pair});
    receive->channel->open.push_back(receive);
  } else {
    wildcards_.emplace(receive->posted, receive);
  }
}

ReceivePointer Posts::look(const ChannelKey &key, const CallTime &call) {
  const auto may_take = [&](const auto &other) { return may_be(*other.second, key); };
  if (may_have_taken(key) || std::any_of(wildcards_.begin(), wildcards_.end(), may_take)) return nullptr;
  Channel &channel = channels_->of(key);
  const auto takes = [](const ReceivePointer &other) {
    return other->state != Receive::State::dropped && !other->cancelled;
  };
  auto look = std::make_shared<Receive>();
  look->communicator = key.communicator;
  look->from = key.from;
  look->tag = key.tag;
  look->posting = call;
  look->state = Receive::State::received;
  look->channel = &channel;
  look->place = channel.placed + static_cast<uint64_t>(std::count_if(channel.open.begin(), channel.open.end(), takes));
  ++channel.looks;
  return look;
}

void Posts::received(const ReceivePointer &receive, uint32_t from, int64_t tag) {
  if (receive->state != Receive::State::open) return;
  receive->state = Receive::State::received;
  ++held_back_;
  open_.erase(receive->posted);
  const bool wildcard = wildcards_.erase(receive->posted) != 0;
  if (wildcard) {
    receive->from = from;
    receive->tag = tag;
    receive->channel = &channels_->of({receive->communicator, from, rank_, tag});
    std::deque<ReceivePointer> &open = receive->channel->open;
    const auto behind = std::find_if(open.begin(), open.end(),
                                     [&](const ReceivePointer &other) { return other->posted > receive->posted; });
    open.insert(behind, receive);
  }
  give_places(receive->channel);
  if (wildcard) try_again();
}

void Posts::drop(const ReceivePointer &receive, bool some) {
  if (receive->state != Receive::State::open) return;
  receive->state = Receive::State::dropped;
  open_.erase(receive->posted);
  const bool wildcard = wildcards_.erase(receive->posted) != 0;
  if (some) {
    const auto same = [&](const Receive &other) {
      return other.communicator == receive->communicator && other.from == receive->from && other.tag == receive->tag;
    };
    if (std::none_of(unknown_.begin(), unknown_.end(), same)) unknown_.push_back(*receive);
  }
  if (!wildcard) {
    give_places(receive->channel);
  } else {
    try_again();
  }
}

void Posts::let_go(const ReceivePointer &receive) {
  if (receive->state != Receive::State::open) return;
  if (!receive->from || !receive->tag || receive->cancelled) return drop(receive, !receive->cancelled);
  receive->wanted = false;
  received(receive, *receive->from, *receive->tag);
}

void Posts::finish() {
  for (const auto &[posted, receive] : wildcards_) {
    if (!receive->cancelled) left_.push_back(*receive);
  }
  while (!open_.empty()) let_go(ReceivePointer(open_.begin()->second));
}

bool Posts::may_have_taken(const ChannelKey &key) const {
  return std::any_of(unknown_.begin(), unknown_.end(), [&](const Receive &receive) { return may_be(receive, key); });
}

bool Posts::may_be(const Receive &wildcard, const ChannelKey &key) {
  return wildcard.communicator == key.communicator && wildcard.window == key.window && wildcard.pair == key.pair &&
         wildcard.from.value_or(key.from) == key.from && wildcard.tag.value_or(key.tag) == key.tag;
}

void Posts::give_places(Channel *channel) {
  const auto before = [&](const Receive &other, const Receive &receive) {
    return other.posted < receive.posted && may_be(other, channel->key);
  };
  while (!channel->open.empty()) {
    const ReceivePointer receive = channel->open.front();
    if (receive->state == Receive::State::open) break;
    if (receive->state == Receive::State::received) {
      const bool held_up = std::any_of(wildcards_.begin(), wildcards_.end(),
                                       [&](const auto &other) { return before(*other.second, *receive); });
      if (held_up) {
        held_up_.insert(channel);
        return;
      }
      receive->exact =
          std::none_of(unknown_.begin(), unknown_.end(), [&](const Receive &other) { return before(other, *receive); });
      receive->place = channel->placed++;
      --held_back_;
      channels_->placed(channel->key);
      ++channel->expected;
    }
    channel->open.pop_front();
    if (receive->state == Receive::State::received && !receive->wanted) {
      held_up_.erase(channel);
      // The channel may be gone then.
      const bool last = channel->open.empty();
      channels_->take(*receive);
      if (last) return;
    }
  }
  held_up_.erase(channel);
}

void Posts::try_again() {
  const std::set<Channel *> held_up = std::move(held_up_);
  held_up_.clear();
  for (Channel *channel : held_up) give_places(channel);
}

}  // namespace cairn::analyze
