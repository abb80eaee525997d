#include "trace/file/block_source.h"

#include <algorithm>

#include "base/as_size.h"

namespace cairn::trace {

Result<std::shared_ptr<const BlockSource::Block>> BlockSource::read(uint32_t rank, Atom offset,
                                                                    const Sequences &sequences) const {
  {
    const Locked guard(lock_);
    if (last_ != nullptr && last_->rank == rank) return last_;
    last_.reset();  // two may be too large for memory
  }
  auto block = load(rank, offset, sequences);
  if (!block) return block;
  const Locked guard(lock_);
  last_ = *block;
  return block;
}

tl::unexpected<Error> BlockSource::wrong(const std::string &how, const std::string &what, uint64_t offset) const {
  return tl::unexpected(Error{ErrorKind::unreadable,
                              "section '" + section_name(blocks_.kind) + "' " + how + ": " + what,
                              path_,
                              blocks_.offset + offset,
                              {}});
}

Result<BlockFront> BlockSource::front_at(uint64_t offset, const std::string &what) const {
  if (offset >= blocks_.decoded_size) return wrong("ends too early", what, 0);
  const Result<Bytes> first = bytes(offset, kMostBlockFront);
  if (!first) return tl::unexpected(first.error());
  BlockFront front;
  if (!parse_front(*first, &front) || front.size > blocks_.decoded_size - offset - front.bytes) {
    return wrong("is malformed", what, offset);
  }
  return front;
}

Result<Bytes> BlockSource::content(uint64_t offset, const std::string &what, BlockFront *front,
                                   std::optional<Error> *damage) const {
  const Result<BlockFront> found = front_at(offset, what);
  if (!found) return tl::unexpected(found.error());
  *front = *found;
  Result<Bytes> rest = bytes(offset + front->bytes, front->size);
  if (!rest || holds(*front, *rest)) return rest;
  tl::unexpected<Error> error = wrong("has a wrong checksum", what, offset);
  if (damage == nullptr) return error;
  *damage = error.value();
  return rest;
}

Result<Bytes> BlockSource::read_next(uint64_t *offset, const std::string &what) const {
  BlockFront front;
  Result<Bytes> found = content(*offset, what, &front);
  if (found) *offset += front.bytes + front.size;
  return found;
}

Result<Bytes> BlockSource::peek(uint64_t *offset, uint64_t most, const std::string &what) const {
  const Result<BlockFront> front = front_at(*offset, what);
  if (!front) return tl::unexpected(front.error());
  Result<Bytes> first = bytes(*offset + front->bytes, std::min(most, front->size));
  if (first) *offset += front->bytes + front->size;
  return first;
}

Result<std::shared_ptr<const BlockSource::Block>> BlockSource::load(uint32_t rank, Atom offset,
                                                                    const Sequences &sequences) const {
  const std::string what = "the block of rank " + std::to_string(rank);
  if (offset < 0) return wrong("ends too early", what, 0);
  BlockFront front;
  const auto block = std::make_shared<Block>();
  Result<Bytes> rest = content(static_cast<uint64_t>(offset), what, &front, &block->damage);
  if (!rest) return tl::unexpected(rest.error());
  block->rank = rank;
  block->bytes = *std::move(rest);
  if (block->damage) {
    if (!parse_damaged_block(block->bytes, sequences(), &block->streams)) return tl::unexpected(*block->damage);
    return block;
  }
  const char *how = parse_block(block->bytes, rank, &block->streams);
  if (how != nullptr) return wrong(how, what, static_cast<uint64_t>(offset));
  return block;
}

/// `size` bytes from `offset` of the section on, or as many as it has.
Result<Bytes> BlockSource::bytes(uint64_t offset, uint64_t size) const {
  size = std::min(size, blocks_.decoded_size - offset);
  if (read_) return read_(blocks_.offset + offset, size);
  const ByteView view = blocks_.bytes.subspan(as_size(offset), as_size(size));
  return Bytes(view.begin(), view.end());
}

}  // namespace cairn::trace
