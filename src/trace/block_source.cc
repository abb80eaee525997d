#include "trace/block_source.h"

#include <algorithm>

namespace cairn::trace {

Result<std::shared_ptr<const BlockSource::Block>> BlockSource::read(uint32_t rank, Atom offset) const {
  {
    const std::scoped_lock guard(lock_);
    if (last_ != nullptr && last_->rank == rank) return last_;
    last_.reset();  // two may be too large for memory
  }
  auto block = load(rank, offset);
  if (!block) return block;
  const std::scoped_lock guard(lock_);
  last_ = *block;
  return block;
}

Result<std::shared_ptr<const BlockSource::Block>> BlockSource::load(uint32_t rank, Atom offset) const {
  const auto wrong = [&](const std::string &what) {
    return tl::unexpected(
        Error{ErrorKind::unreadable,
              "section '" + section_name(blocks_.kind) + "' " + what + ": the block of rank " + std::to_string(rank),
              path_,
              blocks_.offset + (offset > 0 ? static_cast<uint64_t>(offset) : 0),
              {}});
  };
  if (offset < 0 || static_cast<uint64_t>(offset) >= blocks_.decoded_size) return wrong("ends too early");
  const auto begin = static_cast<uint64_t>(offset);
  BlockFront front;
  const Result<Bytes> first = bytes(begin, kMostBlockFront);
  if (!first) return tl::unexpected(first.error());
  if (!parse_front(*first, &front) || front.size > blocks_.decoded_size - begin - front.bytes) {
    return wrong("is malformed");
  }
  Result<Bytes> rest = bytes(begin + front.bytes, front.size);
  if (!rest) return tl::unexpected(rest.error());
  const auto block = std::make_shared<Block>();
  block->rank = rank;
  block->bytes = *std::move(rest);
  const char *what = parse_block(front, block->bytes, rank, &block->streams);
  if (what != nullptr) return wrong(what);
  return block;
}

/// `size` bytes from `offset` of the section on, or as many as it has.
Result<Bytes> BlockSource::bytes(uint64_t offset, uint64_t size) const {
  size = std::min(size, blocks_.decoded_size - offset);
  if (disk_ != nullptr) return disk_->read(blocks_.offset + offset, size);
  const ByteView view = blocks_.bytes.subspan(offset, size);
  return Bytes(view.begin(), view.end());
}

}  // namespace cairn::trace
