// The coder `thesis`: CUT, LZa2, RLE, as in Azimi, "GPU Execution Tracing and Compression" (Texas State University,
// 2017), section 4.3. It is the baseline that `predict` is compared with, on the host.
//
// CUT makes bytes of an event: the location, then the mask, lowest byte first. LZa2 passes a byte on, looks up where
// that byte stood last with the same two bytes before it, and, if there is such a place, counts how many of the bytes
// that follow are the same too; the count is passed on as a byte (so at most 255). RLE makes groups: a byte with two
// counts of at most 15, how many bytes follow as they are (low half) and how often the last of them is repeated (high
// half); then those bytes.
//
// What the thesis leaves open is read in its favour. It finds the place in a hash table of "the current value": with
// the value alone as the key, n-body would shrink to a 60th, where the thesis reports a 384th; so the two bytes before
// are part of the key, and a match that was cut off at 255 goes on where it was. How far LZa2 looks back is not said:
// kHistory bytes. No device code, since values have no place in it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cairn/gpu/bits.h"
#include "gpu/file/streams.h"

namespace cairn::gpu {

template <typename Mask>
struct ThesisState {
  static constexpr uint32_t kHistory = 4096;
  uint32_t written;  ///< bytes of CUT so far
  uint32_t match;    ///< where the match goes on, if `matching`
  uint32_t length;   ///< of it
  uint8_t matching;
  uint8_t plain;    ///< bytes in `group`
  uint8_t repeats;  ///< of the last of them
  uint8_t group[15];
  static constexpr uint32_t kPlaces = 1024;
  uint32_t place[kPlaces];  ///< 1 + where each byte stood last after the two before it, by hash
  uint8_t history[kHistory];
  PendingBits pending;
};

template <typename Mask>
class Thesis {
 public:
  using State = ThesisState<Mask>;
  static constexpr uint32_t kLongest = 255;

  static void begin(State &state) {
    for (uint32_t &place : state.place) place = 0;
    state.written = 0;
    state.match = 0;
    state.length = 0;
    state.matching = 0;
    state.plain = 0;
    state.repeats = 0;
    state.pending.bits = 0;
    state.pending.count = 0;
  }

  template <typename Out>
  static void miss(State &state, uint32_t location, Mask mask, uint32_t location_bits, Out &out) {
    for (uint32_t i = 0; i < location_bits; i += 8) cut(state, static_cast<uint8_t>(location >> i), out);
    for (uint32_t i = 0; i < sizeof(Mask) * 8; i += 8) cut(state, static_cast<uint8_t>(mask >> i), out);
  }

  template <typename Out>
  static void end(State &state, Out &out) {
    if (state.matching != 0) repeat(state, static_cast<uint8_t>(state.length), out);
    state.matching = 0;
    if (state.plain != 0) close(state, out);
    flush_bits(state.pending, out);
  }

  /// LZa2's rule: 1 + the place where the byte that has just been remembered, as `seen` says, stood before with the
  /// same two bytes in front of it; 0 if there is none.
  static uint32_t before(const State &state, uint32_t seen) {
    const uint32_t at = state.written - 1;
    if (seen < 3 || at < 2 || at - (seen - 1) > State::kHistory - 4) return 0;
    const uint32_t there = seen - 1;
    return byte(state, there) == byte(state, at) && byte(state, there - 1) == byte(state, at - 1) &&
                   byte(state, there - 2) == byte(state, at - 2)
               ? seen
               : 0;
  }
  static uint8_t byte(const State &state, uint32_t at) { return state.history[at % State::kHistory]; }
  /// Takes `value` into the history; gives what `before` needs.
  static uint32_t remember(State &state, uint8_t value) {
    state.history[state.written % State::kHistory] = value;
    const uint32_t key = value | (state.written > 0 ? byte(state, state.written - 1) << 8 : 0) |
                         (state.written > 1 ? byte(state, state.written - 2) << 16 : 0);
    uint32_t &place = state.place[(key * 2654435761u) >> 22];
    const uint32_t seen = place;
    place = ++state.written;
    return seen;
  }

 private:
  template <typename Out>
  static void cut(State &state, uint8_t value, Out &out) {
    bool goes_on = false;
    if (state.matching != 0) {
      const bool equal = byte(state, state.match) == value;
      if (equal && state.length < kLongest) {
        ++state.match;
        ++state.length;
        remember(state, value);
        return;
      }
      repeat(state, static_cast<uint8_t>(state.length), out);
      state.matching = 0;
      goes_on = equal;
    }
    repeat(state, value, out);
    const uint32_t seen = remember(state, value);
    const uint32_t next = goes_on ? state.match + 1 : before(state, seen);
    if (next == 0) return;
    state.matching = 1;
    state.match = next;
    state.length = 0;
  }

  template <typename Out>
  static void repeat(State &state, uint8_t value, Out &out) {
    if (state.plain != 0 && value == state.group[state.plain - 1] && state.repeats < 15) {
      ++state.repeats;
      return;
    }
    if (state.repeats != 0 || state.plain == 15) close(state, out);
    state.group[state.plain++] = value;
  }

  template <typename Out>
  static void close(State &state, Out &out) {
    put_bits(state.pending, out, static_cast<uint32_t>(state.plain | state.repeats << 4), 8);
    for (uint32_t i = 0; i < state.plain; ++i) put_bits(state.pending, out, state.group[i], 8);
    state.plain = 0;
    state.repeats = 0;
  }
};

/// The stream that it makes of events, whose values it leaves out.
template <typename Mask>
std::vector<uint32_t> encode_thesis(uint32_t location_bits, std::span<const Event> events) {
  struct Words {
    std::vector<uint32_t> all;
    void word(uint32_t value) { all.push_back(value); }
  } words;
  const auto state = std::make_unique<ThesisState<Mask>>();
  Thesis<Mask>::begin(*state);
  for (const Event &event : events)
    Thesis<Mask>::miss(*state, event.location, static_cast<Mask>(event.mask), location_bits, words);
  if (!events.empty()) Thesis<Mask>::end(*state, words);
  return words.all;
}

}  // namespace cairn::gpu
