// Handles: which object a value means, what it is called, and what of them begins and ends with a call; arrays of
// requests that are drained, and which of them completed.
#include <cstring>

#include "mpi/call/call_encoder.h"
#include "spec/ids.h"

namespace cairn::recorder {

using spec::Passing;
using trace::Atom;

static_assert(trace::kRequestNull == trace::special(trace::kFirstConstant + spec::constant_id::k_REQUEST_NULL));

CallEncoder::HandleName CallEncoder::name_of(const HandleEntry &entry) {
  if (entry.constant >= 0) return {trace::constant_atom(entry.constant), 0};
  if (entry.site == nullptr) return {trace::kUnknown, entry.place};
  Atom site = names_.local_site(entry.site);
  if (entry.thread != thread_.number) site += (static_cast<Atom>(entry.thread) + 1) << 32;
  return {site, entry.place};
}

void CallEncoder::named(const HandleEntry *entry) {
  if (entry == nullptr) {
    memory_ = false;
    return;
  }
  const HandleName name = name_of(*entry);
  atom(name.site);
  atom(name.place);
}

void CallEncoder::handle(Kind kind, Effect effect, uint64_t word) {
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
    entry->pending_comm = pending_at_;
    __atomic_store_n(&entry->pending, pending_, __ATOMIC_RELEASE);  // now other threads may find it
    outcome_.created = entry;
    outcome_.posted = entry->posted;
  }
  if (kind == Kind::message && effect != Effect::none) entry->posted = posted_by_call();
}

/// Requests that may complete. A value that stands there twice (MPICH's shared requests) means another object each
/// time; which one is kept for the end of the call.
void CallEncoder::requests(const Parameter &p, unsigned i) {
  const uint64_t mark = thread_.new_mark();
  thread_.found.clear();
  HandleTable &handles = *process_.names.handles;
  handles.settle();
  for (size_t k = 0; k < saved_.count[i] && memory_; ++k) {
    const uint64_t raw = mpi::read_handle(saved_.elements[i] + k * mpi::handle_size);
    HandleEntry *entry = handles.shared() ? nullptr : handles.find_only(p.kind, raw);
    if (entry == nullptr) entry = names_.find(p.kind, raw, mark);
    named(entry);
    if (entry != nullptr && entry->constant < 0) entry->mark = mark;
    memory_ = thread_.found.push(arena_, entry) && memory_;
  }
  if (facts_.index >= 0 && memory_ && remembers_) drain(i);
}

/// The requests of a call that takes some of them out of the array: names them by the call before, if that left the
/// array like this, and remembers what this one leaves (trace/model/request_arrays.h). Where one is persistent it stays
/// in the array, which is written out.
void CallEncoder::drain(unsigned i) {
  const size_t n = thread_.found.size();
  if (n < 2 || n > DrainedArrays::kLongest) return;
  for (size_t k = 0; k < n; ++k) {
    if (thread_.found[k]->constant < 0 && thread_.found[k]->persistent) return;
  }
  DrainedArrays &arrays = thread_.sequence.drained;
  const std::span<const Atom> array(thread_.atoms.data(), thread_.atoms.size());
  const std::span<Atom> left = arrays.prepare(arena_, array);
  if (left.empty() || !take_completed(left)) return;
  drains_ = true;
  drained_place_ = arrays.find(array);
  const Atom mark = trace::kRequests + (facts_.index - static_cast<int>(i));
  if (drained_place_ >= 0) {
    thread_.atoms.clear();
    atom(mark);
    return atom(drained_place_);
  }
  atom(0);
  if (memory_) memmove(thread_.atoms.data() + 1, thread_.atoms.data(), 2 * n * sizeof(Atom));
  thread_.atoms[0] = mark;
}

/// Takes what the call completed out of the array, and notes by which numbers. False if it says something that cannot
/// be.
bool CallEncoder::take_completed(std::span<Atom> left) {
  thread_.completed.clear();
  const Parameter &p = function_.parameters[facts_.index];
  const uint64_t word = frame_.argument[facts_.index];
  if (!returned_ || word == 0 || !readable(p)) return true;
  const size_t n = p.passing == Passing::array ? length(p, static_cast<unsigned>(facts_.index)) : 1;
  for (size_t k = 0; k < n; ++k) {
    const uint64_t index = element_word(p, reinterpret_cast<const void *>(word), k);
    if (constant_of(p.domain, index) >= 0) continue;
    if (index >= left.size() / 2 || left[2 * index] == trace::kRequestNull) return false;
    if (!thread_.completed.push(arena_, static_cast<Atom>(trace::requests_before(left, index)))) return false;
    trace::remove_request(left, index);
  }
  return true;
}

