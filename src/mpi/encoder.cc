#include "mpi/encoder.h"

#include <cstring>

#include "base/bytes.h"
#include "mpi/encoder_env.h"
#include "mpi/names.h"
#include "mpi/status_code.h"

namespace cairn::recorder {
namespace {

using spec::Direction;
using spec::Effect;
using spec::Function;
using spec::Kind;
using spec::Layout;
using spec::Parameter;
using spec::Passing;
using trace::Atom;

constexpr size_t kLongestArray = size_t{1} << 31;

/// What `save_before` kept of one call, found again by parameter.
struct Saved {
  const uint8_t *elements[spec::kMaxParameters] = {};
  size_t count[spec::kMaxParameters] = {};
  int64_t capacity[spec::kMaxParameters];

  Saved(const Thread &thread, const Frame &frame, const Function &function) {
    for (int64_t &bound : capacity) bound = INT64_MAX;
    if ((frame.flags & kFrameSaved) == 0) return;
    const uint8_t *at = thread.before.data() + frame.scratch;
    for (unsigned i = 0; i < function.parameter_count; ++i) {
      const Parameter &parameter = function.parameters[i];
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

class Encoder {
 public:
  Encoder(Thread &thread, Frame &frame, bool returned, Outcome &outcome)
      : thread_(thread),
        process_(*thread.process),
        arena_(*thread.process->arena),
        frame_(frame),
        function_(spec::functions()[frame.function]),
        facts_(function_facts[frame.function]),
        environment_(frame, returned && frame.result == static_cast<uint64_t>(int64_t{mpi::success})),
        saved_(thread, frame, function_),
        names_(thread),
        outcome_(outcome),
        returned_(returned) {
    const bool code = function_.returns == spec::ReturnKind::error_code;
    const auto result = static_cast<int>(frame.result);
    succeeded_ = returned && (!code || result == mpi::success);
    statuses_readable_ = succeeded_ || (returned && code && result == mpi::error_in_status);
    errors_in_statuses_ = returned && code && result == mpi::error_in_status;
  }

  bool run() {
    thread_.row.clear();
    put(frame_.function);
    put(names_.local_site(frame_.site));
    put(frame_.depth);
    put(function_.parameter_count + 1u);
    if (facts_.receives) outcome_.posted = posted_by_call();
    for (unsigned i = 0; i < function_.parameter_count; ++i) {
      begin_field();
      parameter(i);
      end_field();
    }
    begin_field();
    returned_value();
    end_field();
    if (returned_) end_objects();
    return memory_;
  }

 private:
  // --- fields -------------------------------------------------------------------------------------------------

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
      if (!thread_.row.reserve(arena_, thread_.row.size() + text_.size())) {
        memory_ = false;
        return;
      }
      memcpy(thread_.row.data() + thread_.row.size(), text_.data(), text_.size());
      thread_.row.resize(thread_.row.size() + text_.size());
      return;
    }
    const size_t n = thread_.atoms.size();
    if (!thread_.row.reserve(arena_, thread_.row.size() + (n + 1) * kMaxVarint)) {
      memory_ = false;
      return;
    }
    uint8_t *const start = thread_.row.data();
    uint8_t *at = put_varint(start + thread_.row.size(), n << 1);
    for (size_t i = 0; i < n; ++i) at = put_varint(at, zigzag(thread_.atoms[i]));
    thread_.row.resize(static_cast<size_t>(at - start));
  }
  void put(uint64_t value) {
    if (!thread_.row.reserve(arena_, thread_.row.size() + kMaxVarint)) {
      memory_ = false;
      return;
    }
    uint8_t *const start = thread_.row.data();
    thread_.row.resize(static_cast<size_t>(put_varint(start + thread_.row.size(), value) - start));
  }
  void text(const char *bytes, size_t size) {
    bytes_ = true;
    if (!text_.reserve(arena_, text_.size() + size)) {
      memory_ = false;
      return;
    }
    memcpy(text_.data() + text_.size(), bytes, size);
    text_.resize(text_.size() + size);
  }
  void text_varint(uint64_t value) {
    uint8_t buffer[kMaxVarint];
    text(reinterpret_cast<const char *>(buffer), static_cast<size_t>(put_varint(buffer, value) - buffer));
  }

  // --- parameters ---------------------------------------------------------------------------------------------

  void parameter(unsigned i) {
    const Parameter &p = function_.parameters[i];
    if (p.layout == Layout::none) return;
    if (p.significant && spec::evaluate(p.significant, environment_) == 0) return;
    const uint64_t word = frame_.argument[i];
    // Where a buffer lies is known whether or not the call filled it.
    if (p.direction == Direction::out && p.passing != Passing::buffer && !readable(p)) return;
    switch (p.passing) {
      case Passing::value:
        return element(p, word, i);
      case Passing::buffer:
        return address(p, word);
      case Passing::string:
        return string(p, word, i);
      case Passing::string_array:
      case Passing::argv_array:
        return strings(p, word, i);
      case Passing::pointer:
      case Passing::array:
        return elements(p, word, i);
    }
  }

  bool readable(const Parameter &p) {
    if (p.layout == Layout::status ? !statuses_readable_ : !succeeded_) {
      // A non-blocking creation names its object when it is entered; nothing else is there after a failure.
      return false;
    }
    return !p.valid || spec::evaluate(p.valid, environment_) != 0;
  }

  void elements(const Parameter &p, uint64_t word, unsigned i) {
    if (special_pointer(p, word)) return;
    const void *at = reinterpret_cast<const void *>(word);
    if (p.layout == Layout::status) return statuses(p, at, i);
    size_t n = 1;
    if (p.passing == Passing::array) n = length(p, i);
    if (p.direction == Direction::inout) {
      const bool handles = p.layout == Layout::handle || p.layout == Layout::comm;
      if (p.effect == Effect::complete) return requests(p, i);
      for (size_t k = 0; k < saved_.count[i]; ++k) element(p, element_word(p, saved_.elements[i], k), i);
      if (!handles && succeeded_ && (!p.valid || spec::evaluate(p.valid, environment_) != 0)) {
        for (size_t k = 0; k < saved_.count[i]; ++k) element(p, element_word(p, at, k), i);
      }
      return;
    }
    if (p.effect == Effect::create && p.layout == Layout::comm && function_.nonblocking) return pending_comm(at);
    for (size_t k = 0; k < n && memory_; ++k) element(p, element_word(p, at, k), i);
  }

  /// Requests that may complete. A value that stands there twice (MPICH's shared requests) means another object each
  /// time; which one is kept for the end of the call.
  void requests(const Parameter &p, unsigned i) {
    const uint64_t mark = thread_.new_mark();
    thread_.found.clear();
    for (size_t k = 0; k < saved_.count[i] && memory_; ++k) {
      HandleEntry *entry = names_.find(p.kind, element_word(p, saved_.elements[i], k), mark);
      named(entry);
      if (entry != nullptr && entry->constant < 0) entry->mark = mark;
      memory_ = thread_.found.push(arena_, entry) && memory_;
    }
  }

  size_t length(const Parameter &p, unsigned i) {
    int64_t n = p.length ? spec::evaluate(p.length, environment_) : 1;
    if (n > saved_.capacity[i]) n = saved_.capacity[i];
    if (n < 0) return 0;
    return static_cast<size_t>(n) > kLongestArray ? kLongestArray : static_cast<size_t>(n);
  }

  /// NULL, or a constant that stands for the whole array (MPI_STATUSES_IGNORE, MPI_UNWEIGHTED, …).
  bool special_pointer(const Parameter &p, uint64_t word) {
    const int constant = constant_of(p.pointer_domain, word);
    if (constant >= 0) {
      atom(constant_atom(constant));
      return true;
    }
    if (word == 0) {
      if (p.may_be_null || p.passing != Passing::array) atom(trace::kNull);
      return true;
    }
    return false;
  }

  static Atom constant_atom(int id) { return trace::special(static_cast<uint16_t>(trace::kFirstConstant + id)); }

  void element(const Parameter &p, uint64_t word, unsigned /*index*/) {
    switch (p.layout) {
      case Layout::none:
      case Layout::status:
      case Layout::string:
      case Layout::strings:
        return;
      case Layout::integer: {
        const int constant = constant_of(p.domain, word);
        return constant >= 0 ? atom(constant_atom(constant)) : integer(static_cast<int64_t>(word));
      }
      case Layout::floating:
        return integer(static_cast<int64_t>(word));
      case Layout::flags:
        return flags(p, word);
      case Layout::error:
        return error(static_cast<int>(word));
      case Layout::comm:
        return comm(p, word);
      case Layout::handle:
        return handle(p.kind, p.effect, word);
      case Layout::address:
        return address(p, word);
    }
  }

  void flags(const Parameter &p, uint64_t word) {
    int64_t canonical = 0;
    int64_t rest = static_cast<int64_t>(word);
    const auto bits = spec::domain(p.domain);
    for (size_t bit = 0; bit < bits.size() && bit < 62; ++bit) {
      uint64_t value = 0;
      if (!local_constant(bits[bit], &value) || value == 0) continue;
      if ((rest & static_cast<int64_t>(value)) == static_cast<int64_t>(value)) {
        canonical |= int64_t{1} << bit;
        rest &= ~static_cast<int64_t>(value);
      }
    }
    atom(canonical);
    integer(rest);
  }

  void error(int code) {
    if (code == mpi::success) return atom(0);
    const int constant = constant_of(status_domains.error, static_cast<uint64_t>(int64_t{mpi::error_class(code)}));
    atom(constant >= 0 ? constant_atom(constant) : trace::kUnknown);
    integer(code);
  }

  // --- addresses ----------------------------------------------------------------------------------------------

  void address(const Parameter &p, uint64_t word) {
    const int constant = constant_of(p.domain, word);
    if (constant >= 0) return address_atoms({constant_atom(constant), 0, 0});
    if (p.passing == Passing::value || p.passing == Passing::array || p.kind == Kind::address) {
      return address_atoms(process_.addresses->name_integer(word, thread_.stack));
    }
    if (p.effect == Effect::map_memory && word != 0) names_.map_memory(function_, frame_, word);
    if (p.kind == Kind::attribute || p.kind == Kind::extra_state) return address_atoms(names_.opaque(word));
    address_atoms(process_.addresses->name(word, thread_.stack));
  }

  void address_atoms(const Address &named) {
    if (named.kind == trace::kDevice || named.kind == trace::kUnknown) outcome_.lasting_addresses = false;
    atom(named.kind);
    integer(named.number);
    integer(named.offset);
  }

  // --- strings ------------------------------------------------------------------------------------------------

  void string(const Parameter &p, uint64_t word, unsigned i) {
    const auto *at = reinterpret_cast<const char *>(word);
    if (special_pointer(p, word)) return;
    size_t most = SIZE_MAX;
    if (p.length) most = length(p, i);
    if (p.direction == Direction::out && saved_.capacity[i] <= 0) return;  // no room: nothing was written
    if (p.direction == Direction::out && static_cast<uint64_t>(saved_.capacity[i]) < most) {
      most = static_cast<size_t>(saved_.capacity[i]);
    }
    text(at, strnlen(at, most));
  }

  void one_string(const char *at) {
    if (at == nullptr) return text_varint(0);
    const size_t size = strlen(at);
    text_varint(size + 1);
    text(at, size);
  }

  void list(const char *const *at, size_t n) {
    text_varint(n);
    for (size_t k = 0; k < n; ++k) one_string(at[k]);
  }

  void strings(const Parameter &p, uint64_t word, unsigned i) {
    if (special_pointer(p, word)) return;
    const auto terminated = [](const char *const *at) {
      size_t n = 0;
      while (at[n] != nullptr) ++n;
      return n;
    };
    if (p.passing == Passing::string_array) {
      const auto *at = reinterpret_cast<const char *const *>(word);
      return list(at, p.length ? length(p, i) : terminated(at));
    }
    if (p.direction == Direction::inout) {  // &argv of MPI_Init
      const auto *at = *reinterpret_cast<const char *const *const *>(word);
      if (at == nullptr) return atom(trace::kNull);
      return list(at, p.length ? length(p, i) : terminated(at));
    }
    const auto *lists = reinterpret_cast<const char *const *const *>(word);
    const size_t n = length(p, i);
    text_varint(n);
    for (size_t k = 0; k < n; ++k) lists[k] == nullptr ? text_varint(0) : list(lists[k], terminated(lists[k]));
  }

  // --- handles ------------------------------------------------------------------------------------------------

  void named(const HandleEntry *entry) {
    if (entry == nullptr) {
      memory_ = false;
    } else if (entry->constant >= 0) {
      atom(constant_atom(entry->constant));
      atom(0);
    } else if (entry->site == nullptr) {
      atom(trace::kUnknown);
      atom(entry->place);
    } else {
      Atom site = names_.local_site(entry->site);
      if (entry->thread != thread_.number) site += (static_cast<Atom>(entry->thread) + 1) << 32;
      atom(site);
      atom(entry->place);
    }
  }

  void handle(Kind kind, Effect effect, uint64_t word) {
    HandleEntry *entry = nullptr;
    switch (effect) {
      case Effect::create:
      case Effect::create_if:
        entry = names_.create(kind, word, frame_.site);
        break;
      case Effect::lookup:
        entry = names_.look_up(kind, word, frame_.site);
        break;
      default:
        entry = names_.find(kind, word);
        break;
    }
    named(entry);
    if (entry == nullptr || entry->constant >= 0) return;
    if (kind == Kind::request && (effect == Effect::create || effect == Effect::create_if)) {
      entry->persistent = function_.persistent;
      entry->posted = posted_by_call();
      entry->pending = pending_;
      entry->pending_comm = pending_at_;
      outcome_.created = entry;
      outcome_.posted = entry->posted;
    }
    if (kind == Kind::message && effect != Effect::none) entry->posted = posted_by_call();
  }

  void comm(const Parameter &p, uint64_t word) {
    const bool creates = p.effect == Effect::create || p.effect == Effect::create_if || p.effect == Effect::lookup;
    if (!creates) {
      const HandleEntry *entry = names_.find_comm(word);
      if (entry == nullptr) {
        memory_ = false;
        return;
      }
      return entry->constant >= 0 ? atom(constant_atom(entry->constant)) : atom(entry->comm->number);
    }
    bool is_new = false;
    const HandleEntry *entry = names_.create_comm(word, p.effect == Effect::lookup, &is_new);
    if (entry == nullptr) {
      memory_ = false;
      return;
    }
    if (entry->constant >= 0) {
      names_.skip_creation(function_, frame_);
      return atom(constant_atom(entry->constant));
    }
    atom(entry->comm->number);
    if (is_new) identity(word);
  }

  /// (counter, world, smallest rank): with the parent's identity, the same on all members without communication.
  void identity(uint64_t comm) {
    uint64_t members = 0;
    const int least = mpi::smallest_world_rank(comm, &members);
    atom(names_.creation_number(function_, frame_, members));
    atom(0);
    atom(least < 0 ? trace::kUnknown : least);
  }

  /// The new communicator of a non-blocking duplication: named now, its handle read when the request completes.
  void pending_comm(const void *at) {
    pending_ = names_.new_communicator();
    if (pending_ == nullptr) {
      memory_ = false;
      return;
    }
    pending_at_ = at;
    atom(pending_->number);
    uint64_t members = 0;
    const int least = mpi::smallest_world_rank(frame_.argument[0], &members);  // the parent has the same group
    atom(names_.creation_number(function_, frame_, members));
    atom(0);
    atom(least < 0 ? trace::kUnknown : least);
  }

  // --- statuses -----------------------------------------------------------------------------------------------

  /// What a status of this very call is coded against, and what its request will be coded against.
  Posted posted_by_call() {
    Posted posted = {PostedKind::nothing, mpi::undefined, mpi::undefined, -1};
    if (facts_.receives) {
      posted.kind = PostedKind::envelope;
      if (facts_.source >= 0) posted.source = static_cast<int>(frame_.argument[facts_.source]);
      if (facts_.tag >= 0) posted.tag = static_cast<int>(frame_.argument[facts_.tag]);
      if (facts_.count >= 0 && facts_.datatype >= 0) {
        const int64_t size = environment_.type_size(static_cast<unsigned>(facts_.datatype));
        if (size >= 0) posted.bytes = size * static_cast<int64_t>(frame_.argument[facts_.count]);
      }
    } else if (facts_.transfers_file) {
      posted.kind = PostedKind::bytes;
    }
    return posted;
  }

  void statuses(const Parameter &p, const void *at, unsigned i) {
    const size_t n = p.passing == Passing::array ? length(p, i) : 1;
    if (p.direction == Direction::in) {
      for (size_t k = 0; k < n; ++k) plain_status(mpi::read_status(nth(at, k)), false);
      return;
    }
    if (p.direction == Direction::inout) {
      if (saved_.count[i] != 0) plain_status(mpi::read_status(saved_.elements[i]), true);
      if (succeeded_) plain_status(mpi::read_status(at), true);
      return;
    }
    bool implied = true;
    for (size_t k = 0; k < n && implied; ++k) {
      implied = status_implied(mpi::read_status(nth(at, k)), expectation(i, k), errors_in_statuses_);
    }
    outcome_.implied_status = outcome_.implied_status && implied;
    if (implied) return n == 0 ? void() : atom(trace::kImplied);
    for (size_t k = 0; k < n; ++k) coded_status(mpi::read_status(nth(at, k)), expectation(i, k));
  }

  static const void *nth(const void *statuses, size_t k) {
    return static_cast<const uint8_t *>(statuses) + k * mpi::status_size;
  }

  /// What the k-th status of output parameter `i` is coded against.
  Posted expectation(unsigned /*i*/, size_t k) {
    if (facts_.requests < 0) {
      if (facts_.request_in >= 0) return of_request(frame_.argument[facts_.request_in]);
      if (facts_.message >= 0 && saved_.count[facts_.message] != 0) {
        return names_.find(Kind::message, mpi::read_handle(saved_.elements[facts_.message])) == nullptr
                   ? Posted{}
                   : posted_by_call();
      }
      return posted_by_call();
    }
    size_t which = k;
    if (facts_.index >= 0) {  // Waitany, Testany: one; Waitsome, Testsome: an array
      int index = 0;
      memcpy(&index, reinterpret_cast<const int *>(frame_.argument[facts_.index]) + k, sizeof index);
      if (index < 0 || static_cast<size_t>(index) >= saved_.count[facts_.requests]) return kEmptyStatus;
      which = static_cast<size_t>(index);
    }
    if (which >= saved_.count[facts_.requests]) return kEmptyStatus;
    return which < thread_.found.size() ? of_entry(thread_.found[which]) : kEmptyStatus;
  }

  Posted of_request(uint64_t raw) { return of_entry(names_.find(Kind::request, raw)); }

  static Posted of_entry(const HandleEntry *entry) {
    return entry == nullptr || entry->constant >= 0 ? kEmptyStatus : entry->posted;
  }

  /// `with_error`: an error field that the call wrote; of a status that is only read it is whatever lay in memory.
  void plain_status(const mpi::Status &status, bool with_error) {
    status_source(status.source);
    status_tag(status.tag);
    with_error ? error_atom(status.error) : atom(trace::kImplied);
    integer(status.bytes);
    atom(status.cancelled ? 1 : 0);
  }

  void coded_status(const mpi::Status &status, const Posted &posted) {
    const StatusCode code = code_status(status, posted, errors_in_statuses_);
    code.source ? status_source(status.source) : atom(trace::kImplied);
    code.tag ? status_tag(status.tag) : atom(trace::kImplied);
    code.error ? error_atom(status.error) : atom(trace::kImplied);
    code.bytes ? integer(status.bytes) : atom(trace::kImplied);
    code.cancelled ? atom(status.cancelled ? 1 : 0) : atom(trace::kImplied);
  }

  void status_source(int value) { integer_or_constant(status_domains.source, value); }
  void status_tag(int value) { integer_or_constant(status_domains.tag, value); }
  void error_atom(int code) {
    if (code == mpi::success) return atom(0);
    integer(code);
  }
  void integer_or_constant(uint8_t domain, int value) {
    const int constant = constant_of(domain, static_cast<uint64_t>(int64_t{value}));
    constant >= 0 ? atom(constant_atom(constant)) : integer(value);
  }

  // --- the end of the call ------------------------------------------------------------------------------------

  void returned_value() {
    if (!returned_) return atom(trace::kNoReturn);
    switch (function_.returns) {
      case spec::ReturnKind::error_code:
        return error(static_cast<int>(frame_.result));
      case spec::ReturnKind::wall_time:
        return;
      case spec::ReturnKind::aint:
        return address_atoms(process_.addresses->name_integer(frame_.result, thread_.stack));
      case spec::ReturnKind::handle:
        if (function_.return_kind == Kind::comm) {
          const HandleEntry *entry = names_.find_comm(frame_.result);
          if (entry == nullptr) return;
          return entry->constant >= 0 ? atom(constant_atom(entry->constant)) : atom(entry->comm->number);
        }
        return handle(function_.return_kind, Effect::none, frame_.result);
      case spec::ReturnKind::fint: {
        const int constant = constant_of(function_.return_domain, frame_.result);
        return constant >= 0 ? atom(constant_atom(constant)) : integer(static_cast<int64_t>(frame_.result));
      }
    }
  }

  /// Objects that the call ended: what was a handle before and is none (or was given up) after.
  void end_objects() {
    for (unsigned i = 0; i < function_.parameter_count; ++i) {
      const Parameter &p = function_.parameters[i];
      switch (p.effect) {
        case Effect::release:
          if (!succeeded_) break;
          if (p.passing == Passing::value) {
            names_.release(p.kind, frame_.argument[i]);
          } else {
            for (size_t k = 0; k < saved_.count[i]; ++k) names_.release(p.kind, element_word(p, saved_.elements[i], k));
          }
          break;
        case Effect::complete:
        case Effect::consume:
          for (size_t k = 0; k < saved_.count[i]; ++k) {
            const uint64_t before = element_word(p, saved_.elements[i], k);
            const uint64_t after = element_word(p, reinterpret_cast<const void *>(frame_.argument[i]), k);
            if (before == after) continue;
            if (p.effect == Effect::consume) {
              names_.complete(p.kind, before);
            } else if (k < thread_.found.size() && thread_.found[k] != nullptr && thread_.found[k]->constant < 0) {
              names_.complete(thread_.found[k]);
            }
          }
          break;
        case Effect::unmap_memory:
          if (succeeded_) names_.unmap_memory(p, frame_, i);
          break;
        default:
          break;
      }
    }
  }

  static constexpr Posted kEmptyStatus = {PostedKind::empty, 0, 0, 0};

  Thread &thread_;
  Process &process_;
  Arena &arena_;
  Frame &frame_;
  const Function &function_;
  const FunctionFacts &facts_;
  Environment environment_;
  Saved saved_;
  Names names_;
  Outcome &outcome_;
  bool returned_;
  bool succeeded_ = false;
  bool statuses_readable_ = false;
  bool errors_in_statuses_ = false;
  bool memory_ = true;
  bool bytes_ = false;
  Growable<char> &text_ = thread_.text;
  Communicator *pending_ = nullptr;
  const void *pending_at_ = nullptr;
};

}  // namespace

bool save_before(Thread &thread, Frame &frame) {
  const Function &function = spec::functions()[frame.function];
  Arena &arena = *thread.process->arena;
  Environment environment(frame, false);
  size_t end = thread.before.size();
  frame.scratch = static_cast<uint32_t>(end);
  const auto append = [&](const void *bytes, size_t size) {
    const size_t room = Saved::padded(size);
    if (!thread.before.reserve(arena, end + room)) return false;
    if (size != 0) memcpy(thread.before.data() + end, bytes, size);
    end += room;
    thread.before.resize(end);
    return true;
  };
  for (unsigned i = 0; i < function.parameter_count; ++i) {
    const Parameter &p = function.parameters[i];
    if (p.capacity) {
      const int64_t capacity = spec::evaluate(p.capacity, environment);
      if (!append(&capacity, 8)) return false;
    }
    if (!p.read_before) continue;
    const uint64_t word = frame.argument[i];
    int64_t n = word == 0 ? 0 : p.passing == Passing::array && p.length ? spec::evaluate(p.length, environment) : 1;
    if (p.significant && spec::evaluate(p.significant, environment) == 0) n = 0;
    if (p.passing != Passing::array && p.passing != Passing::pointer) n = 0;
    if (constant_of(p.pointer_domain, word) >= 0) n = 0;
    if (n < 0) n = 0;
    const auto count = static_cast<uint64_t>(n);
    if (!append(&count, 8) || !append(reinterpret_cast<const void *>(word), count * element_size(p))) return false;
  }
  frame.flags |= kFrameSaved;
  return true;
}

bool encode_bare(Thread &thread, const Frame &frame) {
  const uint32_t fields = spec::functions()[frame.function].parameter_count + 1u;
  const size_t most = 4 * kMaxVarint + fields;
  if (!thread.row.reserve(*thread.process->arena, most)) return false;
  uint8_t *const start = thread.row.data();
  uint8_t *at = put_varint(start, frame.function);
  at = put_varint(at, Names(thread).local_site(frame.site));
  at = put_varint(at, frame.depth);
  at = put_varint(at, fields);
  memset(at, 0, fields);  // that many absent fields
  thread.row.resize(static_cast<size_t>(at - start) + fields);
  return true;
}

bool encode(Thread &thread, Frame &frame, bool returned, Outcome *outcome) {
  Encoder encoder(thread, frame, returned, *outcome);
  return encoder.run();
}

}  // namespace cairn::recorder
