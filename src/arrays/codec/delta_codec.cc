// The codec "delta": integers for values, what those before them do not let expect, and an entropy coder; block by
// block, so that what is being worked on stays in the second cache. docs/array-codecs.md has the bytes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "arrays/codec/bit_pack.h"
#include "arrays/codec/codecs.h"
#include "arrays/codec/delta_plan.h"
#include "arrays/codec/delta_residual.h"
#include "arrays/codec/mask.h"
#include "arrays/codec/reused.h"

namespace cairn::codec {
namespace {

constexpr size_t kBlock = kResidualBlock;
constexpr size_t kPiece = 4096;  // of a block: in the first cache
constexpr uint8_t kMasked = 1;
constexpr uint8_t kExceptions = 2;

/// Everything that coding a box needs beside the box. What a plan has no use for has no room.
template <typename Word>
struct Room {
  Room(const DeltaPlan &plan, size_t count)
      : block(std::min(count, kBlock)),
        before(history(plan.lags)),
        // As much as the history, so that it is moved but once for as many integers.
        size(before + std::min(count, std::max(before, block))),
        all(size),
        next(all.get() + before),
        residuals(block + 16),
        others(block + 16),
        held(block + 8),
        fills(block + 8),
        mask(block / 8 + 8),
        residual(block) {
    const bool fixed = plan.map.kind == Mapping::fixed;
    const bool scaled = plan.map.kind == Mapping::scaled;
    std::fill(all.get(), next, Word(0));
    if (fixed || plan.by_reference) tails = Reused<Word>(block + 16);
    if (fixed || plan.by_reference) widths = Reused<uint8_t>(block + 16);
    if (scaled || plan.by_reference) corrections = Reused<uint8_t>(block);
    if (plan.by_reference) unused = Reused<uint8_t>(block);
    if (fixed) packed = Reused<uint8_t>(block * sizeof(Word) + 2 * kPackSlack);
  }
  /// Where the integers of the next `count` values go, behind those that predictions of them need.
  Word *take(size_t count) {
    if (next + count > all.get() + size) {
      memmove(all.get(), next - before, before * sizeof(Word));
      next = all.get() + before;
    }
    next += count;
    return next - count;
  }
  size_t block;
  size_t before;
  size_t size;
  Reused<Word> all;  ///< zeros, then the integers of the box, of which the first are forgotten
  Word *next;
  Reused<Word> residuals;
  Reused<Word> others;   ///< of the reference; or residuals with gaps
  Reused<uint8_t> held;  ///< of the block: missing, or an exception
  Reused<uint8_t> fills;
  Reused<uint8_t> mask;
  Reused<Word> tails;
  Reused<uint8_t> widths;
  Reused<uint8_t> corrections;
  Reused<uint8_t> unused;
  Reused<uint8_t> packed;
  ResidualRoom<Word> residual;
};

/// Nothing of what is not there.
template <typename T>
T *from(const Reused<T> &numbers, size_t at) {
  return numbers.get() == nullptr ? nullptr : numbers.get() + at;
}

/// Those that are not the fill value, though they are held. Eight masks behind the last are 0.
void write_exceptions(const uint8_t *values, size_t size, const uint8_t *held, const uint8_t *fills, size_t count,
                      Bytes *out) {
  ByteWriter list;
  size_t exceptions = 0;
  size_t last = 0;
  for (size_t i = 0; i < count; i += 8) {
    uint64_t eight = 0;
    uint64_t others = 0;
    memcpy(&eight, held + i, 8);
    memcpy(&others, fills + i, 8);
    for (eight ^= others; eight != 0; eight &= eight - 1) {
      const size_t at = i + static_cast<size_t>(std::countr_zero(eight)) / 8;
      list.varint(at - last);
      list.raw({values + at * size, size});
      last = at;
      ++exceptions;
    }
  }
  ByteWriter front;
  front.varint(exceptions);
  out->insert(out->end(), front.view().begin(), front.view().end());
  out->insert(out->end(), list.view().begin(), list.view().end());
}

bool read_exceptions(ByteReader &in, size_t size, size_t count, uint8_t *values) {
  if (size > sizeof(uint64_t)) return false;  // of a word
  const size_t exceptions = in.count(1 + size);
  uint64_t at = 0;
  for (size_t k = 0; k < exceptions; ++k) {
    const uint64_t gap = in.varint();
    const ByteView value = in.raw(size);
    if (in.failed() || gap >= count || at + gap >= count) return false;
    at += gap;
    memcpy(values + at * size, value.data(), size);
  }
  return !in.failed();
}

template <typename Word>
class Encoder {
 public:
  Encoder(const DeltaPlan &plan, const Grid &grid, size_t count, int level)
      : plan_(plan),
        grid_(grid),
        size_(size_of(grid.element)),
        room_(plan, count),
        streams_(StreamMethod::zstd, level) {}

