// Drains: calls of MPI_Waitany, Waitsome, Testany or Testsome that take requests out of one array, one right after the
// other, become one *draining* row (ClassRow): how many calls it took differs with the number of neighbours, and with
// what happened to be complete, and would make each rank a class of its own.
//
// A drain begins with a call that names its array and goes on as long as calls of the same site find the array as the
// one before left it (request_arrays.h), unsuccessful polls among them; it ends with a call that completed something.
// How many calls there were is a stream, and so is every output of them, with a value for each call. Nothing is lost:
// a reader gives each call.
//
// Rule by rule, as polls are folded; what is expanded is a drain at a time. Statistics of the calls that a draining row
// stands for are added up. (ScalaTrace, section 3, aggregates such calls and forgets what completed when.)
#pragma once

#include <vector>

#include "trace/model/class_part.h"
#include "trace/model/record.h"

namespace cairn::trace {

/// For a class of one rank that nothing has moved out of; before polls are folded.
class DrainFold {
 public:
  /// `packed` are the class's rows as recorded, `polls` says which of them drain; both become those of the rows that
  /// there are then. Leaves all as it is if there are no drains, or if they are too long to describe.
  void fold(std::vector<Bytes> *packed, std::vector<Poll> *polls, ClassPart *part);
  /// Once groups have their numbers: the streams of draining rows.
  void add_streams(ClassPart *part);

 private:
  struct OfGroup {
    RowPointer row;               ///< one of the group's
    std::vector<Stream> streams;  ///< `group` is not known yet
  };
  std::vector<OfGroup> groups_;
};

}  // namespace cairn::trace
