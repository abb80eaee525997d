#include "timing/chunks.h"

#include "codec/codec.h"

namespace cairn::timing {
namespace {

constexpr uint64_t kMostBytes = 65536;  ///< of a chunk's pairs

struct Chunk {
  uint64_t calls = 0;
  uint64_t size = 0;
  ByteView stored;
};

bool next_chunk(ByteReader &in, Chunk *chunk) {
  chunk->calls = in.varint();
  chunk->size = in.varint();
  chunk->stored = in.blob();
  return !in.failed() && chunk->calls != 0 && chunk->size <= kMostBytes && chunk->calls <= chunk->size / 2;
}

}  // namespace

bool count_chunks(ByteView stream, uint64_t *calls, size_t *bad_byte) {
  *calls = 0;
  for (ByteReader in(stream); !in.at_end();) {
    *bad_byte = in.position();
    Chunk chunk;
    if (!next_chunk(in, &chunk)) return false;
    *calls += chunk.calls;
  }
  return true;
}

bool read_chunks(ByteView stream, std::vector<CallTime> *times) {
  Bytes plain;
  for (ByteReader in(stream); !in.at_end();) {
    Chunk chunk;
    if (!next_chunk(in, &chunk)) return false;
    plain.clear();
    const auto kind = chunk.stored.size() == chunk.size ? codec::kRaw : codec::kZstd;
    if (!codec::decode(kind, chunk.stored, chunk.size, &plain)) return false;
    ByteReader pairs(plain);
    for (uint64_t i = 0; i < chunk.calls; ++i) {
      const uint64_t gap = pairs.varint();
      times->push_back({gap, pairs.varint()});
    }
    if (pairs.failed() || !pairs.at_end()) return false;
  }
  return true;
}

}  // namespace cairn::timing