  void block(ByteView values, size_t first, size_t count, Bytes *out) {
    memset(room_.held.get() + count, 0, 8);
    memset(room_.fills.get() + count, 0, 8);
    size_t residuals = 0;
    uint8_t flags = 0;
    for (size_t at = 0; at < count; at += kPiece)
      flags |= piece(values.data(), first + at, at, std::min(kPiece, count - at), &residuals);
    out->push_back(flags);
    if ((flags & kMasked) != 0) {
      put_mask(room_.held.get(), count, room_.mask.get());
      streams_.write({room_.mask.get(), (count + 7) / 8}, out);
    }
    if ((flags & kExceptions) != 0)
      write_exceptions(values.data() + first * size_, size_, room_.held.get(), room_.fills.get(), count, out);
    write_residuals(room_.residuals.get(), residuals, streams_, room_.residual, out);
    if (plan_.map.kind == Mapping::fixed) {
      const size_t size = pack_bits(room_.tails.get(), room_.widths.get(), count, room_.packed.get());
      out->insert(out->end(), room_.packed.get(), room_.packed.get() + size);
    }
    if (plan_.map.kind == Mapping::scaled) streams_.write({room_.corrections.get(), count}, out);
  }

 private:
  /// Gives the flags of the block.
  uint8_t piece(const uint8_t *values, size_t first, size_t at, size_t count, size_t *residuals) {
    Word *integers = room_.take(count);
    uint8_t *held = room_.held.get() + at;
    map_values(
        plan_.map, grid_.element, values + first * size_, count,
        Mapped<Word>{integers, held, from(room_.tails, at), from(room_.widths, at), from(room_.corrections, at)});
    uint8_t *fills = room_.fills.get() + at;
    if (plan_.has_fill) {
      mark_fill(size_, values + first * size_, count, plan_.fill, fills);
    } else {
      memset(fills, 0, count);
    }
    const Joined joined = join_held(held, fills, count);
    const auto flags = static_cast<uint8_t>((joined.some ? kMasked : 0) | (joined.others ? kExceptions : 0));
    Word *to = room_.residuals.get() + *residuals;
    if (plan_.by_reference) {
      map_values(plan_.map, grid_.element, grid_.reference.data() + first * size_, count,
                 Mapped<Word>{room_.others.get(), room_.unused.get(), to, room_.unused.get(), room_.unused.get()});
      for (size_t i = 0; i < count; ++i) integers[i] -= room_.others[i];
    }
    if ((flags & kMasked) == 0) {
      predict(plan_.lags, integers, count, to);
      *residuals += count;
      return flags;
    }
    hold(plan_.lags, held, count, integers);
    predict(plan_.lags, integers, count, room_.others.get());
    *residuals += squeeze(held, count, room_.others.get(), to);
    if (plan_.map.kind == Mapping::fixed) {
      clear_held(held, count, room_.tails.get() + at);
      clear_held(held, count, room_.widths.get() + at);
    }
    if (plan_.map.kind == Mapping::scaled) clear_held(held, count, room_.corrections.get() + at);
    return flags;
  }

  const DeltaPlan plan_;
  const Grid grid_;
  const size_t size_;
  Room<Word> room_;
  StreamWriter streams_;
};

template <typename Word>
class Decoder {
 public:
  Decoder(const DeltaPlan &plan, const Grid &grid, size_t count)
      : plan_(plan), grid_(grid), size_(size_of(grid.element)), room_(plan, count), streams_(StreamMethod::zstd) {}

