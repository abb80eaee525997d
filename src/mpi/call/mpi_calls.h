// The few MPI calls that the recorder itself makes, on raw words, always through PMPI_. Only mpi_calls.cc knows an
// mpi.h; it is compiled once per MPI library, like the wrappers.
//
// Handles are words: an MPI whose handles are ints has them sign-extended, one whose handles are pointers as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cairn::recorder::mpi {

using Handle = uint64_t;

extern const size_t handle_size;  ///< of every handle type in memory

/// Reads the handle at `at` (an element of an array of handles).
inline Handle read_handle(const void *at) {
  if (handle_size == sizeof(int)) {
    int handle = 0;
    memcpy(&handle, at, sizeof handle);
    return static_cast<Handle>(int64_t{handle});
  }
  Handle handle = 0;
  memcpy(&handle, at, sizeof handle);
  return handle;
}

struct Status {
  int source;
  int tag;
  int error;
  int64_t bytes;  ///< as MPI_Get_elements_x(MPI_BYTE) gives it
  bool cancelled;
};
extern const size_t status_size;
Status read_status(const void *at);

extern const int success;
extern const int error_in_status;
extern const int undefined;
extern const int any_source;
extern const int any_tag;
extern const int proc_null;
extern const size_t max_error_string;

/// Handles whose values come from the library at run time.
struct Constants {
  Handle comm_world = 0;
  Handle comm_self = 0;
  Handle comm_null = 0;
  Handle errors_return = 0;
  Handle errors_are_fatal = 0;
  Handle byte = 0;
  Handle integer = 0;  ///< MPI_INT
  Handle uint64 = 0;
  Handle sum = 0;
  Handle least = 0;  ///< MPI_MIN
};
/// Resolves PMPI_ functions from `library`; false if one is missing. Before anything else here.
bool load(void *library, const Constants &constants);

int error_class(int code);
int64_t type_size(Handle datatype);  ///< -1 if it has none

int comm_size(Handle comm);  ///< local group
int comm_rank(Handle comm);
bool comm_is_inter(Handle comm);
int comm_remote_size(Handle comm);  ///< of an intracommunicator, its size
/// MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH or none.
enum class Topology : uint8_t { none, cart, graph, dist_graph };
Topology topology(Handle comm);
int cart_dims(Handle comm);
struct GraphSize {
  int nodes;
  int edges;
};
GraphSize graph_size(Handle comm);
int graph_neighbors_count(Handle comm, int rank);
struct Degrees {
  int in;
  int out;
  int weighted;
};
Degrees dist_graph_degrees(Handle comm);
int64_t type_extent(Handle datatype);
/// Control variables (0), performance variables (1), categories (2) or events (3) of a category of the tool interface.
int category_count(int category, int which);
struct Envelope {
  int64_t integers;
  int64_t addresses;
  int64_t large_counts;
  int64_t datatypes;
};
Envelope type_envelope(Handle datatype);
/// Who is in a communicator, both sides of an intercommunicator; all of them get the same.
struct Members {
  int least = -1;       ///< smallest rank in MPI_COMM_WORLD; -1 if none is in it
  uint64_t hash = 0;    ///< of all of them
  int64_t told = -1;    ///< all of them in 49 bits (spec/README.md, "Communicators"); -1 if some are in another world
  bool second = false;  ///< this process is not on the side of the smallest rank
};
Members members_of(Handle comm);
int group_rank(Handle group);  ///< MPI_UNDEFINED if this process is not in it

// The recorder's own communication.
bool initialized();
bool finalized();
bool multiple_threads();  ///< MPI_THREAD_MULTIPLE, or not known
bool library_version(char *buffer, size_t size);
void place_in_world(int *rank, int *size);
Handle world();  ///< MPI_COMM_WORLD
/// Whether MPI_Comm_spawn made this process.
bool was_spawned();
/// Calls `run`, within MPI_Init or MPI_Finalize: what fails on MPI_COMM_WORLD does not end the program.
bool without_fatal_errors(bool (*run)(void *), void *argument);
/// Memory, and that of other processes, is taken or attached when it is first needed: under MPICH, with UCX, a process
/// that may have no more of it, or has become another user, then crashes, or waits for ever.
extern const bool takes_late;
/// Duplicates MPI_COMM_WORLD for the recorder; false, on all ranks, if that failed on one. The program must be in
/// MPI_Finalize. Where it fails on some ranks only, MPI may leave others waiting.
bool open_own_comm(Handle *comm);
void close_own_comm(Handle comm);
/// Calls `callback` when MPI_COMM_SELF is torn down at the start of MPI_Finalize, where communication still works.
bool at_finalize(void (*callback)());
bool send(Handle comm, const void *bytes, uint64_t size, int to);
/// `*bytes` is malloc'ed; the caller frees it.
bool receive(Handle comm, uint8_t **bytes, uint64_t *size, int from);
/// A few words whose number both sides know, with a tag that programs hardly use.
bool send_words(Handle comm, const void *words, size_t size, int to);
bool receive_words(Handle comm, void *words, size_t size, int from);
bool broadcast(Handle comm, void *bytes, size_t size);
/// MPI_Allreduce with MPI_SUM, in place.
bool sum(Handle comm, uint64_t *values, int count);
/// MPI_Exscan with MPI_SUM; 0 on rank 0.
bool sum_below(Handle comm, uint64_t value, uint64_t *below);

}  // namespace cairn::recorder::mpi
