#include "mpi/call/mpi_calls.h"

#include <dlfcn.h>
// The removed C++ bindings would drag half of libmpi in.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "base/hash.h"

namespace cairn::recorder::mpi {
namespace {

// Every PMPI_ function the recorder calls; resolved by `load` from the library that the program uses.
// clang-format off
#define CAIRN_OWN_CALLS(X) \
  X(Allreduce) X(Bcast) X(Cartdim_get) X(Comm_create_keyval) X(Comm_dup) X(Comm_free) X(Comm_get_attr) X(Comm_get_errhandler) X(Comm_get_parent) X(Comm_group) X(Comm_rank) \
  X(Comm_remote_group) X(Comm_remote_size) X(Comm_set_attr) X(Comm_set_errhandler) X(Comm_size) \
  X(Comm_test_inter) X(Dist_graph_neighbors_count) X(Errhandler_free) X(Error_class) X(Exscan) X(Finalized) X(Get_elements_x) \
  X(Get_library_version) X(Graph_neighbors_count) X(Graphdims_get) X(Group_free) X(Group_rank) X(Group_size) \
  X(Group_translate_ranks) X(Initialized) X(Query_thread) X(Recv) X(Send) X(Test_cancelled) X(Topo_test) \
  X(Type_get_envelope) X(Type_size_x) X(Type_get_extent) X(T_category_get_info)
// clang-format on

struct Calls {
#define X(name) decltype(&PMPI_##name) name;
  CAIRN_OWN_CALLS(X)
#undef X
};
Calls call;

using EnvelopeC = int (*)(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *, int *);
int (*category_events)(int, int *);  // MPI 4.0
EnvelopeC envelope_c;                // MPI 4.0 and later

// Constants that are addresses in the MPI library (Open MPI) cannot be named here: the recorder isn't linked to it.
Constants constant;

template <typename T>
T as(Handle handle) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(handle);
  } else {
    return static_cast<T>(handle);
  }
}

template <typename T>
Handle word(T handle) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<Handle>(handle);
  } else {
    return static_cast<Handle>(static_cast<int64_t>(handle));
  }
}

/// What `function` says of a communicator, `otherwise` if it fails.
template <auto function>
int number(Handle comm, int otherwise) {
  int value = otherwise;
  (call.*function)(as<MPI_Comm>(comm), &value);
  return value;
}

/// While one lives what fails on MPI_COMM_WORLD says so, whatever handler the program has set there. Only where the
/// program calls nothing meanwhile: within MPI_Init and MPI_Finalize.
class Unfatal {
 public:
  Unfatal() {
    const MPI_Comm world = as<MPI_Comm>(constant.comm_world);
    known_ = call.Comm_get_errhandler(world, &before_) == MPI_SUCCESS &&
             call.Comm_set_errhandler(world, as<MPI_Errhandler>(constant.errors_return)) == MPI_SUCCESS;
  }
  ~Unfatal() {
    if (!known_) return;
    call.Comm_set_errhandler(as<MPI_Comm>(constant.comm_world), before_);
    const bool predefined = word(before_) == constant.errors_return || word(before_) == constant.errors_are_fatal;
    if (!predefined) call.Errhandler_free(&before_);
  }
  Unfatal(const Unfatal &) = delete;
  Unfatal &operator=(const Unfatal &) = delete;

 private:
  MPI_Errhandler before_ = {};
  bool known_ = false;
};