  bool block(ByteReader &in, std::span<uint8_t> values, size_t first, size_t count) {
    const uint8_t flags = in.byte();
    if (in.failed() || flags > (kMasked | kExceptions) || flags == kExceptions) return false;
    const bool masked = (flags & kMasked) != 0;
    size_t residuals = count;
    if (masked) {
      if (!streams_.read(in, {room_.mask.get(), (count + 7) / 8})) return false;
      // Bits of no element would make fewer residuals than there are elements for them.
      if (count % 8 != 0 && room_.mask[count / 8] >> (count % 8) != 0) return false;
      residuals = get_mask(room_.mask.get(), count, room_.held.get());
    }
    ByteReader exceptions = in;
    if ((flags & kExceptions) != 0 && !skip_exceptions(in)) return false;
    Word *some = masked ? room_.others.get() : room_.residuals.get();
    if (!read_residuals(in, streams_, room_.residual, some, residuals)) return false;
    if (masked) spread(room_.held.get(), count, some, room_.residuals.get());
    Word *integers = room_.take(count);
    restore(plan_.lags, room_.residuals.get(), masked ? room_.held.get() : nullptr, count, integers);
    if (plan_.by_reference) {
      // The integers of the box stay differences, since predictions are of those.
      map_values(plan_.map, grid_.element, grid_.reference.data() + first * size_, count,
                 Mapped<Word>{room_.others.get(), room_.unused.get(), room_.tails.get(), room_.unused.get(),
                              room_.unused.get()});
      for (size_t i = 0; i < count; ++i) room_.residuals[i] = integers[i] + room_.others[i];
      integers = room_.residuals.get();
    }
    if (!read_rest(in, integers, masked, count)) return false;
    uint8_t *to = values.data() + first * size_;
    unmap_values(plan_.map, grid_.element,
                 Mapped<Word>{integers, nullptr, room_.tails.get(), room_.widths.get(), room_.corrections.get()}, count,
                 to);
    if (masked) put_fill(size_, room_.held.get(), count, plan_.fill, to);
    return (flags & kExceptions) == 0 || read_exceptions(exceptions, size_, count, to);
  }

 private:
  bool skip_exceptions(ByteReader &in) const {
    const size_t exceptions = in.count(1 + size_);
    for (size_t k = 0; k < exceptions && !in.failed(); ++k) {
      in.varint();
      in.raw(size_);
    }
    return !in.failed();
  }

  bool read_rest(ByteReader &in, const Word *integers, bool masked, size_t count) {
    if (plan_.map.kind == Mapping::fixed) {
      tail_widths(integers, count, room_.widths.get());
      if (masked) clear_held(room_.held.get(), count, room_.widths.get());
      if (!unpack_bits(in, room_.widths.get(), count, room_.tails.get())) return false;
    }
    return plan_.map.kind != Mapping::scaled || streams_.read(in, {room_.corrections.get(), count});
  }

  const DeltaPlan plan_;
  const Grid grid_;
  const size_t size_;
  Room<Word> room_;
  StreamReader streams_;
};

constexpr int kLevel = 1;  // of zstd

template <typename Word>
void encode(const DeltaPlan &plan, ByteView values, const Grid &grid, int level, Bytes *out) {
  const size_t count = values.size() / size_of(grid.element);
  Encoder<Word> encoder(plan, grid, count, level == 0 ? kLevel : level);
  for (size_t at = 0; at < count; at += kBlock) encoder.block(values, at, std::min(kBlock, count - at), out);
}

template <typename Word>
bool decode(const DeltaPlan &plan, ByteReader &in, const Grid &grid, std::span<uint8_t> values) {
  const size_t count = values.size() / size_of(grid.element);
  Decoder<Word> decoder(plan, grid, count);
  for (size_t at = 0; at < count; at += kBlock) {
    if (!decoder.block(in, values, at, std::min(kBlock, count - at))) return false;
  }
  return in.at_end();
}

}  // namespace

bool encode_delta(ByteView values, const Grid &grid, const ArrayOptions &options, Bytes *out) {
  if (values.empty()) return true;
  const DeltaPlan plan = options.plan != nullptr ? *options.plan : choose_delta_plan(values, grid);
  // Only where nothing is there yet: a box behind others must not have all of them copied.
  const size_t count = values.size() / size_of(grid.element);
  const double expected = 1.05 * plan.bits / 8 * static_cast<double>(count);
  if (out->empty()) out->reserve(std::min(static_cast<size_t>(expected), values.size()) + 4096);
  write_plan(plan, grid.element, out);
  if (size_of(grid.element) == 8) {
    encode<uint64_t>(plan, values, grid, options.level, out);
  } else {
    encode<uint32_t>(plan, values, grid, options.level, out);
  }
  return true;
}

bool decode_delta(ByteView encoded, const Grid &grid, std::span<uint8_t> values) {
  if (values.empty()) return encoded.empty();
  ByteReader in(encoded);
  DeltaPlan plan;
  if (!read_plan(in, grid.element, values.size() / size_of(grid.element), !grid.reference.empty(), &plan)) return false;
  return size_of(grid.element) == 8 ? decode<uint64_t>(plan, in, grid, values)
                                    : decode<uint32_t>(plan, in, grid, values);
}

}  // namespace cairn::codec
