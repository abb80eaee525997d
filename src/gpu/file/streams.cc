#include "gpu/file/streams.h"

#include <memory>
#include <string>

#include "cairn/gpu/predict.h"
#include "cairn/gpu/raw.h"
#include "gpu/file/value_streams.h"

namespace cairn::gpu {
namespace {

/// A coder's Out.
struct Words {
  std::vector<uint32_t> *to;
  void word(uint32_t value) const { to->push_back(value); }
};

tl::unexpected<Error> damaged(uint64_t event) {
  return fail(ErrorKind::unreadable, "a stream is damaged at event " + std::to_string(event));
}

/// Counts what it shows.
class Shown {
 public:
  explicit Shown(const EventVisitor &visit) : visit_(visit) {}
  void push_back(const Event &event) {
    ++size_;
    visit_(event);
  }
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  const EventVisitor &visit_;
  uint64_t size_ = 0;
};

template <typename Mask>
Mask read_lanes(BitReader &in, Mask all) {
  const uint32_t n = ones(all);
  const bool left = in.get(1) != 0;
  const uint32_t count = in.gamma();
  if (n < 2 || count >= n) return 0;
  Mask few = 0;
  if (Predict<Mask>::one_by_one(count, n)) {
    const uint32_t bits = Predict<Mask>::index_bits(n);
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t index = in.get(bits);
      Mask rest = all;
      for (; rest != 0 && index != 0; --index) rest &= rest - 1;
      few |= rest & (~rest + 1);
    }
  } else {
    for (Mask rest = all; rest != 0; rest &= rest - 1) {
      if (in.get(1) != 0) few |= rest & (~rest + 1);
    }
  }
  // Anything else was not written so.
  if (ones(few) != count) return 0;
  return left ? all & ~few : few;
}

/// The mask of an event that was not as predicted, but perhaps its location was. `*valid` becomes false where no coder
/// writes it so.
template <typename Mask>
Mask read_mask(BitReader &in, const PredictState<Mask> &state, const PredictTables<Mask> &tables, uint32_t location,
               bool foreseen_location, bool *valid) {
  const bool first = in.get(1) != 0;
  const bool second = first && in.get(1) != 0;
  if (first == foreseen_location && !second) {
    return Predict<Mask>::related(state, tables, location, static_cast<Relation>(in.get(2)));
  }
  Mask mask = 0;
  if (!second) {
    mask = read_lanes<Mask>(in, state.previous);
  } else if (in.get(1) == 0) {
    mask = read_lanes<Mask>(in, Predict<Mask>::parent(state));
  } else if (in.get(1) == 0) {
    return 0;
  } else {
    in.mask(mask);
  }
  *valid = mask != 0;
  return mask;
}

template <typename Mask>
uint64_t read_hits(BitReader &in, PredictState<Mask> *state) {
  const uint32_t order = state->order;
  const uint64_t high = in.gamma() - 1;
  const uint64_t hits = high << order | in.get(order);
  Predict<Mask>::adapt(*state, static_cast<uint32_t>(hits));
  return hits;
}

template <typename Mask>
Result<void> decode_predict(const StreamForm &form, std::span<const uint32_t> words, uint64_t events, Mask all,
                            Shown &out) {
  BitReader in(words.data(), words.size());
  PredictState<Mask> state;
  PredictTables<Mask> tables;
  Predict<Mask>::begin(state, tables, all, form.guesses);
  ValueSlots values;
  begin_values(values);
  while (out.size() < events) {
    const uint64_t hits = read_hits(in, &state);
    if (in.failed() || hits > events - out.size()) return damaged(out.size());
    for (uint64_t i = 0; i < hits; ++i) {
      const uint32_t expected = Predict<Mask>::guess(state, tables).first;
      const uint32_t location = expected >> 2;
      const Mask mask = Predict<Mask>::related(state, tables, location, static_cast<Relation>(expected & 3));
      Event event{static_cast<uint16_t>(location), mask};
      if (has_values(form, location) && !expect_values(value_slot(values, location), mask, &event)) {
        return damaged(out.size());
      }
      out.push_back(event);
      Predict<Mask>::move(state, tables, location, mask);
    }
    if (out.size() == events) break;
    const Guess known = Predict<Mask>::guess(state, tables);
    uint32_t location = known.first >> 2;
    if (in.get(1) == 0) location = in.get(1) != 0 ? known.second : in.get(form.location_bits);
    bool valid = true;
    const Mask mask = read_mask<Mask>(in, state, tables, location, location == known.first >> 2, &valid);
    Event event{static_cast<uint16_t>(location), mask};
    if (has_values(form, location)) valid = valid && read_values(in, value_slot(values, location), mask, &event);
    if (in.failed() || !valid) return damaged(out.size());
    out.push_back(event);
    Predict<Mask>::learn(state, tables, location, mask);
    Predict<Mask>::move(state, tables, location, mask);
    if (out.size() == events) read_hits(in, &state);  // of the end: none
  }
  if (in.failed() || in.left() >= 32) return damaged(out.size());
  return {};
}

template <typename Mask>
Result<void> decode_raw(const StreamForm &form, std::span<const uint32_t> words, uint64_t events, Shown &out) {
  if (events > words.size() * 32 / (form.location_bits + 8 * sizeof(Mask))) return damaged(0);
  BitReader in(words.data(), words.size());
  while (out.size() < events) {
    const auto location = static_cast<uint16_t>(in.get(form.location_bits));
    Mask mask = 0;
    in.mask(mask);
    Event event{location, mask};
    if (has_values(form, location) && !read_plain_values(in, mask, &event)) return damaged(out.size());
    if (in.failed()) return damaged(out.size());
    out.push_back(event);
  }
  if (in.failed() || in.left() >= 32) return damaged(events);
  return {};
}

template <typename Mask>
Result<void> decode(const StreamForm &form, std::span<const uint32_t> words, uint64_t events, Mask all, Shown &out) {
  return form.coder == CoderKind::raw ? decode_raw<Mask>(form, words, events, out)
                                      : decode_predict<Mask>(form, words, events, all, out);
}

template <typename Coder, typename Mask>
std::vector<uint32_t> encode(const StreamForm &form, std::span<const Event> events, Mask all) {
  std::vector<uint32_t> words;
  Words out{&words};
  typename Coder::State state;
  typename Coder::Tables tables;
  Coder::begin(state, tables, all, form.guesses);
  if (events.empty()) return words;
  ValueSlots known;
  begin_values(known);
  uint64_t lanes[8 * sizeof(Mask)] = {};
  for (const Event &event : events) {
    const auto mask = static_cast<Mask>(event.mask);
    const bool values = has_values(form, event.location);
    ValueSlot &slot = value_slot(known, event.location);
    if (values) {
      size_t next = 0;
      for_each_lane(mask, [&](uint32_t lane) { lanes[lane] = next < event.values.size() ? event.values[next++] : 0; });
    }
    const bool hit =
        (!values || are_expected(slot, event.type, lanes, mask)) && Coder::is_hit(state, tables, event.location, mask);
    Coder::put(state, tables, event.location, mask, hit, form.location_bits, out);
    if (values && hit) confirm(slot);
    if (values && !hit) Coder::values(state, slot, event.type, lanes, mask, out);
    Coder::move(state, tables, event.location, mask);
  }
  Coder::end(state, out);
  return words;
}

template <typename Mask>
std::vector<uint32_t> encode_as(const StreamForm &form, std::span<const Event> events, Mask all) {
  return form.coder == CoderKind::raw ? encode<Raw<Mask>>(form, events, all) : encode<Predict<Mask>>(form, events, all);
}

}  // namespace

