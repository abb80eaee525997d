// cairn matrix: who sends how much to whom, as a map of characters, a table, JSON, CSV or a picture.
#include "traffic/matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/as_size.h"
#include "base/replaced.h"
#include "cli/inspect.h"
#include "cli/left_out_traffic.h"
#include "cli/reading.h"
#include "cli/verbs.h"
#include "tell/collectives_list.h"
#include "terminal/listing.h"
#include "terminal/terminal.h"
#include "terminal/words.h"
#include "text/utf8.h"
#include "traffic/picture.h"

namespace cairn::cli {
namespace {

using nlohmann::ordered_json;
using traffic::Amount;
using traffic::Blocks;
using traffic::By;
using Pair = traffic::Cell;
using traffic::Kind;
using traffic::Matrix;

constexpr uint64_t kShown = 10;

struct MatrixOptions : Inspection {
  std::string by;
  std::string collectives = "apart";
  std::string output;
  bool messages = false;
};

Cell bytes_cell(uint64_t bytes) { return {bytes_text(bytes), bytes}; }
Cell bytes_cell(const Amount &amount) {
  if (amount.unsized == 0) return bytes_cell(amount.bytes);
  if (amount.unsized == amount.messages) return {"unknown", nullptr};
  return {">= " + bytes_text(amount.bytes), amount.bytes};
}

/// The map's characters, from little to much; a blank is nothing.
constexpr std::string_view kShades = ".:-=+*#%@";

std::string map_text(const Blocks &blocks, bool messages) {
  constexpr uint32_t kEvery = 8;
  std::string out = "         ";
  for (uint32_t i = 0; i < blocks.count; i += kEvery) out += fmt::format("{:<{}}", i * blocks.size, kEvery);
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
  for (uint32_t row = 0; row < blocks.count; ++row) {
    const std::string label = row % 4 == 0 ? fmt::format("{}", row * blocks.size) : "";
    std::string line = fmt::format("{:>7} |", label);
    for (uint32_t column = 0; column < blocks.count; ++column) {
      const uint64_t value = blocks.values[size_t{row} * blocks.count + column];
      const uint32_t level = traffic::level_of(blocks, value, static_cast<uint32_t>(kShades.size()));
      line += level == 0 ? ' ' : kShades[level - 1];
    }
    out += line + "|\n";
  }
  const auto text = [&](uint64_t value) { return messages ? grouped(value) : bytes_text(value); };
  out += fmt::format("{} from each {} (down) to each (across); blank nothing", messages ? "messages" : "bytes",
                     blocks.size == 1 ? "rank" : fmt::format("block of {} ranks", blocks.size));
  uint64_t before = UINT64_MAX;
  std::string legend;
  for (uint32_t level = 1; level <= kShades.size() && blocks.most != 0; ++level) {
    const uint64_t least = traffic::least_of_level(blocks, level, static_cast<uint32_t>(kShades.size()));
    if (blocks.least == blocks.most && level != kShades.size()) continue;
    // Of shades that begin at one number the last is drawn.
    const uint64_t next = level == kShades.size()
                              ? UINT64_MAX
                              : traffic::least_of_level(blocks, level + 1, static_cast<uint32_t>(kShades.size()));
    if (next == least || least == before) continue;
    before = least;
    legend += fmt::format("   {} {}", kShades[level - 1], text(least));
  }
  if (!legend.empty()) out += "\nfrom" + legend;
  return out + "\n";
}

Amount total_of(const Matrix &matrix, Kind kind) {
  Amount all;
  for (const traffic::Group &group : matrix.groups) {
    for (const Pair &cell : group.cells) {
      if (cell.kind == kind) all.add(cell.amount);
    }
  }
  return all;
}

Listing kinds_of(const Matrix &matrix) {
  Listing list({{"kind", "kind", true}, {"messages", "messages"}, {"bytes", "bytes"}});
  for (size_t i = 0; i < traffic::kKinds; ++i) {
    const Amount all = total_of(matrix, static_cast<Kind>(i));
    if (all.messages != 0) {
      list.add({words(traffic::kind_name(static_cast<Kind>(i))), count(all.messages), bytes_cell(all)});
    }
  }
  return list;
}

Listing groups_of(const Matrix &matrix) {
  Listing list({{matrix.by == By::site ? "call site" : "communicator", "name", true},
                {"pairs", "pairs"},
                {"messages", "messages"},
                {"bytes", "bytes"}});
  for (const traffic::Group &group : matrix.groups) {
    Amount all;
    for (const Pair &cell : group.cells) all.add(cell.amount);
    list.add({words(group.name), count(group.cells.size()), count(all.messages), bytes_cell(all)});
  }
  return list;
}

/// The first `limit` of those with most.
Listing heaviest_of(std::vector<Pair> pairs, bool messages, const Amount &all, uint64_t limit) {
  const auto key = [&](const Pair &cell) { return messages ? cell.amount.messages : cell.amount.bytes; };
  std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair &a, const Pair &b) { return key(a) > key(b); });
  if (pairs.size() > limit) pairs.resize(as_size(limit));
  Listing list({{"from", "from"},
                {"to", "to"},
                {"messages", "messages"},
                {"bytes", "bytes"},
                {messages ? "%messages" : "%bytes", "share"}});
  for (const Pair &pair : pairs) {
    list.add({count(pair.from), count(pair.to), count(pair.amount.messages), bytes_cell(pair.amount),
              share(key(pair), messages ? all.messages : all.bytes)});
  }
  return list;
}

