#include "gpu/testing/thesis.h"

#include <gtest/gtest.h>

#include <random>

namespace cairn::gpu {
namespace {

// The chain of section 4.3, by hand.
TEST(Thesis, IsWhatTheThesisSays) {
  const std::vector<Event> events{{1, 0xffffffff}, {1, 0xffffffff}};
  const auto words = encode_thesis<uint32_t>(8, events);
  const auto *bytes = reinterpret_cast<const uint8_t *>(words.data());
  const std::vector<uint8_t> got(bytes, bytes + words.size() * 4);
  // CUT:  01 ff ff ff ff 01 ff ff ff ff
  // LZa2: 01 ff ff ff ff 00 01 ff ff 02. The fourth ff has two in front of it, as the third has, and 01 does not
  // continue
  //       that; the second after the second 01 stood before with the same two in front, and two more follow it there
  //       too.
  // RLE:  (2 plain, 3 repeats) 01 ff; (3 plain, 1 repeat) 00 01 ff; (1 plain) 02
  EXPECT_EQ(got, (std::vector<uint8_t>{0x32, 0x01, 0xff, 0x13, 0x00, 0x01, 0xff, 0x01, 0x02, 0, 0, 0}));
}

/// RLE and LZa2 undone, byte by byte.
template <typename Mask>
class ThesisBytes {
 public:
  explicit ThesisBytes(std::span<const uint32_t> words)
      : in_(words.data(), words.size()), state_(std::make_unique<ThesisState<Mask>>()) {
    Thesis<Mask>::begin(*state_);
  }
  uint8_t next() {
    if (copies_ != 0) {
      --copies_;
      return remember(Thesis<Mask>::byte(*state_, match_++));
    }
    if (pending_match_) {
      pending_match_ = false;
      copies_ = from_groups();
      if (copies_ != 0) {
        cut_off_ = copies_ == Thesis<Mask>::kLongest;
        return next();
      }
    }
    const uint8_t value = from_groups();
    const bool goes_on = cut_off_ && Thesis<Mask>::byte(*state_, match_) == value;
    cut_off_ = false;
    const uint32_t seen = Thesis<Mask>::remember(*state_, value);
    match_ = goes_on ? match_ + 1 : Thesis<Mask>::before(*state_, seen);
    pending_match_ = match_ != 0;
    return value;
  }
  [[nodiscard]] bool failed() const { return failed_ || in_.failed(); }
  /// All groups have been used up.
  bool at_end() {
    if (pending_match_ && copies_ == 0) from_groups();
    return !failed() && plain_ == 0 && repeats_ == 0 && in_.left() < 32;
  }

 private:
  uint8_t remember(uint8_t value) {
    Thesis<Mask>::remember(*state_, value);
    return value;
  }
  uint8_t from_groups() {
    if (plain_ == 0 && repeats_ == 0) {
      const uint32_t head = in_.get(8);
      plain_ = head & 15;
      repeats_ = head >> 4;
      if (plain_ == 0) failed_ = true;
    }
    if (plain_ != 0) {
      --plain_;
      value_ = static_cast<uint8_t>(in_.get(8));
    } else if (repeats_ != 0) {
      --repeats_;
    }
    return value_;
  }

  BitReader in_;
  std::unique_ptr<ThesisState<Mask>> state_;
  uint32_t plain_ = 0;
  uint32_t repeats_ = 0;
  uint8_t value_ = 0;
  bool pending_match_ = false;
  uint32_t match_ = 0;
  uint32_t copies_ = 0;
  bool cut_off_ = false;  ///< the match was as long as one can be: it may go on
  bool failed_ = false;
};

/// False: there are not as many events in these words, or more.
template <typename Mask>
bool come_back(uint32_t location_bits, std::span<const Event> events) {
  const auto words = encode_thesis<Mask>(location_bits, events);
  ThesisBytes<Mask> bytes(words);
  for (const Event &wanted : events) {
    Event event;
    for (uint32_t i = 0; i < location_bits; i += 8) event.location |= static_cast<uint16_t>(bytes.next() << i);
    for (uint32_t i = 0; i < sizeof(Mask) * 8; i += 8) event.mask |= uint64_t{bytes.next()} << i;
    if (bytes.failed() || event != wanted) return false;
  }
  return events.empty() || bytes.at_end();
}

TEST(Thesis, EventsComeBack) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Event> events;
    const uint64_t few = 1 + random() % 6;
    for (uint64_t i = random() % 2000; i-- > 0;) {
      const uint64_t kind = random() % few;
      // Long runs of one event, some that come round, and masks that never stood before.
      events.push_back({static_cast<uint16_t>(1 + kind), kind == 5 ? random() & 0xffffffff : 0xffffffff >> kind});
    }
    ASSERT_TRUE(come_back<uint32_t>(8, events));
    ASSERT_TRUE(come_back<uint64_t>(16, events));
    ASSERT_TRUE(come_back<uint32_t>(8, std::vector<Event>(events.size(), Event{3, 0xff})));
  }
}

}  // namespace
}  // namespace cairn::gpu
