#include "reader/messages_block.h"

#include <algorithm>
#include <vector>

#include "analyze/messages.h"
#include "turns/replay_part.h"

namespace cairn::reader {
namespace {

class Collector : public analyze::Arrivals {
 public:
  explicit Collector(const MessagesWanted &wanted) : wanted_(wanted) {}

  void sent(const analyze::CallTime &call, uint32_t to, int64_t /*tag*/, uint64_t /*number*/) override {
    if (call.begin_ns <= wanted_.end_ns && has(to)) ++under_way_;
  }
  void message(const analyze::Edge &edge) override {
    if (edge.kind != analyze::Edge::Kind::message || !edge.timed || edge.from.begin_ns > wanted_.end_ns) return;
    --under_way_;
    if (edge.to.end_ns < wanted_.begin_ns) return;
    if (from_.size() == wanted_.most) {
      more_ = true;
      return;
    }
    from_.push_back(edge.from.rank);
    to_.push_back(edge.to.rank);
    begin_.push_back(exactly_(edge.from.begin_ns));
    end_.push_back(exactly_(edge.to.end_ns));
    sent_by_.push_back(exactly_(edge.from.call));
    received_by_.push_back(exactly_(edge.to.call));
    bytes_.push_back(edge.bytes ? exactly_(*edge.bytes) : -1);
    tag_.push_back(static_cast<double>(edge.tag));
  }

  [[nodiscard]] bool wants_meetings() const override { return false; }
  void gone_through(uint64_t calls) override { read_ += calls; }
  [[nodiscard]] bool has_enough(uint64_t ns) const override {
    // What was sent in the window and is received far behind it is not waited for.
    return more_ || (ns > wanted_.end_ns && (under_way_ == 0 || read_ > wanted_.most_before));
  }

  Result<Block> block(const turns::PartTold &told) {
    if (const Result<void> done = exactly_.done(); !done) return tl::unexpected(done.error());
    Block block;
    block.numbers(from_);
    block.numbers(to_);
    for (const auto *column : {&begin_, &end_, &sent_by_, &received_by_, &bytes_, &tag_}) block.numbers(*column);
    const bool too_far = told.before > wanted_.most_before;
    block.numbers(std::vector<double>{more_ ? 1.0 : 0.0, static_cast<double>(told.counts.left_out()),
                                      too_far ? static_cast<double>(told.before) : 0.0});
    return block;
  }

 private:
  [[nodiscard]] bool has(uint32_t rank) const {
    return !wanted_.ranks || std::binary_search(wanted_.ranks->begin(), wanted_.ranks->end(), rank);
  }
  const MessagesWanted &wanted_;
  uint64_t under_way_ = 0;  ///< messages that may be wanted
  uint64_t read_ = 0;       ///< calls
  bool more_ = false;
  std::vector<uint32_t> from_, to_;
  std::vector<double> begin_, end_, sent_by_, received_by_, bytes_, tag_;
  Exactly exactly_;
};

}  // namespace

Result<Block> messages_block(const Reading &reading, const MessagesWanted &wanted) {
  const auto messages = analyze::Messages::of(reading.trace, reading.sources);
  if (!messages) return tl::unexpected(messages.error());
  Collector collector(wanted);
  turns::PartAsked asked;
  if (wanted.ranks) asked.ranks = &*wanted.ranks;
  if (wanted.begin_ns != 0) asked.begin_ns = wanted.begin_ns;
  asked.most_before = wanted.most_before;
  const auto told = turns::replay_part(reading.trace, *messages, asked, &collector);
  if (!told) return tl::unexpected(told.error());
  return collector.block(*told);
}

}  // namespace cairn::reader