std::string_view name_of(CoderKind coder) { return coder == CoderKind::raw ? "raw" : "predict"; }

std::string_view name_of(ValueType type) {
  constexpr std::string_view kNames[] = {"none", "i32", "u32", "f32", "i64", "u64", "f64"};
  return kNames[static_cast<size_t>(type)];
}

uint64_t most_at_once(const StreamForm &form) {
  return form.value_locations.empty() ? kMostAtOnce : kMostAtOnceWithValues;
}

Result<void> visit_stream(const StreamForm &form, std::span<const uint32_t> words, uint64_t events, uint64_t all,
                          const EventVisitor &visit) {
  if (events > kMostEvents) return fail(ErrorKind::unreadable, "a stream says that it has too many events");
  if (events == 0) return {};
  Shown out(visit);
  return form.lanes == 64 ? decode<uint64_t>(form, words, events, all, out)
                          : decode<uint32_t>(form, words, events, static_cast<uint32_t>(all), out);
}

std::vector<uint32_t> encode_stream(const StreamForm &form, std::span<const Event> events, uint64_t all) {
  return form.lanes == 64 ? encode_as<uint64_t>(form, events, all)
                          : encode_as<uint32_t>(form, events, static_cast<uint32_t>(all));
}

}  // namespace cairn::gpu
