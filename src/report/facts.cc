#include "report/facts.h"

#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/in_order.h"
#include "report/shorten.h"
#include "report/source_lines.h"
#include "terminal/output_of.h"
#include "terminal/words.h"
#include "text/utf8.h"

namespace cairn::report {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostOfList = 1000;
constexpr size_t kMostLaunches = 4000;

struct Question {
  const char *name;
  std::vector<std::string> words;
  bool goes_through_calls = false;
  size_t most_of_list = kMostOfList;
};

ordered_json refused(const std::string &why) { return {{"refused", valid_utf8(why)}}; }

/// "cairn: run.cairn: waits: this trace has no times", without what the reader knows, of each line.
std::vector<std::string> lines_said(const std::string &said, const std::string &file) {
  std::vector<std::string> lines;
  std::istringstream all(said);
  for (std::string line; std::getline(all, line);) {
    for (const std::string &known : {std::string("cairn: "), file + ": "}) {
      if (line.starts_with(known)) line.erase(0, known.size());
    }
    lines.push_back(valid_utf8(line));
  }
  return lines;
}

ordered_json ask(const Asked &asked, const std::vector<std::string> &words, size_t most_of_list,
                 const std::string &other = {}) {
  std::vector<std::string> command = {asked.executable};
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {"--json", asked.file});
  if (!other.empty()) command.push_back(other);
  const auto printed = cli::output_of(command, asked.within);
  if (!printed) return refused(printed.error().message);
  if (printed->late) {
    return refused(fmt::format("it took more than {} seconds; cairn {} tells it, and --within 0 has it told here",
                               asked.within.count(), words.front()));
  }
  ordered_json json = ordered_json::parse(printed->out, nullptr, false);
  if (json.is_discarded() || !json.is_object()) {
    return refused(printed->error.empty()
                       ? fmt::format("cairn {} ended with exit code {}", words.front(), printed->code)
                       : lines_said(printed->error, asked.file).front());
  }
  json.erase("schema");
  json.erase("file");
  shorten(&json, most_of_list);
  // What the answer lacks.
  if (!printed->error.empty()) json["said"] = lines_said(printed->error, asked.file);
  return json;
}

/// Where calls are made, by file.
std::map<std::string, std::set<uint32_t>> places_of(const ordered_json &callsites) {
  std::map<std::string, std::set<uint32_t>> places;
  if (!callsites.contains("lines")) return places;
  for (const ordered_json &line : callsites["lines"]) {
    if (!line.contains("site") || !line["site"].is_object()) continue;
    const ordered_json &site = line["site"];
    if (site.contains("file") && site["file"].is_string() && site.contains("line") &&
        site["line"].is_number_unsigned()) {
      places[site["file"].get<std::string>()].insert(site["line"].get<uint32_t>());
    }
  }
  return places;
}

/// When the run ended, by the clock of the machine that it began on; the begin of all time if that is not known.
std::chrono::system_clock::time_point end_of(const ordered_json &info) {
  std::tm begin{};
  std::istringstream text(info.value("start", std::string()));
  text >> std::get_time(&begin, "%Y-%m-%dT%H:%M:%SZ");
  if (text.fail()) return {};
  const auto lasted = std::chrono::duration<double>(info.value("wall_seconds", 0.0) + 1);
  return std::chrono::system_clock::from_time_t(timegm(&begin)) + std::chrono::ceil<std::chrono::seconds>(lasted);
}

ordered_json facts_of(const Asked &asked) {
  static const std::vector<Question> questions = {
      {"info", {"info"}},
      {"summary", {"summary"}},
      {"callsites", {"summary", "--callsites"}},
      {"loops", {"loops", "--limit", fmt::format("{}", kMostOfList)}},
      {"ranks", {"ranks"}},
      {"phases", {"phases"}},
      {"sizes", {"sizes"}},
      {"waits", {"waits"}, true},
      {"path", {"path"}, true},
      {"efficiency", {"efficiency"}, true},
      {"check", {"check"}, true},
      {"gpu", {"gpu", "divergence"}},
      {"launches", {"gpu", "launches"}, false, kMostLaunches},
      {"blocks", {"gpu", "blocks"}},
      {"accesses", {"gpu", "accesses"}},
  };
  uint64_t calls = 0;
  ordered_json facts;
  std::error_code error;
  facts["file"] = valid_utf8(std::filesystem::path(asked.file).filename().string());
  facts["bytes"] = std::filesystem::file_size(asked.file, error);
  std::mutex one_at_a_time;
  const auto answer = [&](size_t i) -> ordered_json {
    const Question &question = questions[i];
    if (question.goes_through_calls && calls > asked.most_calls) {
      return refused(
          fmt::format("not asked, since it goes through every call and there are more than {}; "
                      "cairn {} tells it, and --all has it told here",
                      asked.most_calls, question.words.front()));
    }
    if (asked.saying) {
      const std::scoped_lock lock(one_at_a_time);
      asked.saying(question.words.front());
    }
    return ask(asked, question.words, question.most_of_list);
  };
  facts["info"] = answer(0);
  calls = facts["info"].value("calls", uint64_t{0});
  in_order(
      questions.size() - 1, [&](size_t i) { return answer(i + 1); },
      [&](size_t i, ordered_json told) {
        facts[questions[i + 1].name] = std::move(told);
        return true;
      });
  facts["sources"] =
      asked.sources ? source_lines(places_of(facts["callsites"]), end_of(facts["info"])) : ordered_json::array();
  return facts;
}

}  // namespace

ordered_json facts_of_page(const std::vector<Asked> &traces) {
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  ordered_json facts = {
      {"schema", "cairn.report/1"}, {"cairn", CAIRN_VERSION}, {"written", cli::utc_text(now.count())}};
  facts["traces"] = ordered_json::array();
  for (const Asked &asked : traces) facts["traces"].push_back(facts_of(asked));
  facts["diff"] = nullptr;
  if (traces.size() > 1) {
    if (traces[0].saying) traces[0].saying("diff");
    facts["diff"] = ask(traces[0], {"diff"}, kMostOfList, traces[1].file);
  }
  return facts;
}

}  // namespace cairn::report
