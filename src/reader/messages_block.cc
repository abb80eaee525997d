#include "reader/messages_block.h"

#include <vector>

#include "analyze/messages.h"

namespace cairn::reader {
namespace {

class Collector : public analyze::Arrivals {
 public:
  explicit Collector(size_t most) : most_(most) {}

  void message(const analyze::Edge &edge) override {
    if (edge.kind != analyze::Edge::Kind::message || !edge.timed) return;
    if (from_.size() == most_) {
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

  Result<Block> block(const analyze::MessageCounts &counts) {
    if (const Result<void> done = exactly_.done(); !done) return tl::unexpected(done.error());
    Block block;
    block.numbers(from_);
    block.numbers(to_);
    for (const auto *column : {&begin_, &end_, &sent_by_, &received_by_, &bytes_, &tag_}) block.numbers(*column);
    block.numbers(std::vector<double>{more_ ? 1.0 : 0.0, static_cast<double>(counts.left_out())});
    return block;
  }

 private:
  size_t most_;
  bool more_ = false;
  std::vector<uint32_t> from_, to_;
  std::vector<double> begin_, end_, sent_by_, received_by_, bytes_, tag_;
  Exactly exactly_;
};

}  // namespace

Result<Block> messages_block(const Reading &reading, size_t most) {
  const auto messages = analyze::Messages::of(reading.trace, reading.sources);
  if (!messages) return tl::unexpected(messages.error());
  Collector collector(most);
  const auto counts = messages->replay(&collector);
  if (!counts) return tl::unexpected(counts.error());
  return collector.block(*counts);
}

}  // namespace cairn::reader
