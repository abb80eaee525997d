// References: what a writer keeps of the blocks that it wrote last, so that the same box one time step later can be
// coded against them.
//
// A box is the same one later if its regions are an earlier one's, moved by whole steps: from one record to the next,
// or along the first dimension of a variable that has no records. Kept are values, at most `kMost` bytes: of boxes
// beyond that none, until those that are kept have not been seen for as long as it takes to see all of them twice. A
// chain of blocks that are each coded against the one before is cut after `chain` of them, since a reader of its last
// has to decode them all.
//
// Source: the time-step variant of Bicer, Yin, Agrawal, III.C. One thread at a time. Cost: a hash of the regions.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "arrays/file/block_cache.h"
#include "arrays/file/block_code.h"
#include "arrays/file/header.h"
#include "arrays/file/index.h"

namespace cairn::arrays {

class References {
 public:
  /// `chain`: most blocks before one that it needs; 0: nothing is ever kept.
  explicit References(uint32_t chain = 0) : chain_(chain) {}

  struct Earlier {
    uint64_t sequence = 0;
    uint64_t checksum = 0;
    BlockCache::Values values;
    [[nodiscard]] Reference reference() const {
      return {sequence, checksum, values == nullptr ? ByteView{} : ByteView(*values)};
    }
  };
  /// What a box of the variable may be coded against; no values if nothing.
  Earlier find(const Header &header, int variable, const Regions &regions, codec::Element element);
  /// The block is what the next one may be coded against, if a reader gets exactly these values. Takes them.
  void keep(const Header &header, int variable, const Block &block, Bytes values);
  /// Lets go of what was kept of blocks whose sequence number is none of `index`.
  void keep_those_of(const Index &index);
  void clear();

 private:
  static constexpr uint64_t kMost = uint64_t{64} << 20;
  struct Kept {
    Regions regions;
    codec::Element element;
    uint64_t sequence;
    uint64_t checksum;
    uint32_t depth;
    uint64_t used;
    BlockCache::Values values;
  };
  struct Box {
    uint64_t key;   ///< equal for boxes that are whole steps apart
    uint64_t step;  ///< bytes
  };
  /// Nothing if it is none that comes again.
  [[nodiscard]] std::optional<Box> box_of(const Header &header, int variable, const Regions &regions) const;
  template <typename Gone>
  void drop_if(Gone gone);
  void make_room(uint64_t bytes);

  uint32_t chain_;
  std::unordered_map<uint64_t, Kept> kept_;  ///< by the box, wherever in time
  uint64_t bytes_ = 0;
  uint64_t clock_ = 0;
};

}  // namespace cairn::arrays
