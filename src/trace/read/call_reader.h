// CallReader: the calls of one sequence of one rank in order, each with all its values, however the trace keeps them
// (fields may have moved out of the rows into streams along time).
//
// Calls that are equal in everything have one number, dense from 0 in order of first occurrence, so that what is made
// of a call can be kept by number. Borrows the trace. One thread at a time. O(1) amortised a call that was met before;
// memory in proportion to the distinct calls.
//
// `seek` goes to any call without going through those before it, by an index that it makes the first time
// (row_places.h): from then on it costs the depth of the class's grammar and of its streams'. Where calls drain arrays
// of requests, it also goes through such calls before the place, until it knows the arrays that are remembered there:
// mostly some tens, all of them where few were written out. Numbers that were given stay; after a `seek`, new ones are
// in order of first occurrence from there on, and a call may get one that none before it shows.
#pragma once

#include <cstdint>
#include <memory>

#include "trace/read/trace.h"

namespace cairn::trace {

class CallReader {
 public:
  /// `told`: its calls count in Trace::calls_given.
  CallReader(const Trace &trace, const SequenceView &sequence, bool told = true);
  CallReader(CallReader &&) noexcept;
  CallReader &operator=(CallReader &&) noexcept;
  ~CallReader();

  /// The number of the next call; grammar::kNoSymbol at the end.
  grammar::Symbol next();
  /// Which of the rows of its class's sequence, counted from 0, the call that `next` gave last is of; of polls that
  /// stand for each other, the first.
  [[nodiscard]] uint64_t row_place() const;
  /// Call `call`, counted from 0, is the next one; none is if there are not so many.
  void seek(uint64_t call);
  /// How many calls there are. Costs what `seek` does.
  [[nodiscard]] uint64_t count() const;
  /// How many are before the row at `place` (`row_place`) of the class's sequence, or before the polls that it stands
  /// for with others. Costs what `seek` does.
  [[nodiscard]] uint64_t calls_before_row(uint64_t place) const;
  /// The call of that number, which `next` has given. Stays where it is as long as the reader lives.
  [[nodiscard]] const Row &call(grammar::Symbol number) const;
  /// The row of the class that it is: numbers of calls differ where one row has several values along time.
  [[nodiscard]] uint32_t class_row(grammar::Symbol number) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cairn::trace
