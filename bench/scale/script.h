// Script: what one rank of a made-up program does, written the way a program is: calls at places in its code, loops.
// What comes out is a recorder's: rows in order of first occurrence with every field in the form that
// src/mpi/call/encoder.h gives it (spec/README.md), call sites, heap segments and requests numbered as they are met,
// statuses as implied.
//
// One thread. A call costs about 100 ns; a loop costs what its body costs once, however often it runs, so a body must
// leave all requests and names as it found them. `record` may be called once.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "spec/ids.h"
#include "trace/model/record.h"

namespace cairn::scale {

using trace::Atom;

constexpr Atom constant(uint16_t id) { return trace::special(static_cast<uint16_t>(trace::kFirstConstant + id)); }

namespace mpi = spec::constant_id;
constexpr Atom kProcNull = constant(mpi::k_PROC_NULL);
constexpr Atom kAnySource = constant(mpi::k_ANY_SOURCE);
constexpr Atom kAnyTag = constant(mpi::k_ANY_TAG);
constexpr Atom kWorld = constant(mpi::k_COMM_WORLD);

struct Handle {
  Atom site = 0;
  Atom place = 0;
  bool operator==(const Handle &) const = default;
};
constexpr Handle kDouble = {constant(mpi::k_DOUBLE), 0};
constexpr Handle kInt = {constant(mpi::k_INT), 0};
constexpr Handle kSum = {constant(mpi::k_SUM), 0};
constexpr Handle kMax = {constant(mpi::k_MAX), 0};
constexpr Handle kNoRequest = {constant(mpi::k_REQUEST_NULL), 0};

struct Buffer {
  Atom kind = trace::kNull;
  Atom number = 0;
  Atom offset = 0;
};
constexpr Buffer stack(Atom offset) { return {trace::kStack, 0, offset}; }
/// In the data of the program itself.
constexpr Buffer global(Atom offset) { return {trace::kStatic, 0, 0x4000 + offset}; }

/// What is sent or received.
struct Data {
  Buffer at;
  Atom count = 1;
  Handle type = kDouble;
};

/// What a receive of unknown source found.
struct Envelope {
  Atom source;
  Atom tag;
  Atom bytes;
};

class Script {
 public:
  using Place = uint32_t;  ///< in the program's code

  Script(uint32_t rank, uint32_t size);

  [[nodiscard]] uint32_t rank() const { return rank_; }
  [[nodiscard]] uint32_t size() const { return size_; }

  /// Memory that the program calls `label`; its segment gets a number when MPI first sees it.
  Buffer heap(uint32_t label, Atom offset = 0);

  template <typename Body>
  void loop(uint64_t times, const Body &body) {
    if (times == 0) return;
    open_.emplace_back();
    body();
    close(times);
  }

  void init(Place place);  ///< Init, Comm_size and Comm_rank at three places
  void finalize(Place place);
  void barrier(Place place, Atom comm = kWorld);
  void bcast(Place place, Data data, Atom root = 0, Atom comm = kWorld);
  void reduce(Place place, Buffer to, Data data, Handle op = kSum, Atom root = 0, Atom comm = kWorld);
  void allreduce(Place place, Buffer to, Data data, Handle op = kSum, Atom comm = kWorld);
  void allgather(Place place, Data from, Data to, Atom comm = kWorld);
  void alltoall(Place place, Data from, Data to, Atom comm = kWorld);
  struct Pieces {
    Buffer at;
    std::span<const Atom> counts;
    std::span<const Atom> displacements;
  };
  void alltoallv(Place place, const Pieces &from, const Pieces &to, Handle type, Atom comm = kWorld);

  void dims_create(Place place, std::span<const Atom> dims);
  Atom cart_create(Place place, std::span<const Atom> dims, bool periodic);
  void comm_rank(Place place, Atom comm);
  void cart_shift(Place place, Atom comm, Atom direction, Atom source, Atom dest);
  Atom comm_dup(Place place, Atom comm);
  void comm_free(Place place, Atom comm);
  Handle type_vector(Place place, Atom count, Atom length, Atom stride);
  void type_free(Place place, Handle type);

  void send(Place place, Data data, Atom dest, Atom tag, Atom comm = kWorld);
  void recv(Place place, Data data, Atom source, Atom tag, Atom comm = kWorld);
  void recv_any(Place place, Data data, const Envelope &found, Atom comm = kWorld);
  void sendrecv(Place place, Data out, Atom dest, Data in, Atom source, Atom tag, Atom comm = kWorld);
  Handle isend(Place place, Data data, Atom dest, Atom tag, Atom comm = kWorld);
  Handle irecv(Place place, Data data, Atom source, Atom tag, Atom comm = kWorld);
  void wait(Place place, Handle request);
  void waitall(Place place, std::span<const Handle> requests);
  /// Completes requests[index], which becomes kNoRequest.
  void waitany(Place place, std::span<Handle> requests, size_t index);

  /// The calls in order, as numbers of rows.
  [[nodiscard]] std::vector<uint32_t> calls() const;
  [[nodiscard]] const std::vector<Bytes> &rows() const { return rows_; }
  /// The structure: rule 0 is the whole, in no particular form.
  [[nodiscard]] std::vector<grammar::Body> rules() const;

  /// All but `calls` and `stats` of the sequence, the host and the times.
  trace::ProcessRecord record();

 private:
  class Call;

  uint32_t local_site(Place place);
  Handle request(Place place);
  void complete(Handle request);
  void close(uint64_t times);
  void append(const grammar::Term &term);
  void intern();
  Call call(uint16_t function, Place place, uint32_t parameters);
  Handle start(uint16_t function, Place place, const Data &data, Atom peer, Atom tag, Atom comm);

  uint32_t rank_;
  uint32_t size_;
  Bytes row_;  // being written
  std::vector<Bytes> rows_;
  std::vector<uint32_t> index_;  // open addressing: number of a row + 1
  std::vector<Place> sites_;
  std::vector<std::vector<bool>> places_;  // by site: taken
  std::vector<uint32_t> segments_;         // labels
  Atom communicators_ = 0;
  std::vector<std::vector<Atom>> drained_;  // what Waitany left, the last first
  std::vector<grammar::Body> open_;
  std::vector<grammar::Body> closed_;
};

}  // namespace cairn::scale
