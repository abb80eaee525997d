// The coder `predict`: a warp's events as how often a prediction held, and what came where it did not.
//
// An event is (location, mask of the lanes that are there together). From the previous location, and whether the mask
// had just changed, a table of 64 predicts the next location and how its mask *relates* to what is known: the same as
// before; what it was when last at that location; the lanes that the branch left behind; those before the branch. An
// event that is as predicted costs a comparison and an increment, and no bits; one that is not costs the number of hits
// before it and what differs. The table also has a second guess of the location. It begins with what the program's text
// says can follow (Guesses), so that warps that do little know the way. Masks that no relation gives are written within
// a mask that holds them, by the few lanes that left or stayed. Numbers of hits are written for what they were before
// (exponential Golomb codes whose order follows them).
//
// Longer contexts and larger tables were no better on the programs of the thesis. Dictionaries over bytes (the thesis's
// LZa2) pay for every repetition with a match and never learn that a mask is another one's complement; a
// grammar for each warp needs memory that grows while the kernel runs, and one over the streams came out larger than
// zstd (docs/gpu.md: what repeats does not begin at the same bit). What equal warps have in common is found afterwards,
// on the host, by keeping equal streams once. One caller at a time for a warp.
//
// A warp's state is in two parts, since a GPU has fast memory for one of them only: the State, 48 bytes with masks of
// 32 lanes, which nearly every event changes, and the Tables, 640 bytes, which most events only read.
#pragma once

#include "bits.h"
#include "guesses.h"
#include "hot_word.h"
#include "values.h"

namespace cairn::gpu {

/// How a mask follows from the state, so that it can be predicted.
enum class Relation : uint8_t {
  same,     ///< the mask of the event before
  last,     ///< of the last event at this location
  sibling,  ///< the lanes that were left when the mask became narrower
  parent,   ///< the mask before it became narrower
};

template <typename Mask>
struct PredictState {
  static constexpr uint32_t kParents = 4;
  Mask previous;
  uint32_t hits;  ///< since something was written
  uint16_t location;
  uint8_t changed;         ///< the mask of the last event differed from that before
  uint8_t depth;           ///< of `parents`
  uint32_t order;          ///< of the code for `hits`
  Mask parents[kParents];  ///< masks that hold `previous`, each within the one before
  PendingBits pending;
};

template <typename Mask>
struct PredictTables {
  static constexpr uint32_t kMasks = 32;
  Guesses guesses;
  Mask last[kMasks];  ///< by location
};

template <typename Mask>
class Predict {
 public:
  using State = PredictState<Mask>;
  using Tables = PredictTables<Mask>;
  /// The largest event, and what ends a stream after it.
  static constexpr uint32_t kMostWords = 10;
  static constexpr uint32_t kMostHits = 0x7ffffffe;

  /// The state of a warp whose lanes `all` are alive, before its first event. Each of `lanes` callers does its share.
  static CAIRN_GPU_BOTH void begin(State &state, Tables &tables, Mask all, const Guesses &guesses, uint32_t lane = 0,
                                   uint32_t lanes = 1) {
    CAIRN_GPU_ROLLED for (uint32_t i = lane; i < Guesses::kSlots; i += lanes) tables.guesses.slots[i] =
        guesses.slots[i];
    CAIRN_GPU_ROLLED for (uint32_t i = lane; i < Tables::kMasks; i += lanes) tables.last[i] = all;
    if (lane != 0) return;
    state.previous = all;
    state.hits = 0;
    state.location = 0;
    state.changed = 0;
    state.depth = 0;
    state.order = 0;
    state.pending.bits = 0;
    state.pending.count = 0;
  }

  // An event is recorded in two steps: that it is a hit, or how it differs; then the state moves on.
  static CAIRN_GPU_BOTH bool is_hit(const State &state, Tables &tables, uint32_t location, Mask mask) {
    const uint32_t expected = guess(state, tables).first;
    return location == expected >> 2 && mask == related(state, tables, location, static_cast<Relation>(expected & 3)) &&
           state.hits < kMostHits;
  }
  /// `location_bits` is 8 or 16, the same for all of a trace.
  template <typename Out>
  static CAIRN_GPU_BOTH void put(State &state, Tables &tables, uint32_t location, Mask mask, bool is_hit,
                                 uint32_t location_bits, Out &out) {
    if (is_hit) {
      ++state.hits;
      return;
    }
    put_miss(state, tables, location, mask, location_bits, out);
    learn(state, tables, location, mask);
  }

