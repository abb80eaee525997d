// ThreadCalls: the calls of one thread of a rank that count where two runs are compared, in order: polls that found
// nothing (MPI_Test, …) are none, since how often a program asks is chance.
//
// Borrows the run. One thread at a time. Cost: as CallReader.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analyze/decode.h"
#include "trace/read/call_reader.h"

namespace cairn::analyze {

/// One of the runs that are compared.
struct Run {
  const trace::Trace &trace;
  Sources sources;
  Decoder decoder;
  explicit Run(const trace::Trace &of) : trace(of), sources(of), decoder(of, sources) {}
};

/// A call of a thread, which stays what it is when the thread goes on. Borrows the run.
struct ThreadCall {
  const Run *run = nullptr;
  trace::SequenceView view;
  size_t sequence = 0;  ///< which of the thread's, from 1
  std::shared_ptr<const trace::CallReader> reader;
  grammar::Symbol number = grammar::kNoSymbol;

  [[nodiscard]] const trace::Row &row() const { return reader->call(number); }
  [[nodiscard]] Call call() const { return run->decoder.decode(view.class_index, row()); }
  [[nodiscard]] std::string place() const { return run->sources.name(view.class_index, row().site); }
};

class ThreadCalls {
 public:
  ThreadCalls(const Run &run, uint32_t rank, uint32_t thread);
  /// Goes to the next call; false if there is none.
  bool next();
  [[nodiscard]] const trace::Row &row() const { return reader_->call(number_); }
  /// Which of the thread's sequences, from 1.
  [[nodiscard]] size_t sequence() const { return next_; }
  [[nodiscard]] const trace::SequenceView &view() const { return sequences_[next_ - 1]; }
  [[nodiscard]] Call call() const { return kept().call(); }
  /// The call at hand.
  [[nodiscard]] ThreadCall kept() const { return {&run_, view(), next_, reader_, number_}; }

 private:
  const Run &run_;
  std::vector<trace::SequenceView> sequences_;
  std::shared_ptr<trace::CallReader> reader_;  ///< of a sequence; with the calls of it that were kept
  size_t next_ = 0;
  grammar::Symbol number_ = grammar::kNoSymbol;
};

/// A poll that found nothing.
bool found_nothing(const trace::Row &row);

}  // namespace cairn::analyze
