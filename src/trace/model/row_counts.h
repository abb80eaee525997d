// How often the rows of a class were called. Ordinary rows: as often as they stand in the sequence, on every member.
// Counted rows (class_row.h): as often as their stream says, and members need not agree.
//
// Draining rows: as many calls as they stand for; polls that found nothing before one of them count with the first row
// of the group.
//
// Counts that exceed 64 bits are cut. Cost: a visit of the grammar; for counted rows, their grammar and stream side by
// side, without expanding where they are regular, and their values on the members asked for. Plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/class_part.h"

namespace cairn::trace {

/// By all members together; index = row.
std::vector<uint64_t> row_counts(const ClassPart &part);
/// By one member, which must be one.
std::vector<uint64_t> row_counts_of(const ClassPart &part, uint32_t rank);
/// All calls of one member.
uint64_t call_count_of(const ClassPart &part, uint32_t rank);
bool has_counted_rows(const ClassPart &part);

}  // namespace cairn::trace
