// PackedClass: a class as bytes: how it travels up the tree, and how a part holds it while no other class joins it.
//
// A class in memory (class_part.h) takes some hundred times its bytes as in a file. That is what a part holds. There is
// one form of the bytes, which PlainClass reads: it is made in a quarter of the time that the form of a file takes, and
// a class that meets its like is merged from where it lies. What is to be held for long is compressed as it is,
// unopened (`squeeze`).
//
// *Another way:* a class without a partner used to be told as in a file, where rows are told against each other, and
// compressed no further. That was a second form with a writer and a reader of its own, smaller than the plain one by a
// seventh, and made by opening the class.
//
// What finds partners for it, tells its ranks and sites, stands beside the bytes (ClassHead); sites are numbered within
// the class there, so that the bytes stay the same wherever they go. `unpack` trusts nothing: it answers with an Error
// that names the byte, and takes memory in proportion to the bytes. Plain functions; cost: the class's.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

struct PackedClass : ClassHead {
  Bytes bytes;
  uint64_t size = 0;      ///< of the bytes as PlainClass reads them; if it is another than theirs, they are compressed
  uint64_t offset = 0;    ///< of `bytes` in the part that they came with
  bool received = false;  ///< not packed here: keys may be wrong as well
  [[nodiscard]] bool squeezed() const { return bytes.size() != size; }
};

PackedClass pack(const ClassPart &part);
PackedClass pack(ClassPart &&part);
/// Compresses the bytes if that makes them fewer.
void squeeze(PackedClass *packed);
/// What PlainClass reads: the class's own bytes, or `*room`. Fails where they cannot be decompressed.
Result<ByteView> plain_bytes(const PackedClass &packed, Bytes *room);
/// The second takes the head with it, also when it fails.
Result<ClassPart> unpack(const PackedClass &packed);
Result<ClassPart> unpack(PackedClass &&packed);
/// As `decode_packed` reads it.
void write_packed(const PackedClass &packed, ByteWriter &out);
/// The same of one that is open.
void write_packed(const ClassPart &part, ByteWriter &out);

/// Roughly the words that the class takes in memory.
size_t words_of(const ClassPart &part);

}  // namespace cairn::trace
