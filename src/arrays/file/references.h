// References: what a writer keeps of the blocks that it wrote last, so that the same box one time step later can be
// coded against them.
//
// A box is the same one later if its regions are an earlier one's, moved by whole steps: from one record to the next,
// or along the first dimension of a variable that has no records. Kept are values, at most `kMost` bytes: of boxes
// beyond that none, until those that are kept have not been seen for as long as it takes to see all of them twice. A
// chain of blocks that are each coded against the one before is cut after `chain` of them, since a reader of its last
// has to decode them all.
//
// Where nobody said how long chains are to be (`Chain::chosen`), each variable's are as long as it pays. Of its first
// boxes a few are coded both ways, alone and against the step before. If one against another takes the share x of one
// alone, a step takes (1 + kx) / (k + 1) of that with chains of k: they are 1, 3 or 7 long, the longest of which each
// saves a twentieth more than the next shorter. An example: atoms with x = 0.7 save 15 % with 1, 22 % with 3, and 26 %
// with 7, so theirs are 3, and who reads a single step reads two and a half in the mean. Of a variable that does not
// pay nothing is kept any more.
//
// Source: the time-step variant of Bicer, Yin, Agrawal, III.C. One thread at a time. Cost: a hash of the regions; of
// the few boxes that are coded both ways, that.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>

#include "arrays/file/block_cache.h"
#include "arrays/file/block_code.h"
#include "arrays/file/header.h"
#include "arrays/file/index.h"

namespace cairn::arrays {

/// How many blocks may be coded against each other, one after the other.
struct Chain {
  uint32_t most = 0;    ///< that one needs at most; 0: none is coded against another
  bool chosen = false;  ///< by what pays, for each variable whose codec is chosen, too (`auto`)
  uint64_t blocks = std::numeric_limits<uint64_t>::max();  ///< where it is chosen: those after so many stand alone

  /// Where nobody asked for any, of one of so many writers of a file that has so many blocks: chains of the file's
  /// first ones, four segments of its index full, since whoever reads any of a file takes these in.
  static Chain automatic(uint64_t writers, uint64_t there = 0, const IndexSizes &sizes = {});
};

/// A box's values, and how they are to be coded.
struct Box {
  int variable = -1;                ///< its number, or -1 for bytes between variables
  const Variable *owner = nullptr;  ///< the variable
  codec::Element element = codec::Element::u8;
  ByteView values;  ///< little-endian
  bool exact = false;
  uint8_t user_number = 0;
};

class References {
 public:
  explicit References(Chain chain = {}) : chain_(chain) {}

  /// The box as a block, its bytes behind those of `out`, against what was kept of it if that is to be; kept for the
  /// next one.
  Block append(const Header &header, Regions regions, const Box &box, const Coding &coding, uint64_t sequence,
               Bytes *out);
  /// Whether blocks that come may be coded against others, and as far as is known will be.
  [[nodiscard]] bool go_on() const { return chain_.most > 0; }
  /// They stand alone from now on.
  void end();
  /// How long chains of a variable are; nothing where that is not known yet.
  [[nodiscard]] std::optional<uint32_t> length(int variable) const;
  /// Lets go of what was kept of blocks whose sequence number is none of `index`.
  void keep_those_of(const Index &index);
  void clear();

 private:
  static constexpr uint64_t kMost = uint64_t{64} << 20;
  struct Earlier {
    uint64_t sequence = 0;
    uint64_t checksum = 0;
    BlockCache::Values values;
    [[nodiscard]] Reference reference() const {
      return {sequence, checksum, values == nullptr ? ByteView{} : ByteView(*values)};
    }
  };
  struct Kept {
    int variable;
    Regions regions;
    codec::Element element;
    uint64_t sequence;
    uint64_t checksum;
    uint32_t depth;
    uint64_t used;
    BlockCache::Values values;
  };
  struct Place {
    uint64_t key;   ///< equal for boxes that are whole steps apart
    uint64_t step;  ///< bytes
  };
  /// What was tried of a variable.
  struct Trial {
    uint32_t boxes = 0;
    uint32_t kept = 0;
    uint64_t alone = 0;
    uint64_t against = 0;
    std::optional<uint32_t> length;
  };
  /// Nothing if it is none that comes again.
  [[nodiscard]] std::optional<Place> place_of(const Header &header, int variable, const Regions &regions) const;
  Earlier find(const Place &place, const Regions &regions, codec::Element element, uint32_t length);
  void keep(const Place &place, const Box &box, const Block &block);
  void try_both(const Block &alone, const Box &box, const Coding &coding, const Earlier &earlier);
  template <typename Gone>
  void drop_if(Gone gone);
  void make_room(uint64_t bytes);

  Chain chain_;
  std::unordered_map<int, Trial> trials_;    ///< by variable
  std::unordered_map<uint64_t, Kept> kept_;  ///< by the box, wherever in time
  uint64_t bytes_ = 0;
  uint64_t clock_ = 0;
  uint64_t coded_ = 0;
};

}  // namespace cairn::arrays
