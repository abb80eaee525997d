#include "export/otf2_definitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyze/collective.h"
#include "analyze/decode.h"
#include "analyze/message_calls.h"
#include "analyze/volume.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

using simgrid::Groups;

/// Each text has a number.
class Strings {
 public:
  explicit Strings(OTF2_GlobalDefWriter *writer) : writer_(writer) { of(""); }
  OTF2_StringRef of(const std::string &text) {
    const auto [known, fresh] = numbers_.try_emplace(text, static_cast<OTF2_StringRef>(numbers_.size()));
    if (fresh) check(OTF2_GlobalDefWriter_WriteString(writer_, known->second, valid_utf8(text).c_str()));
    return known->second;
  }
  void check(OTF2_ErrorCode code) {
    if (error_ == OTF2_SUCCESS) error_ = code;
  }
  [[nodiscard]] OTF2_ErrorCode error() const { return error_; }

 private:
  OTF2_GlobalDefWriter *writer_;
  std::map<std::string, OTF2_StringRef> numbers_;
  OTF2_ErrorCode error_ = OTF2_SUCCESS;
};

void write_tree(OTF2_GlobalDefWriter *writer, const Otf2Run &run, Strings *strings) {
  const trace::Trace &trace = *run.scope->trace;
  const auto node = [&](uint32_t number, const std::string &name, const char *what, uint32_t parent,
                        OTF2_SystemTreeDomain domain) {
    const OTF2_StringRef named = strings->of(name);
    const OTF2_StringRef kind = strings->of(what);
    strings->check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, number, named, kind, parent));
    strings->check(OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(writer, number, domain));
  };
  node(0, "machine", "machine", OTF2_UNDEFINED_SYSTEM_TREE_NODE, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
  std::map<std::string, uint32_t> hosts;
  for (uint32_t rank = 0; rank < trace.rank_count(); ++rank) {  // those that the trace lacks as well
    const auto info = trace.rank_info(rank);
    const std::string host = info.host.empty() ? "node" : info.host;
    const auto [known, fresh] = hosts.try_emplace(host, static_cast<uint32_t>(hosts.size() + 1));
    if (fresh) node(known->second, host, "node", 0, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    const OTF2_StringRef name = strings->of(fmt::format("MPI Rank {}", rank));
    strings->check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, rank, name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                           known->second, OTF2_UNDEFINED_LOCATION_GROUP));
  }
  // A GPU is a group of its own, which a rank made.
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> gpus;
  for (const Kernels::Stream &each : run.kernels.streams) {
    const auto number = static_cast<uint32_t>(trace.rank_count() + gpus.size());
    const auto [known, fresh] = gpus.try_emplace({each.rank, each.device}, number);
    if (!fresh) continue;
    const OTF2_StringRef name = strings->of(fmt::format("MPI Rank {}, GPU {}", each.rank, each.device));
    const std::string host = trace.rank_info(each.rank).host;
    strings->check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, known->second, name,
                                                           OTF2_LOCATION_GROUP_TYPE_ACCELERATOR,
                                                           hosts.at(host.empty() ? "node" : host), each.rank));
  }
  for (const Otf2Location &each : run.locations) {
    if (each.stream != Otf2Location::kNoStream) {
      const Kernels::Stream &stream = run.kernels.streams[each.stream];
      const OTF2_StringRef name = strings->of(fmt::format("stream {}", stream.stream));
      strings->check(OTF2_GlobalDefWriter_WriteLocation(writer, each.number, name,
                                                        OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, each.events,
                                                        gpus.at({stream.rank, stream.device})));
      continue;
    }
    const std::string text = each.thread == 0 ? "Master thread" : fmt::format("MPI thread {}", each.thread);
    const OTF2_StringRef name = strings->of(text);
    strings->check(OTF2_GlobalDefWriter_WriteLocation(writer, each.number, name, OTF2_LOCATION_TYPE_CPU_THREAD,
                                                      each.events, each.rank));
  }
}

