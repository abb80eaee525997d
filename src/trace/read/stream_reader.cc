#include "trace/read/stream_reader.h"

#include <algorithm>

namespace cairn::trace {

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
  if (!values_[symbol]) values_[symbol] = std::move(variant_->values[symbol]->at(member_).fields[0]);
  if (variant_->differences) {
    apply(*values_[symbol]);
    pack_field(sum_, *key);
  } else {
    current_ = &*values_[symbol];
    key->varint(symbol);
  }
}

uint64_t StreamReader::next_count() {
  ByteWriter unused;
  next(&unused);
  return current_->atoms.empty() || current_->atoms[0] < 0 ? 0 : static_cast<uint64_t>(current_->atoms[0]);
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