int never_copy(MPI_Comm /*comm*/, int /*keyval*/, void * /*extra*/, void * /*value*/, void * /*copy*/, int *flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

int on_finalize(MPI_Comm /*comm*/, int /*keyval*/, void * /*value*/, void *extra) {
  reinterpret_cast<void (*)()>(extra)();
  return MPI_SUCCESS;
}

constexpr int kTag = 1;
constexpr int kWordsTag = 29731;       // on MPI_COMM_WORLD too; all libraries have tags up to 32,767
constexpr uint64_t kPiece = 1u << 30;  // counts are ints

/// Ranks in the world, of the processes of a group.
struct Ranks {
  int least = -1;
  uint64_t hash = 0;
  bool known = true;    ///< all are in that world
  bool regular = true;  ///< each is `step` more than the one before
  int size = 0;
  int step = 0;
};

Ranks ranks_of(MPI_Group group, MPI_Group world) {
  Ranks ranks;
  call.Group_size(group, &ranks.size);
  constexpr int kBatch = 1024;
  int own[kBatch];
  int there[kBatch];
  int last = -1;
  for (int first = 0; first < ranks.size; first += kBatch) {
    const int n = ranks.size - first < kBatch ? ranks.size - first : kBatch;
    for (int i = 0; i < n; ++i) own[i] = first + i;
    if (call.Group_translate_ranks(group, n, own, world, there) != MPI_SUCCESS) {
      ranks.known = false;
      return ranks;
    }
    ranks.hash = hash64({reinterpret_cast<const uint8_t *>(there), sizeof(int) * static_cast<size_t>(n)}, ranks.hash);
    for (int i = 0; i < n; ++i) {
      if (there[i] == MPI_UNDEFINED) {
        ranks.known = false;
        continue;
      }
      if (ranks.least < 0 || there[i] < ranks.least) ranks.least = there[i];
      if (first + i == 1) ranks.step = there[i] - last;
      if (first + i > 0 && there[i] - last != ranks.step) ranks.regular = false;
      last = there[i];
    }
  }
  return ranks;
}

/// What few numbers say as they are, so that equal groups elsewhere are equal numbers; else a hash.
int64_t told(const Ranks &ranks) {
  constexpr int kFew = 1 << 24;
  constexpr uint64_t kHashed = uint64_t{1} << 48;
  if (!ranks.known) return -1;
  if (ranks.regular && ranks.step >= 0 && ranks.size < kFew && ranks.step < kFew) {
    return int64_t{ranks.size} << 24 | ranks.step;
  }
  return static_cast<int64_t>(kHashed | (ranks.hash & (kHashed - 1)));
}

}  // namespace

