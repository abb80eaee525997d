// What happens around every MPI call, between the wrappers (frame.h) and the tables.
//
// enter: finds the thread and the call site, takes a frame. begin: keeps what the call may overwrite, reads the clock.
// end: reads the clock; if the grammar predicted a signature whose memo this call matches, that is the event; else the
// call is encoded and its row interned. Then the symbol is appended to the thread's grammar and the time added to the
// signature. Calls that were expected do all this in fast_path.cc.
#pragma once

#include "mpi/store/process.h"

namespace cairn::recorder {

/// The calling thread's Thread; nullptr before its first recorded call.
extern constinit thread_local Thread *current_thread __attribute__((tls_model("initial-exec")));

/// Makes or reuses a Thread for the calling thread; nullptr without memory.
Thread *join_thread(uintptr_t frame_address);

/// Encodes and appends the event of `frame`, in progress or finished. `returned`: the call came back.
void record(Thread &thread, Frame &frame, bool returned, uint64_t end_ticks);

/// Starts a new sequence for the thread; false without memory.
bool open_sequence(Thread &thread, uint32_t segment);

// lifecycle.cc: calls that mean something to the recorder itself.
/// Before the real call of a function for which `is_landmark` holds.
void before_landmark(Thread &thread, Frame &frame);
/// After it, once it is recorded.
void after_landmark(Thread &thread, Frame &frame);
bool is_landmark(uint32_t function);

// fast_path.cc, and where it leaves to
/// The call is `memo.signature` again: makes and ends objects accordingly and gives true. Else nothing has changed.
bool apply_memo(Thread &thread, Frame &frame, Memo &memo);
/// What follows `last` (or anything): sets `thread.expected`.
void expect_next(Thread &thread, Memo *last);
Frame *enter_slowly(uint32_t function, void *return_address, void *frame_address);
void begin_unexpected(Thread &thread, Frame &frame);
/// For a frame that nothing was expected of.
void end_slowly(Frame *frame);
/// `end`, from where it turns out that the call is another than expected.
void end_unexpected(Thread &thread, Frame &frame, uint64_t end_ticks);
/// A frame that expected a memo takes the long way from here on.
void forget_expected(Frame &frame);
/// With every phase an epoch ends: a call that a memo recognises asks for the epoch only.
inline void enter_phase(Process &of, Phase phase) {
  of.phase.store(phase);
  of.handles->end_epoch();
}
/// The event could not be appended: pass everything through from here on.
void lose_call(Process &of);
/// Where this call stands among those of all threads; nothing while there is one thread.
void add_ticket(Thread &thread);

// memo.cc
struct Outcome;
/// Remembers the raw arguments with which `signature` was just encoded.
void remember(Thread &thread, const Frame &frame, Signature &signature, const Outcome &outcome);
/// For a waiting call that may be memoised: the names of its requests, taken before `encode` ends them.
void note_names(Thread &thread, const Frame &frame);
bool outputs_match(const Frame &frame, const Memo &memo);
/// Where a new request is not fresh. False, and nothing has changed, without memory.
bool enter_request(Thread &thread, uint64_t raw, const Memo &memo);
/// Where several threads may be at MPI, or one value means several requests.
bool complete_among_equals(Thread &thread, Frame &frame, const Memo &memo);

/// The requests of a call that waits, as they were saved before it and as they are now.
class WaitedRequests {
 public:
  static constexpr uint64_t kMost = 64;  ///< that a memo is used for

  WaitedRequests(const Thread &thread, const Frame &frame, unsigned parameter)
      : saved_(thread.before.data() + frame.scratch),
        now_(reinterpret_cast<const uint8_t *>(frame.argument[parameter])) {}

  [[nodiscard]] uint64_t count() const {
    uint64_t count = 0;
    memcpy(&count, saved_, sizeof count);
    return count;
  }
  [[nodiscard]] uint64_t before(uint64_t k) const {
    return mpi::read_handle(saved_ + sizeof(uint64_t) + k * mpi::handle_size);
  }
  [[nodiscard]] uint64_t after(uint64_t k) const { return mpi::read_handle(now_ + k * mpi::handle_size); }
  /// As arrays of handles, whose type is as large as `Value`.
  template <typename Value>
  struct Array {
    using Element [[gnu::may_alias]] = Value;
    const Element *at;
    Value operator[](uint64_t k) const { return at[k]; }
  };
  template <typename Value>
  [[nodiscard]] Array<Value> all_before() const {
    return {reinterpret_cast<const typename Array<Value>::Element *>(saved_ + sizeof(uint64_t))};
  }
  template <typename Value>
  [[nodiscard]] Array<Value> all_after() const {
    return {reinterpret_cast<const typename Array<Value>::Element *>(now_)};
  }

 private:
  const uint8_t *saved_;
  const uint8_t *now_;
};

}  // namespace cairn::recorder