/// What a distance means where ranks lie in a square.
std::string distance_text(uint32_t distance, uint32_t ranks) {
  const auto side = static_cast<uint32_t>(std::lround(std::sqrt(static_cast<double>(ranks))));
  if (distance == 0) return "0 (itself)";
  if (distance > 1 && distance == side && side * side == ranks) return fmt::format("{} (root of {})", distance, ranks);
  return fmt::format("{}", distance);
}

Listing distances(const std::vector<Pair> &pairs, uint32_t ranks, bool messages, const Amount &all) {
  std::vector<traffic::Distance> far = traffic::distances_of(pairs);
  std::stable_sort(far.begin(), far.end(), [&](const auto &a, const auto &b) {
    return messages ? a.amount.messages > b.amount.messages : a.amount.bytes > b.amount.bytes;
  });
  Listing list({{"distance", nullptr, true},
                {nullptr, "distance"},
                {"messages", "messages"},
                {"bytes", "bytes"},
                {messages ? "%messages" : "%bytes", "share"}});
  for (const auto &each : far) {
    list.add({words(distance_text(each.ranks, ranks)), count(each.ranks), count(each.amount.messages),
              bytes_cell(each.amount),
              share(messages ? each.amount.messages : each.amount.bytes, messages ? all.messages : all.bytes)});
  }
  return list;
}

std::string symmetry_text(const traffic::Symmetry &symmetry) {
  if (symmetry.pairs == 0) return "";
  if (symmetry.equal == symmetry.pairs) return "symmetric: each pair sends as much both ways\n";
  const double back =
      symmetry.bytes == 0 ? 0 : 100.0 * static_cast<double>(symmetry.returned) / static_cast<double>(symmetry.bytes);
  return fmt::format("not symmetric: {} of {} send both ways, {} as much; {:.1f} % of bytes come back\n",
                     grouped(symmetry.both), plural(symmetry.pairs, "pair"), grouped(symmetry.equal), back);
}

