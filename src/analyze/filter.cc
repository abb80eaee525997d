#include "analyze/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "analyze/communicators.h"
#include "analyze/wanted_calls.h"
#include "base/decimal.h"
#include "spec/spec.h"
#include "text/nearest.h"
#include "text/rank_list.h"
#include "trace/read/exactness.h"

namespace cairn::analyze {
namespace {

constexpr size_t kMostRanks = 1U << 24;

template <typename Number>
bool parse_number(std::string_view text, Number &value) {
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

/// The words between commas that are within no brackets: C++ names have commas there.
std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == '>' || c == ']' || c == '}') && depth > 0) --depth;
    if (c == ',' && depth == 0) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

/// Each word of `texts` to those that take or those that leave out, by `parse(word)`, which gives a Result.
template <typename Word, typename Parse>
Result<Chosen<Word>> choose(const std::vector<std::string> &texts, const char *option, const Parse &parse) {
  Chosen<Word> chosen;
  for (const std::string &text : texts) {
    for (const std::string &piece : split(text)) {
      const bool out = piece.starts_with('^');
      if (piece.starts_with('!')) {
        return fail(ErrorKind::usage, fmt::format("{} '{}': what is to be left out has ^ before it", option, piece),
                    fmt::format("write {} '^{}'", option, piece.substr(1)));
      }
      if (piece.size() <= (out ? 1 : 0)) {
        return fail(ErrorKind::usage, fmt::format("{} '{}' has an empty word", option, text),
                    "separate words by commas");
      }
      auto word = parse(piece.substr(out ? 1 : 0));
      if (!word) return tl::unexpected(word.error());
      (out ? chosen.left_out : chosen.taken).push_back(*std::move(word));
    }
  }
  return chosen;
}

/// What was meant by a word that is none of `names`; "" if that cannot be told.
std::string guess_text(const std::string &word, const std::vector<std::string> &names) {
  const std::string guess = nearest(word, names);
  return guess.empty() ? guess : fmt::format("did you mean {}?", guess);
}

bool is_pattern(const std::string &word) { return word.find_first_of("*?") != std::string::npos; }

/// The ids of the functions that a word names.
Result<std::vector<uint32_t>> parse_function(const std::string &pattern) {
  const auto all = spec::functions();
  std::vector<uint32_t> ids;
  for (uint32_t id = 0; id < all.size(); ++id) {
    if (glob_match(pattern, all[id].name)) ids.push_back(id);
  }
  if (!ids.empty()) return ids;
  if (is_pattern(pattern)) {
    return fail(ErrorKind::usage, fmt::format("no MPI function matches '{}'", pattern),
                "quote patterns, as in --function 'MPI_*send'");
  }
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto &function : all) names.emplace_back(function.name);
  std::string guess = guess_text(pattern, names);
  if (guess.empty()) guess = guess_text("MPI_" + pattern, names);
  return fail(ErrorKind::usage, fmt::format("unknown function '{}'", pattern),
              guess.empty() ? "names are those of the MPI standard, as in MPI_Send" : guess);
}

Result<std::vector<char>> parse_functions(const std::vector<std::string> &texts) {
  auto chosen = choose<std::vector<uint32_t>>(texts, "--function", parse_function);
  if (!chosen) return tl::unexpected(chosen.error());
  std::vector<char> functions(spec::functions().size());
  for (uint32_t id = 0; id < functions.size(); ++id) {
    const auto names = [id](const std::vector<uint32_t> &ids) {
      return std::binary_search(ids.begin(), ids.end(), id);
    };
    functions[id] = chosen->has(names) ? 1 : 0;
  }
  return functions;
}

/// "7" or "3-9".
std::optional<Span> parse_span(const std::string &word) {
  const size_t dash = word.find('-');
  uint64_t first = 0;
  uint64_t last = 0;
  const std::string_view text = word;
  if (!parse_number(text.substr(0, dash), first)) return std::nullopt;
  if (!parse_number(dash == std::string::npos ? text : text.substr(dash + 1), last)) return std::nullopt;
  if (last < first || last > INT64_MAX) return std::nullopt;
  return Span{static_cast<int64_t>(first), static_cast<int64_t>(last)};
}

trace::Atom constant(std::string_view name) {
  for (const spec::Constant &each : spec::constants()) {
    if (name == each.name) return trace::constant_atom(each.id);
  }
  return 0;
}

