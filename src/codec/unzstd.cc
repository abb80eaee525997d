#include "codec/unzstd.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace cairn::codec {
namespace {

unsigned high_bit(uint32_t value) { return 31U - static_cast<unsigned>(std::countl_zero(value)); }

uint64_t little_endian(ByteView bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i) value |= uint64_t{bytes[i]} << 8 * i;
  return value;
}

/// Bytes from the first on.
class Input {
 public:
  explicit Input(ByteView bytes) : rest_(bytes) {}
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] ByteView rest() const { return rest_; }
  ByteView take(size_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      count = 0;
    }
    const ByteView taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  uint64_t number(size_t bytes) { return little_endian(take(bytes)); }

 private:
  ByteView rest_;
  bool failed_ = false;
};

/// Bits from the last one on, which the highest bit that is set in the last byte comes behind. What is read beyond the
/// first bit is 0.
class BackwardBits {
 public:
  explicit BackwardBits(ByteView bytes) : bytes_(bytes) {
    left_ =
        bytes.empty() || bytes.back() == 0 ? -1 : static_cast<int64_t>(8 * (bytes.size() - 1) + high_bit(bytes.back()));
  }
  /// Below 0: more was read than there is, or there never were any.
  [[nodiscard]] int64_t left() const { return left_; }
  /// At most 32 bits.
  [[nodiscard]] uint32_t peek(unsigned count) const {
    if (count == 0 || left_ <= 0) return 0;
    const uint64_t mask = (uint64_t{1} << count) - 1;
    if (left_ < count) return static_cast<uint32_t>(word_at(0) << (count - left_) & mask);
    return static_cast<uint32_t>(word_at(static_cast<uint64_t>(left_) - count) & mask);
  }
  void skip(unsigned count) { left_ -= count; }
  uint32_t read(unsigned count) {
    const uint32_t value = peek(count);
    skip(count);
    return value;
  }

 private:
  /// The bits from the one numbered `bit` on: at least 32, or as many as there are.
  [[nodiscard]] uint64_t word_at(uint64_t bit) const {
    const size_t size = bytes_.size();
    if (size < sizeof(uint64_t)) return little_endian(bytes_) >> bit;
    const size_t from = std::min(static_cast<size_t>(bit / 8), size - sizeof(uint64_t));
    uint64_t word = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&word, bytes_.data() + from, sizeof(word));
    } else {
      word = little_endian(bytes_.subspan(from, sizeof(word)));
    }
    return word >> (bit - 8 * uint64_t{from});
  }

  ByteView bytes_;
  int64_t left_ = 0;
};

/// A decoding table of finite state entropy.
struct States {
  struct State {
    uint8_t symbol;
    uint8_t bits;
    uint16_t base;
  };
  std::vector<State> all;
  unsigned log = 0;

  void set_single(uint8_t symbol) {
    all = {{symbol, 0, 0}};
    log = 0;
  }

  /// Of as many symbols as there are, the probability of each in 2^`log_of_sum`-ths; -1: less than one.
  void set(std::span<const int16_t> probabilities, unsigned log_of_sum) {
    log = log_of_sum;
    const uint32_t size = 1U << log;
    all.assign(size, {});
    std::array<uint16_t, 256> next{};
    uint32_t high = size;
    for (size_t symbol = 0; symbol < probabilities.size(); ++symbol) {
      if (probabilities[symbol] == -1) all[--high].symbol = static_cast<uint8_t>(symbol);
      next[symbol] = static_cast<uint16_t>(probabilities[symbol] == -1 ? 1 : probabilities[symbol]);
    }
    const uint32_t step = (size >> 1) + (size >> 3) + 3;
    uint32_t place = 0;
    for (size_t symbol = 0; symbol < probabilities.size(); ++symbol) {
      for (int16_t i = 0; i < probabilities[symbol]; ++i) {
        all[place].symbol = static_cast<uint8_t>(symbol);
        do {
          place = (place + step) & (size - 1);
        } while (place >= high);
      }
    }
    for (State &state : all) {
      const uint32_t number = next[state.symbol]++;
      state.bits = static_cast<uint8_t>(log - high_bit(number));
      state.base = static_cast<uint16_t>((number << state.bits) - size);
    }
  }

