// Fields move out of rows into streams along time, and streams of two parts become one.
//
// `move_out` is exact and expands nothing: a stream is the grammar projected onto its group's rows, rule by rule
// (Pilgrim keeps such fields in the signatures, which then multiply). `move_by_cost` decides for one rank what is
// worth moving: where a group's rows, and the grammar's terms that tell them apart, cost more bytes than streams would.
//
// Cost: `move_out` visits the grammar once a group. `move_by_cost` goes through the calls once, parses what is tried
// for groups with many rows (stream_trial.h), and the calls that are left; a sequence too long for that is projected
// onto each such group, rule by rule.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/class_part.h"

namespace cairn::trace {

struct MovedFields {
  uint32_t group = 0;
  std::vector<uint32_t> fields;  ///< ascending; those that have moved already may be among them
};

/// Whether the calls are parsed anew when rows become one, which shows repetitions that the rules do not have yet; who
/// changes the calls again does so afterwards.
enum class Parse : uint8_t { now, later };

/// Moves fields out of the rows of groups, given in ascending order. Rows that are equal then become one.
void move_out(const std::vector<MovedFields> &moves, ClassPart *part, Parse parse = Parse::now);
/// The same where the streams that the fields become are known.
void move_out(const std::vector<MovedFields> &moves, std::vector<Stream> streams, ClassPart *part,
              Parse parse = Parse::now);

/// The streams that moving these fields, which have not moved yet, would give.
std::vector<Stream> streams_of(const MovedFields &move, const RowGroups &groups, const ClassPart &part);

/// For a class of one rank. Unless its calls are `parsed` they are parsed anew: where they are many only once, with
/// what moves gone.
void move_by_cost(ClassPart *part, bool parsed = true);

/// A sequence is expanded to find more in it only up to so many symbols: one that has many times its terms is
/// compressed already.
uint64_t worth_parsing(const grammar::Grammar &grammar);

/// The fields of a group that differ between its rows, ascending, without those that have moved.
std::vector<uint32_t> varying_fields(const ClassPart &part, const RowGroups &groups, uint32_t group);
/// The same of a group with these rows.
std::vector<uint32_t> varying_fields(const ClassPart &part, const std::vector<uint32_t> &members);

/// Adds right's variants, of the same group and field, to left's.
Result<void> merge_stream(Stream *left, Stream right);

}  // namespace cairn::trace