/// Numbers, ranges of them, constants by name, and "any" for the first of these.
Result<Chosen<Span>> parse_spans(const std::vector<std::string> &texts, const char *option, const char *things,
                                 const std::vector<std::string> &constants) {
  return choose<Span>(texts, option, [&](const std::string &word) -> Result<Span> {
    if (const auto span = parse_span(word)) return *span;
    const std::string name = !constants.empty() && glob_match("any", word) ? constants[0] : word;
    for (const std::string &each : constants) {
      if (glob_match(each, name)) return Span{0, 0, constant(each)};
    }
    std::string hint = guess_text(word, constants);
    if (hint.empty()) hint = fmt::format("write numbers as in {} 0-7,12{}", option, constants.empty() ? "" : ",any");
    return fail(ErrorKind::usage, fmt::format("{}: '{}' is no list of {}", option, word, things), hint);
  });
}

Result<Chosen<std::string>> parse_sites(const std::vector<std::string> &texts, const trace::Trace &trace,
                                        const Sources &sources) {
  std::vector<std::string> names;
  const auto add = [&](const Position &position) {
    for (std::string &name : site_names(position)) names.push_back(std::move(name));
  };
  for (const trace::Site &site : trace.all_sites()) add(sources.position(site));
  for (uint32_t index = 0; index < trace.class_count(); ++index) {
    for (size_t site = 0; site < trace.sites(index).size(); ++site) add(sources.position(index, site));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return choose<std::string>(texts, "--site", [&](const std::string &word) -> Result<std::string> {
    const auto matches = [&](const std::string &name) { return is_named(word, name); };
    if (word == "unknown" || std::any_of(names.begin(), names.end(), matches)) return word;
    std::string hint = guess_text(word, names);
    if (hint.empty()) hint = "places are named as in main.c:42, main.c, exchange or app+0x1234";
    if (names.empty() || names == std::vector<std::string>{"unknown"}) hint = "this trace has no call sites";
    return fail(ErrorKind::usage, fmt::format("no call of this trace was made at '{}'", word), hint);
  });
}

/// "MPI_ERR_RANK" of "MPI_ERR_RANK(738871814)", as dump prints a result with its code.
std::string without_code(const std::string &word) {
  const size_t open = word.find('(');
  if (open == std::string::npos || word.back() != ')') return word;
  const std::string code = word.substr(open + 1, word.size() - open - 2);
  const bool is_number = !code.empty() && code.find_first_not_of("0123456789", code[0] == '-') == std::string::npos;
  return is_number ? word.substr(0, open) : word;
}

Result<Chosen<std::string>> parse_results(const std::vector<std::string> &texts) {
  std::vector<std::string> names;
  for (const spec::Constant &each : spec::constants()) {
    const std::string_view name = each.name;
    if (name == "MPI_SUCCESS" || name.starts_with("MPI_ERR_") || name.starts_with("MPI_T_ERR_"))
      names.emplace_back(name);
  }
  return choose<std::string>(texts, "--result", [&](const std::string &given) -> Result<std::string> {
    const std::string word = without_code(given);
    if (std::any_of(names.begin(), names.end(), [&](const auto &name) { return glob_match(word, name); })) return word;
    std::string hint = guess_text(word, names);
    if (hint.empty()) hint = "results are MPI_SUCCESS and error classes, as in MPI_ERR_TRUNCATE";
    return fail(ErrorKind::usage, fmt::format("no call returns '{}'", word), hint);
  });
}

Result<Chosen<std::string>> parse_comms(const std::vector<std::string> &texts, const trace::Trace &trace,
                                        const Sources &sources) {
  // These are there whether or not they were used.
  const std::vector<std::string> always = {"MPI_COMM_WORLD", "MPI_COMM_SELF"};
  // Shells want brackets quoted: 1@4 is comm(1@4).
  const auto as_word = [](const std::string &word) -> Result<std::string> {
    return word.find('@') != std::string::npos && !word.starts_with("comm(") ? "comm(" + word + ")" : word;
  };
  const auto words = choose<std::string>(texts, "--comm", as_word);
  if (!words) return tl::unexpected(words.error());
  std::vector<std::string> unknown = words->taken;
  unknown.insert(unknown.end(), words->left_out.begin(), words->left_out.end());
  std::erase_if(unknown,
                [&](const auto &word) { return std::find(always.begin(), always.end(), word) != always.end(); });
  if (unknown.empty()) return *words;
  const auto communicators = Communicators::of(trace, sources);
  if (!communicators) return tl::unexpected(communicators.error());
  std::vector<std::string> names = always;
  for (const Communicator &each : communicators->all()) names.push_back(each.name);
  for (const std::string &word : unknown) {
    if (std::any_of(names.begin(), names.end(), [&](const auto &name) { return is_named(word, name); })) continue;
    std::string hint = guess_text(word, names);
    if (hint.empty()) hint = "cairn info --communicators names them";
    return fail(ErrorKind::usage, fmt::format("there is no communicator '{}' in this trace", word), hint);
  }
  return *words;
}

/// The numbers of `all`, ascending, that a list of ranks or threads chooses. `thing`: "rank".
Result<std::vector<uint32_t>> among(const std::vector<uint32_t> &all, const Chosen<Span> &chosen, const char *thing) {
  for (const auto *spans : {&chosen.taken, &chosen.left_out}) {
    for (const Span &span : *spans) {
      for (int64_t number = span.first; number <= span.last; ++number) {
        const bool may_be = number <= UINT32_MAX;
        if (may_be && std::binary_search(all.begin(), all.end(), static_cast<uint32_t>(number))) continue;
        return fail(ErrorKind::usage, fmt::format("there is no {} {} in this trace", thing, number),
                    fmt::format("it holds {}", all.empty() ? "none" : ranks_text(all)));
      }
    }
  }
  std::vector<uint32_t> result;
  for (const uint32_t number : all) {
    if (chosen.has([&](const Span &span) { return span.has({false, false, number}); })) result.push_back(number);
  }
  return result;
}

Result<Filter::Window> parse_window(const std::string &text) {
  const size_t plus = text.find('+');
  Filter::Window window;
  const auto begin = parse_duration(text.substr(0, plus));
  if (!begin) return tl::unexpected(begin.error());
  window.begin_ns = *begin;
  if (plus != std::string::npos) {
    const auto length = parse_duration(text.substr(plus + 1));
    if (!length) return tl::unexpected(length.error());
    window.end_ns = *begin > UINT64_MAX - *length ? UINT64_MAX : *begin + *length;
  }
  return window;
}

}  // namespace

