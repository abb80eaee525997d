#include "arrays/file/block_cache.h"

#include <algorithm>
#include <utility>

namespace cairn::arrays {

BlockCache::Values BlockCache::find(size_t block, uint64_t sequence) {
  const auto known = std::ranges::find(entries_, block, &Entry::block);
  if (known == entries_.end() || known->sequence != sequence) return nullptr;
  entries_.splice(entries_.begin(), entries_, known);
  return known->values;
}

BlockCache::Values BlockCache::keep(size_t block, uint64_t sequence, Bytes values) {
  const auto old = std::ranges::find(entries_, block, &Entry::block);
  if (old != entries_.end()) {
    bytes_ -= old->values->size();
    entries_.erase(old);
  }
  bytes_ += values.size();
  entries_.push_front({block, sequence, std::make_shared<const Bytes>(std::move(values))});
  while (bytes_ > kMost && entries_.size() > 1) {
    bytes_ -= entries_.back().values->size();
    entries_.pop_back();
  }
  return entries_.front().values;
}

void BlockCache::clear() {
  entries_.clear();
  bytes_ = 0;
}

}  // namespace cairn::arrays
