#include "scale/script.h"

#include <algorithm>
#include <numeric>

#include "base/hash.h"
#include "trace/model/request_arrays.h"

namespace cairn::scale {

namespace function = spec::function_id;

/// Writes one row, field by field; interns it when it is complete.
class Script::Call {
 public:
  explicit Call(Script *script) : script_(script) {}
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
  ~Call() {
    put(1 << 1);  // MPI_SUCCESS
    signed_atom(0);
    script_->intern();
  }

  Call &absent() {
    put(0);
    return *this;
  }
  Call &value(Atom atom) { return atoms({atom}); }
  Call &handle(Handle handle) { return atoms({handle.site, handle.place}); }
  Call &address(const Buffer &at) { return atoms({at.kind, at.number, at.offset}); }
  Call &data(const Data &data) { return address(data.at).value(data.count).handle(data.type); }
  Call &list(std::span<const Atom> values) {
    put(values.size() << 1);
    for (const Atom atom : values) signed_atom(atom);
    return *this;
  }
  Call &atoms(std::initializer_list<Atom> values) { return list({values.begin(), values.size()}); }
  Call &handles(std::span<const Handle> handles) {
    put(handles.size() << 2);
    for (const Handle handle : handles) {
      signed_atom(handle.site);
      signed_atom(handle.place);
    }
    return *this;
  }

  void put(uint64_t value) {
    uint8_t buffer[kMaxVarint];
    script_->row_.insert(script_->row_.end(), buffer, put_varint(buffer, value));
  }
  void signed_atom(Atom atom) { put(zigzag(atom)); }

 private:
  Script *script_;
};

Script::Script(uint32_t rank, uint32_t size) : rank_(rank), size_(size), index_(64), open_(1), closed_(1) {}

uint32_t Script::local_site(Place place) {
  for (size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i] == place) return static_cast<uint32_t>(i + 1);
  }
  sites_.push_back(place);
  places_.emplace_back();
  return static_cast<uint32_t>(sites_.size());
}

Script::Call Script::call(uint16_t function, Place place, uint32_t parameters) {
  row_.clear();
  const uint32_t site = local_site(place);
  uint8_t buffer[4 * kMaxVarint];
  uint8_t *end = put_varint(buffer, function);
  end = put_varint(end, site);
  end = put_varint(end, 0);
  end = put_varint(end, parameters + 1);
  row_.insert(row_.end(), buffer, end);
  return Call(this);
}

void Script::intern() {
  if (2 * (rows_.size() + 1) > index_.size()) {
    index_.assign(index_.size() * 4, 0);
    for (size_t i = 0; i < rows_.size(); ++i) {
      size_t at = hash64(rows_[i]) & (index_.size() - 1);
      while (index_[at] != 0) at = (at + 1) & (index_.size() - 1);
      index_[at] = static_cast<uint32_t>(i + 1);
    }
  }
  size_t at = hash64(row_) & (index_.size() - 1);
  while (index_[at] != 0 && rows_[index_[at] - 1] != row_) at = (at + 1) & (index_.size() - 1);
  if (index_[at] == 0) {
    rows_.push_back(row_);
    index_[at] = static_cast<uint32_t>(rows_.size());
  }
  append({index_[at] - 1, false, 1});
}

void Script::append(const grammar::Term &term) {
  grammar::Body &body = open_.back();
  if (!body.empty() && body.back().id == term.id && body.back().is_rule == term.is_rule) {
    body.back().count += term.count;
  } else {
    body.push_back(term);
  }
}

void Script::close(uint64_t times) {
  grammar::Body body = std::move(open_.back());
  open_.pop_back();
  if (body.empty()) return;
  if (times == 1) {
    for (const grammar::Term &term : body) append(term);
  } else if (body.size() == 1) {
    append({body[0].id, body[0].is_rule, body[0].count * times});
  } else {
    closed_.push_back(std::move(body));
    append({static_cast<uint32_t>(closed_.size() - 1), true, times});
  }
}

Buffer Script::heap(uint32_t label, Atom offset) {
  const auto found = std::find(segments_.begin(), segments_.end(), label);
  const Atom number = found - segments_.begin();
  if (found == segments_.end()) segments_.push_back(label);
  return {trace::kHeap, number, offset};
}

Handle Script::request(Place place) {
  const uint32_t site = local_site(place);
  std::vector<bool> &taken = places_[site - 1];
  const auto free = std::find(taken.begin(), taken.end(), false);
  const auto at = static_cast<size_t>(free - taken.begin());
  if (free == taken.end()) taken.push_back(false);
  taken[at] = true;
  return {site, static_cast<Atom>(at)};
}

