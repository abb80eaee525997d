#include "mpi/call/environment.h"

#include "mpi/store/process.h"

namespace cairn::recorder {
namespace {

using mpi::Topology;
using spec::Query;

int64_t neighbours(mpi::Handle comm, bool incoming) {
  switch (mpi::topology(comm)) {
    case Topology::cart:
      return 2 * int64_t{mpi::cart_dims(comm)};
    case Topology::graph:
      return mpi::graph_neighbors_count(comm, mpi::comm_rank(comm));
    case Topology::dist_graph: {
      const mpi::Degrees degrees = mpi::dist_graph_degrees(comm);
      return incoming ? degrees.in : degrees.out;
    }
    case Topology::none:
      break;
  }
  return 0;
}

}  // namespace

bool Environment::may_ask(unsigned i) const {
  const HandleEntry *entry = process->names.handles->find(function_.parameters[i].kind, frame_.argument[i]);
  return entry != nullptr ? !is_null_handle(*entry) : succeeded_;
}

int64_t Environment::query(Query what, unsigned i, int64_t second) const {
  if (what >= Query::category_cvars) {
    if (!succeeded_) return 0;
    const int which = static_cast<int>(what) - static_cast<int>(Query::category_cvars);
    return mpi::category_count(static_cast<int>(frame_.argument[i]), which);
  }
  if (!may_ask(i)) return 0;
  const mpi::Handle handle = frame_.argument[i];
  switch (what) {
    case Query::rank:
      return mpi::comm_rank(handle);
    case Query::group_rank:
      return mpi::group_rank(handle);
    case Query::local_size:
      return mpi::comm_size(handle);
    case Query::peer_size:
      return mpi::comm_remote_size(handle);
    case Query::inter:
      return mpi::comm_is_inter(handle) ? 1 : 0;
    case Query::indegree:
      return neighbours(handle, true);
    case Query::outdegree:
      return neighbours(handle, false);
    case Query::weighted:
      return mpi::dist_graph_degrees(handle).weighted;
    case Query::cart_ndims:
      return mpi::cart_dims(handle);
    case Query::graph_nnodes:
      return mpi::graph_size(handle).nodes;
    case Query::graph_nedges:
      return mpi::graph_size(handle).edges;
    case Query::graph_neighbors_count:
      return mpi::graph_neighbors_count(handle, static_cast<int>(second));
    case Query::extent:
      return mpi::type_extent(handle);
    case Query::envelope_integers:
      return mpi::type_envelope(handle).integers;
    case Query::envelope_addresses:
      return mpi::type_envelope(handle).addresses;
    case Query::envelope_large_counts:
      return mpi::type_envelope(handle).large_counts;
    case Query::envelope_datatypes:
      return mpi::type_envelope(handle).datatypes;
    default:
      return 0;
  }
}

}  // namespace cairn::recorder
