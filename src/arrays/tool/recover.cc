// cairn arrays recover: makes a closed file of one whose job was killed, with every block whose writing had ended.
#include "arrays/file/recover.h"

#include <fmt/format.h>

#include <memory>

#include "arrays/tool/verbs.h"
#include "terminal/terminal.h"
#include "terminal/words.h"

namespace cairn::array_tool {
namespace {

struct RecoverOptions {
  std::string file;
  bool quiet = false;
};

int recover_file(const RecoverOptions &options) {
  const auto recovered = arrays::recover(options.file);
  if (!recovered) return cli::report(recovered.error());
  if (!options.quiet) {
    cli::say(recovered->was_closed
                 ? fmt::format("{}: it was closed; nothing to do", options.file)
                 : fmt::format("{}: closed, with {} of {} that its index did not name", options.file,
                               cli::plural(recovered->found.blocks, "block"), cli::bytes_text(recovered->found.bytes)));
  }
  return 0;
}

}  // namespace

cli::Action declare_recover(cli::Options &verb) {
  auto options = std::make_shared<RecoverOptions>();
  verb.one("FILE", options->file, "The compressed file");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  return [options] { return recover_file(*options); };
}

}  // namespace cairn::array_tool
