// cairn-scale: feeds the real merge with the recordings of made-up programs, on up to a million ranks, and says what
// that costs and how large the trace becomes.
#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "scale/measurement.h"

namespace cairn::scale {
namespace {

struct Options {
  std::string pattern;
  std::vector<uint32_t> ranks = {1024};
  uint32_t steps = 20;
  std::string tree = "binomial";
  std::string grid;
  std::string json;
  std::string keep;
  uint32_t verify = 16;
  uint64_t bundles = Tree().bundles_from;
  bool list = false;
  bool alike = false;
  bool quiet = false;
};

int complain(const std::string &text) {
  fmt::print(stderr, "cairn-scale: {}\n", text);
  return 2;
}

bool read_tree(const std::string &name, Tree *tree) {
  using Shape = Tree::Shape;
  if (name == "binomial")
    tree->shape = Shape::binomial;
  else if (name == "flat")
    tree->shape = Shape::flat;
  else if (name == "interleaved")
    tree->shape = Shape::interleaved;
  else if (name.starts_with("random-")) {
    tree->shape = Shape::random;
    tree->seed = std::strtoull(name.c_str() + 7, nullptr, 10);
  } else {
    return false;
  }
  return true;
}

/// "61x67"
std::vector<uint32_t> read_sides(const std::string &text) {
  std::vector<uint32_t> sides;
  for (const std::string &side : CLI::detail::split(text, 'x')) {
    sides.push_back(static_cast<uint32_t>(std::strtoul(side.c_str(), nullptr, 10)));
  }
  return sides;
}

int list() {
  for (const Pattern &pattern : patterns()) {
    fmt::print("{:<24} {}{}{}\n", pattern.name, pattern.about,
               pattern.dimensions == 0 ? "" : fmt::format(", {}-D", pattern.dimensions),
               pattern.square ? ", square numbers of ranks" : "");
  }
  return 0;
}

int run(const Options &options) {
  if (options.list) return list();
  const Pattern *pattern = find_pattern(options.pattern);
  if (pattern == nullptr) return complain("there is no pattern '" + options.pattern + "'; --list names them");
  Request request;
  request.pattern = pattern;
  request.options.own = !options.alike;
  request.verify = options.verify;
  request.keep = options.keep;
  request.tree_name = options.tree;
  request.tree.bundles_from = options.bundles;
  if (!read_tree(options.tree, &request.tree)) return complain("there is no tree '" + options.tree + "'");
  std::vector<uint32_t> numbers = options.ranks;
  std::optional<Grid> grid;
  if (!options.grid.empty()) {
    grid = Grid(read_sides(options.grid));
    numbers = {static_cast<uint32_t>(grid->size())};
  }
  nlohmann::ordered_json all = {{"schema", "cairn-scale-1"}, {"runs", nlohmann::ordered_json::array()}};
  for (const uint32_t ranks : numbers) {
    if (ranks == 0 || ranks > 1U << 24) return complain("ranks are 1 to 16777216");
    request.setting = {ranks, options.steps, grid ? *grid : Grid::of(ranks, std::max(1U, pattern->dimensions))};
    if (const std::string why = unfit(*pattern, request.setting); !why.empty()) {
      return complain(fmt::format("{} on {} ranks: {}", pattern->name, ranks, why));
    }
    const Result<nlohmann::ordered_json> measured = measure(request);
    if (!measured) {
      fmt::print(stderr, "cairn-scale: {} on {} ranks: {}\n", pattern->name, ranks, measured.error().message);
      return 1;
    }
    if (!options.quiet) std::cout << text_of(*measured) << std::flush;
    all["runs"].push_back(*measured);
  }
  if (!options.json.empty()) {
    std::ofstream out(options.json);
    out << all.dump(2) << "\n";
    if (!out.flush()) return complain("cannot write " + options.json);
  }
  return 0;
}

}  // namespace
}  // namespace cairn::scale

int main(int argc, char **argv) {
  // A merge in a run finds no small blocks that the making of others' recordings left behind, for malloc to put in
  // order when it is next asked for a large one: here malloc does so when they are freed.
  mallopt(M_MXFAST, 0);
  cairn::scale::Options options;
  CLI::App app("Merges the recordings of made-up programs on many ranks and measures it");
  app.add_option("--pattern", options.pattern, "Which program; see --list");
  app.add_option("--ranks", options.ranks, "Numbers of ranks, as in 64,4096")->delimiter(',');
  app.add_option("--grid", options.grid, "Sides of the grid instead, as in 61x67");
  app.add_option("--steps", options.steps, "Time steps");
  app.add_option("--tree", options.tree, "binomial, flat, interleaved or random-SEED");
  app.add_option("--verify", options.verify,
                 "Read back so many ranks and compare every call; 0: do not open the trace");
  app.add_option("--bundles", options.bundles, "Bytes of packed classes that a part may hold on its way");
  app.add_option("--json", options.json, "Write all figures to this file");
  app.add_option("--keep", options.keep, "Leave the trace in this file");
  app.add_flag("--alike", options.alike, "No statistics, hosts and clocks: ranks differ in their calls only");
  app.add_flag("--quiet", options.quiet, "Print no table");
  app.add_flag("--list", options.list, "List the patterns");
  CLI11_PARSE(app, argc, argv);
  return cairn::scale::run(options);
}