/// In the field that says which requests completed, now in thread_.atoms: numbers for places.
void CallEncoder::number_completed() {
  size_t next = 0;
  for (size_t k = 0; k < thread_.atoms.size() && next < thread_.completed.size(); ++k) {
    if (!trace::is_special(thread_.atoms[k])) thread_.atoms[k] = thread_.completed[next++];
  }
}

void CallEncoder::comm(const Parameter &p, uint64_t word) {
  const bool creates = p.effect == Effect::create || p.effect == Effect::create_if || p.effect == Effect::lookup;
  if (!creates) {
    const HandleEntry *entry = names_.find_comm(word);
    if (entry == nullptr) {
      memory_ = false;
      return;
    }
    return entry->constant >= 0 ? atom(trace::constant_atom(entry->constant)) : atom(entry->comm->number);
  }
  bool is_new = false;
  HandleEntry *entry = names_.create_comm(word, p.effect == Effect::lookup, &is_new);
  if (entry == nullptr) {
    memory_ = false;
    return;
  }
  if (entry->constant >= 0) {
    names_.skip_creation(function_, frame_);
    return atom(trace::constant_atom(entry->constant));
  }
  atom(entry->comm->number);
  if (!is_new) return;
  identity(word);
  // For who asks from outside, where MPI cannot be asked (store/pending.h).
  entry->comm->size = mpi::comm_size(word);
  entry->comm->rank = mpi::comm_rank(word);
  entry->comm->inter = mpi::comm_is_inter(word);
}

/// (counter, own place, smallest rank): with the parent's identity, counter and smallest rank are the same on all
/// members without communication. Where only some of the parent's processes take part, who they are as well.
void CallEncoder::identity(uint64_t comm) {
  const mpi::Members members = mpi::members_of(comm);
  bool whole = false;
  atom(names_.creation_number(function_, frame_, members.hash, &whole));
  const int rank = mpi::comm_rank(comm);
  atom(rank < 0 ? trace::kUnknown : members.second ? -1 - rank : rank);
  atom(members.least < 0 ? trace::kUnknown : members.least);
  if (!whole) atom(members.told < 0 ? trace::kUnknown : members.told);
}

/// The new communicator of a non-blocking duplication: named now, its handle read when the request completes.
void CallEncoder::pending_comm(const void *at) {
  pending_ = names_.new_communicator();
  if (pending_ == nullptr) {
    memory_ = false;
    return;
  }
  pending_at_ = at;
  atom(pending_->number);
  identity(frame_.argument[0]);  // the parent has the same group
}

void CallEncoder::give_up(Kind kind, uint64_t raw) {
  if (succeeded_) {
    names_.release(kind, raw);
  } else if (process_.names.handles->shared()) {
    names_.unclaim(kind, raw);
  }
}

/// Objects that the call ended: what was a handle before and is none (or was given up) after.
void CallEncoder::end_objects() {
  for (unsigned i = 0; i < function_.parameter_count; ++i) {
    const Parameter &p = function_.parameters[i];
    switch (p.effect) {
      case Effect::release:
        if (p.passing == Passing::value) {
          give_up(p.kind, frame_.argument[i]);
        } else {
          for (size_t k = 0; k < saved_.count[i]; ++k) give_up(p.kind, element_word(p, saved_.elements[i], k));
        }
        break;
      case Effect::complete:
      case Effect::consume:
        for (size_t k = 0; k < saved_.count[i]; ++k) {
          const auto *now = reinterpret_cast<const uint8_t *>(frame_.argument[i]);
          const uint64_t before = mpi::read_handle(saved_.elements[i] + k * mpi::handle_size);
          if (before == mpi::read_handle(now + k * mpi::handle_size)) continue;
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

}  // namespace cairn::recorder
