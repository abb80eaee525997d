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
    channel->flying.add(place, std::move(message));
  } else {
    if (unwanted->second && unseen_) unseen_(*unwanted->second, *message);
    channel->unwanted.erase(unwanted);
  }
  forget_if_empty(channel);
}

SentPointer Channels::message(const Receive &receive) {
  const SentPointer *found = receive.channel->flying.find(*receive.place);
  return found == nullptr ? nullptr : *found;
}

void Channels::take(const Receive &receive) {
  Channel *channel = receive.channel;
  --channel->expected;
  if (const SentPointer *message = channel->flying.find(*receive.place); message == nullptr) {
    channel->unwanted.emplace(*receive.place, receive.wanted ? std::nullopt : std::optional(receive));
  } else {
    if (!receive.wanted && unseen_) unseen_(receive, **message);
    channel->flying.take(*receive.place);
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
  if (!channel->open.empty() || all_.size() <= kKept) return;
  if (channel->flying.empty() && channel->unwanted.empty()) all_.erase(ChannelKey(channel->key));
}

void Posts::post(const ReceivePointer &receive) {
  receive->posted = posted_++;
  open_.add(receive->posted, receive);
  if (receive->from && receive->tag) {
    receive->channel =
        &channels_->of({receive->communicator, *receive->from, rank_, *receive->tag, receive->window, receive->pair});
    receive->channel->open.add(receive->posted, receive);
  } else {
    wildcards_.add(*receive);
  }
}

ReceivePointer Posts::look(const ChannelKey &key, const CallTime &call) {
  if (may_have_taken(key) || wildcards_.may_be(key)) return nullptr;
  Channel &channel = channels_->of(key);
  auto look = std::make_shared<Receive>();
  look->communicator = key.communicator;
  look->from = key.from;
  look->tag = key.tag;
  look->posting = call;
  look->state = Receive::State::received;
  look->channel = &channel;
  look->place = channel.placed + channel.open.size() - channel.cancelled;
  ++channel.looks;
  return look;
}

void Posts::received(const ReceivePointer &receive, uint32_t from, int64_t tag) {
  if (receive->state != Receive::State::open) return;
  receive->state = Receive::State::received;
  ++held_back_;
  open_.take(receive->posted);
  if (std::exchange(receive->cancelled, false) && receive->channel != nullptr) --receive->channel->cancelled;
  std::vector<Channel *> free;
  if (wildcards_.remove(*receive, &free)) {
    receive->from = from;
    receive->tag = tag;
    receive->channel = &channels_->of({receive->communicator, from, rank_, tag});
    receive->channel->open.add(receive->posted, receive);
  }
  // Once: where nobody takes its message the channel may be gone then.
  if (std::find(free.begin(), free.end(), receive->channel) == free.end()) free.push_back(receive->channel);
  give_places(free);
}

void Posts::drop(const ReceivePointer &receive, bool some) {
  if (receive->state != Receive::State::open) return;
  receive->state = Receive::State::dropped;
  open_.take(receive->posted);
  std::vector<Channel *> free;
  const bool wildcard = wildcards_.remove(*receive, &free);
  if (some) unknown_.add(*receive);
  if (!wildcard) {
    if (receive->cancelled) --receive->channel->cancelled;
    receive->channel->open.take(receive->posted);
    give_places(receive->channel);
  }
  give_places(free);
}

void Posts::cancel(Receive *receive) {
  if (receive->state != Receive::State::open || receive->cancelled) return;
  receive->cancelled = true;
  if (receive->channel != nullptr) ++receive->channel->cancelled;
}

void Posts::let_go(const ReceivePointer &receive) {
  if (receive->state != Receive::State::open) return;
  if (!receive->from || !receive->tag || receive->cancelled) return drop(receive, !receive->cancelled);
  receive->wanted = false;
  received(receive, *receive->from, *receive->tag);
}

void Posts::finish() {
  for (const uint64_t posted : wildcards_.all()) {
    const Receive &receive = **open_.find(posted);
    if (!receive.cancelled) left_.push_back(receive);
  }
  while (!open_.empty()) let_go(ReceivePointer(open_.first().value));
}

void Posts::give_places(Channel *channel) {
  wildcards_.give_up(channel);
  ++looks_;
  while (!channel->open.empty()) {
    const ReceivePointer receive = channel->open.first().value;
    if (receive->state == Receive::State::open || wildcards_.hold_up(channel, receive->posted)) return;
    receive->exact = !unknown_.may_have_taken(channel->key, receive->posted);
    receive->place = channel->placed++;
    --held_back_;
    channels_->placed(channel->key);
    ++channel->expected;
    channel->open.take(receive->posted);
    if (receive->wanted) continue;
    // The channel may be gone then.
    const bool last = channel->open.empty();
    channels_->take(*receive);
    if (last) return;
  }
}

void Posts::give_places(const std::vector<Channel *> &channels) {
  for (Channel *channel : channels) give_places(channel);
}

}  // namespace cairn::analyze
