#include "timeline/rank_fill.h"

#include <algorithm>

#include "trace/read/cut_short.h"

namespace cairn::timeline {

RankCalls::RankCalls(const trace::Trace &trace, uint32_t rank)
    : trace_(trace), axis_(trace.place_on_axis(rank)), sequences_(trace.sequences(rank)), open_(sequences_.size()) {}

Result<TimedCalls *> RankCalls::open(size_t sequence) {
  std::optional<TimedCalls> &calls = open_[sequence];
  if (!calls) {
    auto made = TimedCalls::of(trace_, sequences_[sequence]);
    if (!made) return tl::unexpected(made.error());
    calls.emplace(*std::move(made));
  }
  return &*calls;
}

bool RankCalls::is_over(size_t sequence, uint64_t ns) const {
  const size_t next = sequence + 1;
  return next < sequences_.size() && !is_first_of_thread(next) && axis_.of(sequences_[next].begin_ns) <= ns;
}

bool RankCalls::is_first_of_thread(size_t sequence) const {
  return sequence == 0 || sequences_[sequence].thread != sequences_[sequence - 1].thread;
}

std::optional<uint64_t> RankCalls::outside_until(size_t sequence) const {
  const size_t next = sequence + 1;
  const bool last = next == sequences_.size() || is_first_of_thread(next);
  if (!last || sequences_[sequence].thread != sequences_[0].thread) return std::nullopt;
  return trace::cut_short_ns(trace_, sequences_[sequence].rank);
}

Result<uint64_t> RankCalls::calls_within(uint64_t begin_ns, uint64_t end_ns) {
  uint64_t calls = 0;
  for (size_t i = 0; i < sequences_.size(); ++i) {
    if (is_over(i, begin_ns) || axis_.of(sequences_[i].begin_ns) >= end_ns) continue;
    const auto sequence = open(i);
    if (!sequence) return tl::unexpected(sequence.error());
    const uint64_t first = (*sequence)->near(begin_ns);
    calls += std::max(first, (*sequence)->behind(end_ns)) - first;
  }
  return calls;
}

Result<void> RankFill::begin() {
  if (calls_.is_first_of_thread(sequence_)) last_end_.reset();
  if (calls_.is_over(sequence_, edges_.begin_ns)) {
    last_end_ = edges_.begin_ns;
    ++sequence_;
    return {};
  }
  const auto opened = calls_.open(sequence_);
  if (!opened) return tl::unexpected(opened.error());
  now_ = *opened;
  if (once_) now_->read_ahead();
  const uint64_t near = edges_.begin_ns == 0 ? 0 : now_->near(edges_.begin_ns);
  // Calls before that one end before the window.
  if (near != 0) last_end_ = std::max(edges_.begin_ns, last_end_.value_or(0));
  now_->seek(near);
  column_ = 0;
  return {};
}

void RankFill::end_sequence(bool of_thread) {
  if (once_) calls_.close(sequence_);
  now_ = nullptr;
  ++sequence_;
  while (of_thread && sequence_ < calls_.sequences().size() && !calls_.is_first_of_thread(sequence_)) ++sequence_;
}

Result<bool> RankFill::go_on(uint64_t most) {
  uint64_t left = most;
  while (sequence_ < calls_.sequences().size()) {
    if (now_ == nullptr) {
      if (auto begun = begin(); !begun) return tl::unexpected(begun.error());
      if (now_ == nullptr) continue;
    }
    const std::vector<uint8_t> &kinds = kinds_.of_row[calls_.sequences()[sequence_].class_index];
    for (;;) {
      if (left == 0) return true;
      --left;
      const auto next = now_->next();
      if (!next) return tl::unexpected(next.error());
      if (!*next) break;
      ++walked_;
      const TimedCalls::Call &call = **next;
      if (call.depth != 0) continue;
      const uint64_t before = last_end_.value_or(call.begin_ns);
      add(before, call.begin_ns, 0);
      add(std::max(call.begin_ns, before), call.end_ns, kinds[call.row]);
      last_end_ = std::max(before, call.end_ns);
      if (*last_end_ >= edges_.end_ns) break;
    }
    if (const auto until = calls_.outside_until(sequence_); until && last_end_) add(*last_end_, *until, 0);
    end_sequence(last_end_.value_or(0) >= edges_.end_ns);
  }
  return false;
}

void RankFill::add(uint64_t begin_ns, uint64_t end_ns, size_t kind) {
  begin_ns = std::max(begin_ns, edges_.begin_ns);
  end_ns = std::min(end_ns, edges_.end_ns);
  if (begin_ns >= end_ns) return;
  constexpr size_t kNear = 4;
  for (size_t i = 0; edges_.at(column_ + 1) <= begin_ns; ++i) {
    if (i == kNear) column_ = edges_.column_of(begin_ns);
    if (i < kNear) ++column_;
  }
  while (begin_ns < end_ns) {
    const uint64_t until = std::min(end_ns, edges_.at(column_ + 1));
    cells_[column_ * kinds_.count() + kind] += until - begin_ns;
    begin_ns = until;
    if (begin_ns < end_ns) ++column_;
  }
}

}  // namespace cairn::timeline
