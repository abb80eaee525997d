// What the generated loggers of the oracle ask MPI, and the local values of constants: the oracle's own reading of the
// language's functions, sharing no code with the recorder's.
//
// Included by generated files only, after mpi.h. Every call goes through oracle::pmpi. Questions about null handles are
// not asked (the program's error handler would hear of them); a question that fails gives 0. Any thread once
// `resolve_constants` has run.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "mpi/oracle/log.h"
#include "spec/ids.h"

namespace cairn::oracle {

namespace fn = spec::function_id;
namespace con = spec::constant_id;

/// Values of the constants by id as words; INT64_MIN: this library has none.
extern int64_t local[con::kCount];

/// Integers sign-extended, pointers as they are.
template <typename T>
int64_t raw(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(value));
  } else {
    return static_cast<int64_t>(value);
  }
}

/// The other way: a constant as a handle.
template <typename Handle>
Handle handle_of(uint16_t constant) {
  if constexpr (std::is_pointer_v<Handle>) {
    return reinterpret_cast<Handle>(static_cast<uintptr_t>(local[constant]));
  } else {
    return static_cast<Handle>(local[constant]);
  }
}

/// Calls the real function `id` if this library has it; false if that fails.
template <typename... T>
bool ask(uint16_t id, T... arguments) {
  if (pmpi[id] == nullptr) return false;
  return reinterpret_cast<int (*)(T...)>(pmpi[id])(arguments...) == MPI_SUCCESS;
}

template <typename T>
int64_t at(const T *array, int64_t index) {
  return array == nullptr || index < 0 ? 0 : raw(array[index]);
}

template <typename T>
int64_t sum(const T *array, int64_t count) {
  int64_t total = 0;
  for (int64_t i = 0; array != nullptr && i < count; ++i) total += raw(array[i]);
  return total;
}

/// A division by 0 gives 0.
inline int64_t quotient(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }

inline bool is_null(MPI_Comm comm) { return raw(comm) == local[con::k_COMM_NULL]; }

/// A communicator's property that is one int.
inline int64_t number(uint16_t id, MPI_Comm comm) {
  int value = 0;
  return !is_null(comm) && ask(id, comm, &value) ? value : 0;
}

inline int64_t rank(MPI_Comm comm) { return number(fn::Comm_rank, comm); }
inline int64_t local_size(MPI_Comm comm) { return number(fn::Comm_size, comm); }
inline int64_t inter(MPI_Comm comm) { return number(fn::Comm_test_inter, comm); }
inline int64_t peer_size(MPI_Comm comm) {
  return number(inter(comm) != 0 ? fn::Comm_remote_size : fn::Comm_size, comm);
}

inline int64_t group_rank(MPI_Group group) {
  int value = 0;
  if (raw(group) == local[con::k_GROUP_NULL]) return 0;
  return ask(fn::Group_rank, group, &value) ? value : 0;
}

/// Processes on both sides of a communicator.
inline int64_t all_members(MPI_Comm comm) {
  return local_size(comm) + (inter(comm) != 0 ? number(fn::Comm_remote_size, comm) : 0);
}

inline int64_t least_in_world(MPI_Comm comm, uint16_t group_of) {
  MPI_Group group = handle_of<MPI_Group>(con::k_GROUP_NULL);
  MPI_Group world = group;
  int64_t least = INT64_MAX;
  if (!ask(group_of, comm, &group)) return least;
  int size = 0;
  if (ask(fn::Comm_group, handle_of<MPI_Comm>(con::k_COMM_WORLD), &world)) {
    if (!ask(fn::Group_size, group, &size)) size = 0;
    for (int i = 0; i < size; ++i) {
      int there = -1;
      if (ask(fn::Group_translate_ranks, group, 1, static_cast<const int *>(&i), world, &there) && there >= 0) {
        least = std::min<int64_t>(least, there);
      }
    }
    ask(fn::Group_free, &world);
  }
  ask(fn::Group_free, &group);
  return least;
}

/// Smallest rank in MPI_COMM_WORLD of the processes on both sides of a communicator; -1 if none is in there, or there
/// is no MPI_COMM_WORLD (sessions only).
inline int64_t least_member(MPI_Comm comm) {
  int initialized = 0;
  if (!ask(fn::Initialized, &initialized) || initialized == 0) return -1;
  int64_t least = least_in_world(comm, fn::Comm_group);
  if (inter(comm) != 0) least = std::min(least, least_in_world(comm, fn::Comm_remote_group));
  return least == INT64_MAX ? -1 : least;
}

