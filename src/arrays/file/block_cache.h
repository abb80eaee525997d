// BlockCache: the decoded values of blocks that were used last, for the next request.
//
// A block is known by its number in its index and by its sequence number, so that one that was replaced is not taken
// for the new one; after the index was numbered anew, clear it. What was handed out stays, whatever leaves the cache.
// One thread at a time.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "base/bytes.h"

namespace cairn::arrays {

class BlockCache {
 public:
  using Values = std::shared_ptr<const Bytes>;

  /// nullptr if they are not here.
  Values find(size_t block, uint64_t sequence);
  /// Keeps them, and lets go of what was not used for longest beyond 64 MiB.
  Values keep(size_t block, uint64_t sequence, Bytes values);
  void clear();

 private:
  static constexpr uint64_t kMost = uint64_t{64} << 20;
  struct Entry {
    size_t block;
    uint64_t sequence;
    Values values;
  };
  std::list<Entry> entries_;  ///< the last used first
  std::unordered_map<size_t, std::list<Entry>::iterator> by_block_;
  uint64_t bytes_ = 0;
};

}  // namespace cairn::arrays