bool load(void *library, const Constants &constants) {
  constant = constants;
  bool all = true;
#define X(name)                                                                     \
  call.name = reinterpret_cast<decltype(call.name)>(dlsym(library, "PMPI_" #name)); \
  all = all && call.name != nullptr;
  CAIRN_OWN_CALLS(X)
#undef X
  envelope_c = reinterpret_cast<EnvelopeC>(dlsym(library, "PMPI_Type_get_envelope_c"));
  category_events = reinterpret_cast<int (*)(int, int *)>(dlsym(library, "PMPI_T_category_get_num_events"));
  return all;
}

const size_t handle_size = sizeof(MPI_Comm);
static_assert(sizeof(MPI_Comm) == sizeof(MPI_Datatype) && sizeof(MPI_Comm) == sizeof(MPI_Request) &&
              sizeof(MPI_Comm) == sizeof(MPI_Group) && sizeof(MPI_Comm) == sizeof(MPI_Op) &&
              (std::is_pointer_v<MPI_Comm> || sizeof(MPI_Comm) == sizeof(int)));
const size_t status_size = sizeof(MPI_Status);
const int success = MPI_SUCCESS;
const int error_in_status = MPI_ERR_IN_STATUS;
const int undefined = MPI_UNDEFINED;
const int any_source = MPI_ANY_SOURCE;
const int any_tag = MPI_ANY_TAG;
const int proc_null = MPI_PROC_NULL;
#if defined(MPICH_VERSION)
const bool takes_late = true;
#else
const bool takes_late = false;
#endif
const size_t max_error_string = MPI_MAX_ERROR_STRING;

Status read_status(const void *at) {
  MPI_Status status;
  memcpy(&status, at, sizeof status);
  Status result{status.MPI_SOURCE, status.MPI_TAG, status.MPI_ERROR, 0, false};
#if defined(MPICH_VERSION)
  // The fields are part of MPICH's public ABI; a call would cost twenty times as much.
  result.bytes =
      static_cast<int64_t>((static_cast<uint64_t>(static_cast<uint32_t>(status.count_hi_and_cancelled) >> 1) << 32) |
                           static_cast<uint32_t>(status.count_lo));
  result.cancelled = (status.count_hi_and_cancelled & 1) != 0;
#elif defined(OMPI_MAJOR_VERSION)
  result.bytes = static_cast<int64_t>(status._ucount);
  result.cancelled = status._cancelled != 0;
#else
  MPI_Count bytes = 0;
  int flag = 0;
  if (call.Get_elements_x(&status, MPI_BYTE, &bytes) == MPI_SUCCESS) result.bytes = bytes;
  if (call.Test_cancelled(&status, &flag) == MPI_SUCCESS) result.cancelled = flag != 0;
#endif
  return result;
}

int error_class(int code) {
  if (!initialized() || finalized()) return code;  // some libraries end the program when asked then
#if defined(OMPI_MAJOR_VERSION)
  // So does Open MPI of a code that nobody added, and a program may make one up.
  if (code < 0) return code;
  if (code > MPI_ERR_LASTCODE) {
    int *last = nullptr;
    int is_there = 0;
    call.Comm_get_attr(as<MPI_Comm>(constant.comm_world), MPI_LASTUSEDCODE, &last, &is_there);
    if (is_there == 0 || last == nullptr || code > *last) return code;
  }
#endif
  int result = code;
  return call.Error_class(code, &result) == MPI_SUCCESS ? result : code;
}

int64_t type_size(Handle datatype) {
  MPI_Count size = 0;
  if (call.Type_size_x(as<MPI_Datatype>(datatype), &size) != MPI_SUCCESS || size < 0) return -1;
  return size;
}

int comm_size(Handle comm) { return number<&Calls::Comm_size>(comm, 0); }
int comm_rank(Handle comm) { return number<&Calls::Comm_rank>(comm, -1); }
bool comm_is_inter(Handle comm) { return number<&Calls::Comm_test_inter>(comm, 0) != 0; }
int comm_remote_size(Handle comm) {
  return comm_is_inter(comm) ? number<&Calls::Comm_remote_size>(comm, 0) : comm_size(comm);
}

Topology topology(Handle comm) {
  switch (number<&Calls::Topo_test>(comm, MPI_UNDEFINED)) {
    case MPI_CART:
      return Topology::cart;
    case MPI_GRAPH:
      return Topology::graph;
    case MPI_DIST_GRAPH:
      return Topology::dist_graph;
    default:
      return Topology::none;
  }
}

int cart_dims(Handle comm) { return topology(comm) == Topology::cart ? number<&Calls::Cartdim_get>(comm, 0) : 0; }

GraphSize graph_size(Handle comm) {
  GraphSize size = {};
  if (topology(comm) == Topology::graph) call.Graphdims_get(as<MPI_Comm>(comm), &size.nodes, &size.edges);
  return size;
}

int graph_neighbors_count(Handle comm, int rank) {
  int count = 0;
  if (topology(comm) != Topology::graph) return 0;
  if (rank < 0 || rank >= comm_size(comm)) return 0;
  call.Graph_neighbors_count(as<MPI_Comm>(comm), rank, &count);
  return count;
}

Degrees dist_graph_degrees(Handle comm) {
  Degrees found = {};
  if (topology(comm) == Topology::dist_graph) {
    call.Dist_graph_neighbors_count(as<MPI_Comm>(comm), &found.in, &found.out, &found.weighted);
  }
  return found;
}

int64_t type_extent(Handle datatype) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  return call.Type_get_extent(as<MPI_Datatype>(datatype), &lower, &extent) == MPI_SUCCESS ? extent : 0;
}

int category_count(int category, int which) {
  int counts[4] = {};
  int name = 0;
  int description = 0;
  if (call.T_category_get_info(category, nullptr, &name, nullptr, &description, &counts[0], &counts[1], &counts[2]) !=
      MPI_SUCCESS) {
    return 0;
  }
  if (which == 3 && category_events != nullptr) category_events(category, &counts[3]);
  return counts[which];
}

Envelope type_envelope(Handle datatype) {
  int combiner = 0;
  if (envelope_c != nullptr) {
    MPI_Count n[4] = {};
    // Order of MPI 4.0: integers, addresses, large counts, datatypes.
    const int result = envelope_c(as<MPI_Datatype>(datatype), &n[0], &n[1], &n[2], &n[3], &combiner);
    return result == MPI_SUCCESS ? Envelope{n[0], n[1], n[2], n[3]} : Envelope{};
  }
  int n[3] = {};
  const int result = call.Type_get_envelope(as<MPI_Datatype>(datatype), &n[0], &n[1], &n[2], &combiner);
  return result == MPI_SUCCESS ? Envelope{n[0], n[1], 0, n[2]} : Envelope{};
}

Members members_of(Handle comm) {
  if (!initialized() || finalized()) return {};  // sessions only: there is no world
  MPI_Group world;
  MPI_Group group;
  if (call.Comm_group(as<MPI_Comm>(constant.comm_world), &world) != MPI_SUCCESS) return {};
  Ranks all;
  bool second = false;
  if (call.Comm_group(as<MPI_Comm>(comm), &group) == MPI_SUCCESS) {
    all = ranks_of(group, world);
    call.Group_free(&group);
  }
  if (comm_is_inter(comm) && call.Comm_remote_group(as<MPI_Comm>(comm), &group) == MPI_SUCCESS) {
    const Ranks other = ranks_of(group, world);
    call.Group_free(&group);
    // Both sides must agree: that of the smallest rank comes first.
    const bool first = other.least < 0 || (all.least >= 0 && all.least < other.least);
    const uint64_t both[2] = {first ? all.hash : other.hash, first ? other.hash : all.hash};
    if (other.least >= 0 && (all.least < 0 || other.least < all.least)) all.least = other.least;
    all.hash = hash64({reinterpret_cast<const uint8_t *>(both), sizeof both});
    all.known = all.known && other.known;
    all.regular = false;
    second = !first;
  }
  call.Group_free(&world);
  return {all.least, all.hash, told(all), second};
}

int group_rank(Handle group) {
  int rank = MPI_UNDEFINED;
  call.Group_rank(as<MPI_Group>(group), &rank);
  return rank;
}

bool initialized() {
  int flag = 0;
  return call.Initialized(&flag) == MPI_SUCCESS && flag != 0;
}

bool finalized() {
  int flag = 0;
  return call.Finalized(&flag) == MPI_SUCCESS && flag != 0;
}

bool multiple_threads() {
  int level = MPI_THREAD_MULTIPLE;
  return call.Query_thread(&level) != MPI_SUCCESS || level == MPI_THREAD_MULTIPLE;
}

bool library_version(char *buffer, size_t size) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (call.Get_library_version(version, &length) != MPI_SUCCESS || size == 0) return false;
  version[strcspn(version, "\n")] = '\0';
  strncpy(buffer, version, size - 1);
  buffer[size - 1] = '\0';
  return true;
}

