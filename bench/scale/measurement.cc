#include "scale/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "scale/chance.h"
#include "scale/heap_count.h"
#include "scale/read_back.h"

namespace cairn::scale {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const Spread &spread) {
  return {{"least", spread.least()},
          {"mean", static_cast<uint64_t>(spread.mean())},
          {"greatest", spread.greatest()},
          {"root", spread.root()}};
}

ordered_json levels_of(const Reduced &reduced) {
  ordered_json result = ordered_json::array();
  for (size_t i = 0; i < reduced.levels.size(); ++i) {
    const Level &level = reduced.levels[i];
    ordered_json row = {{"level", i}, {i == 0 ? "ranks" : "merges", level.merge_ns.count()}};
    if (i != 0) {
      row["bytes"] = json_of(level.bytes);
      row["serialise_ns"] = json_of(level.serialise_ns);
      row["parse_ns"] = json_of(level.parse_ns);
    }
    row[i == 0 ? "of_ns" : "merge_ns"] = json_of(level.merge_ns);
    row["memory"] = json_of(level.memory);
    result.push_back(std::move(row));
  }
  return result;
}

ordered_json reduction_of(const Reduced &reduced) {
  uint64_t serialise = 0;
  uint64_t parse = 0;
  uint64_t merge = 0;
  for (size_t i = 1; i < reduced.levels.size(); ++i) {
    serialise += reduced.levels[i].serialise_ns.sum();
    parse += reduced.levels[i].parse_ns.sum();
    merge += reduced.levels[i].merge_ns.sum();
  }
  const uint64_t of = reduced.levels[0].merge_ns.sum();
  return {{"all_ranks_ns", {{"of", of}, {"serialise", serialise}, {"parse", parse}, {"merge", merge}}},
          {"longest_path_ns", reduced.longest_path_ns},
          {"longest_path_merge_ns", reduced.longest_merge_path_ns},
          {"rank_ns", json_of(reduced.rank_ns)},
          {"rank_memory", json_of(reduced.rank_memory)},
          {"levels", levels_of(reduced)},
          {"seconds_with_inputs", reduced.seconds}};
}

trace::RunInfo run_info(const Request &request) {
  trace::RunInfo run;
  run.command = "mpiexec -n " + std::to_string(request.setting.ranks) + " ./program";
  run.mpi = "none";
  run.recorder = "cairn-scale";
  run.timing = "stats";
  run.status = "complete";
  return run;
}

/// Rank 0, the last one, and some between.
std::vector<uint32_t> some_ranks(uint32_t ranks, uint32_t count) {
  std::set<uint32_t> chosen;
  if (count >= ranks) {
    for (uint32_t rank = 0; rank < ranks; ++rank) chosen.insert(rank);
  } else if (count > 0) {
    chosen = {0, ranks - 1};
    for (uint64_t i = 0; chosen.size() < count; ++i) chosen.insert(below(chance(i, ranks), ranks));
  }
  return {chosen.begin(), chosen.end()};
}

}  // namespace

Result<ordered_json> measure(const Request &request) {
  Source source(*request.pattern, request.setting, request.options);
  Result<Reduced> reduced = reduce(&source, request.tree);
  if (!reduced) return tl::unexpected(reduced.error());
  const Source::Totals totals = source.totals();

  heap::count(true);
  heap::forget_peak();
  const uint64_t start = cpu_ns();
  Result<Bytes> written = reduced->part.to_file(run_info(request));
  const uint64_t write_ns = cpu_ns() - start;
  const uint64_t write_memory = heap::peak();
  heap::count(false);
  if (!written) return tl::unexpected(written.error());
  Bytes file = *std::move(written);
  if (!request.keep.empty()) {
    std::ofstream out(request.keep, std::ios::binary);
    out.write(reinterpret_cast<const char *>(file.data()), static_cast<std::streamsize>(file.size()));
    if (!out.flush()) return fail(ErrorKind::environment, "cannot write " + request.keep);
  }
  reduced->part = trace::Part();
  const uint64_t bytes = file.size();
  const Result<trace::Trace> trace = trace::Trace::from_bytes(std::move(file), "simulated");
  if (!trace) return tl::unexpected(trace.error());
  const std::vector<uint32_t> ranks = some_ranks(source.ranks(), request.verify);
  const ReadBack back = read_back(*trace, &source, ranks);
  if (!back.problem.empty()) return fail(ErrorKind::internal, "what is read back differs: " + back.problem);

  const std::map<std::string, uint64_t> sections = trace->section_bytes();
  const auto section = [&](const char *name) {
    const auto found = sections.find(name);
    return found == sections.end() ? 0 : found->second;
  };
  ordered_json result = {
      {"pattern", request.pattern->name},
      {"ranks", source.ranks()},
      {"steps", request.setting.steps},
      {"grid", request.pattern->dimensions == 0 ? std::vector<uint32_t>{} : request.setting.grid.sides()},
      {"tree", request.tree_name},
      {"own", request.options.own},
      {"calls", totals.calls},
      {"rows_of_a_rank", {{"least", totals.least_rows}, {"greatest", totals.most_rows}}},
      {"classes", trace->class_count()}};
  result["file"] = {{"bytes", bytes},
                    {"bytes_without_timing_and_meta", bytes - section("timing") - section("meta")},
                    {"sections", sections},
                    {"write_ns", write_ns},
                    {"write_memory", write_memory}};
  result["reduction"] = reduction_of(*reduced);
  result["read_back"] = {{"ranks", ranks.size()}, {"calls", back.calls}};
  return result;
}

