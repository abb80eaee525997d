// CallEncoder: one finished call on its way to its packed row, for encoder.h, which says what that is.
//
// Made for one call by the thread that made it, and gone after it; what it needs lies in the thread's scratch and in
// the arena. Nothing throws: where memory ends `run` gives false. Its parts are call_encoder.cc (fields, plain values,
// strings), encoder_handles.cc (what a handle means, objects that begin and end, requests that are
// drained) and encoder_statuses.cc.
#pragma once

#include <cstring>
#include <span>

#include "base/bytes.h"
#include "mpi/call/call_names.h"
#include "mpi/call/environment.h"
#include "mpi/call/outcome.h"
#include "spec/ids.h"

namespace cairn::recorder {

/// What `save_before` kept of one call, found again by parameter.
struct Saved {
  const uint8_t *elements[spec::kMaxParameters];
  size_t count[spec::kMaxParameters];
  int64_t capacity[spec::kMaxParameters];

  /// `needed`: somebody will ask.
  Saved(const Thread &thread, const Frame &frame, const spec::Function &function, bool needed) {
    if (!needed) return;
    for (unsigned i = 0; i < function.parameter_count; ++i) {
      elements[i] = nullptr;
      count[i] = 0;
      capacity[i] = INT64_MAX;
    }
    if ((frame.flags & kFrameSaved) == 0) return;
    const uint8_t *at = thread.before.data() + frame.scratch;
    for (unsigned i = 0; i < function.parameter_count; ++i) {
      const spec::Parameter &parameter = function.parameters[i];
      if (parameter.capacity) {
        memcpy(&capacity[i], at, 8);
        at += 8;
      }
      if (!parameter.read_before) continue;
      uint64_t n = 0;
      memcpy(&n, at, 8);
      elements[i] = at + 8;
      count[i] = n;
      at += 8 + padded(n * element_size(parameter));
    }
  }

  static size_t padded(size_t size) { return (size + 7) & ~size_t{7}; }
};

class CallEncoder {
 public:
  CallEncoder(Thread &thread, Frame &frame, bool returned, Outcome &outcome)
      : thread_(thread),
        process_(*thread.process),
        arena_(*thread.process->arena),
        frame_(frame),
        function_(spec::functions()[frame.function]),
        facts_(function_facts[frame.function]),
        environment_(frame, returned && frame.result == static_cast<uint64_t>(int64_t{mpi::success})),
        saved_(thread, frame, function_, facts_.saves),
        names_(thread),
        outcome_(outcome),
        returned_(returned) {
    const bool code = function_.returns == spec::ReturnKind::error_code;
    const auto result = static_cast<int>(frame.result);
    succeeded_ = returned && (!code || result == mpi::success);
    statuses_readable_ = succeeded_ || (returned && code && result == mpi::error_in_status);
    errors_in_statuses_ = returned && code && result == mpi::error_in_status;
  }

  /// `remembers`: the row has its place in the sequence, whose reader will know what it says of arrays of requests.
  bool run(bool remembers);

 private:
  using Atom = trace::Atom;
  using Effect = spec::Effect;
  using Kind = spec::Kind;
  using Parameter = spec::Parameter;

  // --- fields ---------------------------------------------------------------------------------------------------

  /// What a field of three atoms takes at most.
  static constexpr size_t kMostSimple = 4 * kMaxVarint;
  bool begin_from_last();
  unsigned copy_from_last(uint8_t *&at, unsigned i);
  void end_of_field(unsigned i, const uint8_t *end) {
    if (last_ != nullptr) last_->end[i + 1] = static_cast<uint32_t>(end - thread_.row.data());
  }
  uint8_t *simple(uint8_t *at, unsigned i);
  /// A special one takes all ten bytes of a varint, of which the first two differ.
  static uint8_t *put_atom(uint8_t *at, Atom value) {
    if (!trace::is_special(value)) return put_varint(at, zigzag(value));
    static_assert(trace::kSpecialLast - trace::kSpecialFirst < 1 << 13);
    const uint64_t low = zigzag(value);
    const uint64_t first = UINT64_MAX << 16 | (low >> 7 & 0x7f) << 8 | (low & 0x7f) | 0x8080;
    memcpy(at, &first, sizeof first);
    at[8] = 0xff;
    at[9] = 0x01;
    return at + kMaxVarint;
  }
  static uint8_t *one_atom(uint8_t *at, Atom value) {
    *at++ = 1 << 1;
    return put_atom(at, value);
  }
  static uint8_t *two_atoms(uint8_t *at, Atom first, Atom second) {
    *at++ = 2 << 1;
    return put_atom(put_atom(at, first), second);
  }
  bool significant(const Parameter &p) {
    if (!p.significant) return true;
    // Parameters beside each other mostly have one condition.
    if (p.significant.first != asked_.first || p.significant.count != asked_.count) {
      asked_ = p.significant;
      answer_ = spec::evaluate(p.significant, environment_) != 0;
    }
    return answer_;
  }
  /// nullptr without memory for the object: then a reason to go the general way, which finds none either.
  uint8_t *handle_field(uint8_t *at, const HandleEntry *entry) {
    if (entry == nullptr) return nullptr;
    const HandleName name = name_of(*entry);
    return two_atoms(at, name.site, name.place);
  }
  bool reserve_row(size_t room) { return thread_.row.reserve(arena_, thread_.row.size() + room); }

