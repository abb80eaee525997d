// What became of the heap segments that MPI saw, of a class: when each began, with its size, and when it ended.
//
// A Stream of its own (ClassPart::heap): its values are HeapEvents, a field of three atoms each, which differ between
// ranks as any stream's do; its order is the events', not the calls'. Without variants nothing is told of any rank. If
// there are variants each rank is in one; that of ranks without events has no values.
#pragma once

#include "base/result.h"
#include "trace/model/class_part.h"

namespace cairn::trace {

/// The events that a recorder handed over. Fails where the order names one that is not there.
Result<Stream> heap_of(const SequenceRecord &sequence, const RankSet &rank);

/// The event as it is on the member at this place of its variant.
HeapEvent heap_event_at(const ClassRow &value, uint64_t member);

/// So that each of these ranks, of which nothing is told, is in a variant.
void tell_no_heap(const RankSet &ranks, Stream *heap);

/// nullptr: good; else what is wrong with it, after "section 'heap' ".
const char *what_is_wrong_with_heap(const ClassPart &part);

}  // namespace cairn::trace
