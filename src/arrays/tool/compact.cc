// cairn arrays compact: rewrites a compressed file without what no reader needs: replaced and covered blocks, earlier
// indexes, holes. Blocks keep their compressed bytes, whatever codec made them.
#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <memory>

#include "arrays/file/stored_file.h"
#include "arrays/file/stored_writer.h"
#include "arrays/file/usage.h"
#include "arrays/file/writer_lock.h"
#include "arrays/tool/text.h"
#include "arrays/tool/verbs.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::array_tool {
namespace {

struct CompactOptions {
  std::string file;
  std::string output;
  bool force = false;
  bool quiet = false;
};

Result<void> copy_blocks(const arrays::StoredFile &file, arrays::StoredWriter *writer) {
  const std::vector<bool> needed = arrays::needed(file.index());
  for (size_t i = 0; i < file.index().blocks().size(); ++i) {
    if (!needed[i]) continue;
    const arrays::Block &block = file.index().blocks()[i];
    const Result<Bytes> bytes = file.coded(i);
    if (!bytes) return tl::unexpected(bytes.error());
    if (!file.intact(i, *bytes)) {
      return tl::unexpected(Error{
          ErrorKind::unreadable,
          name_of(file.index(), file.header(), file.layout(), i) + ": its checksum is wrong; the file stays as it is",
          file.path(), Error::kNoOffset, ""});
    }
    if (auto done = writer->append(block, *bytes); !done) return done;
  }
  return {};
}

Result<void> compact(const CompactOptions &options) {
  std::error_code error;
  // Behind a link lies the file that is to become smaller.
  const std::string path =
      options.output.empty() ? std::filesystem::canonical(options.file, error).string() : options.output;
  if (!options.output.empty()) {
    if (auto allowed = may_write(path, options.force); !allowed) return allowed;
  }
  const arrays::WriterLock lock(options.output.empty() && !error ? path : std::string());
  if (lock.state() == arrays::WriterLock::State::refused) {
    return tl::unexpected(Error{ErrorKind::environment, "a job is writing to it", path, Error::kNoOffset,
                                "name another file to write, or wait until it has ended"});
  }
  // Only now: what a job writes until it closes the file is in it then.
  const auto file = arrays::StoredFile::open(options.file);
  if (!file) return tl::unexpected(file.error());
  auto writer = arrays::StoredWriter::create(path, file->index().header, {});
  if (!writer) return tl::unexpected(writer.error());
  writer->index().user_codecs = file->index().user_codecs;
  if (auto done = copy_blocks(*file, &*writer); !done) return done;
  struct stat status {};
  const bool known = options.output.empty() && stat(path.c_str(), &status) == 0;
  if (auto done = writer->finish(known ? static_cast<int>(status.st_mode & 07777) : -1); !done) return done;
  if (!options.quiet) {
    cli::say(fmt::format("{}: {} instead of {}", options.output.empty() ? options.file : path,
                         cli::bytes_text(writer->size()), cli::bytes_text(file->size())));
  }
  return {};
}

}  // namespace

cli::Action declare_compact(cli::Options &verb) {
  auto options = std::make_shared<CompactOptions>();
  verb.one("FILE", options->file, "The compressed file");
  verb.text("OUT", options->output, "The file to write; FILE itself if left out");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  verb.flag("-f,--force", options->force, "Overwrite an existing OUT");
  return [options] { return cli::exit_code(compact(*options)); };
}

}  // namespace cairn::array_tool