  /// A table as it is written, of symbols up to `greatest`.
  bool read(Input &in, unsigned most_log, size_t greatest) {
    const ByteView bytes = in.rest();
    uint64_t bit = 0;
    const auto peek = [&](unsigned count) {
      uint64_t word = 0;
      for (size_t i = 0; i < 4 && bit / 8 + i < bytes.size(); ++i) {
        word |= uint64_t{bytes[static_cast<size_t>(bit / 8) + i]} << 8 * i;
      }
      return static_cast<uint32_t>(word >> bit % 8) & ((1U << count) - 1);
    };
    const auto read_bits = [&](unsigned count) {
      const uint32_t value = peek(count);
      bit += count;
      return value;
    };
    constexpr unsigned kLeastLog = 5;
    const unsigned log_of_sum = read_bits(4) + kLeastLog;
    if (log_of_sum > most_log) return false;
    std::vector<int16_t> probabilities;
    int32_t remaining = 1 << log_of_sum;
    while (remaining > 0 && probabilities.size() <= greatest) {
      const auto most = static_cast<uint32_t>(remaining) + 1;
      const unsigned count = high_bit(most) + 1;
      const uint32_t low_mask = (1U << (count - 1)) - 1;
      const uint32_t threshold = (1U << count) - 1 - most;
      uint32_t value = peek(count);
      if ((value & low_mask) < threshold) {
        value &= low_mask;
        bit += count - 1;
      } else {
        if (value > low_mask) value -= threshold;
        bit += count;
      }
      const auto probability = static_cast<int16_t>(static_cast<int32_t>(value) - 1);
      remaining -= probability < 0 ? 1 : probability;
      probabilities.push_back(probability);
      if (probability != 0) continue;
      uint32_t zeros = 0;
      do {
        zeros = read_bits(2);
        probabilities.resize(probabilities.size() + zeros);
      } while (zeros == 3 && probabilities.size() <= greatest);
    }
    in.take(static_cast<size_t>((bit + 7) / 8));
    if (in.failed() || remaining != 0 || probabilities.size() > greatest + 1) return false;
    set(probabilities, log_of_sum);
    return true;
  }
};

/// A decoding table of Huffman codes.
class Codes {
 public:
  [[nodiscard]] bool known() const { return !entries_.empty(); }

  bool read(Input &in) {
    constexpr uint8_t kDirect = 128;
    std::vector<uint8_t> weights;
    const auto head = static_cast<uint8_t>(in.number(1));
    if (head >= kDirect) {
      const size_t count = head - (kDirect - 1);
      const ByteView pairs = in.take((count + 1) / 2);
      if (in.failed()) return false;
      for (size_t i = 0; i < count; ++i) {
        weights.push_back(static_cast<uint8_t>(i % 2 == 0 ? pairs[i / 2] >> 4 : pairs[i / 2] & 15));
      }
    } else if (!read_weights(in.take(head), &weights) || in.failed()) {
      return false;
    }
    return set(std::move(weights));
  }

  /// Fills `out` from all of `bytes`.
  [[nodiscard]] bool decode(ByteView bytes, std::span<uint8_t> out) const {
    BackwardBits bits(bytes);
    for (uint8_t &symbol : out) {
      const Entry &entry = entries_[bits.peek(log_)];
      symbol = entry.symbol;
      bits.skip(entry.bits);
    }
    return bits.left() == 0;
  }

 private:
  static constexpr unsigned kMostLog = 11;
  struct Entry {
    uint8_t symbol;
    uint8_t bits;
  };

