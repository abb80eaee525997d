// The codec "delta": integers for values, what those before them do not let expect, and an entropy coder; block by
// block, so that what is being worked on stays in the second cache. docs/array-codecs.md has the bytes.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "codec/array/bit_pack.h"
#include "codec/array/codecs.h"
#include "codec/array/delta_plan.h"
#include "codec/array/delta_residual.h"
#include "codec/array/mask.h"

namespace cairn::codec {
namespace {

constexpr size_t kBlock = kResidualBlock;
constexpr size_t kPiece = 4096;  // of a block: in the first cache
constexpr uint8_t kMasked = 1;
constexpr uint8_t kExceptions = 2;

/// Everything that coding a box needs beside the box.
template <typename Word>
struct Room {
  Room(const DeltaPlan &plan, size_t count)
      : block(std::min(count, kBlock)),
        before(history(plan.lags)),
        all(new Word[before + count]),
        integers(all.get() + before),
        residuals(std::make_unique_for_overwrite<Word[]>(block + 16)),
        others(std::make_unique_for_overwrite<Word[]>(block)),
        tails(std::make_unique_for_overwrite<Word[]>(block + 16)),
        widths(std::make_unique_for_overwrite<uint8_t[]>(block + 16)),
        corrections(std::make_unique<uint8_t[]>(block)),
        held(std::make_unique<uint8_t[]>(block + 8)),
        unused(std::make_unique_for_overwrite<uint8_t[]>(block)),
        mask(std::make_unique_for_overwrite<uint8_t[]>(block / 8 + 8)),
        packed(std::make_unique_for_overwrite<uint8_t[]>(block * sizeof(Word) + 2 * kPackSlack)),
        residual(block) {
    std::fill(all.get(), integers, Word(0));
  }
  size_t block;
  size_t before;
  std::unique_ptr<Word[]> all;  ///< zeros, then the integers of the box
  Word *integers;
  std::unique_ptr<Word[]> residuals;
  std::unique_ptr<Word[]> others;  ///< of the reference
  std::unique_ptr<Word[]> tails;
  std::unique_ptr<uint8_t[]> widths;
  std::unique_ptr<uint8_t[]> corrections;
  std::unique_ptr<uint8_t[]> held;  ///< of the block: missing, or an exception
  std::unique_ptr<uint8_t[]> unused;
  std::unique_ptr<uint8_t[]> mask;
  std::unique_ptr<uint8_t[]> packed;
  ResidualRoom<Word> residual;
};

/// Those that are not the fill value, though they are held.
void write_exceptions(const DeltaPlan &plan, const uint8_t *values, size_t size, const uint8_t *held, size_t count,
                      Bytes *out) {
  ByteWriter list;
  size_t exceptions = 0;
  size_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    if (held[i] == 0) continue;
    uint64_t bits = 0;
    memcpy(&bits, values + i * size, size);
    if (plan.has_fill && bits == plan.fill) continue;
    list.varint(i - last);
    list.raw({values + i * size, size});
    last = i;
    ++exceptions;
  }
  ByteWriter front;
  front.varint(exceptions);
  out->insert(out->end(), front.view().begin(), front.view().end());
  out->insert(out->end(), list.view().begin(), list.view().end());
}

bool read_exceptions(ByteReader &in, size_t size, size_t count, uint8_t *values) {
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
      write_exceptions(plan_, values.data() + first * size_, size_, room_.held.get(), count, out);
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
    Word *integers = room_.integers + first;
    uint8_t *held = room_.held.get() + at;
    map_values(plan_.map, grid_.element, values + first * size_, count,
               {integers, held, room_.tails.get() + at, room_.widths.get() + at, room_.corrections.get() + at});
    uint8_t *fills = room_.unused.get();
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
                 {room_.others.get(), room_.unused.get(), to, room_.unused.get(), room_.unused.get()});
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
    if (!read_residuals(in, streams_, room_.residual, room_.residuals.get(), residuals)) return false;
    if (masked) spread(residuals, count);
    Word *integers = room_.integers + first;
    restore(plan_.lags, room_.residuals.get(), masked ? room_.held.get() : nullptr, count, integers);
    if (plan_.by_reference) {
      // The integers of the box stay differences, since predictions are of those.
      map_values(plan_.map, grid_.element, grid_.reference.data() + first * size_, count,
                 {room_.others.get(), room_.unused.get(), room_.tails.get(), room_.unused.get(), room_.unused.get()});
      for (size_t i = 0; i < count; ++i) room_.residuals[i] = integers[i] + room_.others[i];
      integers = room_.residuals.get();
    }
    if (!read_rest(in, integers, masked, count)) return false;
    uint8_t *to = values.data() + first * size_;
    unmap_values(plan_.map, grid_.element,
                 {integers, room_.unused.get(), room_.tails.get(), room_.widths.get(), room_.corrections.get()}, count,
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

  /// Moves residuals from the front to where their values are, from the last to the first.
  void spread(size_t residuals, size_t count) {
    Word *x = room_.residuals.get();
    const uint8_t *held = room_.held.get();
    size_t from = residuals;
    for (size_t i = count; i-- > 0;) {
      from -= held[i] ^ 1U;
      x[i] = x[from];  // of held ones: any
    }
  }

  bool read_rest(ByteReader &in, const Word *integers, bool masked, size_t count) {
    if (plan_.map.kind == Mapping::fixed) {
      tail_widths(plan_.map, integers, count, room_.widths.get());
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
