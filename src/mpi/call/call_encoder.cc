#include "mpi/call/call_encoder.h"

namespace cairn::recorder {

using spec::Direction;
using spec::Layout;
using spec::Passing;
using trace::Atom;

namespace {

constexpr size_t kLongestArray = size_t{1} << 31;

/// Gives the end. Some bytes mostly, which a call of memcpy would take longer for than they do.
uint8_t *copy(uint8_t *to, const uint8_t *from, size_t size) {
  if (size > 16) {
    memcpy(to, from, size);
  } else if (size >= 8) {
    uint64_t first = 0;
    uint64_t last = 0;
    memcpy(&first, from, 8);
    memcpy(&last, from + size - 8, 8);
    memcpy(to, &first, 8);
    memcpy(to + size - 8, &last, 8);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
  return to + size;
}

}  // namespace

/// Finds which fields are as in the last row of this call site; true if what stands before them is, too. What is known
/// of that row is overwritten from here on.
bool CallEncoder::begin_from_last() {
  thread_.encoded = nullptr;
  if (!remembers_ || frame_.site == nullptr) return false;
  LastRow *const last = thread_.last_rows.of(arena_, *frame_.site);
  if (last == nullptr) return false;
  const uint32_t epoch = process_.names.handles->epoch() + *process_.names.preload_epoch;
  const bool applies = last->site == frame_.site && last->function == frame_.function && last->epoch == epoch &&
                       last->segment == thread_.sequence.segment;
  const bool begins = applies && last->depth == frame_.depth;
  const unsigned count = function_.parameter_count;
  uint32_t same = 0;
  for (unsigned i = 0; i < count; ++i) {
    same |= static_cast<uint32_t>(last->argument[i] == frame_.argument[i]) << i;
    last->argument[i] = frame_.argument[i];
  }
  if (begins) same_ = same & facts_.copied;
  last->site = nullptr;
  last->function = frame_.function;
  last->depth = frame_.depth;
  last->epoch = epoch;
  last->segment = thread_.sequence.segment;
  last_ = last;
  return begins;
}

/// Copies the fields from `i` on that are as in the last row, and gives how many these are.
unsigned CallEncoder::copy_from_last(uint8_t *&at, unsigned i) {
  assert((same_ >> i & 1) != 0 && last_ != nullptr);
  const auto count = static_cast<unsigned>(__builtin_ctz(~(same_ >> i)));
  const uint32_t from = last_end_;
  last_end_ = last_->end[i + count];
  const auto moved = static_cast<uint32_t>(at - thread_.row.data()) - from;
  for (unsigned k = i + 1; k <= i + count; ++k) last_->end[k] += moved;
  at = copy(at, last_->bytes + from, last_end_ - from);
  return count;
}

bool CallEncoder::run(bool remembers) {
  remembers_ = remembers;
  thread_.row.clear();
  // What simple fields take at most is reserved ahead: they are written without looking.
  const size_t fields = function_.parameter_count + size_t{1};
  bool room = reserve_row((fields + 1) * kMostSimple);
  memory_ = room;
  uint8_t *at = thread_.row.data();
  if (begin_from_last() && room) {
    last_end_ = last_->end[0];
    at = copy(at, last_->bytes, last_end_);
  } else if (room) {
    at = put_varint(at, frame_.function);
    at = put_varint(at, names_.local_site(frame_.site));
    at = put_varint(at, frame_.depth);
    at = put_varint(at, fields);
  }
  if (last_ != nullptr) last_->end[0] = static_cast<uint32_t>(at - thread_.row.data());
  if (facts_.receives) outcome_.posted = posted_by_call();
  for (unsigned i = 0; i < function_.parameter_count; ++i) {
    if (last_ != nullptr && (same_ >> i & 1) != 0 && room) {
      i += copy_from_last(at, i) - 1;
      continue;
    }
    if (last_ != nullptr) last_end_ = last_->end[i + 1];
    if (room && facts_.plan[i] != FieldPlan::general) {
      const bool absent = (facts_.conditional >> i & 1) != 0 && !significant(function_.parameters[i]);
      if (absent) *at = 0;
      if (uint8_t *end = absent ? at + 1 : simple(at, i); end != nullptr) {
        at = end;
        end_of_field(i, at);
        continue;
      }
    }
    if ((facts_.copied >> i & 1) != 0) follows_ = false;  // an unusual value, which may be long
    if (room) thread_.row.resize(static_cast<size_t>(at - thread_.row.data()));
    begin_field();
    parameter(i);
    if (drains_ && static_cast<int>(i) == facts_.index) number_completed();
    end_field();
    room = room && reserve_row((fields - i) * kMostSimple);
    at = thread_.row.data() + thread_.row.size();
    end_of_field(i, at);
  }
  const bool only_succeeded = room && succeeded_ && function_.returns == spec::ReturnKind::error_code;
  if (only_succeeded) at = one_atom(at, 0);
  if (room) thread_.row.resize(static_cast<size_t>(at - thread_.row.data()));
  memory_ = memory_ && room;
  if (!only_succeeded) {
    begin_field();
    returned_value();
    end_field();
  }
  if (returned_ && facts_.ends_objects) end_objects();
  if (drains_ && memory_) {
    const bool as_it_was = thread_.completed.size() == 0;
    outcome_.array_as_left = drained_place_ == 0 && as_it_was;
    thread_.sequence.drained.leave(drained_place_, as_it_was);
  }
  if (memory_ && follows_ && outcome_.lasting_addresses) thread_.encoded = last_;
  return memory_;
}

/// Writes the field of a parameter that has a plan, and gives its end; nullptr if it has to go the general way.
uint8_t *CallEncoder::simple(uint8_t *at, unsigned i) {
  const Parameter &p = function_.parameters[i];
  const uint64_t word = frame_.argument[i];
  switch (facts_.plan[i]) {
    case FieldPlan::nothing:
      *at++ = 0;
      return at;
    case FieldPlan::integer: {
      const int constant = constant_of(p.domain, word);
      if (constant >= 0) return one_atom(at, trace::constant_atom(constant));
      const auto value = static_cast<int64_t>(word);
      return trace::is_special(value) ? nullptr : one_atom(at, value);
    }
    case FieldPlan::comm: {
      const HandleEntry *entry = names_.find_comm(word);
      if (entry == nullptr) return nullptr;
      return one_atom(at, entry->constant >= 0 ? trace::constant_atom(entry->constant) : entry->comm->number);
    }
    case FieldPlan::handle:
      return handle_field(at, names_.find(p.kind, word));
    case FieldPlan::held:
      if (word == 0 || saved_.count[i] != 1) return nullptr;
      return handle_field(at, names_.find(p.kind, element_word(p, saved_.elements[i], 0)));
    case FieldPlan::made: {
      if (word == 0 || !succeeded_) return nullptr;
      const uint64_t made = element_word(p, reinterpret_cast<const void *>(word), 0);
      return handle_field(at, p.effect == Effect::create ? names_.create(p.kind, made, frame_.site)
                                                         : names_.look_up(p.kind, made, frame_.site));
    }
    case FieldPlan::buffer: {
      if (constant_of(p.domain, word) >= 0) return nullptr;
      const Address named = process_.names.addresses->name(word, thread_.stack);
      if (named.kind == trace::kDevice || named.kind == trace::kUnknown) outcome_.lasting_addresses = false;
      if (trace::is_special(named.number) || trace::is_special(named.offset)) return nullptr;
      *at++ = 3 << 1;
      at = put_varint(put_atom(at, named.kind), zigzag(named.number));
      return put_varint(at, zigzag(named.offset));
    }
    case FieldPlan::general:
      break;
  }
  return nullptr;
}

void CallEncoder::parameter(unsigned i) {
  const Parameter &p = function_.parameters[i];
  if (p.layout == Layout::none) return;
  if (!significant(p)) return;
  const uint64_t word = frame_.argument[i];
  // Where a buffer lies is known whether or not the call filled it.
  if (p.direction == Direction::out && p.passing != Passing::buffer && !readable(p)) {
    // What may be why the call failed.
    if (word == 0 && is_refused(p)) atom(trace::kNull);
    return;
  }
  switch (p.passing) {
    case Passing::value:
      return element(p, word);
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

/// Whether MPI may have refused that there is no room for an output.
bool CallEncoder::is_refused(const Parameter &p) const {
  const bool one = p.passing == Passing::pointer || p.passing == Passing::array;
  return one && p.pointer_domain == 0 && returned_ && !succeeded_ && function_.returns == spec::ReturnKind::error_code;
}

bool CallEncoder::readable(const Parameter &p) {
  // MPI_Waitsome that gives MPI_ERR_IN_STATUS says as ever what completed.
  const bool all_there = facts_.status >= 0 && function_.parameters[facts_.status].passing == Passing::array;
  if (p.layout == Layout::status || all_there ? !statuses_readable_ : !succeeded_) {
    // A non-blocking creation names its object when it is entered; nothing else is there after a failure.
    return false;
  }
  return !p.valid || spec::evaluate(p.valid, environment_) != 0;
}

void CallEncoder::elements(const Parameter &p, uint64_t word, unsigned i) {
  if (special_pointer(p, word)) return;
  const void *at = reinterpret_cast<const void *>(word);
  if (p.layout == Layout::status) return statuses(p, at, i);
  size_t n = 1;
  if (p.passing == Passing::array) n = length(p, i);
  if (p.direction == Direction::inout) {
    const bool handles = spec::is_handle(p.layout);
    if (p.effect == Effect::complete) return requests(p, i);
    for (size_t k = 0; k < saved_.count[i]; ++k) element(p, element_word(p, saved_.elements[i], k));
    if (!handles && succeeded_ && (!p.valid || spec::evaluate(p.valid, environment_) != 0)) {
      for (size_t k = 0; k < saved_.count[i]; ++k) element(p, element_word(p, at, k));
    }
    return;
  }
  if (p.effect == Effect::create && p.layout == Layout::comm && function_.nonblocking) return pending_comm(at);
  if (p.prefix_sums && is_prefix_sums(i, n)) return atom(trace::kPrefixSums);
  for (size_t k = 0; k < n && memory_; ++k) element(p, element_word(p, at, k));
}

/// Whether the n displacements in parameter `i` follow from the counts before it. So they do where there are none:
/// ranks with and without neighbours have the same field.
bool CallEncoder::is_prefix_sums(unsigned i, size_t n) const {
  const Parameter &counts = function_.parameters[i - 1];
  const auto *count = reinterpret_cast<const void *>(frame_.argument[i - 1]);
  const auto *displacement = reinterpret_cast<const void *>(frame_.argument[i]);
  if (count == nullptr) return false;
  int64_t sum = 0;
  for (size_t k = 0; k < n; ++k) {
    const auto next = static_cast<int64_t>(element_word(counts, count, k));
    if (next < 0 || static_cast<int64_t>(element_word(function_.parameters[i], displacement, k)) != sum) return false;
    if (__builtin_add_overflow(sum, next, &sum)) return false;
  }
  return true;
}

size_t CallEncoder::length(const Parameter &p, unsigned i) {
  int64_t n = p.length ? spec::evaluate(p.length, environment_) : 1;
  if (n > saved_.capacity[i]) n = saved_.capacity[i];
  if (n < 0) return 0;
  return static_cast<size_t>(n) > kLongestArray ? kLongestArray : static_cast<size_t>(n);
}

/// NULL, or a constant that stands for the whole array (MPI_STATUSES_IGNORE, MPI_UNWEIGHTED, …).
bool CallEncoder::special_pointer(const Parameter &p, uint64_t word) {
  const int constant = constant_of(p.pointer_domain, word);
  if (constant >= 0) {
    atom(trace::constant_atom(constant));
    return true;
  }
  if (word == 0) {
    if (p.may_be_null || p.passing != Passing::array) atom(trace::kNull);
    return true;
  }
  return false;
}

void CallEncoder::element(const Parameter &p, uint64_t word) {
  switch (p.layout) {
    case Layout::none:
    case Layout::status:
    case Layout::string:
    case Layout::strings:
      return;
    case Layout::integer: {
      const int constant = constant_of(p.domain, word);
      return constant >= 0 ? atom(trace::constant_atom(constant)) : integer(static_cast<int64_t>(word));
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

void CallEncoder::flags(const Parameter &p, uint64_t word) {
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

void CallEncoder::error(int code) {
  if (code == mpi::success) return atom(0);
  const int constant = constant_of(spec::domain_id::k_error, static_cast<uint64_t>(int64_t{mpi::error_class(code)}));
  atom(constant >= 0 ? trace::constant_atom(constant) : trace::kUnknown);
  integer(code);
}

void CallEncoder::address(const Parameter &p, uint64_t word) {
  const int constant = constant_of(p.domain, word);
  if (constant >= 0) return address_atoms({trace::constant_atom(constant), 0, 0});
  if (p.passing == Passing::value || p.passing == Passing::array || p.kind == Kind::address) {
    const Address named = process_.names.addresses->name_integer(word, thread_.stack);
    address_atoms(named);
    // It may be an address of another process, which means something else in this one, or nothing.
    if (p.keeps_raw && named.kind != trace::kInteger) integer(static_cast<int64_t>(word));
    return;
  }
  if (p.effect == Effect::map_memory && word != 0) names_.map_memory(function_, frame_, word);
  if (p.kind == Kind::attribute || p.kind == Kind::extra_state) return address_atoms(names_.opaque(word));
  const Address named = process_.names.addresses->name(word, thread_.stack);
  address_atoms(named);
  if (p.keeps_raw && named.kind != trace::kNull) integer(static_cast<int64_t>(word));
}

void CallEncoder::address_atoms(const Address &named) {
  if (named.kind == trace::kDevice || named.kind == trace::kUnknown) outcome_.lasting_addresses = false;
  atom(named.kind);
  integer(named.number);
  integer(named.offset);
}

void CallEncoder::string(const Parameter &p, uint64_t word, unsigned i) {
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

void CallEncoder::one_string(const char *at) {
  if (at == nullptr) return text_varint(0);
  const size_t size = strlen(at);
  text_varint(size + 1);
  text(at, size);
}

void CallEncoder::list(const char *const *at, size_t n) {
  text_varint(n);
  for (size_t k = 0; k < n; ++k) one_string(at[k]);
}

void CallEncoder::strings(const Parameter &p, uint64_t word, unsigned i) {
  if (special_pointer(p, word) || process_.run.config.no_command) return;  // they may hold what is secret
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

void CallEncoder::returned_value() {
  if (!returned_) return atom(trace::kNoReturn);
  switch (function_.returns) {
    case spec::ReturnKind::error_code:
      return error(static_cast<int>(frame_.result));
    case spec::ReturnKind::wall_time:
      return;
    case spec::ReturnKind::aint:
      return address_atoms(process_.names.addresses->name_integer(frame_.result, thread_.stack));
    case spec::ReturnKind::handle:
      if (function_.return_kind == Kind::comm) {
        const HandleEntry *entry = names_.find_comm(frame_.result);
        if (entry == nullptr) return;
        return entry->constant >= 0 ? atom(trace::constant_atom(entry->constant)) : atom(entry->comm->number);
      }
      return handle(function_.return_kind, Effect::none, frame_.result);
    case spec::ReturnKind::fint: {
      const int constant = constant_of(function_.return_domain, frame_.result);
      return constant >= 0 ? atom(trace::constant_atom(constant)) : integer(static_cast<int64_t>(frame_.result));
    }
  }
}

}  // namespace cairn::recorder