  static bool read_weights(ByteView bytes, std::vector<uint8_t> *weights) {
    constexpr unsigned kMostWeightLog = 6;
    constexpr size_t kMostWeights = 255;
    Input in(bytes);
    States states;
    if (!states.read(in, kMostWeightLog, kMostLog + 1)) return false;
    BackwardBits bits(in.rest());
    std::array<uint32_t, 2> at = {bits.read(states.log), bits.read(states.log)};
    if (bits.left() < 0) return false;
    for (size_t turn = 0; weights->size() < kMostWeights; turn ^= 1) {
      const States::State &state = states.all[at[turn]];
      weights->push_back(state.symbol);
      at[turn] = state.base + bits.read(state.bits);
      if (bits.left() >= 0) continue;
      weights->push_back(states.all[at[turn ^ 1]].symbol);  // the last bits have told that there are no more
      return weights->size() <= kMostWeights;
    }
    return false;
  }

  bool set(std::vector<uint8_t> weights) {
    uint32_t sum = 0;
    for (const uint8_t weight : weights) {
      if (weight > kMostLog) return false;
      if (weight != 0) sum += 1U << (weight - 1);
    }
    if (sum == 0) return false;
    log_ = high_bit(sum) + 1;
    const uint32_t left = (1U << log_) - sum;  // is the last symbol's
    if (log_ > kMostLog || !std::has_single_bit(left)) return false;
    weights.push_back(static_cast<uint8_t>(high_bit(left) + 1));
    entries_.clear();
    for (unsigned weight = 1; weight <= log_; ++weight) {
      for (size_t symbol = 0; symbol < weights.size(); ++symbol) {
        if (weights[symbol] != weight) continue;
        const Entry entry = {static_cast<uint8_t>(symbol), static_cast<uint8_t>(log_ + 1 - weight)};
        entries_.insert(entries_.end(), size_t{1} << (weight - 1), entry);
      }
    }
    return entries_.size() == size_t{1} << log_;
  }

  std::vector<Entry> entries_;
  unsigned log_ = 0;
};

/// What a code of a length stands for: the least, and the number of bits that are added.
struct Length {
  uint32_t least;
  uint8_t bits;
};
constexpr size_t kLiteralCodes = 36;
constexpr size_t kMatchCodes = 53;
constexpr size_t kOffsetCodes = 32;
constexpr uint32_t kLeastMatch = 3;

