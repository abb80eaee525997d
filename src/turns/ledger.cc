#include "turns/ledger.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "analyze/communicator_names.h"

namespace cairn::turns {
namespace {

/// Of one rank's calls, told one after the other.
class Counter : public analyze::Arrivals {
 public:
  Counter(const analyze::MessageScope &scope, uint32_t rank, const std::vector<analyze::Cut> &cuts)
      : rank_(rank),
        gatherings_(scope, true),
        calls_(scope, rank, &channels_, &gatherings_, &counts_, this, cuts, false) {
    channels_.tell_placed([this](const analyze::ChannelKey &key) { ++now_[{Counted::By::receiver, key}]; });
  }

  void message(const analyze::Edge & /*edge*/) override {}
  bool called(const trace::Event &event, const analyze::RowScope & /*scope*/) override {
    if (analyze::CommunicatorNames::makes_some(event.values->function)) clear_ = false;
    return false;
  }
  [[nodiscard]] bool wants_all_meetings() const override { return true; }
  void spoiled(uint32_t /*communicator*/) override { clear_ = false; }

  /// What is done before the call of that number.
  Counts read_until(uint64_t call) {
    while (calls_.next_call() < call && calls_.read()) {
      calls_.take_steps([&](const analyze::MessageStep &step) {
        for (const auto &sending : step.sends) ++now_[{Counted::By::sender, sending.key}];
        for (const analyze::MeetingPart &part : step.enters) {
          const analyze::Gatherings::Key &key = gatherings_.key_of(*part.gathering);
          ++now_[{Counted::By::member, {key.communicator, rank_, 0, 0, key.window, key.persistent}}];
        }
      });
    }
    // What is not counted in a turn that it was received in will be in none: it waits for something before the loop.
    const uint64_t held_back = calls_.posts().held_back();
    clear_ = clear_ && held_back == held_back_;
    held_back_ = held_back;
    return std::exchange(now_, {});
  }
  /// Since this was asked last, it was known of all that it did whom it reaches.
  bool was_clear() {
    const uint64_t unclear = counts_.left_out() + counts_.cancelled;
    const bool all_known = unclear == unclear_;
    unclear_ = unclear;
    return std::exchange(clear_, true) && all_known;
  }
  [[nodiscard]] const Result<void> &end() const { return calls_.end(); }

 private:
  uint32_t rank_;
  analyze::Channels channels_;
  analyze::Gatherings gatherings_;
  analyze::MessageCounts counts_;
  bool clear_ = true;
  uint64_t held_back_ = 0;
  uint64_t unclear_ = 0;
  Counts now_;
  analyze::RankMessages calls_;
};

void add(const Counts &counts, uint64_t times, Counts *sums) {
  for (const auto &[what, count] : counts) (*sums)[what] += count * times;
}

}  // namespace

Result<std::vector<LoopCounts>> count_turns(const analyze::MessageScope &scope, uint32_t rank,
                                            const std::vector<Loop> &loops) {
  std::vector<analyze::Cut> cuts;
  for (const Loop &loop : loops) {
    assert(loop.turns > kLead + kLeastTail);
    cuts.push_back({loop.lead.back(), loop.tail.front()});
  }
  Counter counter(scope, rank, cuts);
  std::vector<LoopCounts> all;
  Counts sums;
  for (const Loop &loop : loops) {
    add(counter.read_until(loop.lead[0]), 1, &sums);
    LoopCounts found{loop, {}, {}};
    add(counter.read_until(loop.lead[1]), 1, &sums);
    counter.was_clear();
    found.each_turn = counter.read_until(loop.lead[2]);
    for (const auto &[what, count] : found.each_turn) found.second[what] = sums[what];
    bool same = true;
    const auto is_same = [&](uint64_t end) { same = same && counter.read_until(end) == found.each_turn; };
    std::for_each(loop.lead.begin() + 3, loop.lead.end(), is_same);
    std::for_each(loop.tail.begin() + 1, loop.tail.end(), is_same);
    if (!counter.end()) return tl::unexpected(counter.end().error());
    if (!same || !counter.was_clear()) break;
    add(found.each_turn, loop.turns - 1, &sums);
    all.push_back(std::move(found));
  }
  return all;
}

}  // namespace cairn::turns
