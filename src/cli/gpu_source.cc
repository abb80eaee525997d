#include "cli/gpu_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include "report/source_lines.h"
#include "terminal/listing.h"
#include "terminal/screen.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;
using analyze::PointUse;

struct Sums {
  uint64_t visits = 0;
  uint64_t lanes = 0;
  uint64_t lost = 0;
  void add(const PointUse &use) {
    visits += use.visits;
    lanes += use.lanes;
    lost += use.lost();
  }
};

struct Line : Sums {
  std::vector<const PointUse *> points;
};

/// A source of a program. Two programs may have one of the same name.
struct File {
  uint32_t program = 0;
  std::string name;
  std::map<uint32_t, Line> lines;  ///< that have points
  Sums all;
  std::vector<std::string> text;  ///< empty: it was not found
};

std::vector<File> files_of(const gpu::Launches &launches, const std::vector<PointUse> &uses) {
  std::map<std::pair<uint32_t, std::string>, File> files;
  for (const PointUse &use : uses) {
    const gpu::LocationRecord *location = launches.programs[use.program].find(use.location);
    if (location == nullptr || location->file.empty()) continue;
    File &file = files[{use.program, location->file}];
    file.program = use.program;
    file.name = location->file;
    file.all.add(use);
    Line &line = file.lines[location->line];
    line.add(use);
    line.points.push_back(&use);
  }
  std::vector<File> all;
  all.reserve(files.size());
  for (auto &[key, file] : files) all.push_back(std::move(file));
  std::stable_sort(all.begin(), all.end(), [](const File &a, const File &b) { return a.all.lost > b.all.lost; });
  return all;
}

/// Where the compiler found it, or by its name in one of these folders.
std::vector<std::string> text_of(const std::string &name, const std::vector<std::string> &folders) {
  std::vector<fs::path> places;
  for (const std::string &folder : folders) {
    places.push_back(fs::path(folder) / fs::path(name).relative_path());
    places.push_back(fs::path(folder) / fs::path(name).filename());
  }
  places.insert(places.begin() + static_cast<std::ptrdiff_t>(places.size() < 2 ? 0 : places.size() - 2), name);
  std::error_code error;
  for (const fs::path &place : places) {
    if (fs::is_regular_file(place, error)) return report::lines_of(place);
  }
  return {};
}

nlohmann::ordered_json json_of(const gpu::Launches &launches, const File &file, uint64_t lost) {
  const gpu::ProgramRecord &program = launches.programs[file.program];
  nlohmann::ordered_json out{{"file", valid_utf8(file.name)}, {"program", valid_utf8(program.file)}};
  out["found"] = !file.text.empty();
  out["lost_lanes"] = file.all.lost;
  out["lines"] = nlohmann::ordered_json::array();
  const auto add_sums = [lost](const Sums &sums, nlohmann::ordered_json *to) {
    (*to)["visits"] = sums.visits;
    (*to)["lanes"] = sums.lanes;
    (*to)["lost_lanes"] = sums.lost;
    (*to)["share_of_lost"] = share(sums.lost, lost).json;
  };
  for (const auto &[number, line] : file.lines) {
    nlohmann::ordered_json one{{"line", number}};
    one["source"] = number != 0 && number <= file.text.size() ? nlohmann::ordered_json(file.text[number - 1])
                                                              : nlohmann::ordered_json();
    add_sums(line, &one);
    one["points"] = nlohmann::ordered_json::array();
    for (const PointUse *use : line.points) {
      nlohmann::ordered_json point{{"location", use->location}};
      const gpu::LocationRecord *location = program.find(use->location);
      point["kind"] = gpu::name_of(location->kind);
      point["function"] = valid_utf8(location->function);
      Sums own;
      own.add(*use);
      add_sums(own, &point);
      one["points"].push_back(std::move(point));
    }
    out["lines"].push_back(std::move(one));
  }
  return out;
}

/// Tabs are four columns, and a line ends where the terminal does.
std::string shown(const std::string &line, size_t width) {
  std::string text;
  for (const char each : line) text += each == '\t' ? std::string("    ") : std::string(1, each);
  return shortened(text, width);
}

/// "then, loop".
std::string kinds_of(const gpu::ProgramRecord &program, const Line &line) {
  std::set<std::string> kinds;
  for (const PointUse *use : line.points) kinds.emplace(gpu::name_of(program.find(use->location)->kind));
  std::string text;
  for (const std::string &kind : kinds) text += (text.empty() ? "" : ", ") + kind;
  return text;
}