/// Codes below `plain` stand for themselves; bits of others as they are listed.
template <size_t kCount>
constexpr std::array<Length, kCount> lengths(size_t plain, uint32_t least, std::array<uint8_t, kCount> bits) {
  std::array<Length, kCount> all{};
  for (size_t code = 0; code < kCount; ++code) {
    all[code] = {least, bits[code - (code < plain ? code : plain)]};
    if (code < plain) all[code].bits = 0;
    least += 1U << all[code].bits;
  }
  return all;
}
constexpr auto kLiteralLengths =
    lengths<kLiteralCodes>(16, 0, {1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
constexpr auto kMatchLengths =
    lengths<kMatchCodes>(32, kLeastMatch, {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
static_assert(kLiteralLengths.back().least == 65536 && kMatchLengths.back().least == 65539);

// The tables that need not be written.
constexpr std::array<int16_t, kLiteralCodes> kLiteralStates = {
    4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
constexpr std::array<int16_t, kMatchCodes> kMatchStates = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                                           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                                           1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
constexpr std::array<int16_t, 29> kOffsetStates = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                                   1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

/// One of the three tables of sequences.
struct Kind {
  std::span<const int16_t> plain;
  unsigned plain_log;
  unsigned most_log;
  size_t codes;
};
constexpr std::array<Kind, 3> kKinds = {{
    {kLiteralStates, 6, 9, kLiteralCodes},
    {kOffsetStates, 5, 8, kOffsetCodes},
    {kMatchStates, 6, 9, kMatchCodes},
}};

class Frame {
 public:
  explicit Frame(std::span<uint8_t> out) : out_(out) {}

  bool decode(ByteView frame) {
    Input in(frame);
    bool checked = false;
    if (!read_head(in, &checked)) return false;
    for (bool last = false; !last;) {
      const auto head = static_cast<uint32_t>(in.number(3));
      last = (head & 1) != 0;
      if (in.failed() || !block(in, head >> 1 & 3, head >> 3)) return false;
    }
    if (checked) in.take(4);
    return !in.failed() && in.rest().empty() && used_ == out_.size();
  }

 private:
  static constexpr size_t kMostBlock = size_t{128} << 10;

  static bool read_head(Input &in, bool *checked) {
    constexpr uint32_t kMagic = 0xFD2FB528;
    if (in.number(4) != kMagic) return false;
    const auto what = static_cast<uint8_t>(in.number(1));
    const bool whole = (what & 0x20) != 0;  // one segment
    if ((what & 0x08) != 0) return false;
    *checked = (what & 0x04) != 0;
    if (!whole) in.take(1);  // how far back it reaches: we have everything
    constexpr std::array<uint8_t, 4> kDictionaryBytes = {0, 1, 2, 4};
    if (in.number(kDictionaryBytes[what & 3]) != 0) return false;
    constexpr std::array<uint8_t, 4> kSizeBytes = {0, 2, 4, 8};
    in.take(what >> 6 == 0 && whole ? 1 : kSizeBytes[what >> 6]);  // the size, which we are told
    return !in.failed();
  }

  bool block(Input &in, uint32_t type, uint32_t size) {
    switch (type) {
      case 0:
        return append(in.take(size)) && !in.failed();
      case 1: {
        const auto byte = static_cast<uint8_t>(in.number(1));
        if (in.failed() || size > room()) return false;
        std::fill_n(out_.data() + used_, size, byte);
        used_ += size;
        return true;
      }
      case 2: {
        Input content(in.take(size));
        return !in.failed() && read_literals(content) && sequences(content);
      }
      default:
        return false;
    }
  }

  [[nodiscard]] size_t room() const { return out_.size() - used_; }

  bool append(ByteView bytes) {
    if (bytes.size() > room()) return false;
    std::copy(bytes.begin(), bytes.end(), out_.data() + used_);
    used_ += bytes.size();
    return true;
  }

  bool read_literals(Input &in) {
    if (in.rest().empty()) return false;
    const uint8_t first = in.rest()[0];
    const unsigned type = first & 3;
    const unsigned format = first >> 2 & 3;
    if (type < 2) {
      constexpr std::array<uint8_t, 4> kBytes = {1, 2, 1, 3};
      const auto size = static_cast<size_t>(in.number(kBytes[format]) >> (format % 2 == 0 ? 3 : 4));
      if (in.failed() || size > kMostBlock) return false;
      if (type == 0) {
        literals_ = in.take(size);
      } else {
        decoded_.assign(size, static_cast<uint8_t>(in.number(1)));
        literals_ = decoded_;
      }
      return !in.failed();
    }
    constexpr std::array<uint8_t, 4> kBytes = {3, 3, 4, 5};
    constexpr std::array<uint8_t, 4> kBits = {10, 10, 14, 18};
    const uint64_t head = in.number(kBytes[format]) >> 4;
    const uint64_t mask = (uint64_t{1} << kBits[format]) - 1;
    const auto size = static_cast<size_t>(head & mask);
    Input coded(in.take(static_cast<size_t>(head >> kBits[format] & mask)));
    if (in.failed() || size > kMostBlock) return false;
    if (type == 2 && !codes_.read(coded)) return false;
    if (!codes_.known()) return false;
    decoded_.resize(size);
    literals_ = decoded_;
    if (format == 0) return codes_.decode(coded.rest(), decoded_);
    std::array<size_t, 3> sizes{};
    for (size_t &each : sizes) each = static_cast<size_t>(coded.number(2));
    const size_t part = (size + 3) / 4;
    std::span<uint8_t> rest = decoded_;
    for (const size_t bytes : sizes) {
      if (part > rest.size() || !codes_.decode(coded.take(bytes), rest.first(part))) return false;
      rest = rest.subspan(part);
    }
    return !coded.failed() && codes_.decode(coded.rest(), rest);
  }

  bool sequences(Input &in) {
    auto count = static_cast<uint32_t>(in.number(1));
    if (count == 255) {
      count = static_cast<uint32_t>(in.number(2)) + 0x7F00;
    } else if (count >= 128) {
      count = (count - 128) << 8 | static_cast<uint32_t>(in.number(1));
    }
    if (in.failed()) return false;
    if (count == 0) return in.rest().empty() && append(literals_);
    const auto modes = static_cast<uint8_t>(in.number(1));
    if (in.failed() || (modes & 3) != 0) return false;
    for (size_t kind = 0; kind < kKinds.size(); ++kind) {
      if (!read_states(in, modes >> (6 - 2 * kind) & 3, kind)) return false;
    }
    return run(count, in.rest()) && append(literals_);
  }

  bool read_states(Input &in, unsigned mode, size_t number) {
    const Kind &kind = kKinds[number];
    States &states = states_[number];
    switch (mode) {
      case 0:
        states.set(kind.plain, kind.plain_log);
        return true;
      case 1: {
        const uint64_t symbol = in.number(1);
        if (in.failed() || symbol >= kind.codes) return false;
        states.set_single(static_cast<uint8_t>(symbol));
        return true;
      }
      case 2:
        return states.read(in, kind.most_log, kind.codes - 1);
      default:
        return !states.all.empty();
    }
  }

  bool run(uint32_t count, ByteView bytes) {
    BackwardBits bits(bytes);
    std::array<const States::State *, 3> at{};
    for (size_t kind = 0; kind < at.size(); ++kind) at[kind] = &states_[kind].all[bits.read(states_[kind].log)];
    for (uint32_t i = 0; i < count; ++i) {
      const unsigned offset_bits = at[1]->symbol;
      const Length &match = kMatchLengths[at[2]->symbol];
      const Length &literal = kLiteralLengths[at[0]->symbol];
      const uint64_t offset = (uint64_t{1} << offset_bits) + bits.read(offset_bits);
      const size_t match_size = match.least + bits.read(match.bits);
      const size_t literal_size = literal.least + bits.read(literal.bits);
      if (bits.left() < 0 || literal_size > literals_.size()) return false;
      if (!append(literals_.first(literal_size))) return false;
      literals_ = literals_.subspan(literal_size);
      if (!repeat(distance_of(offset, literal_size == 0), match_size)) return false;
      if (i + 1 == count) break;
      for (const size_t kind : {0, 2, 1}) at[kind] = &states_[kind].all[at[kind]->base + bits.read(at[kind]->bits)];
    }
    return bits.left() == 0;
  }

  /// Of an offset as it is coded: 1 to 3 are those that were last.
  uint64_t distance_of(uint64_t offset, bool no_literals) {
    uint64_t distance = 0;
    size_t moved = 2;
    if (offset > recent_.size()) {
      distance = offset - recent_.size();
    } else {
      const size_t which = static_cast<size_t>(offset) - 1 + (no_literals ? 1 : 0);
      distance = which < recent_.size() ? recent_[which] : recent_[0] - 1;
      moved = std::min(which, moved);
    }
    for (; moved != 0; --moved) recent_[moved] = recent_[moved - 1];
    return recent_[0] = distance;
  }

  bool repeat(uint64_t distance, size_t size) {
    if (distance == 0 || distance > used_ || size > room()) return false;
    uint8_t *to = out_.data() + used_;
    const uint8_t *from = to - distance;
    used_ += size;
    if (distance >= size) {
      std::memcpy(to, from, size);
    } else {
      for (; size != 0; --size) *to++ = *from++;
    }
    return true;
  }

  std::span<uint8_t> out_;
  size_t used_ = 0;
  ByteView literals_;  ///< of the block, that were not yet taken
  Bytes decoded_;      ///< they, unless they stand in the frame
  Codes codes_;
  std::array<States, 3> states_;
  std::array<uint64_t, 3> recent_ = {1, 4, 8};
};

}  // namespace

bool unzstd(ByteView frame, std::span<uint8_t> out) { return Frame(out).decode(frame); }

}  // namespace cairn::codec