void place_in_world(int *rank, int *size) {
  call.Comm_rank(as<MPI_Comm>(constant.comm_world), rank);
  call.Comm_size(as<MPI_Comm>(constant.comm_world), size);
}

Handle world() { return constant.comm_world; }

bool was_spawned() {
  MPI_Comm parent = as<MPI_Comm>(constant.comm_null);
  return call.Comm_get_parent(&parent) == MPI_SUCCESS && word(parent) != constant.comm_null;
}

bool without_fatal_errors(bool (*run)(void *), void *argument) {
  const Unfatal unfatal;
  return run(argument);
}

bool open_own_comm(Handle *comm) {
  const Unfatal unfatal;
  const MPI_Comm world = as<MPI_Comm>(constant.comm_world);
  MPI_Comm own;
  const bool made = call.Comm_dup(world, &own) == MPI_SUCCESS;
  // What one rank has and another has not is of no use.
  int all = made ? 1 : 0;
  const bool agreed = call.Allreduce(MPI_IN_PLACE, &all, 1, as<MPI_Datatype>(constant.integer),
                                     as<MPI_Op>(constant.least), world) == MPI_SUCCESS;
  if (made && (!agreed || all == 0)) call.Comm_free(&own);
  if (!made || !agreed || all == 0) return false;
  call.Comm_set_errhandler(own, as<MPI_Errhandler>(constant.errors_return));
  *comm = word(own);
  return true;
}

