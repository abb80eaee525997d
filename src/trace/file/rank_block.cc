#include "trace/file/rank_block.h"

#include <algorithm>

#include "base/as_size.h"
#include "base/hash.h"
#include "trace/file/file.h"
#include "trace/merge/part_body.h"

namespace cairn::trace {

RankBlock::RankBlock(const Part &part) {
  uint64_t size = 0;
  std::vector<const ClassHead *> classes;
  for (const ClassPart &each : part.body().classes) classes.push_back(&each);
  for (const PackedClass &each : part.body().packed) classes.push_back(&each);
  for (const ClassHead *each : classes) {
    if (each->times.empty()) continue;
    ByteWriter head;
    if (pieces_.empty()) {
      pieces_.emplace_back();  // the front
      head.varint(part.body().ranks.front());
    }
    const Bytes &times = each->times[0].stream;
    head.varint(each->thread);
    head.varint(static_cast<uint32_t>(each->segment + 1));
    head.varint(times.size());
    heads_.push_back(head.take());
    pieces_.emplace_back(heads_.back());
    pieces_.emplace_back(times);
    size += heads_.back().size() + times.size();
  }
  if (pieces_.empty()) return;
  ByteWriter front;
  front.varint(size);
  front.fixed32(static_cast<uint32_t>(hash64(std::span(pieces_).subspan(1))));
  heads_.push_back(front.take());
  pieces_[0] = heads_.back();
}

uint64_t RankBlock::size() const {
  uint64_t size = 0;
  for (const ByteView piece : pieces_) size += piece.size();
  return size;
}

bool parse_front(ByteView bytes, BlockFront *front) {
  ByteReader in(bytes);
  front->size = in.varint();
  front->checksum = in.fixed32();
  front->bytes = in.position();
  return !in.failed();
}

bool holds(const BlockFront &front, ByteView bytes) {
  return bytes.size() == front.size && checksum(bytes) == front.checksum;
}

const char *parse_block(ByteView bytes, uint32_t rank, std::vector<BlockStream> *streams) {
  ByteReader in(bytes);
  if (in.varint() != rank) return "is of another rank";
  while (!in.at_end() && !in.failed()) {
    const uint64_t thread = in.varint();
    const uint64_t segment = in.varint();
    const ByteView times = in.blob();
    if (thread > UINT32_MAX || segment > UINT32_MAX) in.fail();
    streams->push_back({static_cast<uint32_t>(thread), static_cast<uint32_t>(segment) - 1, times});
  }
  return in.failed() ? "is malformed" : nullptr;
}

bool parse_damaged_block(ByteView bytes, std::vector<std::pair<uint32_t, uint32_t>> sequences,
                         std::vector<BlockStream> *streams) {
  ByteReader in(bytes);
  in.varint();  // the rank: the offset that leads here says it
  std::vector<std::pair<uint32_t, uint32_t>> found;
  while (found.size() < sequences.size() && !in.failed()) {
    const auto thread = static_cast<uint32_t>(in.varint());
    const auto segment = static_cast<uint32_t>(in.varint()) - 1;
    found.emplace_back(thread, segment);
    const uint64_t size = in.varint();
    const bool last = found.size() == sequences.size();
    if (!last && size > in.remaining()) return false;
    streams->push_back({thread, segment, in.raw(last ? in.remaining() : as_size(size))});
    streams->back().end_is_sure = streams->back().times.size() == size;
  }
  std::sort(found.begin(), found.end());
  std::sort(sequences.begin(), sequences.end());
  return !in.failed() && found == sequences;
}

}  // namespace cairn::trace
