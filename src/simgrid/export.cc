#include "simgrid/export.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "files/partial.h"
#include "simgrid/rank_actions.h"
#include "trace/model/losses.h"

namespace cairn::simgrid {
namespace {

namespace fs = std::filesystem;

std::string file_of(const std::string &folder, uint32_t rank) { return fmt::format("{}/rank-{}.txt", folder, rank); }

}  // namespace

std::string list_in(const std::string &folder) { return folder + "/ranks.txt"; }

Result<void> may_be_exported(const trace::Trace &trace) {
  if (trace.ranks().size() != trace.rank_count() || trace.rank_count() == 0) {
    return fail(ErrorKind::usage,
                fmt::format("the trace has {} of {} ranks, and a simulation needs all", trace.ranks().size(),
                            trace.rank_count()),
                "merge what is missing, or record the run again");
  }
  for (const uint32_t rank : trace.ranks()) {
    for (const trace::Loss &loss : trace::read_losses(trace.rank_info(rank).degraded)) {
      if (!loss.lacks_calls()) continue;
      return fail(ErrorKind::usage, fmt::format("calls of rank {} are not in the trace: {}", rank, loss.reason),
                  "a simulation needs all calls of all ranks");
    }
  }
  return {};
}

Result<Counts> export_run(const trace::Trace &trace, const analyze::Sources &sources, const std::string &path,
                          const ExportSettings &settings) {
  const auto groups = Groups::of(trace, sources);
  if (!groups) return tl::unexpected(groups.error());
  Tags tags;
  Run run{&trace, &*groups, &tags, {}, settings.speed, settings.gaps};
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    run.scopes.push_back({trace.sites(index), trace.class_view(index).thread});
  }
  auto folder = Partial::of(path, true);
  if (!folder) return tl::unexpected(folder.error());
  std::error_code error;
  const std::string whole = fs::absolute(path, error).lexically_normal().string();
  std::ofstream list(list_in(folder->name()));
  Counts counts;
  for (uint32_t rank = 0; rank < trace.rank_count(); ++rank) {
    list << file_of(error ? path : whole, rank) << '\n';
    auto file = RankFile::create(file_of(folder->name(), rank), rank);
    if (!file) return tl::unexpected(file.error());
    if (auto done = RankActions(run, rank, &*file, &counts).write(); !done) return tl::unexpected(done.error());
    if (auto done = file->close(); !done) return tl::unexpected(done.error());
  }
  list.close();
  if (!list) {
    return wrong_at(ErrorKind::environment, list_in(path), "cannot be written",
                    "make room, or name another folder with --output");
  }
  if (auto done = folder->finish(); !done) return tl::unexpected(done.error());
  return counts;
}

}  // namespace cairn::simgrid