/// Lines with points, and those around them.
void print(Output &out, const gpu::Launches &launches, const File &file, uint64_t lost,
           const std::set<uint32_t> &wanted) {
  constexpr uint32_t kAround = 2;
  constexpr size_t kNumbers = 6 + 13 + 7 + 15 + 9 + 2;
  out.write(fmt::format("{}{}{}: {} % of lanes were missing\n", out.bold(), file.name, out.plain(),
                        share(file.all.lost, file.all.lost + file.all.lanes).text));
  out.write(fmt::format("{}{:>6}{:>13}{:>7}{:>15}{:>9}{}\n", out.dim(), "line", "visits", "lanes", "lost lanes",
                        "% of all", out.plain()));
  const size_t width = out.width() > kNumbers + 20 ? out.width() - kNumbers : 20;
  uint32_t printed = 0;
  for (const uint32_t center : wanted) {
    const uint32_t first = file.text.empty() || center <= kAround ? center : center - kAround;
    const uint32_t last = file.text.empty() ? center : center + kAround;
    if (printed != 0 && std::max(printed + 1, first) > printed + 1 && !file.text.empty()) {
      out.write(fmt::format("{}{:>6}{}\n", out.dim(), "...", out.plain()));
    }
    for (uint32_t number = std::max(first, printed + 1); number <= last; ++number) {
      const bool told = number <= file.text.size() && number != 0;
      if (!told && number != center) continue;
      const auto found = file.lines.find(number);
      const bool has_points = found != file.lines.end();
      const std::string source = told         ? shown(file.text[number - 1], width)
                                 : has_points ? kinds_of(launches.programs[file.program], found->second)
                                              : std::string();
      if (!has_points || found->second.visits == 0) {
        out.write(fmt::format("{}{:>6}{:>13}{:>31}  {}{}\n", out.dim(), number, has_points ? "never" : "", "", source,
                              out.plain()));
      } else {
        const Line &line = found->second;
        out.write(fmt::format("{:>6}{:>13}{:>7.1f}{:>15}{:>9}  {}\n", number, grouped(line.visits),
                              static_cast<double>(line.lanes) / static_cast<double>(line.visits), grouped(line.lost),
                              share(line.lost, lost).text, source));
      }
      printed = number;
    }
  }
}

}  // namespace

void print_sources(Output &out, const gpu::Launches &launches, const std::vector<PointUse> &uses,
                   const SourceOptions &options) {
  std::vector<File> files = files_of(launches, uses);
  std::vector<std::string> folders = options.folders;
  folders.push_back(fs::path(options.trace).parent_path().string());
  std::string missing;
  uint64_t lost = 0;
  using Place = std::tuple<uint64_t, size_t, uint32_t>;  // lost, file, line
  std::vector<Place> places;
  for (size_t i = 0; i < files.size(); ++i) {
    files[i].text = text_of(files[i].name, folders);
    if (files[i].text.empty()) missing += (missing.empty() ? "" : ", ") + files[i].name;
    lost += files[i].all.lost;
    for (const auto &[number, line] : files[i].lines) places.emplace_back(line.lost, i, number);
  }
  if (options.json) {
    nlohmann::ordered_json object{{"schema", "cairn.gpu.source/1"}, {"files", nlohmann::ordered_json::array()}};
    for (const File &file : files) object["files"].push_back(json_of(launches, file, lost));
    out.write(object.dump(2) + "\n");
    return;
  }
  if (!missing.empty()) say(fmt::format("not found, so without text: {}; --sources DIR says where they are", missing));
  std::stable_sort(places.begin(), places.end(),
                   [](const Place &a, const Place &b) { return std::get<0>(a) > std::get<0>(b); });
  if (options.limit && places.size() > *options.limit) places.resize(static_cast<size_t>(*options.limit));
  bool first = true;
  for (size_t i = 0; i < files.size(); ++i) {
    std::set<uint32_t> wanted;
    for (const auto &[own, file, line] : places) {
      if (file == i) wanted.insert(line);
    }
    if (wanted.empty()) continue;
    if (!first) out.write("\n");
    first = false;
    print(out, launches, files[i], lost, wanted);
  }
}

}  // namespace cairn::cli