Result<std::vector<uint32_t>> parse_ranks(const std::string &text) {
  std::vector<uint32_t> ranks;
  for (const std::string &piece : split(text)) {
    const size_t dash = piece.find('-');
    uint32_t first = 0;
    uint32_t last = 0;
    const bool good = dash == std::string::npos ? parse_number(piece, first) && parse_number(piece, last)
                                                : parse_number(std::string_view(piece).substr(0, dash), first) &&
                                                      parse_number(std::string_view(piece).substr(dash + 1), last);
    if (!good || last < first) {
      return fail(ErrorKind::usage, fmt::format("'{}' is no list of ranks", text), "write ranks as in --rank 0-7,12");
    }
    if (last - first >= kMostRanks || ranks.size() + (last - first) >= kMostRanks) {
      return fail(ErrorKind::usage, fmt::format("'{}' names too many ranks", text), "leave --rank out for all ranks");
    }
    for (uint32_t rank = first;; ++rank) {
      ranks.push_back(rank);
      if (rank == last) break;
    }
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

Result<uint64_t> parse_duration(const std::string &text) {
  const auto bad = [&] {
    return fail(ErrorKind::usage, fmt::format("'{}' is no time", text), "write times as in --time 1s+20ms");
  };
  double value = 0;
  std::string_view unit = text;
  if (!take_decimal(&unit, &value) || !std::isfinite(value) || value < 0) return bad();
  double scale = 0;
  if (unit.empty() || unit == "s") scale = 1e9;
  if (unit == "ms") scale = 1e6;
  if (unit == "us") scale = 1e3;
  if (unit == "ns") scale = 1;
  if (scale == 0 || value * scale > 9e18) return bad();
  return static_cast<uint64_t>(std::llround(value * scale));
}

namespace {

/// A list of ranks in which some are left out.
Result<Chosen<Span>> parse_rank_list(const std::string &text) {
  if (text.find('^') == std::string::npos && text.find('!') == std::string::npos) {
    const auto ranks = parse_ranks(text);
    if (!ranks) return tl::unexpected(ranks.error());
  }
  return parse_spans({text}, "--rank", "ranks", {});
}

Result<void> choose_ranks(const std::string &text, const trace::Trace &trace, Filter *filter) {
  filter->ranks = trace.ranks();
  if (text.empty()) return {};
  const auto list = parse_rank_list(text);
  if (!list) return tl::unexpected(list.error());
  auto ranks = among(filter->ranks, *list, "rank");
  if (!ranks) return tl::unexpected(ranks.error());
  if (ranks->empty()) return fail(ErrorKind::usage, fmt::format("--rank {} leaves no rank", text), "leave fewer out");
  filter->all_ranks = ranks->size() == filter->ranks.size();
  filter->ranks = std::move(*ranks);
  return {};
}

Result<void> choose_threads(const std::string &text, const trace::Trace &trace, Filter *filter) {
  auto threads = parse_spans({text}, "--thread", "threads", {});
  if (!threads) return tl::unexpected(threads.error());
  std::set<uint32_t> all;
  for (uint32_t index = 0; index < trace.class_count(); ++index) all.insert(trace.class_view(index).thread);
  if (const auto known = among({all.begin(), all.end()}, *threads, "thread"); !known) {
    return tl::unexpected(known.error());
  }
  filter->threads = *std::move(threads);
  return {};
}

/// Puts what was parsed to its place.
template <typename T>
Result<void> take(Result<T> parsed, T *place) {
  if (!parsed) return tl::unexpected(parsed.error());
  *place = *std::move(parsed);
  return {};
}

/// Of the last rank, no call is behind it but those that follow MPI_Finalize; 0 where that is not known of all.
uint64_t end_of_run(const trace::Trace &trace) {
  uint64_t end = 0;
  for (const uint32_t rank : trace.ranks()) {
    const uint64_t wall_ns = trace.rank_info(rank).wall_ns;
    if (wall_ns == 0) return 0;
    end = std::max(end, trace.place_on_axis(rank).of(wall_ns));
  }
  if (trace::exactness(trace).empty()) return end;
  // A last call that took longer than the rest of the run may seem to take more than it did.
  constexpr uint64_t kPart = 2;
  return end + end / kPart + trace::times_size(trace).clock_error_ns;
}

Result<void> choose_time(const FilterText &text, const trace::Trace &trace, Filter *filter) {
  auto window = parse_window(text.time);
  if (!window) return tl::unexpected(window.error());
  if (!text.made_axis && !timing::keeps_times(trace.run().timing)) {
    return fail(ErrorKind::usage, "--time needs the time of every call, and this trace has statistics only",
                "record with --timing context");
  }
  filter->window = *window;
  const uint64_t end_ns = timing::keeps_times(trace.run().timing) ? end_of_run(trace) : 0;
  if (end_ns != 0 && window->begin_ns > end_ns) {
    return fail(ErrorKind::usage, fmt::format("--time {} begins behind the run", text.time),
                fmt::format("it ends {:.6f} s after the first call of any rank", static_cast<double>(end_ns) * 1e-9));
  }
  return {};
}

}  // namespace

Result<Filter> make_filter(const FilterText &text, const trace::Trace &trace, const Sources &sources) {
  Filter filter;
  filter.limit = text.limit;
  filter.from = text.from.value_or(0);
  filter.errors = text.errors;
  filter.step_at = text.step_at;
  Result<void> done = choose_ranks(text.ranks, trace, &filter);
  if (done && !text.threads.empty()) done = choose_threads(text.threads, trace, &filter);
  if (done && !text.functions.empty()) done = take(parse_functions(text.functions), &filter.functions);
  if (done && !text.sites.empty()) done = take(parse_sites(text.sites, trace, sources), &filter.sites);
  if (done && !text.peers.empty()) {
    done = take(parse_spans(text.peers, "--peer", "ranks", {"MPI_ANY_SOURCE", "MPI_PROC_NULL"}), &filter.peers);
  }
  if (done && !text.tags.empty()) done = take(parse_spans(text.tags, "--tag", "tags", {"MPI_ANY_TAG"}), &filter.tags);
  if (done && !text.comms.empty()) {
    done = take(parse_comms(text.comms, trace, sources), &filter.comms);
  }
  if (done && !text.results.empty()) done = take(parse_results(text.results), &filter.results);
  if (done && !text.steps.empty()) done = take(parse_spans({text.steps}, "--step", "steps", {}), &filter.steps);
  if (done && !text.time.empty()) done = choose_time(text, trace, &filter);
  if (!done) return tl::unexpected(done.error());
  return filter;
}

}  // namespace cairn::analyze