void print_text(Output &out, const MatrixOptions &options, const trace::Trace &trace, const Matrix &matrix,
                uint64_t limit) {
  const std::vector<Pair> pairs = traffic::pairs_of(matrix);
  Amount all;
  for (const Pair &pair : pairs) all.add(pair.amount);
  out.write(fmt::format("{}{}{}: {}\n", out.bold(), options.file, out.plain(), trace.run().command));
  if (pairs.empty()) {
    out.write("no rank sends anything to another\n");
  } else {
    out.write(fmt::format("{} between {}, {}\n\n", plural(all.messages, "message"),
                          plural(pairs.size(), "pair of ranks", "pairs of ranks"), bytes_cell(all).text));
    kinds_of(matrix).print(out);
    constexpr uint32_t kColumns = 68;  // with labels and a frame 78 of 80
    // Without sizes the messages say more.
    const bool messages = options.messages || all.bytes == 0;
    out.write("\n" + map_text(traffic::blocks_of(pairs, matrix.ranks, kColumns, messages), messages) + "\n");
    if (matrix.by != By::nothing) {
      groups_of(matrix).print(out, limit);
      out.write("\n");
    }
    heaviest_of(pairs, messages, all, limit).print(out);
    out.write("\n");
    distances(pairs, matrix.ranks, messages, all).print(out, limit);
    out.write(symmetry_text(traffic::symmetry_of(pairs)));
  }
  if (matrix.collectives.empty()) return;
  out.write("\n");
  collectives_list(matrix).print(out, limit);
}

/// A cell a line: there may be millions.
void print_json(Output &out, const MatrixOptions &options, const Matrix &matrix, const trace::Trace &trace,
                const std::vector<uint32_t> &ranks) {
  const std::vector<Pair> pairs = traffic::pairs_of(matrix);
  Amount all;
  for (const Pair &pair : pairs) all.add(pair.amount);
  ordered_json head;
  head["schema"] = "cairn.matrix/1";
  head["file"] = valid_utf8(options.file);
  add_missing_calls(trace, ranks, &head);
  head["ranks"] = matrix.ranks;
  head["by"] = matrix.by == By::nothing ? ordered_json() : ordered_json(options.by);
  head["collectives_are"] = options.collectives;
  head["messages"] = all.messages;
  head["bytes"] = all.bytes;
  head["unsized"] = all.unsized;
  head["kinds"] = kinds_of(matrix).json();
  head["distances"] = distances(pairs, matrix.ranks, options.messages, all).json();
  const traffic::Symmetry symmetry = traffic::symmetry_of(pairs);
  head["symmetry"] = {{"pairs", symmetry.pairs},
                      {"both_ways", symmetry.both},
                      {"equal", symmetry.equal},
                      {"bytes", symmetry.bytes},
                      {"bytes_that_come_back", symmetry.returned}};
  head["collectives"] = collectives_list(matrix).json();
  head["unknown_processes"] = matrix.seen.nowhere;
  head["expanded_ranks"] = matrix.seen.expanded_ranks;
  std::string text = head.dump(2);
  text.erase(text.rfind("\n}"));
  out.write(text + ",\n  \"groups\": [");
  const char *between = "\n";
  for (const traffic::Group &group : matrix.groups) {
    out.write(fmt::format("{}    {{\"name\": {}, \"cells\": [", between, ordered_json(valid_utf8(group.name)).dump()));
    const char *comma = "\n";
    for (const Pair &cell : group.cells) {
      out.write(fmt::format(
          R"({}      {{"from": {}, "to": {}, "kind": "{}", "messages": {}, "bytes": {}, "unsized": {}}})", comma,
          cell.from, cell.to, word_of(cell.kind), cell.amount.messages, cell.amount.bytes, cell.amount.unsized));
      comma = ",\n";
    }
    out.write("]}");
    between = ",\n";
  }
  out.write("\n  ]\n}\n");
}

void print_csv(Output &out, const MatrixOptions &options, const Matrix &matrix) {
  const bool grouped_too = matrix.by != By::nothing;
  out.write(fmt::format("{}from,to,kind,messages,bytes,unsized\n", grouped_too ? options.by + "," : ""));
  for (const traffic::Group &group : matrix.groups) {
    const std::string name = grouped_too ? csv_quoted(group.name) + "," : "";
    for (const Pair &cell : group.cells) {
      out.write(fmt::format("{}{},{},{},{},{},{}\n", name, cell.from, cell.to, word_of(cell.kind), cell.amount.messages,
                            cell.amount.bytes, cell.amount.unsized));
    }
  }
}

