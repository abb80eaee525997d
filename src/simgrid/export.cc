#include "simgrid/export.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "simgrid/rank_actions.h"
#include "trace/model/losses.h"

namespace cairn::simgrid {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> wrong(const std::string &path, const std::string &what, const std::string &hint = {}) {
  return tl::unexpected(Error{ErrorKind::environment, what, path, Error::kNoOffset, hint});
}

std::string file_of(const std::string &folder, uint32_t rank) { return fmt::format("{}/rank-{}.txt", folder, rank); }

/// A folder for what is written, and all of it deleted unless it is kept.
class Folder {
 public:
  static Result<Folder> make(const std::string &path) {
    std::error_code error;
    const bool made = mkdir(path.c_str(), 0777) == 0;
    if (!made && errno != EEXIST) return wrong(path, fmt::format("cannot be made: {}", std::strerror(errno)));
    if (!made && !fs::is_directory(path, error)) return wrong(path, "is no folder", "name another with --output");
    if (!made && !fs::is_empty(path, error)) {
      return tl::unexpected(Error{ErrorKind::usage, "is not empty", path, Error::kNoOffset,
                                  "name a folder that is not there with --output"});
    }
    const std::string whole = fs::absolute(path, error).lexically_normal().string();
    return Folder(error ? path : whole, made);
  }
  Folder(Folder &&other) noexcept
      : path_(std::move(other.path_)),
        made_(other.made_),
        files_(other.files_),
        kept_(std::exchange(other.kept_, true)) {}
  Folder &operator=(Folder &&) = delete;
  ~Folder() {
    if (kept_) return;
    std::error_code ignored;
    for (uint32_t rank = 0; rank < files_; ++rank) fs::remove(file_of(path_, rank), ignored);
    fs::remove(list_in(path_), ignored);
    if (made_) fs::remove(path_, ignored);
  }
  Result<RankFile> next() {
    const uint32_t rank = files_++;
    return RankFile::create(file_of(path_, rank), rank);
  }
  Result<void> keep() {
    std::ofstream list(list_in(path_));
    for (uint32_t rank = 0; rank < files_; ++rank) list << file_of(path_, rank) << '\n';
    list.close();
    if (!list) return wrong(list_in(path_), "cannot be written", "make room, or name another folder with --output");
    kept_ = true;
    return {};
  }

 private:
  Folder(std::string path, bool made) : path_(std::move(path)), made_(made) {}
  std::string path_;
  bool made_;
  uint32_t files_ = 0;
  bool kept_ = false;
};

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
      if (!loss.missing && !loss.asked) continue;
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
  auto folder = Folder::make(path);
  if (!folder) return tl::unexpected(folder.error());
  Counts counts;
  for (uint32_t rank = 0; rank < trace.rank_count(); ++rank) {
    auto file = folder->next();
    if (!file) return tl::unexpected(file.error());
    if (auto done = RankActions(run, rank, &*file, &counts).write(); !done) return tl::unexpected(done.error());
    if (auto done = file->close(); !done) return tl::unexpected(done.error());
  }
  if (auto done = folder->keep(); !done) return tl::unexpected(done.error());
  return counts;
}

}  // namespace cairn::simgrid