void write_regions(OTF2_GlobalDefWriter *writer, const Otf2Run &run, Strings *strings) {
  const auto &places = run.scope->places();
  for (size_t i = 0; i < places.size(); ++i) {
    const analyze::Position &position = places[i].position;
    const OTF2_StringRef name = strings->of(analyze::function_name(places[i].function));
    const OTF2_StringRef where = strings->of(position.short_text());
    const OTF2_StringRef file = strings->of(position.file);
    strings->check(OTF2_GlobalDefWriter_WriteRegion(
        writer, static_cast<OTF2_RegionRef>(i), name, name, where, role_of(places[i].function), OTF2_PARADIGM_MPI,
        OTF2_REGION_FLAG_NONE, position.file.empty() ? OTF2_UNDEFINED_STRING : file, position.line, position.line));
  }
}

/// Of kernels; OTF2 has no paradigm for what is either CUDA's or HIP's.
void write_kernel_regions(OTF2_GlobalDefWriter *writer, const Otf2Run &run, Strings *strings) {
  if (run.kernel_regions.empty()) return;
  const OTF2_StringRef cuda = strings->of("CUDA");
  strings->check(OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_CUDA, cuda, OTF2_PARADIGM_CLASS_ACCELERATOR));
  for (const auto &[kernel, number] : run.kernel_regions) {
    const OTF2_StringRef name = strings->of(kernel);
    const OTF2_StringRef nothing = strings->of("");
    strings->check(OTF2_GlobalDefWriter_WriteRegion(writer, number, name, name, nothing, OTF2_REGION_ROLE_FUNCTION,
                                                    OTF2_PARADIGM_CUDA, OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0,
                                                    0));
  }
}

