#include "analyze/volume.h"

#include <string>
#include <string_view>

#include "analyze/counts.h"
#include "analyze/function_table.h"
#include "analyze/message_calls.h"

namespace cairn::analyze {
namespace {

std::optional<int64_t> times(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? product(*a, *b) : std::nullopt;
}

std::optional<int64_t> plus(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t result = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &result)) return std::nullopt;
  return result;
}

bool is_start(const spec::Function &function) {
  return function.parameter_count != 0 &&
         function.parameters[function.parameter_count - 1].effect == spec::Effect::start;
}

bool has_parameter(const spec::Function &function, std::string_view wanted) {
  for (size_t i = 0; i < function.parameter_count; ++i) {
    if (function.parameters[i].name == wanted) return true;
  }
  return false;
}

bool moves_bytes(const spec::Function &function) {
  if (is_start(function)) return true;
  const std::string_view name = function.name;
  for (const char *prefix : {"MPI_Type_", "MPI_Status_", "MPI_T_", "MPI_Get_count", "MPI_Get_elements", "MPI_Pack",
                             "MPI_Unpack", "MPI_Reduce_local", "MPI_File_get_type"}) {
    if (name.starts_with(prefix)) return false;
  }
  for (const char *type : {"datatype", "sendtype", "recvtype", "sendtypes", "recvtypes", "origin_datatype"}) {
    if (has_parameter(function, type)) return true;
  }
  return false;
}

std::string operation_behind(const spec::Function &function) {
  std::string_view name = function.name;
  name.remove_prefix(4);
  if (name.ends_with("_c")) name.remove_suffix(2);
  if (name.ends_with("_init")) name.remove_suffix(5);
  std::string text(name);
  if (text.size() > 1 && text[0] == 'I' && function.nonblocking) {
    text.erase(0, 1);
    text[0] = static_cast<char>(text[0] >= 'a' && text[0] <= 'z' ? text[0] - 'a' + 'A' : text[0]);
  }
  return text;
}

/// What came, where a status says that it is something else than the room. Of calls that are complete at once.
std::optional<int64_t> told_bytes(const RowAccess &row) {
  const std::vector<MessageOutcome> told = outcomes_of(row, 1);
  if (told.size() != 1) return std::nullopt;
  return told[0].cancelled ? 0 : told[0].bytes;
}

}  // namespace

const std::string &operation(const spec::Function &function) {
  static const auto all = function_table(operation_behind);
  return all[function.id];
}

bool Volumes::may_move(const spec::Function &function) {
  static const auto all = function_table(moves_bytes);
  return all[function.id];
}

bool Volumes::needs(const spec::Function &function) {
  return Sizes::is_creator(function) || (function.persistent && may_move(function));
}

bool Volumes::asks_members(const spec::Function &function) {
  const std::string &op = operation(function);
  return op == "Alltoall" || op == "Scatter" || op == "Reduce_scatter_block";
}

Volumes::Volumes(uint32_t world_size, const std::vector<SelectedCalls::Sequence> &calls,
                 const std::optional<Members> &members)
    : sizes_(world_size, calls) {
  if (members) sizes_.learn_members(members->sizes, members->rank);
  const auto all = spec::functions();
  for (const SelectedCalls::Sequence &sequence : calls) {
    for (const trace::CountedRow &call : sequence.calls) {
      const uint32_t id = call.row.function;
      if (id >= all.size() || !all[id].persistent || !may_move(all[id])) continue;
      const RowAccess access(call.row, *sequence.scope);
      const auto request = access.handle("request");
      if (!request) continue;
      const auto bytes = payload(access);
      const auto [place, fresh] = persistent_.emplace(*request, bytes);
      if (!fresh && place->second != bytes) place->second = std::nullopt;
    }
  }
}

Volume Volumes::of(const trace::Row &row, const RowScope &scope) const {
  const RowAccess access(row, scope);
  if (access.function() == nullptr || !may_move(*access.function())) return {};
  if (access.function()->persistent) return {};
  if (is_start(*access.function())) return {true, started(access)};
  return {true, payload(access)};
}

std::optional<int64_t> Volumes::started(const RowAccess &row) const {
  std::optional<int64_t> total = 0;
  for (const char *name : {"request", "array_of_requests"}) {
    for (const HandleName &each : row.handles(name)) {
      total = plus(total, request(each));
    }
  }
  return total;
}

std::optional<int64_t> Volumes::request(const HandleName &name) const {
  const auto found = persistent_.find(name);
  return found == persistent_.end() ? std::nullopt : found->second;
}

