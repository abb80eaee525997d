// PackedClass: a class as bytes: how it travels up the tree, and how a part holds it while no other class joins it.
//
// A class in memory (class_part.h) takes some hundred times its bytes as in a file. That is what a part holds. A small
// class that is open travels as somewhat more bytes that are made in a quarter of the time (plain_class.h); where it
// finds no partner, it is packed as the others, unless there are few of its kind (classes_merge.h). What finds partners
// for it, tells its ranks and sites, stands beside the bytes (ClassHead); sites are numbered within the class there, so
// that the bytes stay the same wherever they go. `unpack` trusts nothing: it answers with an Error that names section
// and byte, and takes memory in proportion to the bytes. Plain functions; cost: the class's.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/result.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

struct PackedClass : ClassHead {
  Bytes bytes;
  uint64_t offset = 0;    ///< of `bytes` in the part that they came with
  bool received = false;  ///< not packed here: keys may be wrong as well
  bool plain = false;     ///< `bytes` are as PlainClass reads them
};

PackedClass pack(const ClassPart &part);
PackedClass pack(ClassPart &&part);
/// The second takes the head with it, also when it fails.
Result<ClassPart> unpack(const PackedClass &packed);
Result<ClassPart> unpack(PackedClass &&packed);
/// What was plain is as in a file afterwards. Keys stay what they were, and unchecked.
Result<void> pack_tightly(PackedClass *packed);
/// As `decode_packed` reads it.
void write_packed(const PackedClass &packed, ByteWriter &out);
/// The same of one that is open: plain, if it can be.
void write_packed(const ClassPart &part, ByteWriter &out);

/// Roughly the words that the class takes in memory.
size_t words_of(const ClassPart &part);

}  // namespace cairn::trace