bool ends_with(const std::string &text, std::string_view end) {
  return text.size() > end.size() && std::string_view(text).ends_with(end);
}

int write_picture(const MatrixOptions &options, const Matrix &matrix) {
  constexpr uint32_t kMostBlocks = 512;
  const std::vector<Pair> pairs = traffic::pairs_of(matrix);
  const Blocks blocks = traffic::blocks_of(pairs, matrix.ranks, kMostBlocks, options.messages);
  Bytes bytes;
  if (ends_with(options.output, ".svg")) {
    const std::string svg =
        traffic::svg_of(blocks, matrix.ranks, options.file, options.messages ? "messages" : "bytes");
    bytes.assign(svg.begin(), svg.end());
  } else {
    auto png = traffic::png_of(blocks);
    if (!png) return report(png.error());
    bytes = *std::move(png);
  }
  Replaced file(options.output);
  int wrong = file.write(bytes);
  if (wrong == 0) wrong = file.take_name();
  if (wrong != 0) {
    return report(Error{ErrorKind::environment, fmt::format("cannot be written: {}", std::strerror(wrong)),
                        options.output, Error::kNoOffset,
                        wrong == ENOSPC ? "make room on the disk" : "choose another place with -o"});
  }
  say(fmt::format("wrote {}: {}, {} a block", options.output, plural(matrix.ranks, "rank"), blocks.size));
  return kFine;
}

int matrix(MatrixOptions &options) {
  if (!options.output.empty() && !ends_with(options.output, ".svg") && !ends_with(options.output, ".png")) {
    return refuse("a picture is .svg or .png", "name it so with -o", options.output);
  }
  const auto trace = open_trace(options);
  if (!trace) return report(trace.error());
  const analyze::Sources sources(*trace, options.by == "site" || !options.filter.sites.empty()
                                             ? analyze::Sources::Look::in_modules_too
                                             : analyze::Sources::Look::in_trace_only);
  const auto filter = analyze::make_filter(options.filter, *trace, sources);
  if (!filter) return report(filter.error());
  const By by = options.by == "comm" ? By::communicator : options.by == "site" ? By::site : By::nothing;
  Reading reading(*trace, filter->ranks);
  const auto result = traffic::matrix_of(*trace, sources, *filter, by, options.collectives == "expanded");
  reading.end();
  if (!result) return report(result.error(), options.file);
  for (const std::string &warning : sources.warnings()) say(warning);
  say_missing_calls(*trace, filter->ranks);
  say_left_out(result->seen, *trace);
  if (!options.output.empty()) return write_picture(options, *result);
  Output out;
  if (options.json) {
    print_json(out, options, *result, *trace, filter->ranks);
  } else if (options.csv) {
    out.keep_lines();
    print_csv(out, options, *result);
  } else {
    print_text(out, options, *trace, *result, options.filter.limit.value_or(kShown));
  }
  return out.finish();
}

}  // namespace

Action declare_matrix(Options &verb) {
  auto options = std::make_shared<MatrixOptions>();
  add_file(verb, *options);
  verb.choice("--by", options->by, {"comm", "site"}, "Apart for each communicator, or each call site", "WHAT");
  verb.choice("--collectives", options->collectives, {"apart", "expanded"},
              "Collectives as such, or expanded into what each rank sends to each by their definition", "HOW");
  verb.flag("--messages", options->messages, "Draw and order by messages rather than by bytes");
  verb.text("-o,--output", options->output, "Draw it as a picture into FILE, .svg or .png", "FILE");
  add_call_filters(verb, *options);
  verb.number("--limit", options->filter.limit, "At most N lines in each table; 10 if left out", "N");
  add_csv_and_json(verb, *options, "a line for each pair that exchanges something");
  return [options] { return matrix(*options); };
}

}  // namespace cairn::cli