void Script::complete(Handle request) {
  if (request == kNoRequest) return;
  places_[static_cast<size_t>(request.site - 1)][static_cast<size_t>(request.place)] = false;
}

// --- calls
// ------------------------------------------------------------------------------------------------------------

void Script::init(Place place) {
  call(function::Init, place, 2).value(trace::kNull).value(trace::kNull);
  call(function::Comm_size, place + 1, 2).value(kWorld).value(size_);
  comm_rank(place + 2, kWorld);
}

void Script::comm_rank(Place place, Atom comm) { call(function::Comm_rank, place, 2).value(comm).value(rank_); }

void Script::finalize(Place place) { call(function::Finalize, place, 0); }

void Script::barrier(Place place, Atom comm) { call(function::Barrier, place, 1).value(comm); }

void Script::bcast(Place place, Data data, Atom root, Atom comm) {
  call(function::Bcast, place, 5).data(data).value(root).value(comm);
}

void Script::reduce(Place place, Buffer to, Data data, Handle op, Atom root, Atom comm) {
  Call row = call(function::Reduce, place, 7);
  row.address(data.at);
  rank_ == root ? row.address(to) : row.absent();
  row.value(data.count).handle(data.type).handle(op).value(root).value(comm);
}

void Script::allreduce(Place place, Buffer to, Data data, Handle op, Atom comm) {
  call(function::Allreduce, place, 6)
      .address(data.at)
      .address(to)
      .value(data.count)
      .handle(data.type)
      .handle(op)
      .value(comm);
}

void Script::allgather(Place place, Data from, Data to, Atom comm) {
  call(function::Allgather, place, 7).data(from).data(to).value(comm);
}

void Script::alltoall(Place place, Data from, Data to, Atom comm) {
  call(function::Alltoall, place, 7).data(from).data(to).value(comm);
}

void Script::alltoallv(Place place, const Pieces &from, const Pieces &to, Handle type, Atom comm) {
  Call row = call(function::Alltoallv, place, 9);
  for (const Pieces *pieces : {&from, &to}) {
    row.address(pieces->at).list(pieces->counts);
    // As the recorder writes it: pieces without gaps are told by their counts.
    std::vector<Atom> sums(pieces->counts.size());
    std::exclusive_scan(pieces->counts.begin(), pieces->counts.end(), sums.begin(), Atom{0});
    const bool packed =
        std::equal(sums.begin(), sums.end(), pieces->displacements.begin(), pieces->displacements.end());
    packed ? row.value(trace::kPrefixSums) : row.list(pieces->displacements);
    row.handle(type);
  }
  row.value(comm);
}

void Script::dims_create(Place place, std::span<const Atom> dims) {
  std::vector<Atom> both(dims.size(), 0);  // before and after
  both.insert(both.end(), dims.begin(), dims.end());
  call(function::Dims_create, place, 3).value(size_).value(static_cast<Atom>(dims.size())).list(both);
}

Atom Script::cart_create(Place place, std::span<const Atom> dims, bool periodic) {
  const std::vector<Atom> periods(dims.size(), periodic ? 1 : 0);
  const Atom comm = communicators_++;
  call(function::Cart_create, place, 6)
      .value(kWorld)
      .value(static_cast<Atom>(dims.size()))
      .list(dims)
      .list(periods)
      .value(0)
      .atoms({comm, comm, static_cast<Atom>(rank_), 0});
  return comm;
}

void Script::cart_shift(Place place, Atom comm, Atom direction, Atom source, Atom dest) {
  call(function::Cart_shift, place, 5).value(comm).value(direction).value(1).value(source).value(dest);
}

Atom Script::comm_dup(Place place, Atom comm) {
  const Atom made = communicators_++;
  call(function::Comm_dup, place, 2).value(comm).atoms({made, made, static_cast<Atom>(rank_), 0});
  return made;
}

void Script::comm_free(Place place, Atom comm) { call(function::Comm_free, place, 1).value(comm); }

Handle Script::type_vector(Place place, Atom count, Atom length, Atom stride) {
  const Handle type = {local_site(place), 0};
  call(function::Type_vector, place, 5).value(count).value(length).value(stride).handle(kDouble).handle(type);
  call(function::Type_commit, place + 1, 1).handle(type);
  return type;
}

void Script::type_free(Place place, Handle type) { call(function::Type_free, place, 1).handle(type); }

void Script::send(Place place, Data data, Atom dest, Atom tag, Atom comm) {
  call(function::Send, place, 6).data(data).value(dest).value(tag).value(comm);
}