  // The quick way of a device: hits whose mask stays change nothing but a word.
  static constexpr bool kQuick = true;
  static CAIRN_GPU_BOTH HotWord<Mask> hot_word(const State &state) {
    if (state.hits > kMostHits - HotWord<Mask>::kMostHits) return HotWord<Mask>::closed();
    return HotWord<Mask>::of(state.previous, state.location, state.changed != 0);
  }
  /// What has happened to the word since `hot_word` gave it. Gives the number of hits.
  static CAIRN_GPU_BOTH uint32_t take_hot_word(State &state, const HotWord<Mask> &word) {
    if (word.is_closed()) return 0;
    state.previous = word.previous;
    state.location = static_cast<uint16_t>(word.location());
    state.changed = word.changed() ? 1 : 0;
    state.hits += word.hits();
    return word.hits();
  }
  /// Whether `hit` would give true and change no more than word.after(location).
  static CAIRN_GPU_BOTH bool is_quick_hit(const HotWord<Mask> &word, const Tables &tables, uint32_t location,
                                          Mask mask) {
    const uint32_t first = look_near(tables.guesses.slots[Guesses::slot(word.location(), word.changed())].first);
    const Mask last = look_near(tables.last[location % Tables::kMasks]);
    static_assert(static_cast<uint32_t>(Relation::same) == 0 && static_cast<uint32_t>(Relation::last) == 1);
    return first - (location << 2) < 2 && mask == word.previous && mask == last && !word.is_full();
  }

  /// Values of the event that was recorded last, which was no hit.
  template <typename Out>
  static CAIRN_GPU_BOTH void values(State &state, ValueSlot &slot, ValueType type, const uint64_t *lane, Mask mask,
                                    Out &out) {
    put_values(slot, state.pending, out, type, lane, mask);
  }

  /// The number of hits after the last miss, and all pending bits: the end of a stream.
  template <typename Out>
  static CAIRN_GPU_BOTH void end(State &state, Out &out) {
    put_hits(state, out);
    flush_bits(state.pending, out);
  }

  static CAIRN_GPU_BOTH Guess &guess(const State &state, Tables &tables) {
    return tables.guesses.slots[Guesses::slot(state.location, state.changed != 0)];
  }
  static CAIRN_GPU_BOTH Mask related(const State &state, const Tables &tables, uint32_t location, Relation relation) {
    switch (relation) {
      case Relation::same:
        return state.previous;
      case Relation::last:
        return tables.last[location % Tables::kMasks];
      case Relation::sibling:
        return parent(state) & ~state.previous;
      case Relation::parent:
        return parent(state);
    }
    return 0;
  }
  /// The table after an event that was not as predicted, before `move`.
  static CAIRN_GPU_BOTH void learn(State &state, Tables &tables, uint32_t location, Mask mask) {
    Guess &at = guess(state, tables);
    if (location != at.first >> 2) at.second = at.first >> 2;
    at.first = location << 2 | static_cast<uint32_t>(foreseen(state, tables, location, mask, at.first & 3));
  }
  static CAIRN_GPU_BOTH void move(State &state, Tables &tables, uint32_t location, Mask mask) {
    const bool changed = mask != state.previous;
    Mask &last = tables.last[location % Tables::kMasks];
    if (changed && mask != 0) {
      // Lanes that leave a loop one after another don't make it deeper: they were at this place with the others.
      if ((mask & ~state.previous) == 0) {
        if (last != state.previous || state.depth == 0) push(state, state.previous);
      } else {
        while (state.depth > 0 && (mask & ~state.parents[state.depth - 1]) != 0) --state.depth;
        if (state.depth > 0 && state.parents[state.depth - 1] == mask) --state.depth;
      }
    }
    if (mask != 0) {
      last = mask;
      state.previous = mask;
    }
    state.changed = changed ? 1 : 0;
    state.location = static_cast<uint16_t>(location);
  }
  /// The order of the code for the next number of hits.
  static CAIRN_GPU_BOTH void adapt(State &state, uint32_t hits) {
    const uint32_t width = width_of(hits);
    if (width > state.order) {
      state.order += (width - state.order + 1) / 2;
    } else {
      state.order -= (state.order - width + 1) / 2;
    }
  }
  static CAIRN_GPU_BOTH Mask parent(const State &state) {
    return state.depth == 0 ? state.previous : state.parents[state.depth - 1];
  }

