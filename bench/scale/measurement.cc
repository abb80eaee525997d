#include "scale/measurement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "scale/chance.h"
#include "scale/heap_count.h"
#include "scale/read_back.h"
#include "trace/file/bundle.h"
#include "trace/file/file.h"
#include "trace/file/rank_block.h"

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

/// The trace while it is made: what bundles there are lie in it before all else, as they do in the recorder's.
class TraceFile {
 public:
  explicit TraceFile(const std::string &keep) : path_(keep), kept_(!keep.empty()) {
    char name[] = "/tmp/cairn-scale-XXXXXX";
    if (!kept_) {
      const int file = mkstemp(name);
      if (file >= 0) close(file);
      path_ = name;
    }
    out_.open(path_, std::ios::binary | std::ios::trunc);
    const char header[trace::kHeaderBytes] = {};
    out_.write(header, sizeof header);
  }
  TraceFile(const TraceFile &) = delete;
  TraceFile &operator=(const TraceFile &) = delete;
  ~TraceFile() {
    if (!kept_) std::remove(path_.c_str());
  }
  /// Empty where nothing leaves the tree.
  bool add_bundle(ByteView block) {
    if (block.empty()) return true;
    trace::BlockFront front;
    if (!trace::parse_front(block, &front)) return false;
    const ByteView content = block.subspan(front.bytes);
    const auto stored = trace::read_file(content.subspan(trace::bundle_front(content).bytes));
    if (stored) trace::count_sections(*stored, &in_bundles_);
    return stored && add(block);
  }
  /// Bytes by section, in all of them.
  [[nodiscard]] const std::map<std::string, uint64_t> &in_bundles() const { return in_bundles_; }
  /// `bytes`: all but the bundles.
  bool complete(ByteView bytes) {
    add(bytes.subspan(trace::kHeaderBytes));
    out_.seekp(0);
    add(bytes.first(trace::kHeaderBytes));
    out_.close();
    return !!out_;
  }
  [[nodiscard]] const std::string &path() const { return path_; }

 private:
  bool add(ByteView bytes) { return !!out_.write(reinterpret_cast<const char *>(bytes.data()), size_of(bytes)); }
  static std::streamsize size_of(ByteView bytes) { return static_cast<std::streamsize>(bytes.size()); }
  std::string path_;
  bool kept_;
  std::ofstream out_;
  std::map<std::string, uint64_t> in_bundles_;
};

/// As Trace::section_bytes gives it, without opening all classes. `file` lacks its bundles.
std::map<std::string, uint64_t> sections_of(ByteView file, uint64_t bundles,
                                            const std::map<std::string, uint64_t> &in_bundles) {
  std::map<std::string, uint64_t> sizes = in_bundles;
  uint64_t beside = bundles;
  for (const auto &[name, bytes] : in_bundles) beside -= bytes;
  const auto stored = trace::read_file(file, bundles);
  sizes["directory"] = file.size() - (stored ? trace::count_sections(*stored, &sizes) : 0);
  if (bundles != 0) sizes["bundles"] += beside;
  sizes["total"] = file.size() + bundles;
  return sizes;
}

}  // namespace

Result<ordered_json> measure(const Request &request) {
  Source source(*request.pattern, request.setting, request.options);
  TraceFile on_disk(request.keep);
  Result<Reduced> reduced =
      reduce(&source, request.tree, [&on_disk](ByteView bundle) { return on_disk.add_bundle(bundle); });
  if (!reduced) return tl::unexpected(reduced.error());
  const Source::Totals totals = source.totals();

  heap::count(true);
  heap::forget_peak();
  const uint64_t start = cpu_ns();
  const uint64_t bundles = reduced->bundle_bytes;
  Result<Bytes> written =
      reduced->part.to_file(run_info(request), bundles, bundles == 0 ? std::nullopt : std::optional<uint64_t>(0));
  const uint64_t write_ns = cpu_ns() - start;
  const uint64_t write_memory = heap::peak();
  heap::count(false);
  if (!written) return tl::unexpected(written.error());
  const std::map<std::string, uint64_t> sections = sections_of(*written, bundles, on_disk.in_bundles());
  if (!on_disk.complete(*written)) return fail(ErrorKind::environment, "cannot write " + on_disk.path());
  *written = Bytes();
  reduced->part = trace::Part();
  uint32_t classes = 0;
  ReadBack back;
  const std::vector<uint32_t> ranks = some_ranks(source.ranks(), request.verify);
  if (!ranks.empty()) {
    const Result<trace::Trace> trace = trace::Trace::open(on_disk.path());
    if (!trace) return tl::unexpected(trace.error());
    classes = trace->class_count();
    back = read_back(*trace, &source, ranks);
    if (!back.problem.empty()) return fail(ErrorKind::internal, "what is read back differs: " + back.problem);
  }
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
      {"classes", classes}};
  result["file"] = {
      {"bytes", section("total")},
      {"bytes_without_timing_and_meta", section("total") - section("timing") - section("sums") - section("meta")},
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
  const auto classes = measured["classes"].get<uint64_t>();
  out += fmt::format("  structure        {} classes; {} calls; {} to {} rows a rank\n",
                     classes == 0 ? "?" : std::to_string(classes), measured["calls"].get<uint64_t>(),
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
