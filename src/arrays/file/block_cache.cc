#include "arrays/file/block_cache.h"

#include <utility>

namespace cairn::arrays {

BlockCache::Values BlockCache::find(size_t block, uint64_t sequence) {
  const auto known = by_block_.find(block);
  if (known == by_block_.end() || known->second->sequence != sequence) return nullptr;
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->values;
}

BlockCache::Values BlockCache::keep(size_t block, uint64_t sequence, Bytes values) {
  if (const auto old = by_block_.find(block); old != by_block_.end()) {
    bytes_ -= old->second->values->size();
    entries_.erase(old->second);
  }
  bytes_ += values.size();
  entries_.push_front({block, sequence, std::make_shared<const Bytes>(std::move(values))});
  by_block_[block] = entries_.begin();
  while (bytes_ > kMost && entries_.size() > 1) {
    bytes_ -= entries_.back().values->size();
    by_block_.erase(entries_.back().block);
    entries_.pop_back();
  }
  return entries_.front().values;
}

void BlockCache::clear() {
  entries_.clear();
  by_block_.clear();
  bytes_ = 0;
}

}  // namespace cairn::arrays
