// RankRows: the rows of one sequence as one rank has them, each time that they stand in it: with the values that moved
// out of the rows into streams along time. Who goes through the rows in order asks, for each, which calls it stands for
// now. An iterator gives them as runs of equal ones: one for what is called or counted, one for what drains
// (row_kind.h).
//
// CallReader and Trace::counted_rows are made of this. Borrows the trace. One thread at a time. `calls` and the
// iterators: O(streams of the row's group) a run.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "trace/model/class_part.h"
#include "trace/read/stream_reader.h"
#include "trace/read/trace.h"

namespace cairn::trace {

class RankRows;

/// Equal calls of one row, one after the other.
struct CallRun {
  uint32_t row = 0;  ///< of the class
  uint64_t times = 1;
  Bytes key = {};  ///< what tells the call from others of its row; empty if nothing does
  // Of a draining row:
  bool first = true;  ///< the first call finds the array as the row has it, the others what was left of it
  bool miss = false;  ///< a poll that found nothing
};

/// A single call, or calls that found nothing: one run, unless this rank made none here. (The other rows of a counted
/// cycle have runs of their own, which are as long.)
class EqualCalls {
 public:
  EqualCalls(uint32_t row, Bytes key, uint64_t count) {
    if (count != 0) run_ = {.row = row, .times = count, .key = std::move(key)};
  }
  std::optional<CallRun> next() { return std::exchange(run_, std::nullopt); }

 private:
  std::optional<CallRun> run_;
};

/// Calls that take requests out of an array, with the polls before each that found nothing.
class DrainingCalls {
 public:
  DrainingCalls(RankRows *rows, uint32_t row, Bytes key, uint64_t count)
      : rows_(rows), row_(row), key_(std::move(key)), left_(count) {}
  std::optional<CallRun> next();

 private:
  RankRows *rows_;
  uint32_t row_;
  Bytes key_;                  ///< of all
  uint64_t left_;              ///< calls that found something
  uint64_t misses_ = 0;        ///< before the one to come
  std::optional<Bytes> call_;  ///< what tells that one from the others
  bool first_ = true;
};

/// As the row's kind is.
class RowCalls {
 public:
  template <class Calls>
  explicit RowCalls(Calls calls) : calls_(std::move(calls)) {}
  /// The streams stand at the values of the run until the next one is asked for.
  std::optional<CallRun> next() {
    return std::visit([](auto &calls) { return calls.next(); }, calls_);
  }

 private:
  std::variant<EqualCalls, DrainingCalls> calls_;
};

class RankRows {
 public:
  RankRows(const Trace &trace, const ClassPart &part, const SequenceView &sequence);
  [[nodiscard]] const RowGroups &groups() const { return groups_; }
  /// Whether the calls of a group are all that their rows and the sequence say.
  [[nodiscard]] bool is_plain(uint32_t group) const;
  /// Which calls the row stands for where it stands next in the sequence. They must be read to their end before the
  /// next row of the group.
  RowCalls calls(uint32_t row);
  /// Whether a row of the group may stand for any number of calls.
  [[nodiscard]] bool is_counted(uint32_t group) const { return streams_[group].count.has_value(); }
  /// How many the first `rows` rows of such a group stand for, times that they stand in the sequence counted each; cut
  /// where it exceeds 64 bits. Costs what streams' `counts_before` does.
  uint64_t calls_before(uint32_t group, uint64_t rows);
  /// So many rows of the group are gone. Costs what streams' `seek` does.
  void seek(uint32_t group, uint64_t rows);
  /// The call of the run that was read last. Requests that are drained are as the row has them.
  [[nodiscard]] Row complete(const CallRun &run) const;

 private:
  friend class DrainingCalls;
  struct DrainingCall {
    Bytes key;
    uint64_t misses = 0;
  };
  DrainingCall next_draining(uint32_t row);
  void complete_draining(const CallRun &run, Row *row) const;

  struct OfGroup {
    std::vector<StreamReader> by_row;   ///< a value each time that a row of the group stands in the sequence
    std::vector<StreamReader> by_call;  ///< a value for each call of a draining row
    std::optional<StreamReader> count;  ///< how many calls a row stands for
  };
  const Trace &trace_;
  const ClassPart &part_;
  uint32_t rank_;
  uint64_t member_;
  RowGroups groups_;
  std::vector<OfGroup> streams_;  ///< by group
};

}  // namespace cairn::trace
