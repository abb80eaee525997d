#include "arrays/file/journal.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/hash.h"
#include "base/whole.h"

namespace cairn::arrays {
namespace {

// Session, checksum of what follows, base, size of the rest: 8 bytes each.
constexpr uint64_t kNumber = 8;
constexpr uint64_t kFront = 4 * kNumber;
constexpr uint64_t kMostRecord = uint64_t{1} << 30;
constexpr uint64_t kReadAtOnce = uint64_t{4} << 20;

void put_number(std::span<uint8_t> bytes, uint64_t at, uint64_t value) {
  for (uint64_t i = 0; i < kNumber; ++i) bytes[at + i] = static_cast<uint8_t>(value >> (8 * i));
}

void seal(std::span<uint8_t> record) { put_number(record, kNumber, hash64(record.subspan(2 * kNumber))); }

Result<Bytes> read_some(int file, uint64_t at, uint64_t size) {
  Bytes bytes(size);
  size_t got = 0;
  if (const int error = read_at(file, at, bytes, &got); error != 0)
    return fail(ErrorKind::environment, std::string("it cannot be read: ") + strerror(error));
  bytes.resize(got);
  return bytes;
}

std::optional<JournalRecord> unpack_record(ByteView record) {
  ByteReader in(record);
  in.raw(kNumber);
  const uint64_t checksum = in.fixed64();
  if (in.failed() || checksum != hash64(record.subspan(2 * kNumber))) return std::nullopt;
  const uint64_t base = in.fixed64();
  in.raw(kNumber);
  JournalRecord found;
  const uint64_t users = in.varint();
  for (uint64_t i = 0; i < users && !in.failed(); ++i) found.user_codecs.emplace_back(in.text());
  Result<std::vector<Block>> blocks = unpack_blocks(record.subspan(in.position()));
  if (in.failed() || !blocks || base > kMostOffset) return std::nullopt;
  found.blocks = std::move(*blocks);
  for (Block &block : found.blocks) {
    if (!block.at_home) block.offset += base;
    if (block.offset > kMostOffset) return std::nullopt;
  }
  return found;
}

}  // namespace

Bytes journal_record(uint64_t session, std::span<const Block> blocks, std::span<const std::string> user_codecs) {
  ByteWriter body;
  body.varint(user_codecs.size());
  for (const std::string &name : user_codecs) body.text(name);
  body.raw(pack(blocks));
  ByteWriter record;
  for (const uint64_t number : {session, uint64_t{0}, uint64_t{0}, uint64_t{body.size()}}) record.fixed64(number);
  record.raw(body.view());
  Bytes bytes = record.take();
  seal(bytes);
  return bytes;
}

void set_base(std::span<uint8_t> record, uint64_t base) {
  put_number(record, 2 * kNumber, base);
  seal(record);
}

Result<void> read_journal(int file, uint64_t session, Run where, const std::function<void(JournalRecord)> &found) {
  uint8_t mark[kNumber];
  put_number(mark, 0, session);
  const uint64_t end = where.end();
  for (uint64_t at = where.offset; at + kFront <= end;) {
    const off_t next = lseek(file, static_cast<off_t>(at), SEEK_DATA);
    if (next < 0 && errno == ENXIO) break;  // nothing but holes
    if (next > 0) at = std::max(at, static_cast<uint64_t>(next));
    if (at >= end) break;
    const Result<Bytes> window = read_some(file, at, std::min(kReadAtOnce, end - at));
    if (!window) return tl::unexpected(window.error());
    const void *hit = memmem(window->data(), window->size(), mark, kNumber);
    if (hit == nullptr) {
      if (window->size() < kNumber) break;
      at += window->size() - (kNumber - 1);
      continue;
    }
    at += static_cast<uint64_t>(static_cast<const uint8_t *>(hit) - window->data());
    const Result<Bytes> front = read_some(file, at, kFront);
    if (!front) return tl::unexpected(front.error());
    if (front->size() < kFront) break;
    const uint64_t size = ByteReader(ByteView(*front).subspan(3 * kNumber)).fixed64();
    std::optional<JournalRecord> record;
    if (size <= kMostRecord && size <= end - at - std::min(end - at, kFront)) {
      const Result<Bytes> bytes = read_some(file, at, kFront + size);
      if (!bytes) return tl::unexpected(bytes.error());
      record = unpack_record(*bytes);
    }
    at += record ? kFront + size : 1;
    if (record) found(std::move(*record));
  }
  return {};
}

}  // namespace cairn::arrays
