// cairn arrays info: what a compressed file holds, in how many bytes, and which of these nobody needs.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <set>

#include "arrays/file/stored_file.h"
#include "arrays/file/usage.h"
#include "arrays/tool/text.h"
#include "arrays/tool/verbs.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::array_tool {
namespace {

using cli::bytes_text;
using cli::count;
using cli::json_of;
using cli::plural;
using cli::words;

struct InfoOptions {
  std::string file;
  bool blocks = false;
  bool json = false;
};

/// What the blocks of one variable come to.
struct Part {
  uint64_t blocks = 0;
  uint64_t compressed = 0;
  std::set<uint8_t> codecs;
};

struct Facts {
  std::map<int, Part> parts;  ///< by variable; -1: the space between them
  std::vector<int> owners;    ///< of each block
  uint64_t at_home = 0;
  uint64_t plain = 0;
  uint64_t allocated = 0;
  arrays::Usage usage;
};

Facts facts_of(const arrays::StoredFile &file) {
  Facts facts;
  for (const arrays::Block &block : file.index().blocks()) {
    const int owner = file.layout().owner(block.regions.front()).value_or(-1);
    facts.owners.push_back(owner);
    Part &part = facts.parts[owner];
    ++part.blocks;
    part.compressed += block.size;
    part.codecs.insert(block.codec);
    facts.at_home += block.at_home ? 1 : 0;
  }
  for (const arrays::Variable &variable : file.header().variables) facts.plain += bytes_of(file.header(), variable);
  facts.usage = arrays::usage_of(file);
  struct stat status {};
  if (stat(file.path().c_str(), &status) == 0) facts.allocated = static_cast<uint64_t>(status.st_blocks) * 512;
  return facts;
}

/// As it was asked for; files of earlier Cairns do not tell, but where blocks lie shows something of it.
const char *layout_text(const arrays::StoredFile &file, const Facts &facts) {
  if (const std::optional<arrays::Storage> storage = file.index_place().storage) {
    constexpr const char *kNames[] = {"dense", "sparse", "hybrid"};
    return kNames[static_cast<size_t>(*storage)];
  }
  if (facts.at_home == 0) return "appended";
  return facts.at_home == file.index().blocks().size() ? "sparse" : "mixed";
}

std::string owner_text(const arrays::Header &header, int owner) {
  return owner < 0 ? "(between)" : header.variables[static_cast<size_t>(owner)].name;
}

cli::Listing variables_of(const arrays::StoredFile &file, const Facts &facts) {
  cli::Listing list({{"variable", "name", true},
                     {"type", "type", true},
                     {nullptr, "record"},
                     {"shape", "dimensions", true},
                     {"codec", "codecs", true},
                     {"blocks", "blocks"},
                     {"bytes", "bytes"},
                     {"compressed", "compressed"},
                     {"ratio"}});
  const arrays::Header &header = file.header();
  for (size_t i = 0; i < header.variables.size(); ++i) {
    const arrays::Variable &variable = header.variables[i];
    const auto found = facts.parts.find(static_cast<int>(i));
    const Part part = found == facts.parts.end() ? Part() : found->second;
    const uint64_t bytes = bytes_of(header, variable);
    auto dimensions = nlohmann::ordered_json::array();
    for (const uint32_t number : variable.dimensions) {
      const arrays::Dimension &dimension = header.dimensions[number];
      dimensions.push_back({{"name", valid_utf8(dimension.name)},
                            {"length", dimension.length == 0 ? header.records : dimension.length}});
    }
    std::vector<std::string> codecs;
    for (const uint8_t codec : part.codecs) codecs.push_back(codec_text(file.index(), codec));
    list.add({words(variable.name),
              words(std::string(name_of(variable.type))),
              {"", variable.record},
              {shape_text(header, variable), dimensions},
              {codecs.empty() ? "-" : fmt::format("{}", fmt::join(codecs, ", ")), json_of(codecs)},
              count(part.blocks),
              count(bytes),
              count(part.compressed),
              words(part.blocks == 0 ? "-" : ratio_text(bytes, part.compressed))});
  }
  return list;
}

cli::Listing blocks_of(const arrays::StoredFile &file, const Facts &facts) {
  cli::Listing list({{"block"},
                     {"variable", "variable", true},
                     {nullptr, "sequence"},
                     {"codec", "codec", true},
                     {"against", "against"},
                     {"shape", "shape", true},
                     {nullptr, "begin"},
                     {nullptr, "end"},
                     {"at byte", "offset"},
                     {nullptr, "at_home"},
                     {nullptr, "replaced"},
                     {"bytes", "bytes"},
                     {"compressed", "compressed"},
                     {"ratio"}});
  const arrays::Index &index = file.index();
  for (size_t i = 0; i < index.blocks().size(); ++i) {
    const arrays::Block &block = index.blocks()[i];
    const std::optional<size_t> reference = index.reference_of(block);
    cli::Cell owner = words(owner_text(file.header(), facts.owners[i]));
    if (facts.owners[i] < 0) owner.json = nullptr;
    const uint64_t place = block.at_home ? index.home + block.begin() : block.offset;
    list.add({words(std::to_string(i)),
              owner,
              {"", block.sequence},
              words(codec_text(index, block.codec)),
              {reference ? std::to_string(*reference) : "-", cli::json_of(reference)},
              {fmt::format("{}", fmt::join(block.shape, " x ")), block.shape},
              {"", block.begin()},
              {"", block.end()},
              count(place),
              {"", block.at_home},
              {"", block.replaced},
              count(block.bytes()),
              count(block.size),
              words(ratio_text(block.bytes(), block.size))});
  }
  return list;
}

nlohmann::ordered_json json_of(const arrays::StoredFile &file, const Facts &facts, const InfoOptions &options) {
  const arrays::Usage &usage = facts.usage;
  nlohmann::ordered_json out{{"schema", "cairn.arrays.info/1"},
                             {"file", valid_utf8(options.file)},
                             {"format", fmt::format("CDF-{}", file.header().version)},
                             {"records", file.header().records},
                             {"closed", file.closed()},
                             {"header_changes", cli::json_of(file.changes_of_header())},
                             {"layout", layout_text(file, facts)},
                             {"bytes", facts.plain},
                             {"file_bytes", file.size()},
                             {"allocated", facts.allocated},
                             {"variables", variables_of(file, facts).json()},
                             {"usage",
                              {{"header", usage.header},
                               {"header_room", usage.room},
                               {"index", usage.index},
                               {"index_segments", usage.segments},
                               {"blocks", usage.blocks},
                               {"covered_blocks", usage.covered_blocks},
                               {"covered", usage.covered},
                               {"replaced", usage.replaced},
                               {"holes", usage.holes},
                               {"wasted", usage.wasted()}}}};
  if (options.blocks) out["blocks"] = blocks_of(file, facts).json();
  return out;
}

int info(const InfoOptions &options) {
  const auto file = arrays::StoredFile::open(options.file);
  if (!file) return cli::report(file.error());
  const Facts facts = facts_of(*file);
  cli::Output out;
  if (options.json) {
    out.write(json_of(*file, facts, options).dump(2) + "\n");
    return out.finish();
  }
  const arrays::Header &header = file->header();
  out.write(fmt::format("{}: {}, {}, {}\n\n", options.file, plural(header.variables.size(), "variable"),
                        plural(file->index().blocks().size(), "block"), gain_text(facts.plain, file->size())));
  if (!file->closed()) {
    out.write(fmt::format("not closed: {} of {} are not in its index; 'cairn arrays recover' closes it\n\n",
                          plural(file->unlisted().blocks, "block"), bytes_text(file->unlisted().bytes)));
  }
  if (const auto changed = file->changes_of_header(); !changed.empty()) {
    say_changed(options.file, changed, &out);
    out.write("\n");
  }
  variables_of(*file, facts).print(out);
  const arrays::Usage &usage = facts.usage;
  out.write(fmt::format("\n{}layout{}  {}", out.bold(), out.plain(), layout_text(*file, facts)));
  if (facts.at_home != 0 && facts.at_home != file->index().blocks().size())
    out.write(fmt::format(", {} of them where their values would lie", plural(facts.at_home, "block")));
  if (facts.allocated < file->size())
    out.write(fmt::format(", {} of {} on disk", bytes_text(facts.allocated), bytes_text(file->size())));
  out.write(
      fmt::format("\n{}header{}  {} and {} of room\n{}index{}   {}{}\n", out.bold(), out.plain(),
                  bytes_text(usage.header), bytes_text(usage.room), out.bold(), out.plain(), bytes_text(usage.index),
                  usage.segments == 0 ? "" : fmt::format(", most of it in {}", plural(usage.segments, "segment"))));
  out.write(fmt::format("{}wasted{}  {}", out.bold(), out.plain(), bytes_text(usage.wasted())));
  if (usage.wasted() != 0) {
    out.write(fmt::format(": {} replaced, {} in {} written over, {} of holes and old indexes",
                          bytes_text(usage.replaced), bytes_text(usage.covered), plural(usage.covered_blocks, "block"),
                          bytes_text(usage.holes)));
  }
  out.write("\n");
  if (options.blocks) {
    out.write("\n");
    blocks_of(*file, facts).print(out);
  }
  return out.finish();
}

}  // namespace

cli::Action declare_info(cli::Options &verb) {
  auto options = std::make_shared<InfoOptions>();
  verb.one("FILE", options->file, "The compressed file");
  verb.flag("--blocks", options->blocks, "List the blocks");
  verb.flag("--json", options->json, "Print JSON, with the name of its schema");
  return [options] { return info(*options); };
}

}  // namespace cairn::array_tool
