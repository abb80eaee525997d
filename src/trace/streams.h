// Fields move out of rows into streams along time, and streams of two parts become one.
//
// `move_out` is exact and expands nothing: a stream is the grammar projected onto its group's rows, rule by rule
// (Pilgrim keeps such fields in the signatures, which then multiply). `move_by_cost` decides for one rank what is
// worth moving: where a group's rows, and the grammar's terms that tell them apart, cost more bytes than streams would.
//
// Cost: `move_out` visits the grammar once a group; `move_by_cost` once for each group with many rows.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/class_part.h"

namespace cairn::trace {

struct MovedFields {
  uint32_t group = 0;
  std::vector<uint32_t> fields;  ///< ascending; those that have moved already may be among them
};

/// Moves fields out of the rows of groups, given in ascending order. Rows that are equal then become one.
void move_out(const std::vector<MovedFields> &moves, ClassPart *part);

/// The streams that moving these fields, which have not moved yet, would give.
std::vector<Stream> streams_of(const MovedFields &move, const RowGroups &groups, const ClassPart &part);

/// For a class of one rank.
void move_by_cost(ClassPart *part);

/// A sequence is expanded to find more in it only up to so many symbols: one that has many times its terms is
/// compressed already.
uint64_t worth_parsing(const grammar::Grammar &grammar);

/// The fields of a group that differ between its rows, ascending, without those that have moved.
std::vector<uint32_t> varying_fields(const ClassPart &part, const RowGroups &groups, uint32_t group);

/// Adds right's variants, of the same group and field, to left's.
Result<void> merge_stream(Stream *left, Stream right);

}  // namespace cairn::trace