void close_own_comm(Handle comm) {
  MPI_Comm own = as<MPI_Comm>(comm);
  call.Comm_free(&own);
}

bool at_finalize(void (*callback)()) {
  int keyval = 0;
  void *extra = reinterpret_cast<void *>(callback);
  if (call.Comm_create_keyval(never_copy, on_finalize, &keyval, extra) != MPI_SUCCESS) return false;
  return call.Comm_set_attr(as<MPI_Comm>(constant.comm_self), keyval, nullptr) == MPI_SUCCESS;
}

bool send(Handle comm, const void *bytes, uint64_t size, int to) {
  MPI_Comm own = as<MPI_Comm>(comm);
  uint64_t header = size;
  if (call.Send(&header, sizeof header, as<MPI_Datatype>(constant.byte), to, kTag, own) != MPI_SUCCESS) return false;
  const auto *at = static_cast<const uint8_t *>(bytes);
  while (size > 0) {
    const uint64_t piece = size < kPiece ? size : kPiece;
    if (call.Send(at, static_cast<int>(piece), as<MPI_Datatype>(constant.byte), to, kTag, own) != MPI_SUCCESS)
      return false;
    at += piece;
    size -= piece;
  }
  return true;
}

bool receive(Handle comm, uint8_t **bytes, uint64_t *size, int from) {
  MPI_Comm own = as<MPI_Comm>(comm);
  *bytes = nullptr;
  *size = 0;
  if (call.Recv(size, sizeof *size, as<MPI_Datatype>(constant.byte), from, kTag, own, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return false;
  *bytes = static_cast<uint8_t *>(malloc(*size == 0 ? 1 : *size));
  bool whole = *bytes != nullptr;
  uint8_t sink[4096];
  for (uint64_t done = 0; done < *size;) {
    // Without memory the message is still taken off the wire, cut short, so that the sender gets on.
    const uint64_t piece = *size - done < kPiece ? *size - done : kPiece;
    void *to = whole ? *bytes + done : sink;
    const uint64_t room = whole || piece < sizeof sink ? piece : sizeof sink;
    const int result =
        call.Recv(to, static_cast<int>(room), as<MPI_Datatype>(constant.byte), from, kTag, own, MPI_STATUS_IGNORE);
    whole = whole && result == MPI_SUCCESS;
    done += piece;
  }
  return whole;
}

bool send_words(Handle comm, const void *words, size_t size, int to) {
  return call.Send(words, static_cast<int>(size), as<MPI_Datatype>(constant.byte), to, kWordsTag, as<MPI_Comm>(comm)) ==
         MPI_SUCCESS;
}

bool receive_words(Handle comm, void *words, size_t size, int from) {
  return call.Recv(words, static_cast<int>(size), as<MPI_Datatype>(constant.byte), from, kWordsTag, as<MPI_Comm>(comm),
                   MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

bool broadcast(Handle comm, void *bytes, size_t size) {
  return call.Bcast(bytes, static_cast<int>(size), as<MPI_Datatype>(constant.byte), 0, as<MPI_Comm>(comm)) ==
         MPI_SUCCESS;
}

bool sum(Handle comm, uint64_t *values, int count) {
  if (constant.uint64 == 0 || constant.sum == 0) return false;  // an MPI without 64-bit integers
  return call.Allreduce(MPI_IN_PLACE, values, count, as<MPI_Datatype>(constant.uint64), as<MPI_Op>(constant.sum),
                        as<MPI_Comm>(comm)) == MPI_SUCCESS;
}

bool sum_below(Handle comm, uint64_t value, uint64_t *below) {
  *below = 0;
  if (call.Exscan(&value, below, 1, as<MPI_Datatype>(constant.uint64), as<MPI_Op>(constant.sum), as<MPI_Comm>(comm)) !=
      MPI_SUCCESS) {
    return false;
  }
  if (comm_rank(comm) == 0) *below = 0;  // MPI leaves it undefined there
  return true;
}

}  // namespace cairn::recorder::mpi
