// Statuses: an outcome as its difference from what the call, or the request that it ends, implies (status_code.h).
#include "mpi/call/call_encoder.h"
#include "mpi/call/status_code.h"

namespace cairn::recorder {

using spec::Direction;
using spec::Passing;

namespace {

const void *nth(const void *statuses, size_t k) {
  return static_cast<const uint8_t *>(statuses) + k * mpi::status_size;
}

}  // namespace

/// What a status of this very call is coded against, and what its request will be coded against.
Posted CallEncoder::posted_by_call() {
  Posted posted = {PostedKind::nothing, mpi::undefined, mpi::undefined, -1};
  if (facts_.receives) {
    posted.kind = PostedKind::envelope;
    if (facts_.source >= 0) posted.source = static_cast<int>(frame_.argument[facts_.source]);
    if (facts_.tag >= 0) posted.tag = static_cast<int>(frame_.argument[facts_.tag]);
    const bool wild =
        (facts_.source >= 0 && posted.source == mpi::any_source) || (facts_.tag >= 0 && posted.tag == mpi::any_tag);
    if (wild && facts_.request >= 0) wild_requests.store(true, std::memory_order_relaxed);
    if (facts_.count >= 0 && facts_.datatype >= 0) {
      const int64_t size = environment_.type_size(static_cast<unsigned>(facts_.datatype));
      if (size >= 0) posted.bytes = size * static_cast<int64_t>(frame_.argument[facts_.count]);
    }
  } else if (facts_.transfers_file) {
    posted.kind = PostedKind::bytes;
  }
  return posted;
}

void CallEncoder::statuses(const Parameter &p, const void *at, unsigned i) {
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
  if (!facts_.tells_outcome) {  // MPI_Status_f2c: no message, file or request says what is in it
    outcome_.implied_status = false;
    for (size_t k = 0; k < n; ++k) plain_status(mpi::read_status(nth(at, k)), true);
    return;
  }
  const bool ignored = (frame_.flags & kFrameTold) != 0;
  if (ignored) atom(trace::constant_atom(spec::domain(p.pointer_domain)[0]));
  bool implied = true;
  for (size_t k = 0; k < n && implied; ++k) {
    implied = status_implied(mpi::read_status(nth(at, k)), expectation(k), errors_in_statuses_);
  }
  outcome_.implied_status = outcome_.implied_status && implied;
  if (implied) return n == 0 || ignored ? void() : atom(trace::kImplied);
  for (size_t k = 0; k < n; ++k) coded_status(mpi::read_status(nth(at, k)), expectation(k));
}

/// What the k-th status that the call gives is coded against.
Posted CallEncoder::expectation(size_t k) {
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

Posted CallEncoder::of_request(uint64_t raw) { return of_entry(names_.find(Kind::request, raw)); }

Posted CallEncoder::of_entry(const HandleEntry *entry) {
  return entry == nullptr || entry->constant >= 0 ? kEmptyStatus : entry->posted;
}

/// `with_error`: an error field that the call wrote; of a status that is only read it is whatever lay in memory.
void CallEncoder::plain_status(const mpi::Status &status, bool with_error) {
  status_source(status.source);
  status_tag(status.tag);
  with_error ? error_atom(status.error) : atom(trace::kImplied);
  integer(status.bytes);
  atom(status.cancelled ? 1 : 0);
}

void CallEncoder::coded_status(const mpi::Status &status, const Posted &posted) {
  const StatusCode code = code_status(status, posted, errors_in_statuses_);
  code.source ? status_source(status.source) : atom(trace::kImplied);
  code.tag ? status_tag(status.tag) : atom(trace::kImplied);
  code.error ? error_atom(status.error) : atom(trace::kImplied);
  code.bytes ? integer(status.bytes) : atom(trace::kImplied);
  code.cancelled ? atom(status.cancelled ? 1 : 0) : atom(trace::kImplied);
}

void CallEncoder::error_atom(int code) {
  if (code == mpi::success) return atom(0);
  // Mostly a class, as MPI_ERR_PENDING, which has another number in each library. Any other code stays a number.
  integer_or_constant(spec::domain_id::k_error, code);
}
void CallEncoder::integer_or_constant(uint8_t domain, int value) {
  const int constant = constant_of(domain, static_cast<uint64_t>(int64_t{value}));
  constant >= 0 ? atom(trace::constant_atom(constant)) : integer(value);
}

}  // namespace cairn::recorder