std::optional<int64_t> Volumes::payload(const RowAccess &row) const {
  const std::string &op = operation(*row.function());
  const auto type_size = [&](const char *name) -> std::optional<int64_t> {
    const auto handle = row.handle(name);
    return handle ? sizes_.datatype(*handle) : std::nullopt;
  };
  const auto comm_size = [&]() -> std::optional<int64_t> {
    const auto comm = row.handle("comm");
    return comm ? sizes_.communicator(*comm) : std::nullopt;
  };
  const auto summed = [&](const char *name) -> std::optional<int64_t> {
    const auto values = row.numbers(name);
    if (!values) return std::nullopt;
    std::optional<int64_t> total = 0;
    for (const int64_t value : *values) total = plus(total, value < 0 ? std::nullopt : std::optional(value));
    return total;
  };
  // Alltoallw: a datatype for each peer.
  const auto weighted = [&](const char *counts, const char *types) -> std::optional<int64_t> {
    const auto values = row.numbers(counts);
    const auto handles = row.handles(types);
    if (!values || values->size() != handles.size()) return std::nullopt;
    std::optional<int64_t> total = 0;
    for (size_t i = 0; i < handles.size(); ++i) {
      if ((*values)[i] != 0) total = plus(total, times((*values)[i], sizes_.datatype(handles[i])));
    }
    return total;
  };
  const auto side = [&](bool send, bool each_peer) -> std::optional<int64_t> {
    const char *types = send ? "sendtypes" : "recvtypes";
    const char *counts = send ? "sendcounts" : "recvcounts";
    if (row.has(types)) return weighted(counts, types);
    const auto size = type_size(send ? "sendtype" : "recvtype");
    if (row.has(counts)) return times(summed(counts), size);
    const auto bytes = times(row.number(send ? "sendcount" : "recvcount"), size);
    return each_peer ? times(bytes, comm_size()) : bytes;
  };
  const std::optional<int64_t> came = told_bytes(row);
  const auto to_nobody = [&](const char *peer) { return row.constant(peer) == "MPI_PROC_NULL"; };
  if (op.starts_with("Sendrecv")) {
    const std::optional<int64_t> none = 0;
    const bool replace = op.ends_with("replace");
    const auto one = replace ? times(row.number("count"), type_size("datatype")) : none;
    const auto sent = to_nobody("dest") ? none : replace ? one : side(true, false);
    const auto received = to_nobody("source") ? none : came ? came : replace ? one : side(false, false);
    return plus(sent, received);
  }
  if (to_nobody("dest") || to_nobody("source") || to_nobody("target_rank")) return 0;
  if (came) return came;
  if (op == "Reduce" && row.constant("root") == "MPI_ROOT") return 0;  // of two groups: the other one gives
  if (op == "Reduce_scatter") return times(summed("recvcounts"), type_size("datatype"));
  if (op == "Reduce_scatter_block") return times(times(row.number("recvcount"), type_size("datatype")), comm_size());
  if (op == "Psend" || op == "Precv") {
    return times(times(row.number("partitions"), row.number("count")), type_size("datatype"));
  }
  if (row.has("origin_datatype")) return times(row.number("origin_count"), type_size("origin_datatype"));
  if (row.has("sendtype") || row.has("sendtypes") || row.has("recvtype") || row.has("recvtypes")) {
    const bool in_place = row.constant("sendbuf") == "MPI_IN_PLACE" || row.constant("recvbuf") == "MPI_IN_PLACE";
    const bool to_each = op.starts_with("Alltoall") || op.starts_with("Scatter");
    const bool sends = row.has("sendtype") || row.has("sendtypes");
    // How many neighbours there are stands in no argument.
    if (op == "Neighbor_alltoall") return std::nullopt;
    if (sends) return side(true, to_each);
    // The root of a Gather in place contributes what already lies there, one block of many: not written down.
    if (in_place && op.starts_with("Gather")) return 0;
    // One block of an Allgatherv in place is this rank's, which only the communicator's rank could tell.
    if (in_place && op == "Allgatherv") return std::nullopt;
    return side(false, op == "Alltoall");
  }
  // Get_accumulate and Fetch_and_op with MPI_NO_OP send nothing but still get; Compare_and_swap moves one element.
  if (row.has("datatype")) {
    const auto size = type_size("datatype");
    if (op == "Compare_and_swap" || op == "Fetch_and_op") return size;
    return times(row.number("count"), size);
  }
  // Not significant on this rank: the non-root side of an intercommunicator's collective with MPI_PROC_NULL.
  return 0;
}

RankVolumes::RankVolumes(const trace::Trace &trace, const SelectedCalls &selected, uint32_t rank)
    : volumes_(trace.job_of(rank).size, selected.of(rank)) {
  for (const trace::SequenceView &sequence : trace.sequences(rank)) {
    scopes_.try_emplace(sequence.class_index, RowScope::of(trace, sequence));
  }
}

Volume RankVolumes::of(uint32_t class_index, const trace::Row &row) const {
  const auto scope = scopes_.find(class_index);
  return scope == scopes_.end() ? Volume() : volumes_.of(row, scope->second);
}

}  // namespace cairn::analyze
