#include "analyze/wildcards.h"

#include <algorithm>

#include "analyze/message_queues.h"
#include "base/hash.h"

namespace cairn::analyze {

Question Question::of(const Receive &receive) {
  return {receive.communicator, receive.window, receive.pair, receive.from, receive.tag};
}

std::array<Question, 4> Question::met_by(const ChannelKey &key) {
  const Question exact{key.communicator, key.window, key.pair, key.from, key.tag};
  std::array<Question, 4> all{exact, exact, exact, exact};
  for (const size_t any : {1U, 3U}) all.at(any).from.reset();
  for (const size_t any : {2U, 3U}) all.at(any).tag.reset();
  return all;
}

size_t Question::Hash::operator()(const Question &question) const {
  const uint64_t known = (question.from ? 1U : 0U) + (question.tag ? 2U : 0U);
  const uint64_t words[] = {uint64_t{question.communicator} << 32 | question.window,
                            uint64_t{question.pair} << 32 | question.from.value_or(0),
                            static_cast<uint64_t>(question.tag.value_or(0)), known};
  return static_cast<size_t>(hash64({reinterpret_cast<const uint8_t *>(words), sizeof words}));
}

void Wildcards::add(const Receive &receive) { open_[Question::of(receive)].open.insert(receive.posted); }

bool Wildcards::remove(const Receive &receive, std::vector<Channel *> *free) {
  const auto found = open_.find(Question::of(receive));
  if (found == open_.end()) return false;
  Alike &alike = found->second;
  if (alike.open.erase(receive.posted) == 0) return false;
  const auto freed = alike.open.empty() ? alike.behind.end() : alike.behind.lower_bound(*alike.open.begin());
  for (auto each = alike.behind.begin(); each != freed; ++each) {
    waiting_.erase(each->second);
    free->push_back(each->second);
  }
  alike.behind.erase(alike.behind.begin(), freed);
  if (alike.open.empty()) open_.erase(found);
  return true;
}

bool Wildcards::hold_up(Channel *channel, uint64_t posted) {
  if (open_.empty()) return false;
  const auto all = Question::met_by(channel->key);
  return std::any_of(all.begin() + 1, all.end(), [&](const Question &question) {
    const auto found = open_.find(question);
    if (found == open_.end() || *found->second.open.begin() > posted) return false;
    found->second.behind.emplace(posted, channel);
    waiting_[channel] = {question, posted};
    return true;
  });
}

void Wildcards::give_up(Channel *channel) {
  if (waiting_.empty()) return;
  const auto wait = waiting_.find(channel);
  if (wait == waiting_.end()) return;
  open_.at(wait->second.behind).behind.erase(wait->second.posted);
  waiting_.erase(wait);
}

bool Wildcards::may_be(const ChannelKey &key) const {
  if (open_.empty()) return false;
  const auto all = Question::met_by(key);
  return std::any_of(all.begin() + 1, all.end(), [&](const Question &each) { return open_.count(each) != 0; });
}

std::vector<uint64_t> Wildcards::all() const {
  std::vector<uint64_t> all;
  for (const auto &[question, alike] : open_) all.insert(all.end(), alike.open.begin(), alike.open.end());
  std::sort(all.begin(), all.end());
  return all;
}

void UnknownTakers::add(const Receive &receive) {
  const auto [entry, fresh] = first_.try_emplace(Question::of(receive), receive.posted);
  if (!fresh) entry->second = std::min(entry->second, receive.posted);
}

bool UnknownTakers::may_have_taken(const ChannelKey &key, uint64_t posted) const {
  if (first_.empty()) return false;
  const auto all = Question::met_by(key);
  return std::any_of(all.begin(), all.end(), [&](const Question &each) {
    const auto found = first_.find(each);
    return found != first_.end() && found->second < posted;
  });
}

}  // namespace cairn::analyze
