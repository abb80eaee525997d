#include "simgrid/left_out.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace cairn::simgrid {
namespace {

/// By how their names begin: only what moves something, or waits for others.
constexpr std::pair<std::string_view, const char *> kKinds[] = {
    {"MPI_Put", "one-sided communication"},
    {"MPI_Rput", "one-sided communication"},
    {"MPI_Get_accumulate", "one-sided communication"},
    {"MPI_Rget", "one-sided communication"},
    {"MPI_Accumulate", "one-sided communication"},
    {"MPI_Raccumulate", "one-sided communication"},
    {"MPI_Fetch_and_op", "one-sided communication"},
    {"MPI_Compare_and_swap", "one-sided communication"},
    {"MPI_Win_allocate", "one-sided communication"},
    {"MPI_Win_complete", "one-sided communication"},
    {"MPI_Win_create", "one-sided communication"},
    {"MPI_Win_fence", "one-sided communication"},
    {"MPI_Win_flush", "one-sided communication"},
    {"MPI_Win_free", "one-sided communication"},
    {"MPI_Win_lock", "one-sided communication"},
    {"MPI_Win_post", "one-sided communication"},
    {"MPI_Win_start", "one-sided communication"},
    {"MPI_Win_test", "one-sided communication"},
    {"MPI_Win_unlock", "one-sided communication"},
    {"MPI_Win_wait", "one-sided communication"},
    {"MPI_File_close", "files"},
    {"MPI_File_iread", "files"},
    {"MPI_File_iwrite", "files"},
    {"MPI_File_open", "files"},
    {"MPI_File_preallocate", "files"},
    {"MPI_File_read", "files"},
    {"MPI_File_set_size", "files"},
    {"MPI_File_set_view", "files"},
    {"MPI_File_sync", "files"},
    {"MPI_File_write", "files"},
    {"MPI_Comm_accept", "processes of other runs"},
    {"MPI_Comm_connect", "processes of other runs"},
    {"MPI_Comm_disconnect", "processes of other runs"},
    {"MPI_Comm_join", "processes of other runs"},
    {"MPI_Comm_spawn", "processes of other runs"},
};

}  // namespace

const char *why_left_out(const spec::Function &function) {
  const std::string_view name = function.name;
  if (name == "MPI_Get" || name == "MPI_Get_c") return "one-sided communication";
  for (const auto &[begin, why] : kKinds) {
    if (!name.starts_with(begin)) continue;
    // MPI_Win_create_keyval and _errhandler make no window.
    return name.find("keyval") == name.npos && name.find("errhandler") == name.npos ? why : nullptr;
  }
  return nullptr;
}

std::map<std::string, uint64_t> left_out(const trace::Trace &trace) {
  std::map<std::string, uint64_t> all;
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    const std::vector<uint64_t> counts = trace.row_counts(index);
    for (uint32_t row = 0; row < counts.size(); ++row) {
      const uint32_t function = trace.row_head(index, row).function;
      if (function >= spec::functions().size() || counts[row] == 0) continue;
      const spec::Function &of = spec::functions()[function];
      if (const char *why = why_left_out(of)) all[fmt::format("{} ({})", of.name, why)] += counts[row];
    }
  }
  return all;
}

}  // namespace cairn::simgrid