/// This process's rank in its side of a communicator; of the side without the smallest rank, -1 less that.
inline int64_t place(MPI_Comm comm) {
  const int64_t least = inter(comm) != 0 ? least_member(comm) : -1;
  const bool second = least >= 0 && least != least_in_world(comm, fn::Comm_group);
  return second ? -1 - rank(comm) : rank(comm);
}

inline bool has_topology(MPI_Comm comm, uint16_t kind) {
  int topology = 0;
  return !is_null(comm) && inter(comm) == 0 && ask(fn::Topo_test, comm, &topology) && topology == local[kind];
}

inline int64_t cart_ndims(MPI_Comm comm) { return has_topology(comm, con::k_CART) ? number(fn::Cartdim_get, comm) : 0; }

struct GraphSize {
  int nodes = 0;
  int edges = 0;
};
inline GraphSize graph_size(MPI_Comm comm) {
  GraphSize size;
  if (!has_topology(comm, con::k_GRAPH) || !ask(fn::Graphdims_get, comm, &size.nodes, &size.edges)) return {};
  return size;
}
inline int64_t graph_nnodes(MPI_Comm comm) { return graph_size(comm).nodes; }
inline int64_t graph_nedges(MPI_Comm comm) { return graph_size(comm).edges; }
inline int64_t graph_neighbors_count(MPI_Comm comm, int64_t of) {
  int count = 0;
  if (of < 0 || of >= graph_nnodes(comm)) return 0;
  return ask(fn::Graph_neighbors_count, comm, static_cast<int>(of), &count) ? count : 0;
}

struct Degrees {
  int in = 0;
  int out = 0;
  int weighted = 0;
};
inline Degrees degrees(MPI_Comm comm) {
  Degrees found;
  if (has_topology(comm, con::k_DIST_GRAPH)) {
    if (!ask(fn::Dist_graph_neighbors_count, comm, &found.in, &found.out, &found.weighted)) return {};
  } else if (has_topology(comm, con::k_CART)) {
    found.in = found.out = static_cast<int>(2 * cart_ndims(comm));
  } else {
    found.in = found.out = static_cast<int>(graph_neighbors_count(comm, rank(comm)));
  }
  return found;
}
inline int64_t indegree(MPI_Comm comm) { return degrees(comm).in; }
inline int64_t outdegree(MPI_Comm comm) { return degrees(comm).out; }
inline int64_t weighted(MPI_Comm comm) { return degrees(comm).weighted; }

struct Envelope {
  int64_t integers = 0;
  int64_t addresses = 0;
  int64_t large_counts = 0;
  int64_t datatypes = 0;
};
inline Envelope envelope(MPI_Datatype type) {
  if (raw(type) == local[con::k_DATATYPE_NULL]) return {};
  int combiner = 0;
  // A type that was made with large counts has an envelope only the large form can tell.
  MPI_Count n[4] = {};
  if (ask(fn::Type_get_envelope_c, type, &n[0], &n[1], &n[2], &n[3], &combiner)) return {n[0], n[1], n[2], n[3]};
  int m[3] = {};
  if (ask(fn::Type_get_envelope, type, &m[0], &m[1], &m[2], &combiner)) return {m[0], m[1], 0, m[2]};
  return {};
}
inline int64_t envelope_integers(MPI_Datatype type) { return envelope(type).integers; }
inline int64_t envelope_addresses(MPI_Datatype type) { return envelope(type).addresses; }
inline int64_t envelope_large_counts(MPI_Datatype type) { return envelope(type).large_counts; }
inline int64_t envelope_datatypes(MPI_Datatype type) { return envelope(type).datatypes; }

struct Category {
  int cvars = 0;
  int pvars = 0;
  int categories = 0;
};
inline Category category(int64_t index) {
  Category found;
  int no_name = 0;
  int no_text = 0;
  if (!ask(fn::T_category_get_info, static_cast<int>(index), static_cast<char *>(nullptr), &no_name,
           static_cast<char *>(nullptr), &no_text, &found.cvars, &found.pvars, &found.categories)) {
    return {};
  }
  return found;
}
inline int64_t category_cvars(int64_t index) { return category(index).cvars; }
inline int64_t category_pvars(int64_t index) { return category(index).pvars; }
inline int64_t category_categories(int64_t index) { return category(index).categories; }
inline int64_t category_events(int64_t index) {
  int count = 0;
  return ask(fn::T_category_get_num_events, static_cast<int>(index), &count) ? count : 0;
}

/// The class of an error code that isn't MPI_SUCCESS, else 0.
inline int64_t class_of(int64_t code) {
  int found = 0;
  if (code == MPI_SUCCESS || !ask(fn::Error_class, static_cast<int>(code), &found)) return 0;
  return found;
}

/// Fills `local`; `in_library` is any function of the MPI library.
void resolve_constants(const void *in_library);

}  // namespace cairn::oracle
