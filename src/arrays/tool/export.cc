// cairn arrays export: a compressed file as a plain one of its original format, byte for byte what PnetCDF alone would
// have written, or as netCDF-4.
#include "arrays/tool/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arrays/file/draft.h"
#include "arrays/tool/text.h"
#include "arrays/tool/verbs.h"
#include "terminal/terminal.h"

namespace cairn::array_tool {

uint64_t next_written(const arrays::Index &index, uint64_t offset) {
  uint64_t next = UINT64_MAX;
  for (const arrays::Block &block : index.blocks()) {
    if (block.end() <= offset || block.begin() >= next) continue;
    for (const arrays::Region &region : block.regions) {
      arrays::RunCursor runs(region);
      runs.seek(offset);
      if (!runs.done()) next = std::min(next, std::max(offset, runs.run().offset));
    }
  }
  return next;
}

namespace {

struct ExportOptions {
  std::string file;
  std::string output;
  bool netcdf4 = false;
  std::optional<uint64_t> deflate;
  bool force = false;
};

Result<void> export_plain(const arrays::StoredFile &file, const std::string &path) {
  auto draft = arrays::Draft::create(path);
  if (!draft) return tl::unexpected(draft.error());
  const uint64_t end = file.index().virtual_end();
  if (auto done = draft->resize(end); !done) return done;
  if (auto done = draft->put(0, file.index().header); !done) return done;
  const uint64_t front = file.index().header.size();
  Bytes data;
  for (uint64_t at = next_written(file.index(), front); at < end;) {
    arrays::Region window;
    window.offset = at;
    window.run = std::min(kWindow, end - at);
    at += window.run;
    // What nobody wrote stays a hole.
    if (file.index().find({&window, 1}).empty()) {
      at = next_written(file.index(), at);
      continue;
    }
    data.resize(window.run);
    if (auto done = file.read({&window, 1}, data.data()); !done) return done;
    if (auto done = draft->put(window.offset, data); !done) return done;
  }
  return draft->keep();
}

Result<void> export_file(const ExportOptions &options) {
  if (options.deflate && (!options.netcdf4 || *options.deflate > 9)) {
    return fail(ErrorKind::usage, options.netcdf4 ? "deflate has levels 0 to 9" : "--deflate is for --netcdf4",
                "write as in --netcdf4 --deflate 4");
  }
  const auto file = arrays::StoredFile::open(options.file);
  if (!file) return tl::unexpected(file.error());
  if (auto allowed = may_write(options.output, options.force); !allowed) return allowed;
  if (options.netcdf4) return export_netcdf4(*file, options.output, static_cast<int>(options.deflate.value_or(0)));
  return export_plain(*file, options.output);
}

}  // namespace

cli::Action declare_export(cli::Options &verb) {
  auto options = std::make_shared<ExportOptions>();
  verb.one("FILE", options->file, "The compressed file");
  verb.one("OUT", options->output, "The file to write");
  verb.flag("--netcdf4", options->netcdf4, "Write netCDF-4 instead of the original format");
  verb.number("--deflate", options->deflate, "With --netcdf4: compress with this level, 1 to 9", "N");
  verb.flag("-f,--force", options->force, "Overwrite an existing file");
  return [options] { return cli::exit_code(export_file(*options)); };
}

}  // namespace cairn::array_tool