  void begin_field() {
    thread_.atoms.clear();
    bytes_ = false;
    text_.clear();
  }
  void atom(Atom value) { memory_ = thread_.atoms.push(arena_, value) && memory_; }
  void integer(int64_t value) {
    if (!trace::is_special(value)) return atom(value);
    atom(trace::kRaw);
    atom(value >> 32);
    atom(value & 0xffffffff);
  }
  void end_field() {
    if (bytes_) {
      put((static_cast<uint64_t>(text_.size()) << 1) | 1);
      memory_ = thread_.row.append(arena_, reinterpret_cast<const uint8_t *>(text_.data()), text_.size()) && memory_;
      return;
    }
    const size_t n = thread_.atoms.size();
    if (!thread_.row.reserve(arena_, thread_.row.size() + (n + 1) * kMaxVarint)) {
      memory_ = false;
      return;
    }
    uint8_t *const start = thread_.row.data();
    uint8_t *at = put_varint(start + thread_.row.size(), n << 1);
    for (size_t i = 0; i < n; ++i) at = put_atom(at, thread_.atoms[i]);
    thread_.row.resize(static_cast<size_t>(at - start));
  }
  void put(uint64_t value) {
    uint8_t buffer[kMaxVarint];
    memory_ = thread_.row.append(arena_, buffer, static_cast<size_t>(put_varint(buffer, value) - buffer)) && memory_;
  }
  void text(const char *bytes, size_t size) {
    bytes_ = true;
    memory_ = text_.append(arena_, bytes, size) && memory_;
  }
  void text_varint(uint64_t value) {
    uint8_t buffer[kMaxVarint];
    text(reinterpret_cast<const char *>(buffer), static_cast<size_t>(put_varint(buffer, value) - buffer));
  }

  // --- parameters: call_encoder.cc ------------------------------------------------------------------------------

  void parameter(unsigned i);
  bool readable(const Parameter &p);
  [[nodiscard]] bool is_refused(const Parameter &p) const;
  void elements(const Parameter &p, uint64_t word, unsigned i);
  size_t length(const Parameter &p, unsigned i);
  bool is_prefix_sums(unsigned i, size_t n) const;
  bool special_pointer(const Parameter &p, uint64_t word);
  void element(const Parameter &p, uint64_t word);
  void flags(const Parameter &p, uint64_t word);
  void error(int code);
  void address(const Parameter &p, uint64_t word);
  void address_atoms(const Address &named);
  void string(const Parameter &p, uint64_t word, unsigned i);
  void one_string(const char *at);
  void list(const char *const *at, size_t n);
  void strings(const Parameter &p, uint64_t word, unsigned i);
  void returned_value();

  // --- handles: encoder_handles.cc ------------------------------------------------------------------------------

  struct HandleName {
    Atom site;
    Atom place;
  };
  HandleName name_of(const HandleEntry &entry);
  void named(const HandleEntry *entry);
  void handle(Kind kind, Effect effect, uint64_t word);
  void requests(const Parameter &p, unsigned i);
  void drain(unsigned i);
  bool take_completed(std::span<Atom> left);
  void number_completed();
  void comm(const Parameter &p, uint64_t word);
  void identity(uint64_t comm);
  void pending_comm(const void *at);
  void end_objects();
  void give_up(Kind kind, uint64_t raw);

  // --- statuses: encoder_statuses.cc ----------------------------------------------------------------------------

  Posted posted_by_call();
  void statuses(const Parameter &p, const void *at, unsigned i);
  Posted expectation(size_t k);
  Posted of_request(uint64_t raw);
  static Posted of_entry(const HandleEntry *entry);
  void plain_status(const mpi::Status &status, bool with_error);
  void coded_status(const mpi::Status &status, const Posted &posted);
  void status_source(int value) { integer_or_constant(spec::domain_id::k_status_source, value); }
  void status_tag(int value) { integer_or_constant(spec::domain_id::k_tag, value); }
  void error_atom(int code);
  void integer_or_constant(uint8_t domain, int value);

  Thread &thread_;
  Process &process_;
  Arena &arena_;
  Frame &frame_;
  const spec::Function &function_;
  const FunctionFacts &facts_;
  Environment environment_;
  Saved saved_;
  CallNames names_;
  Outcome &outcome_;
  bool returned_;
  bool succeeded_ = false;
  bool statuses_readable_ = false;
  bool errors_in_statuses_ = false;
  bool memory_ = true;
  bool bytes_ = false;
  spec::Expression asked_;  ///< the condition that was evaluated last
  bool answer_ = true;      ///< what it said
  Growable<char> &text_ = thread_.text;
  Communicator *pending_ = nullptr;
  const void *pending_at_ = nullptr;
  bool drains_ = false;      ///< what the call leaves of its requests is remembered
  bool remembers_ = true;    ///< the row will stand in the sequence
  LastRow *last_ = nullptr;  ///< of this call site
  bool follows_ = true;      ///< the next call's fields may be copied from this one's
  uint32_t same_ = 0;        ///< bit i: field i is as in `last_`
  uint32_t last_end_ = 0;    ///< of the field before the one in hand, in that
  int drained_place_ = -1;   ///< of the remembered array that it found; -1: none
};

}  // namespace cairn::recorder
