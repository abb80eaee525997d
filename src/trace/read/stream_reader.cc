#include "trace/read/stream_reader.h"

#include <algorithm>
#include <utility>

#include "grammar/prefix_sums.h"

namespace cairn::trace {
namespace {

uint64_t as_count(const Field &value) {
  return value.atoms.empty() || value.atoms[0] < 0 ? 0 : static_cast<uint64_t>(value.atoms[0]);
}

/// Counts, by symbol.
struct CountSums {
  using Sum = uint64_t;
  using Kept = uint64_t;
  std::vector<uint64_t> counts;

  static Sum nothing() { return 0; }
  static void add_count(Sum *sum, uint64_t count, uint64_t times) {
    uint64_t more = 0;
    if (__builtin_mul_overflow(count, times, &more) || __builtin_add_overflow(*sum, more, sum)) *sum = UINT64_MAX;
  }
  void add(Sum *sum, grammar::Symbol symbol, uint64_t times) const {
    add_count(sum, symbol < counts.size() ? counts[symbol] : 0, times);
  }
  static void add(Sum *sum, const Kept &rule, uint64_t times) { add_count(sum, rule, times); }
  static Kept keep(const Sum &sum) { return sum; }
};

/// What an atom's differences come to, each modulo 2^64: specials, which leave the value before alone, are 0.
struct DifferenceSums {
  using Kept = std::vector<uint64_t>;
  struct Sum {
    Kept atoms;
  };
  std::vector<Kept> differences;  ///< by symbol

  static Sum nothing() { return {}; }
  static void add(Sum *sum, const Kept &more, uint64_t times) {
    sum->atoms.resize(std::max(sum->atoms.size(), more.size()));
    for (size_t i = 0; i < more.size(); ++i) sum->atoms[i] += more[i] * times;
  }
  void add(Sum *sum, grammar::Symbol symbol, uint64_t times) const {
    if (symbol < differences.size()) add(sum, differences[symbol], times);
  }
  static Kept keep(const Sum &sum) { return sum.atoms; }
};

std::vector<uint64_t> without_specials(const Field &difference) {
  std::vector<uint64_t> atoms;
  for (const Atom atom : difference.atoms) atoms.push_back(is_special(atom) ? 0 : static_cast<uint64_t>(atom));
  return atoms;
}

}  // namespace

struct StreamReader::Index {
  explicit Index(const grammar::Grammar &order) : terms(order) {}
  grammar::TermIndex terms;
  std::optional<grammar::PrefixSums<CountSums>> counts;
  std::optional<grammar::PrefixSums<DifferenceSums>> differences;
};

StreamReader::StreamReader(StreamReader &&) noexcept = default;
StreamReader &StreamReader::operator=(StreamReader &&) noexcept = default;
StreamReader::~StreamReader() = default;

StreamReader::StreamReader(const StreamVariant &variant, uint32_t field, uint64_t member, bool stays)
    : variant_(&variant),
      field_(field),
      member_(member),
      stays_(stays && variant.order->length() == 1),
      walker_(*variant.order),
      values_(variant.values.size()) {}

void StreamReader::next(ByteWriter *key) {
  if (stays_ && current_ != nullptr) return;
  const grammar::Symbol symbol = walker_.next();
  current_ = &sum_;
  if (symbol >= values_.size()) return;  // only if the trace contradicts itself
  const Field &value = value_of(symbol);
  if (variant_->differences) {
    apply(value);
    pack_field(sum_, *key);
  } else {
    current_ = &value;
    key->varint(symbol);
  }
}

uint64_t StreamReader::next_count() {
  ByteWriter unused;
  next(&unused);
  return as_count(*current_);
}

const Field &StreamReader::value_of(grammar::Symbol symbol) {
  if (!values_[symbol]) values_[symbol] = std::move(variant_->values[symbol]->at(member_).fields[0]);
  return *values_[symbol];
}

StreamReader::Index &StreamReader::index() {
  if (!index_) index_ = std::make_unique<Index>(*variant_->order);
  return *index_;
}

void StreamReader::seek(uint64_t place) {
  if (stays_) return;
  Index &index = this->index();
  walker_ = grammar::Walker(*variant_->order, place, &index.terms);
  if (!variant_->differences) return;
  if (!index.differences) {
    DifferenceSums sums;
    for (grammar::Symbol s = 0; s < values_.size(); ++s) sums.differences.push_back(without_specials(value_of(s)));
    index.differences.emplace(*variant_->order, std::move(sums));
  }
  last_ = index.differences->before(place).atoms;
}

uint64_t StreamReader::counts_before(uint64_t place) {
  Index &index = this->index();
  if (!index.counts) {
    CountSums sums;
    for (grammar::Symbol s = 0; s < values_.size(); ++s) sums.counts.push_back(as_count(value_of(s)));
    index.counts.emplace(*variant_->order, std::move(sums));
  }
  uint64_t sum = 0;
  CountSums::add_count(&sum, index.counts->before(stays_ ? 1 : place), stays_ ? place : 1);
  return sum;
}

void StreamReader::apply(const Field &difference) {
  sum_.is_bytes = difference.is_bytes;
  sum_.bytes = difference.bytes;
  sum_.atoms.resize(difference.atoms.size());
  last_.resize(std::max(last_.size(), difference.atoms.size()));
  for (size_t i = 0; i < difference.atoms.size(); ++i) {
    if (is_special(difference.atoms[i])) {
      sum_.atoms[i] = difference.atoms[i];
    } else {
      last_[i] += static_cast<uint64_t>(difference.atoms[i]);
      sum_.atoms[i] = static_cast<Atom>(last_[i]);
    }
  }
}

}  // namespace cairn::trace
