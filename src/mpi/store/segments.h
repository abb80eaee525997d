// Segments: sequences that went to the spool while their threads recorded on (spill.h), a file each, numbered from 0.
//
// A file has its number only once it is whole, and a segment counts as written only then: at any instant a reader of
// the arena finds each call once.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "mpi/store/process.h"
#include "trace/merge/part.h"

namespace cairn::recorder {

/// Writes the closed sequence to the spool and gives its memory back. False if that cannot be: it stays, and the
/// recording's end finds it if a later try does not. By one thread at a time. Of the arena it uses what is in `closed`
/// alone; memory comes from the program's heap, some hundred bytes a row.
bool write_closed(Process &of);

/// `part` with the segments that the process spilled to `folder`, joined one by one. `joined` is called after each:
/// what it takes out of the part need not be held while the next one is read.
using SegmentJoined = std::function<Result<void>(trace::Part *part)>;
Result<trace::Part> with_segments(const Process &of, const std::string &folder, trace::Part part,
                                  const SegmentJoined &joined = {});

/// They are in what was handed over: their files go, and what was closed is forgotten.
void drop_segments(Process &of);

}  // namespace cairn::recorder
