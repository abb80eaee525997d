// GroupNumbers: the groups of a block's calls (block.h), numbered in the order in which they first occur in it, from
// numbers that they have elsewhere.
//
// One thread at a time. `add` costs a table lookup; memory in proportion to the groups, and to the block's calls.
#pragma once

#include <cstdint>
#include <vector>

#include "timing/block.h"

namespace cairn::timing {

class GroupNumbers {
 public:
  void begin_block() {
    groups_.clear();
    bounds_.clear();
    depths_.clear();
    ++block_;
  }
  /// The next call of the block.
  void add(uint32_t group, uint64_t bound = 0, uint32_t depth = 0) {
    if (group >= known_.size()) known_.resize(group + 1 + group / 2);
    Known &known = known_[group];
    if (known.block != block_) {
      known = {block_, static_cast<uint32_t>(bounds_.size())};
      bounds_.push_back(bound);
      depths_.push_back(depth);
    }
    groups_.push_back(known.number);
  }
  [[nodiscard]] BlockCalls calls() const { return {groups_, bounds_, depths_}; }

 private:
  struct Known {
    uint64_t block = 0;
    uint32_t number = 0;
  };
  std::vector<Known> known_;
  uint64_t block_ = 0;
  std::vector<uint32_t> groups_;
  std::vector<uint64_t> bounds_;
  std::vector<uint32_t> depths_;
};

}  // namespace cairn::timing
