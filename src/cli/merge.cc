// cairn merge: makes traces of what the processes of a run left in a spool (--merge after, session-only programs,
// aborts), or of GPU launches beside the trace that they would have written.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/lost_lines.h"
#include "cli/verbs.h"
#include "spool/folder.h"
#include "spool/gpu.h"
#include "spool/join.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output;  ///< empty: what the spool is called after
  bool force = false;
  bool quiet = false;
};

/// What lies in a spool, in the place where one was made, or in a file of one. Nothing is taken from living processes.
Result<spool::Contents> read_input(const std::string &input) {
  std::error_code error;
  if (!fs::exists(input, error)) {
    return tl::unexpected(Error{ErrorKind::unreadable, "there is no such file or folder", input, Error::kNoOffset,
                                "name a spool, as in run.cairn.spool, or its .part files"});
  }
  const auto still = [](size_t living, const std::string &where) {
    return tl::unexpected(
        Error{ErrorKind::environment,
              fmt::format("{} still recording",
                          living == 1 ? "a process is" : plural(living, "process", "processes") + " are"),
              where, Error::kNoOffset, "merge when they have ended"});
  };
  if (!fs::is_directory(input, error)) {
    if (spool::is_held(input)) return still(1, input);
    return spool::read_file(input);
  }
  std::vector<std::string> folders = spool::own_folders(input);
  if (folders.empty() || folders.front() != input) folders.insert(folders.begin(), input);
  spool::Contents contents;
  for (const std::string &folder : folders) {
    if (const size_t living = spool::living_in(folder); living != 0) return still(living, folder);
    contents.append(spool::read_folder(folder));
  }
  return contents;
}

/// The trace that the spool belongs to: run.cairn for run.cairn.spool, and for what lies in that.
std::string output_for(const std::string &input) {
  std::error_code error;
  for (fs::path path = fs::absolute(input, error).lexically_normal(); path.has_relative_path();
       path = path.parent_path()) {
    if (path.extension() == ".spool")
      return fs::path(path).replace_extension().lexically_proximate(fs::current_path()).string();
  }
  return "run.cairn";
}

class Merge {
 public:
  explicit Merge(const MergeOptions &options) : options_(options) {
    if (options_.output.empty()) output_ = output_for(options_.inputs.front());
  }

  /// The worst exit code of all that it did.
  int run() {
    spool::Contents spool;
    for (const std::string &input : options_.inputs) {
      auto more = read_input(input);
      if (!more) return report(more.error());
      spool.append(*std::move(more));
    }
    // What is sound is merged all the same.
    for (const Error &damage : spool.damaged) fail(damage);
    gpu_ = spool::read_gpu(spool.gpu);
    for (const Error &damage : gpu_.damaged) fail(damage);
    for (const spool::Run &run : spool::runs_of(spool)) {
      if (run.trace.empty() && run.job.no_calls()) continue;
      auto joined = spool::trace_of(run);
      if (!joined) {
        fail(joined.error());
        continue;
      }
      for (const Error &damage : joined->damaged) fail(damage);
      if (joined->ranks == 0) continue;
      const std::string ranks = plural(joined->ranks, "rank");
      place(std::move(joined->trace), spool,
            run.trace.empty() ? fmt::format("{} of {}", ranks, grouped(run.job.parts.front()->header.size)) : ranks);
    }
    for (const std::string &line : lost_lines(spool, options_.inputs.front())) {
      fail({ErrorKind::environment, line, "", Error::kNoOffset, ""});
    }
    if (number_ == 0 && !gpu_.launches.launches.empty()) {
      // Of processes that called no MPI.
      spool::TraceBytes alone = spool::gpu_alone(gpu_, gpu_.first.command);
      const std::string launches = plural(gpu_.launches.launches.size(), "GPU launch", "GPU launches");
      gpu_.launches = {};
      place(std::move(alone), spool, launches);
    }
    for (const std::string &line : lost_lines(gpu_)) say(line);
    if (number_ == 0 && worst_ == kFine) {
      fail({ErrorKind::unreadable, "there are no parts to merge", options_.inputs.front(), Error::kNoOffset,
            "processes leave them with --merge after, or when they can't merge in MPI_Finalize"});
    }
    return worst_;
  }

 private:
  void fail(const Error &error) { worst_ = std::max(worst_, report(error)); }

  void place(spool::TraceBytes bytes, const spool::Contents &spool, const std::string &what) {
    const std::string path = spool::numbered(output_, ++number_);
    // Under a name of ours, what an earlier merge made is no obstacle.
    if (options_.output.empty() && !options_.force) {
      const auto old = spool::set_aside(path);
      if (!old) return fail(old.error());
      if (!old->empty() && !options_.quiet) say(fmt::format("{} of an earlier merge is now {}", path, *old));
    }
    auto whole = spool::with_epilogues(std::move(bytes), path, spool.epilogues);
    if (whole) whole = spool::with_sources(*std::move(whole), path);
    if (whole) whole = spool::with_gpu(*std::move(whole), path, std::exchange(gpu_.launches, {}));
    if (!whole) return fail(whole.error());
    if (auto done = spool::write_trace(path, *whole, options_.force); !done) return fail(done.error());
    if (!options_.quiet) say(fmt::format("{}: {}, {}", path, what, bytes_text(whole->size())));
  }

  const MergeOptions &options_;
  spool::GpuLeft gpu_;  ///< its launches are for the first trace
  std::string output_ = options_.output;
  size_t number_ = 0;
  int worst_ = kFine;
};

}  // namespace

Action declare_merge(Options &verb) {
  auto options = std::make_shared<MergeOptions>();
  verb.words("spool", options->inputs, "Spool folder, or its .part or .gpu files");
  verb.text("-o,--output", options->output, "Trace to write (for run.cairn.spool, run.cairn)", "FILE");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  verb.flag("-f,--force", options->force, "Overwrite an existing trace");
  return [options] { return Merge(*options).run(); };
}

}  // namespace cairn::cli
