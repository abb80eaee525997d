// CallTimes: when each call of a sequence was, block by block (timing/stream.h): the time of any call without decoding
// more than its own block, and all in order with one block in memory.
//
// Blocks are told apart by which calls are of one function, site and depth, so the calls themselves are gone through
// beside the times: those of the block, to which CallReader::seek leads. Who asks for all in order has the next block
// decoded by another core meanwhile. Borrows the trace. One thread at a time. Cost: to code a block, see its mode; to
// go through calls, see CallReader.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/task.h"
#include "timing/group_numbers.h"
#include "timing/stream.h"
#include "trace/model/record_times.h"
#include "trace/read/call_reader.h"
#include "trace/read/trace.h"

namespace cairn::trace {

class CallTimes {
 public:
  /// An error if the stream cannot be told apart into blocks.
  static Result<CallTimes> of(const Trace &trace, const SequenceView &sequence);

  /// How many calls have times: the first ones of the sequence, 0 where the timing mode keeps none.
  [[nodiscard]] uint64_t count() const;
  [[nodiscard]] const std::vector<timing::BlockPlace> &blocks() const { return blocks_; }
  [[nodiscard]] const TimesBytes &bytes() const { return bytes_; }
  /// What is wrong with each block that is damaged.
  [[nodiscard]] std::vector<Error> damage();
  /// What the blocks say of themselves, together.
  [[nodiscard]] timing::StreamSize size() const;
  /// Of a call below `count`, from the sequence's begin; an error if its block is damaged.
  Result<timing::PlacedTime> at(uint64_t call);
  /// A call that no call before it ends at `ns` or later, from the sequence's begin: the first of the block in which
  /// the first call that does is, mostly; 0 if nothing is known. Decodes nothing; cost: the logarithm of the blocks.
  [[nodiscard]] uint64_t first_near(uint64_t ns) const;
  /// Calls will be asked for in order: decodes the next block on another core (base/task.h), where there is one.
  void read_ahead() { ahead_ = true; }

 private:
  /// Goes through the calls of a sequence and decodes their times, a block at a time.
  class Decoder {
   public:
    Decoder(const Trace &trace, const SequenceView &sequence) : trace_(&trace), sequence_(sequence) {}
    /// nullptr, or what is wrong with the block.
    const char *decode(const timing::BlockPlace &place, std::vector<timing::PlacedTime> *times);

   private:
    struct Group {
      uint32_t number = UINT32_MAX;
      uint32_t depth = 0;
    };
    Group group_of_next_call();

    const Trace *trace_;
    SequenceView sequence_;
    std::optional<CallReader> reader_;
    uint64_t next_call_ = 0;  ///< of `reader_`
    std::map<RowGroup, uint32_t> groups_;
    std::vector<Group> group_of_call_;  ///< by the reader's numbers
    timing::GroupNumbers numbers_;
  };
  /// What the other core has while it decodes; the task goes first.
  struct Ahead {
    explicit Ahead(Decoder made) : decoder(std::move(made)) {}
    Decoder decoder;
    timing::BlockPlace place;
    std::vector<timing::PlacedTime> times;
    const char *wrong = nullptr;
    size_t block = SIZE_MAX;
    Task task;
  };

  CallTimes(const Trace &trace, const SequenceView &sequence)
      : trace_(&trace), sequence_(sequence), next_(std::make_unique<Ahead>(Decoder(trace, sequence))) {}
  void find_in_damaged();
  void keep_sound_end(std::vector<timing::BlockPlace> *last);
  Result<void> decode(size_t block);
  void begin_next();
  tl::unexpected<Error> wrong(const char *what, size_t block) const;

  const Trace *trace_;
  SequenceView sequence_;
  TimesBytes bytes_;
  std::vector<timing::BlockPlace> blocks_;
  size_t decoded_ = SIZE_MAX;  ///< the block that `times_` are of
  std::vector<timing::PlacedTime> times_;
  std::optional<std::pair<size_t, Error>> wrong_;  ///< the block that was found damaged last
  bool ahead_ = false;
  uint64_t begin_next_at_ = UINT64_MAX;  ///< the call that is asked for when the next block is begun
  std::unique_ptr<Ahead> next_;
};

/// All times of a sequence as they were coded, in order; an error if anything is wrong with the bytes that they lie in.
/// Memory for each.
Result<std::vector<timing::CallTime>> all_times(const Trace &trace, const SequenceView &sequence);

}  // namespace cairn::trace