void Script::recv(Place place, Data data, Atom source, Atom tag, Atom comm) {
  call(function::Recv, place, 7).data(data).value(source).value(tag).value(comm).value(trace::kImplied);
}

void Script::recv_any(Place place, Data data, const Envelope &found, Atom comm) {
  call(function::Recv, place, 7)
      .data(data)
      .value(kAnySource)
      .value(kAnyTag)
      .value(comm)
      .atoms({found.source, found.tag, trace::kImplied, found.bytes, trace::kImplied});
}

void Script::sendrecv(Place place, Data out, Atom dest, Data in, Atom source, Atom tag, Atom comm) {
  call(function::Sendrecv, place, 12)
      .data(out)
      .value(dest)
      .value(tag)
      .data(in)
      .value(source)
      .value(tag)
      .value(comm)
      .value(trace::kImplied);
}

Handle Script::start(uint16_t function, Place place, const Data &data, Atom peer, Atom tag, Atom comm) {
  const Handle made = request(place);
  call(function, place, 7).data(data).value(peer).value(tag).value(comm).handle(made);
  return made;
}

Handle Script::isend(Place place, Data data, Atom dest, Atom tag, Atom comm) {
  return start(function::Isend, place, data, dest, tag, comm);
}

Handle Script::irecv(Place place, Data data, Atom source, Atom tag, Atom comm) {
  return start(function::Irecv, place, data, source, tag, comm);
}

void Script::wait(Place place, Handle request) {
  call(function::Wait, place, 2).handle(request).value(trace::kImplied);
  complete(request);
}

void Script::waitall(Place place, std::span<const Handle> requests) {
  call(function::Waitall, place, 3)
      .value(static_cast<Atom>(requests.size()))
      .handles(requests)
      .value(constant(mpi::k_STATUSES_IGNORE));
  for (const Handle request : requests) complete(request);
}

void Script::waitany(Place place, std::span<Handle> requests, size_t index) {
  std::vector<Atom> array;
  for (const Handle request : requests) array.insert(array.end(), {request.site, request.place});
  Call row = call(function::Waitany, place, 4);
  row.value(static_cast<Atom>(requests.size()));
  if (requests.size() < 2) {
    row.list(array).value(static_cast<Atom>(index));
  } else {
    // As the recorder writes it: told by the call before, or written out after a mark.
    const auto number = static_cast<Atom>(trace::requests_before(array, index));
    const auto same = std::find(drained_.begin(), drained_.end(), array);
    std::vector<Atom> left = array;
    trace::remove_request(left, index);
    if (same == drained_.end()) {
      array.insert(array.begin(), trace::kRequests + 1);
      row.list(array);
    } else {
      row.atoms({trace::kRequests + 1, same - drained_.begin()});
      drained_.erase(same);
    }
    row.value(number);
    drained_.insert(drained_.begin(), std::move(left));
    if (drained_.size() > trace::kRememberedArrays) drained_.pop_back();
  }
  row.value(trace::kImplied);
  complete(requests[index]);
  requests[index] = kNoRequest;
}

// --- what comes out
// ---------------------------------------------------------------------------------------------------

std::vector<grammar::Body> Script::rules() const {
  std::vector<grammar::Body> rules = closed_;
  rules[0] = open_[0];
  return rules;
}

std::vector<uint32_t> Script::calls() const {
  std::vector<uint32_t> result;
  const std::function<void(const grammar::Body &)> expand = [&](const grammar::Body &body) {
    for (const grammar::Term &term : body) {
      if (!term.is_rule) {
        result.insert(result.end(), term.count, term.id);
        continue;
      }
      for (uint64_t i = 0; i < term.count; ++i) expand(closed_[term.id]);
    }
  };
  expand(open_[0]);
  return result;
}

namespace {

trace::Module module(const char *path) {
  trace::Module result{Bytes(20), path};
  for (size_t i = 0; i < result.build_id.size(); ++i) {
    result.build_id[i] = static_cast<uint8_t>(hash64(Bytes{static_cast<uint8_t>(i)}));
  }
  return result;
}

}  // namespace

trace::ProcessRecord Script::record() {
  static const std::vector<trace::Module> modules = {module("/home/user/run/program")};
  trace::ProcessRecord process;
  process.rank = rank_;
  process.size = size_;
  process.modules = modules;
  trace::SequenceRecord &sequence = process.sequences.emplace_back();
  sequence.rows = std::move(rows_);
  sequence.sites.emplace_back();
  for (const Place place : sites_) {
    // Calls of a real program stand some tens of bytes apart.
    sequence.sites.push_back({0, 0x1200 + 61 * uint64_t{place} + 17 * (place % 3)});
  }
  return process;
}

}  // namespace cairn::scale