namespace {

std::string scaled(uint64_t value, const char *const *units, double step) {
  auto number = static_cast<double>(value);
  size_t unit = 0;
  while (number >= step && units[unit + 1] != nullptr) {
    number /= step;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} {}", value, units[0]);
  return fmt::format("{:.{}f} {}", number, number < 10 ? 2 : number < 100 ? 1 : 0, units[unit]);
}
std::string time_of(uint64_t ns) {
  static const char *const units[] = {"ns", "us", "ms", "s", nullptr};
  return scaled(ns, units, 1000);
}
std::string size_of(uint64_t bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", nullptr};
  return scaled(bytes, units, 1024);
}

using Format = std::string (*)(uint64_t);
std::string spread_text(const ordered_json &spread, Format format) {
  return fmt::format("{:>9} {:>9} {:>9} {:>9}", format(spread["least"]), format(spread["mean"]),
                     format(spread["greatest"]), format(spread["root"]));
}

}  // namespace

std::string text_of(const ordered_json &measured) {
  const ordered_json &file = measured["file"];
  const ordered_json &reduction = measured["reduction"];
  std::string sides;
  for (const ordered_json &side : measured["grid"]) {
    sides += fmt::format("{}{}", sides.empty() ? "" : " x ", side.get<uint32_t>());
  }
  std::string out = fmt::format("{}, {} ranks{}, {} steps, tree {}{}\n", measured["pattern"].get<std::string>(),
                                measured["ranks"].get<uint64_t>(), sides.empty() ? "" : " (" + sides + ")",
                                measured["steps"].get<uint64_t>(), measured["tree"].get<std::string>(),
                                measured["own"].get<bool>() ? "" : ", ranks without anything of their own");
  std::string sections;
  for (const auto &[name, bytes] : file["sections"].items()) {
    if (name != "total") sections += fmt::format("{}{} {}", sections.empty() ? "" : ", ", name, bytes.get<uint64_t>());
  }
  out += fmt::format("  file             {} bytes without timing and meta ({})\n",
                     file["bytes_without_timing_and_meta"].get<uint64_t>(), sections);
  out += fmt::format("  structure        {} classes; {} calls; {} to {} rows a rank\n",
                     measured["classes"].get<uint64_t>(), measured["calls"].get<uint64_t>(),
                     measured["rows_of_a_rank"]["least"].get<uint64_t>(),
                     measured["rows_of_a_rank"]["greatest"].get<uint64_t>());
  const ordered_json &all = reduction["all_ranks_ns"];
  out +=
      fmt::format("  CPU of all ranks of {}, serialise {}, parse {}, merge {}; write the file {}\n", time_of(all["of"]),
                  time_of(all["serialise"]), time_of(all["parse"]), time_of(all["merge"]), time_of(file["write_ns"]));
  out += fmt::format("  longest path     {}, of which merge alone {}\n", time_of(reduction["longest_path_ns"]),
                     time_of(reduction["longest_path_merge_ns"]));
  out += fmt::format("  {:<24} {:>9} {:>9} {:>9} {:>9}\n", "", "least", "mean", "greatest", "root");
  out += fmt::format("  {:<24} {}\n", "CPU of a rank", spread_text(reduction["rank_ns"], time_of));
  out += fmt::format("  {:<24} {}\n", "heap of a rank", spread_text(reduction["rank_memory"], size_of));
  for (const ordered_json &level : reduction["levels"]) {
    const auto number = level["level"].get<uint64_t>();
    if (number == 0) continue;
    const auto line = [&](const char *what, const char *key, Format format) {
      out += fmt::format("  {:<24} {}\n", fmt::format("level {:>2} {}", number, what), spread_text(level[key], format));
    };
    line("bytes", "bytes", size_of);
    line("serialise", "serialise_ns", time_of);
    line("parse", "parse_ns", time_of);
    line("merge", "merge_ns", time_of);
    line("heap", "memory", size_of);
  }
  out += fmt::format("  read back        {} ranks, {} calls: as made; {:.1f} s with the making of inputs\n",
                     measured["read_back"]["ranks"].get<uint64_t>(), measured["read_back"]["calls"].get<uint64_t>(),
                     reduction["seconds_with_inputs"].get<double>());
  return out;
}

}  // namespace cairn::scale
