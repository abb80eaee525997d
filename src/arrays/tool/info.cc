// cairn arrays info: what a compressed file holds, in how many bytes, and which of these nobody needs.
#include <fmt/format.h>
#include <sys/stat.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "arrays/file/stored_file.h"
#include "arrays/file/usage.h"
#include "arrays/tool/text.h"
#include "arrays/tool/verbs.h"
#include "terminal/options.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::array_tool {
namespace {

using cli::bytes_text;
using cli::grouped;
using cli::plural;

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

const char *layout_text(const Facts &facts, size_t blocks) {
  if (facts.at_home == 0) return "appended";
  return facts.at_home == blocks ? "sparse" : "mixed";
}

std::string codecs_text(const arrays::Index &index, const Part &part) {
  std::string text;
  for (const uint8_t codec : part.codecs) text += (text.empty() ? "" : ", ") + codec_text(index, codec);
  return text;
}

std::string owner_text(const arrays::Header &header, int owner) {
  return owner < 0 ? "(between)" : header.variables[static_cast<size_t>(owner)].name;
}

nlohmann::ordered_json json_of(const arrays::StoredFile &file, const Facts &facts, const InfoOptions &options) {
  const arrays::Index &index = file.index();
  nlohmann::ordered_json out;
  out["schema"] = "cairn.arrays.info/1";
  out["file"] = valid_utf8(options.file);
  out["format"] = fmt::format("CDF-{}", file.header().version);
  out["records"] = file.header().records;
  out["layout"] = layout_text(facts, index.blocks().size());
  out["bytes"] = facts.plain;
  out["file_bytes"] = file.size();
  out["allocated"] = facts.allocated;
  out["variables"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < file.header().variables.size(); ++i) {
    const arrays::Variable &variable = file.header().variables[i];
    const auto part = facts.parts.find(static_cast<int>(i));
    const Part none;
    const Part &here = part == facts.parts.end() ? none : part->second;
    nlohmann::ordered_json each;
    each["name"] = valid_utf8(variable.name);
    each["type"] = name_of(variable.type);
    each["record"] = variable.record;
    each["dimensions"] = nlohmann::ordered_json::array();
    for (const uint32_t number : variable.dimensions) {
      const arrays::Dimension &dimension = file.header().dimensions[number];
      each["dimensions"].push_back({{"name", valid_utf8(dimension.name)},
                                    {"length", dimension.length == 0 ? file.header().records : dimension.length}});
    }
    each["bytes"] = bytes_of(file.header(), variable);
    each["compressed"] = here.compressed;
    each["blocks"] = here.blocks;
    each["codecs"] = nlohmann::ordered_json::array();
    for (const uint8_t codec : here.codecs) each["codecs"].push_back(valid_utf8(codec_text(index, codec)));
    out["variables"].push_back(std::move(each));
  }
  const arrays::Usage &usage = facts.usage;
  out["usage"] = {{"header", usage.header},
                  {"header_room", usage.room},
                  {"index", usage.index},
                  {"blocks", usage.blocks},
                  {"covered_blocks", usage.covered_blocks},
                  {"covered", usage.covered},
                  {"replaced", usage.replaced},
                  {"holes", usage.holes},
                  {"wasted", usage.wasted()}};
  if (!options.blocks) return out;
  out["blocks"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < index.blocks().size(); ++i) {
    const arrays::Block &block = index.blocks()[i];
    nlohmann::ordered_json each;
    each["variable"] = facts.owners[i] < 0
                           ? nlohmann::ordered_json()
                           : nlohmann::ordered_json(valid_utf8(owner_text(file.header(), facts.owners[i])));
    each["sequence"] = block.sequence;
    each["codec"] = valid_utf8(codec_text(index, block.codec));
    each["shape"] = block.shape;
    each["begin"] = block.begin();
    each["end"] = block.end();
    each["offset"] = block.at_home ? index.home + block.begin() : block.offset;
    each["at_home"] = block.at_home;
    each["replaced"] = block.replaced;
    const std::optional<size_t> reference = index.reference_of(block);
    each["against"] = reference ? nlohmann::ordered_json(*reference) : nlohmann::ordered_json();
    each["bytes"] = block.bytes();
    each["compressed"] = block.size;
    out["blocks"].push_back(std::move(each));
  }
  return out;
}

void print(cli::Output &out, const cli::Table &table) {
  const std::vector<std::string> lines = table.lines();
  for (size_t i = 0; i < lines.size(); ++i) {
    out.write((i == 0 ? out.bold() : "") + lines[i] + (i == 0 ? out.plain() : "") + "\n");
  }
}

void print_blocks(cli::Output &out, const arrays::StoredFile &file, const Facts &facts) {
  cli::Table table({"block", "variable", "codec", "against", "shape", "at byte", "bytes", "compressed", "ratio"},
                   {false, true, true, false, true});
  for (size_t i = 0; i < file.index().blocks().size(); ++i) {
    const arrays::Block &block = file.index().blocks()[i];
    const std::optional<size_t> reference = file.index().reference_of(block);
    std::string shape;
    for (const uint64_t length : block.shape) shape += fmt::format("{}{}", shape.empty() ? "" : " x ", length);
    table.add({fmt::format("{}", i), owner_text(file.header(), facts.owners[i]), codec_text(file.index(), block.codec),
               reference ? fmt::format("{}", *reference) : "-", shape,
               grouped(block.at_home ? file.index().home + block.begin() : block.offset), grouped(block.bytes()),
               grouped(block.size), ratio_text(block.bytes(), block.size)});
  }
  print(out, table);
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
  cli::Table table({"variable", "type", "shape", "codec", "blocks", "bytes", "compressed", "ratio"},
                   {true, true, true, true});
  for (size_t i = 0; i < header.variables.size(); ++i) {
    const arrays::Variable &variable = header.variables[i];
    const auto part = facts.parts.find(static_cast<int>(i));
    const uint64_t bytes = bytes_of(header, variable);
    std::vector<std::string> cells = {variable.name, std::string(name_of(variable.type)), shape_text(header, variable)};
    if (part == facts.parts.end()) {
      cells.insert(cells.end(), {"-", "0", grouped(bytes), "0", "-"});
    } else {
      cells.insert(cells.end(), {codecs_text(file->index(), part->second), grouped(part->second.blocks), grouped(bytes),
                                 grouped(part->second.compressed), ratio_text(bytes, part->second.compressed)});
    }
    table.add(std::move(cells));
  }
  print(out, table);
  const arrays::Usage &usage = facts.usage;
  out.write(
      fmt::format("\n{}layout{}  {}", out.bold(), out.plain(), layout_text(facts, file->index().blocks().size())));
  if (facts.allocated < file->size())
    out.write(fmt::format(", {} of {} on disk", bytes_text(facts.allocated), bytes_text(file->size())));
  out.write(fmt::format("\n{}header{}  {} and {} of room\n{}index{}   {}\n", out.bold(), out.plain(),
                        bytes_text(usage.header), bytes_text(usage.room), out.bold(), out.plain(),
                        bytes_text(usage.index)));
  out.write(fmt::format("{}wasted{}  {}", out.bold(), out.plain(), bytes_text(usage.wasted())));
  if (usage.wasted() != 0) {
    out.write(fmt::format(": {} replaced, {} in {} written over, {} of holes and old indexes",
                          bytes_text(usage.replaced), bytes_text(usage.covered), plural(usage.covered_blocks, "block"),
                          bytes_text(usage.holes)));
  }
  out.write("\n");
  if (options.blocks) {
    out.write("\n");
    print_blocks(out, *file, facts);
  }
  return out.finish();
}

}  // namespace

void add_info(CLI::App &app, Run &run) {
  auto options = std::make_shared<InfoOptions>();
  cli::Options verb(app, "info", "Tell what a compressed file holds");
  verb.one("FILE", options->file, "The compressed file");
  verb.flag("--blocks", options->blocks, "List the blocks");
  verb.flag("--json", options->json, "Print JSON, with the name of its schema");
  verb.chosen([options, &run] { run = [options] { return info(*options); }; });
}

}  // namespace cairn::array_tool