  /// Bits for one of `n` lanes.
  static CAIRN_GPU_BOTH uint32_t index_bits(uint32_t n) { return width_of(n - 1); }
  /// Lanes are written one by one if that is shorter than a bit for each.
  static CAIRN_GPU_BOTH bool one_by_one(uint32_t few, uint32_t n) { return few * index_bits(n) < n; }

 private:
  /// The relation to predict next time. That which was predicted keeps its place while it is true.
  static CAIRN_GPU_BOTH Relation foreseen(const State &state, const Tables &tables, uint32_t location, Mask mask,
                                          uint32_t predicted) {
    const auto before = static_cast<Relation>(predicted);
    if (mask == related(state, tables, location, before)) return before;
    CAIRN_GPU_ROLLED for (uint32_t i = 0; i < 4; ++i) {
      const auto relation = static_cast<Relation>(i);
      if (mask == related(state, tables, location, relation)) return relation;
    }
    return Relation::same;
  }

  static CAIRN_GPU_BOTH void push(State &state, Mask mask) {
    if (state.depth == State::kParents) {
      for (uint32_t i = 1; i < State::kParents; ++i) state.parents[i - 1] = state.parents[i];
      --state.depth;
    }
    state.parents[state.depth++] = mask;
  }

  template <typename Out>
  static CAIRN_GPU_BOTH void put_hits(State &state, Out &out) {
    const uint32_t order = state.order;
    put_gamma(state.pending, out, (state.hits >> order) + 1);
    put_bits(state.pending, out, state.hits & ((uint32_t{1} << order) - 1), order);
    adapt(state, state.hits);
    state.hits = 0;
  }

  template <typename Out>
  static CAIRN_GPU_BOTH void put_miss(State &state, Tables &tables, uint32_t location, Mask mask,
                                      uint32_t location_bits, Out &out) {
    PendingBits &pending = state.pending;
    put_hits(state, out);
    const Guess known = guess(state, tables);
    // Where the location was foreseen, lanes have mostly left a loop; elsewhere the mask is mostly one that is known.
    const bool foreseen_location = location == known.first >> 2;
    uint32_t bits = 1;
    uint32_t count = 1;
    if (!foreseen_location) {
      const bool second = location == known.second;
      bits = second ? 0b10 : location << 2;
      count = second ? 2 : 2 + location_bits;
    }
    const auto then = [&](uint32_t more, uint32_t of) {
      bits |= more << count;
      count += of;
    };
    uint32_t relation = 0;
    CAIRN_GPU_ROLLED while (relation < 4 && mask != related(state, tables, location, static_cast<Relation>(relation))) {
      ++relation;
    }
    Mask within = 0;
    if (relation < 4) {
      then(foreseen_location ? relation << 2 | 0b01 : relation << 1, foreseen_location ? 4 : 3);
    } else if (mask == 0) {
      then(0b0111, 4);
    } else if ((mask & ~state.previous) == 0) {
      then(foreseen_location ? 0 : 0b01, foreseen_location ? 1 : 2);
      within = state.previous;
    } else if ((mask & ~parent(state)) == 0) {
      then(0b011, 3);
      within = parent(state);
    } else {
      then(0b1111, 4);
    }
    put_bits(pending, out, bits, count);
    if (within != 0) {
      put_lanes(pending, out, within, mask);
    } else if (relation == 4 && mask != 0) {
      put_mask(pending, out, mask);
    }
  }

  /// `mask` within `all`: neither all of its lanes nor none.
  template <typename Out>
  static CAIRN_GPU_BOTH void put_lanes(PendingBits &pending, Out &out, Mask all, Mask mask) {
    const uint32_t n = ones(all);
    const uint32_t kept = ones(mask);
    const bool left = kept > n - kept;
    Mask few = left ? all & ~mask : mask;
    const uint32_t count = left ? n - kept : kept;
    put_bits(pending, out, left ? 1 : 0, 1);
    put_gamma(pending, out, count);
    if (one_by_one(count, n)) {
      const uint32_t bits = index_bits(n);
      CAIRN_GPU_ROLLED for (; few != 0; few &= few - 1) {
        const Mask lane = few & (~few + 1);
        put_bits(pending, out, ones(static_cast<Mask>(all & (lane - 1))), bits);
      }
    } else {
      CAIRN_GPU_ROLLED for (Mask rest = all; rest != 0; rest &= rest - 1) {
        put_bits(pending, out, (few & rest & (~rest + 1)) != 0 ? 1 : 0, 1);
      }
    }
  }
};

}  // namespace cairn::gpu
