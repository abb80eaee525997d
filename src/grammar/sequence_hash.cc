#include "grammar/sequence_hash.h"

#include "grammar/grammar.h"

namespace cairn::grammar {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;
// Drawn at random once; part of every comparison between ranks, so never to be changed.
constexpr uint64_t kBases[2] = {0x0B7E151628AED2A6, 0x1243F6A8885A308D};
constexpr uint64_t kSeeds[2] = {0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F};
static_assert(kBases[0] < kPrime && kBases[1] < kPrime);

constexpr uint64_t add(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum >= kPrime ? sum - kPrime : sum;
}

constexpr uint64_t multiply(uint64_t a, uint64_t b) {
  const Wide product = Wide{a} * b;
  return add(static_cast<uint64_t>(product) & kPrime, static_cast<uint64_t>(product >> 61));
}

/// The finalizer of splitmix64 (Steele, Lea & Flood 2014).
constexpr uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

}  // namespace

SequenceHash SequenceHash::of(Symbol symbol) {
  SequenceHash hash;
  for (int i = 0; i < 2; ++i) {
    hash.lanes_[i].sum = mix(symbol + kSeeds[i]) % kPrime;
    hash.lanes_[i].power = kBases[i];
  }
  hash.length_ = 1;
  return hash;
}

SequenceHash SequenceHash::then(const SequenceHash &next) const {
  SequenceHash both;
  for (int i = 0; i < 2; ++i) {
    both.lanes_[i].sum = add(multiply(lanes_[i].sum, next.lanes_[i].power), next.lanes_[i].sum);
    both.lanes_[i].power = multiply(lanes_[i].power, next.lanes_[i].power);
  }
  both.length_ = length_ + next.length_;
  return both;
}

SequenceHash SequenceHash::times(uint64_t count) const {
  SequenceHash result;
  for (SequenceHash square = *this; count != 0; count >>= 1) {
    if ((count & 1) != 0) result = result.then(square);
    if (count > 1) square = square.then(square);
  }
  return result;
}

SequenceHash SequenceHash::behind(const SequenceHash &first) const {
  SequenceHash rest = of(0).times(length_ - first.length_);  // for its power
  for (int i = 0; i < 2; ++i) {
    const uint64_t begin = multiply(first.lanes_[i].sum, rest.lanes_[i].power);
    rest.lanes_[i].sum = add(lanes_[i].sum, kPrime - begin);
  }
  return rest;
}

Hash128 SequenceHash::value() const {
  return {mix(lanes_[0].sum ^ mix(length_)), mix(lanes_[1].sum + mix(length_ + kSeeds[1]))};
}

Hash128 Grammar::sequence_hash() const {
  return sequence_hash([](Symbol symbol) { return symbol; });
}

Hash128 Grammar::sequence_hash(const std::function<Symbol(Symbol)> &map) const {
  std::vector<SequenceHash> hashes(rules_.size());
  for (size_t i = rules_.size(); i-- > 0;) {
    SequenceHash whole;
    for (const Term &term : rules_[i]) {
      const SequenceHash one = term.is_rule ? hashes[term.id] : SequenceHash::of(map(term.id));
      whole = whole.then(term.count == 1 ? one : one.times(term.count));
    }
    hashes[i] = whole;
  }
  return hashes.empty() ? SequenceHash().value() : hashes[0].value();
}

}  // namespace cairn::grammar
