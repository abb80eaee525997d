// cairn arrays import: compresses an existing NetCDF file of the classic formats, without MPI, so that `export` gives
// back every byte of it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arrays/file/codec_words.h"
#include "arrays/file/physical.h"
#include "arrays/file/plain_file.h"
#include "arrays/file/stored_writer.h"
#include "arrays/tool/text.h"
#include "arrays/tool/verbs.h"
#include "terminal/terminal.h"

namespace cairn::array_tool {
namespace {

using arrays::PlainFile;
using arrays::Region;
using arrays::Regions;
using arrays::StoredWriter;

struct ImportOptions {
  std::string plain;
  std::string output;
  std::string codec = "auto";
  std::string split = "1M";
  std::string chain;
  bool force = false;
  bool quiet = false;
};

/// Copies what lies in the regions, a block at a time. Zeros between variables are left out: a reader gets zeros
/// anyway.
Result<void> copy(const PlainFile &plain, int variable, const Regions &regions, uint64_t split, StoredWriter *writer) {
  const arrays::Variable *owner = variable < 0 ? nullptr : &plain.header().variables[static_cast<size_t>(variable)];
  const size_t element = owner == nullptr ? 1 : arrays::size_of(owner->type);
  Bytes data;
  for (const Region &region : regions) {
    const uint64_t all = region.bytes();
    for (uint64_t from = 0, bytes = 0; from < all; from += bytes) {
      bytes = arrays::piece_at(region, owner, element, split, from);
      Regions block;
      arrays::cut(region, from, bytes, &block);
      data.resize(bytes);
      if (auto read = plain.read(block, data.data()); !read) return read;
      const bool zeros = std::ranges::all_of(data, [](uint8_t byte) { return byte == 0; });
      if (variable < 0 && zeros && block.back().end() != plain.size()) continue;
      if (auto written = writer->write(variable, block, data.data()); !written) return written;
    }
  }
  return {};
}

Result<void> import_file(const ImportOptions &options) {
  const auto codecs = arrays::parse_codec_words(options.codec);
  if (!codecs) return tl::unexpected(codecs.error());
  if (codecs->off) return fail(ErrorKind::usage, "with codec 'off' there is nothing to import", "name another");
  const auto split = parse_split(options.split);
  if (!split) return tl::unexpected(split.error());
  const auto chain = arrays::parse_chain(options.chain);
  if (!chain) return tl::unexpected(chain.error());
  const auto plain = PlainFile::open(options.plain);
  if (!plain) return tl::unexpected(plain.error());
  if (arrays::ours(plain->header())) {
    return tl::unexpected(Error{ErrorKind::usage, "this file is compressed already", options.plain, Error::kNoOffset,
                                "rewrite it with cairn arrays compact, or export it first"});
  }
  if (auto allowed = may_write(options.output, options.force); !allowed) return tl::unexpected(allowed.error());
  auto header = plain->header_bytes();
  if (!header) return tl::unexpected(header.error());
  auto writer = StoredWriter::create(options.output, *std::move(header), {codecs->others, nullptr}, *split,
                                     *chain ? arrays::Chain{**chain} : arrays::Chain::automatic(1));
  if (!writer) return tl::unexpected(writer.error());
  for (size_t i = 0; i < plain->header().variables.size(); ++i) {
    const arrays::Variable &variable = plain->header().variables[i];
    writer->set_coding({codecs->of(variable.name), nullptr});
    const Regions regions = plain->where(variable);
    if (auto done = copy(*plain, static_cast<int>(i), regions, *split, &*writer); !done) {
      return tl::unexpected(done.error());
    }
  }
  if (auto done = copy(*plain, -1, plain->between(), *split, &*writer); !done) return tl::unexpected(done.error());
  if (auto done = writer->finish(); !done) return tl::unexpected(done.error());
  if (!options.quiet) cli::say(fmt::format("{}: {}", options.output, gain_text(plain->size(), writer->size())));
  return {};
}

}  // namespace

cli::Action declare_import(cli::Options &verb) {
  auto options = std::make_shared<ImportOptions>();
  verb.one("PLAIN", options->plain, "The file to compress: CDF-1, CDF-2 or CDF-5");
  verb.one("OUT", options->output, "The compressed file to write");
  add_coding(verb, &options->codec, &options->split, &options->chain, " (1M)");
  verb.flag("-q,--quiet", options->quiet, "Say nothing when all is well");
  verb.flag("-f,--force", options->force, "Overwrite an existing file");
  return [options] { return cli::exit_code(import_file(*options)); };
}

}  // namespace cairn::array_tool
