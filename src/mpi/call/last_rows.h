// LastRows: of each call site the arguments of the call that was encoded last, and where in its row each field ends: a
// field whose argument is the same again is copied from there.
//
// Where calls are not foreseen, mostly one or two of their arguments differ from those of the last call at the same
// place; to name a communicator or a buffer again takes some 150 instructions, to copy what it was called ten. What
// must hold besides equal arguments is what must for a memo (names/memo.h): nothing that raw values stand for has ended
// (`epoch`). Only of parameters that are known by their value alone (FunctionFacts::copied).
//
// A thread's own, in the arena, one of so many sites; a site that finds its place taken takes it. The row is that of a
// signature: what belongs to another segment does not apply any more, and is not looked at.
#pragma once

#include <cstdint>

#include "base/arena.h"
#include "mpi/names/sites.h"
#include "spec/spec.h"

namespace cairn::recorder {

struct LastRow {
  const Site *site;  ///< nullptr: does not apply
  uint32_t function;
  uint32_t depth;
  uint32_t epoch;
  uint32_t segment;
  const uint8_t *bytes;
  uint32_t end[spec::kMaxParameters + 1];  ///< of what stands before the fields, then of each field
  uint64_t argument[spec::kMaxParameters];
};

class LastRows {
 public:
  /// That of `site`, or of whatever had its place; nullptr without memory.
  LastRow *of(Arena &arena, const Site &site) {
    LastRow *&row = rows_[site.id % kPlaces];
    if (row == nullptr) row = arena.create<LastRow>();
    return row;
  }

 private:
  static constexpr uint32_t kPlaces = 64;
  LastRow *rows_[kPlaces] = {};
};

}  // namespace cairn::recorder
