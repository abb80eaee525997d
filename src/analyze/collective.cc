#include "analyze/collective.h"

#include <limits>
#include <map>
#include <string>

#include "analyze/volume.h"

namespace cairn::analyze {
namespace {

struct Form {
  Operation operation;
  bool each = false;  ///< amounts for each rank
};

/// A constructor of communicators that all processes of another call.
bool makes_one_over_another(const spec::Function &function) {
  return spec::makes_communicator(function) && function.scope != 0 && function.scope <= function.parameter_count &&
         function.parameters[function.scope - 1].kind == spec::Kind::comm &&
         function.members != spec::Members::beyond_world;
}

std::optional<Form> form_of(const spec::Function &function) {
  static const std::map<std::string, Form, std::less<>> forms = {
      {"Barrier", {Operation::barrier}},
      {"Bcast", {Operation::bcast}},
      {"Gather", {Operation::gather}},
      {"Gatherv", {Operation::gatherv, true}},
      {"Scatter", {Operation::scatter}},
      {"Scatterv", {Operation::scatterv, true}},
      {"Allgather", {Operation::allgather}},
      {"Allgatherv", {Operation::allgatherv, true}},
      {"Alltoall", {Operation::alltoall}},
      {"Alltoallv", {Operation::alltoallv, true}},
      {"Alltoallw", {Operation::alltoallv, true}},
      {"Reduce", {Operation::reduce}},
      {"Allreduce", {Operation::allreduce}},
      {"Reduce_scatter", {Operation::reduce_scatter, true}},
      {"Reduce_scatter_block", {Operation::reduce_scatter}},
      {"Scan", {Operation::scan}},
      {"Exscan", {Operation::exscan}},
      {"Neighbor_allgather", {Operation::neighbors}},
      {"Neighbor_allgatherv", {Operation::neighbors, true}},
      {"Neighbor_alltoall", {Operation::neighbors}},
      {"Neighbor_alltoallv", {Operation::neighbors, true}},
      {"Neighbor_alltoallw", {Operation::neighbors, true}},
  };
  const auto found = forms.find(operation(function));
  if (found != forms.end()) return found->second;
  if (makes_one_over_another(function)) return Form{Operation::barrier};
  return std::nullopt;
}

const std::vector<std::optional<Form>> &forms() {
  static const std::vector<std::optional<Form>> all = [] {
    std::vector<std::optional<Form>> made;
    for (const spec::Function &each : spec::functions()) made.push_back(form_of(each));
    return made;
  }();
  return all;
}

class CollectiveReading {
 public:
  CollectiveReading(const RowAccess &row, const Sizes &sizes, Collective *made)
      : row_(row), sizes_(sizes), made_(*made) {}

  void sizes(const Form &form) {
    switch (form.operation) {
      case Operation::barrier:
        return;
      case Operation::bcast:
      case Operation::reduce:
      case Operation::allreduce:
      case Operation::scan:
      case Operation::exscan:
        made_.bytes = one("count", "datatype");
        return;
      case Operation::reduce_scatter:
        if (form.each) {
          made_.receives = several("recvcounts", "datatype");
        } else {
          made_.bytes = one("recvcount", "datatype");
        }
        return;
      case Operation::neighbors:
      case Operation::alltoallv:
        made_.sends = side("sendcounts", "sendcount", "sendtypes", "sendtype");
        made_.receives = side("recvcounts", "recvcount", "recvtypes", "recvtype");
        if (made_.sends.empty()) made_.sends = made_.receives;  // in place
        return;
      case Operation::allgatherv:
        made_.receives = several("recvcounts", "recvtype");
        if (row_.has("sendcount")) made_.bytes = one("sendcount", "sendtype");
        return;
      case Operation::gatherv:
        if (row_.has("recvcounts")) made_.receives = several("recvcounts", "recvtype");
        if (row_.has("sendcount")) made_.bytes = one("sendcount", "sendtype");
        return;
      case Operation::scatterv:
        if (row_.has("sendcounts")) made_.sends = several("sendcounts", "sendtype");
        if (row_.has("recvcount")) made_.bytes = one("recvcount", "recvtype");
        return;
      case Operation::gather:
      case Operation::allgather:
      case Operation::alltoall:
      case Operation::scatter:
        break;
    }
    // What is in place is not said on one side.
    const bool sends = row_.has("sendcount") && row_.has("sendtype") && row_.constant("sendbuf") != "MPI_IN_PLACE";
    made_.bytes = sends ? one("sendcount", "sendtype") : one("recvcount", "recvtype");
    made_.received = row_.has("recvcount") ? one("recvcount", "recvtype") : made_.bytes;
  }

 private:
  [[nodiscard]] uint64_t product(std::optional<int64_t> count, std::optional<int64_t> size) {
    int64_t bytes = 0;
    if (count && *count == 0) return 0;
    const int64_t elements = count.value_or(-1);
    const int64_t each = size.value_or(-1);
    if (elements >= 0 && each >= 0 && !__builtin_mul_overflow(elements, each, &bytes)) {
      return static_cast<uint64_t>(bytes);
    }
    made_.sizes_known = false;
    return 0;
  }
  std::optional<int64_t> size_of(const char *type) const {
    const auto handle = row_.handle(type);
    return handle ? sizes_.datatype(*handle) : std::nullopt;
  }
  uint64_t one(const char *count, const char *type) { return product(row_.number(count), size_of(type)); }
  std::vector<uint64_t> several(const char *counts, const char *type) {
    std::vector<uint64_t> bytes;
    const auto all = row_.numbers(counts);
    const auto size = size_of(type);
    if (!all) made_.sizes_known = false;
    for (const int64_t count : all.value_or(std::vector<int64_t>())) bytes.push_back(product(count, size));
    return bytes;
  }
  std::vector<uint64_t> side(const char *counts, const char *count, const char *types, const char *type) {
    if (row_.has(count)) return {one(count, type)};
    if (!row_.has(counts)) return {};
    if (!row_.has(types)) return several(counts, type);
    const auto all = row_.numbers(counts).value_or(std::vector<int64_t>());
    const auto handles = row_.handles(types);
    std::vector<uint64_t> bytes;
    for (size_t i = 0; i < all.size(); ++i) {
      bytes.push_back(product(all[i], i < handles.size() ? sizes_.datatype(handles[i]) : std::nullopt));
    }
    return bytes;
  }

  const RowAccess &row_;
  const Sizes &sizes_;
  Collective &made_;
};

}  // namespace

bool is_collective(const spec::Function &function) { return forms()[function.id].has_value(); }

std::unique_ptr<Collective> collective_of(const trace::Row &row, const RowScope &scope, const Sizes &sizes) {
  if (row.function >= forms().size()) return nullptr;
  const std::optional<Form> &form = forms()[row.function];
  if (!form) return nullptr;
  const RowAccess access(row, scope);
  const spec::Function &function = *access.function();
  const auto communicator = access.handle(function.scope != 0 && function.scope <= function.parameter_count
                                              ? function.parameters[function.scope - 1].name
                                              : "comm");
  if (!access.succeeded() || !communicator) return nullptr;
  auto made = std::make_unique<Collective>();
  made->operation = form->operation;
  made->each = form->each;
  made->communicator = *communicator;
  made->root = access.number("root");
  made->is_root = access.constant("root") == "MPI_ROOT";
  made->aside = access.constant("root") == "MPI_PROC_NULL";
  made->persistent = function.persistent;
  if (function.nonblocking || function.persistent) made->request = access.handle("request");
  if (!made->aside) CollectiveReading(access, sizes, made.get()).sizes(*form);
  return made;
}

}  // namespace cairn::analyze