/// Members of a group are places in the one group of all ranks.
void write_communicators(OTF2_GlobalDefWriter *writer, const Otf2Run &run, Strings *strings) {
  const Groups &groups = run.scope->groups;
  uint32_t next = 0;
  const auto group = [&](const std::string &name, OTF2_GroupType type, const std::vector<uint64_t> &members) {
    const OTF2_StringRef named = strings->of(name);
    strings->check(OTF2_GlobalDefWriter_WriteGroup(writer, next, named, type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                                   static_cast<uint32_t>(members.size()), members.data()));
    return next++;
  };
  group("MPI ranks", OTF2_GROUP_TYPE_COMM_LOCATIONS, run.first_locations);
  for (uint32_t number = 0; number < groups.count(); ++number) {
    const OTF2_StringRef name = strings->of(run.scope->names[number]);
    const auto &sides = groups.members(number);
    if (number == Groups::kSelf) {
      const uint32_t self = group("MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, {});
      strings->check(
          OTF2_GlobalDefWriter_WriteComm(writer, number, name, self, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
      continue;
    }
    // What stands between two groups is one of both, the first one's ranks first: readers of OTF2 2 know no InterComm,
    // and Debian's Python bindings (3.0.2) open no archive that has one.
    std::vector<uint64_t> members;
    for (const std::vector<uint32_t> &side : sides) members.insert(members.end(), side.begin(), side.end());
    if (members.empty()) continue;
    const uint32_t made = group(run.scope->names[number], OTF2_GROUP_TYPE_COMM_GROUP, members);
    const OTF2_CommRef parent = number == Groups::kWorld ? OTF2_UNDEFINED_COMM : Groups::kWorld;
    strings->check(OTF2_GlobalDefWriter_WriteComm(writer, number, name, made, parent, OTF2_COMM_FLAG_NONE));
  }
}

}  // namespace

OTF2_RegionRole role_of(uint32_t function) {
  const auto all = spec::functions();
  if (function >= all.size()) return OTF2_REGION_ROLE_FUNCTION;
  const std::string_view name = all[function].name;
  const std::string operation = analyze::operation(all[function]);
  if (operation == "Barrier") return OTF2_REGION_ROLE_BARRIER;
  for (const char *each : {"Bcast", "Scatter", "Scatterv"}) {
    if (operation == each) return OTF2_REGION_ROLE_COLL_ONE2ALL;
  }
  for (const char *each : {"Gather", "Gatherv", "Reduce"}) {
    if (operation == each) return OTF2_REGION_ROLE_COLL_ALL2ONE;
  }
  for (const char *each : {"Allgather", "Allgatherv", "Alltoall", "Alltoallv", "Alltoallw", "Allreduce",
                           "Reduce_scatter", "Reduce_scatter_block"}) {
    if (operation == each) return OTF2_REGION_ROLE_COLL_ALL2ALL;
  }
  if (name.starts_with("MPI_File_")) return OTF2_REGION_ROLE_FILE_IO;
  if (analyze::is_message_call(all[function])) return OTF2_REGION_ROLE_POINT2POINT;
  if (name.find("robe") != name.npos) return OTF2_REGION_ROLE_POINT2POINT;
  if (analyze::is_collective(all[function])) return OTF2_REGION_ROLE_COLL_OTHER;
  for (const char *begin : {"MPI_Put", "MPI_Get_accumulate", "MPI_Rput", "MPI_Rget", "MPI_Accumulate",
                            "MPI_Raccumulate", "MPI_Fetch_and_op", "MPI_Compare_and_swap", "MPI_Win_"}) {
    if (name.starts_with(begin)) return OTF2_REGION_ROLE_RMA;
  }
  if (name == "MPI_Get" || name == "MPI_Get_c") return OTF2_REGION_ROLE_RMA;
  return OTF2_REGION_ROLE_FUNCTION;
}

OTF2_CollectiveOp operation_of(uint32_t function) {
  static const std::map<std::string, OTF2_CollectiveOp, std::less<>> all = {
      {"Barrier", OTF2_COLLECTIVE_OP_BARRIER},
      {"Bcast", OTF2_COLLECTIVE_OP_BCAST},
      {"Gather", OTF2_COLLECTIVE_OP_GATHER},
      {"Gatherv", OTF2_COLLECTIVE_OP_GATHERV},
      {"Scatter", OTF2_COLLECTIVE_OP_SCATTER},
      {"Scatterv", OTF2_COLLECTIVE_OP_SCATTERV},
      {"Allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
      {"Neighbor_allgather", OTF2_COLLECTIVE_OP_ALLGATHER},
      {"Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
      {"Neighbor_allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV},
      {"Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
      {"Neighbor_alltoall", OTF2_COLLECTIVE_OP_ALLTOALL},
      {"Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
      {"Neighbor_alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV},
      {"Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
      {"Neighbor_alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW},
      {"Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE},
      {"Reduce", OTF2_COLLECTIVE_OP_REDUCE},
      {"Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER},
      {"Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
      {"Scan", OTF2_COLLECTIVE_OP_SCAN},
      {"Exscan", OTF2_COLLECTIVE_OP_EXSCAN},
  };
  const auto functions = spec::functions();
  if (function >= functions.size()) return OTF2_COLLECTIVE_OP_BARRIER;
  const auto found = all.find(analyze::operation(functions[function]));
  if (found == all.end()) return OTF2_COLLECTIVE_OP_CREATE_HANDLE;  // it makes a communicator
  return found->second;
}

OTF2_ErrorCode write_definitions(OTF2_GlobalDefWriter *writer, const Otf2Run &run) {
  const trace::Trace &trace = *run.scope->trace;
  Strings strings(writer);
  const int64_t unix_ns = trace.axis().begin_unix_ns();
  const uint64_t wall = unix_ns > 0 ? static_cast<uint64_t>(unix_ns) : uint64_t{OTF2_UNDEFINED_TIMESTAMP};
  strings.check(OTF2_GlobalDefWriter_WriteClockProperties(writer, 1'000'000'000, 0, run.last_ns + 1, wall));
  const OTF2_StringRef mpi = strings.of("MPI");
  strings.check(OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, mpi, OTF2_PARADIGM_CLASS_PROCESS));
  write_tree(writer, run, &strings);
  write_regions(writer, run, &strings);
  write_kernel_regions(writer, run, &strings);
  write_communicators(writer, run, &strings);
  return strings.error();
}

}  // namespace cairn::exporting
