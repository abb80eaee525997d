// cairn merge: makes traces of what the processes of a run left in a spool (--merge after, session-only programs,
// aborts).
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/spool.h"
#include "cli/verbs.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "trace/read/trace.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

struct MergeOptions {
  std::vector<std::string> inputs;
  std::string output = "run.cairn";
  bool force = false;
  bool quiet = false;
};

int merge(const MergeOptions &options) {
  Spool spool;
  for (const std::string &input : options.inputs) {
    std::error_code error;
    if (fs::is_directory(input, error)) {
      Spool more = read_spool(input);
      std::move(more.parts.begin(), more.parts.end(), std::back_inserter(spool.parts));
      std::move(more.epilogues.begin(), more.epilogues.end(), std::back_inserter(spool.epilogues));
      spool.damaged.insert(spool.damaged.end(), more.damaged.begin(), more.damaged.end());
    } else if (fs::exists(input, error)) {
      read_spool_file(input, spool);
    } else {
      return report({ErrorKind::unreadable, "there is no such file or folder", input, Error::kNoOffset,
                     "name a spool, as in run.cairn.spool, or its .part files"});
    }
  }
  if (!spool.damaged.empty()) {
    for (size_t i = 1; i < spool.damaged.size(); ++i) report(spool.damaged[i]);
    return report(spool.damaged.front());
  }
  if (spool.parts.empty()) {
    return report({ErrorKind::unreadable, "there are no parts to merge", options.inputs.front(), Error::kNoOffset,
                   "processes leave them with --merge after, or when they can't merge in MPI_Finalize"});
  }
  size_t number = 0;
  for (const Job &job : jobs_of(spool.parts)) {
    const std::string path = numbered(options.output, ++number);
    auto bytes = join(job);
    if (bytes) bytes = with_epilogues(std::move(*bytes), path, spool.epilogues);
    if (bytes) bytes = with_sources(std::move(*bytes), path);
    if (!bytes) return report(bytes.error());
    if (auto done = write_trace(path, *bytes, options.force); !done) return report(done.error());
    const SpoolHeader &header = job.parts.front()->header;
    if (!options.quiet) {
      say(fmt::format("{}: {} of {}, {}", path, plural(job.parts.size(), "rank"), grouped(header.size),
                      bytes_text(bytes->size())));
    }
  }
  return kFine;
}

}  // namespace

Action declare_merge(Options &verb) {
  auto options = std::make_shared<MergeOptions>();
  verb.words("spool", options->inputs, "Spool folder, or its .part files");
  verb.text("-o,--output", options->output, "Trace to write (run.cairn)", "FILE");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  verb.flag("-f,--force", options->force, "Overwrite an existing trace");
  return [options] { return merge(*options); };
}

}  // namespace cairn::cli
