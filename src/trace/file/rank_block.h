// RankBlock: the times of one rank's calls as one block of the section `blocks` (docs/format.md): a length, a checksum
// of its own, then each sequence's stream. Every rank's block is written in place by that rank; nobody else needs it.
//
// Made of views into the Part that has the times, so that they exist once. `parse_block` trusts nothing and says what
// is wrong. No state, no OS calls.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "trace/merge/part.h"

namespace cairn::trace {

class RankBlock {
 public:
  /// Of the only rank of `part`, which must outlive it unchanged. Empty if that has no times.
  explicit RankBlock(const Part &part);
  RankBlock(const RankBlock &) = delete;
  RankBlock &operator=(const RankBlock &) = delete;

  [[nodiscard]] uint64_t size() const;
  /// One after the other they are the block.
  [[nodiscard]] const std::vector<ByteView> &pieces() const { return pieces_; }

 private:
  std::vector<Bytes> heads_;
  std::vector<ByteView> pieces_;
};

/// The first bytes of a block, whatever it holds.
constexpr size_t kMostBlockFront = kMaxVarint + 4;
struct BlockFront {
  size_t bytes = 0;   ///< of the front itself
  uint64_t size = 0;  ///< of what follows
  uint32_t checksum = 0;
};
/// False if these are not the first bytes of a block.
bool parse_front(ByteView bytes, BlockFront *front);

struct BlockStream {
  uint32_t thread = 0;
  uint32_t segment = 0;
  ByteView times;
  bool end_is_sure = true;  ///< unless damage has cut it short or added to it
};
/// Whether that is what follows the front.
bool holds(const BlockFront &front, ByteView bytes);
/// What follows the front; nullptr, or what is wrong with it.
const char *parse_block(ByteView bytes, uint32_t rank, std::vector<BlockStream> *streams);
/// The same of a damaged block of a rank that has these sequences, each a thread and a segment. Nothing but that they
/// are all there, each once, confirms whose times these are: else false.
bool parse_damaged_block(ByteView bytes, std::vector<std::pair<uint32_t, uint32_t>> sequences,
                         std::vector<BlockStream> *streams);

}  // namespace cairn::trace
