#include "analyze/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "spec/spec.h"
#include "text/nearest.h"

namespace cairn::analyze {
namespace {

constexpr size_t kMostRanks = 1U << 24;

bool parse_number(std::string_view text, uint32_t &value) {
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end && !text.empty();
}

std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> pieces;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

Result<std::vector<char>> parse_functions(const std::vector<std::string> &patterns) {
  const auto all = spec::functions();
  std::vector<char> chosen(all.size(), 0);
  for (const std::string &words : patterns) {
    for (const std::string &pattern : split(words, ',')) {
      bool found = false;
      for (size_t id = 0; id < all.size(); ++id) {
        if (!glob_match(pattern, all[id].name)) continue;
        chosen[id] = 1;
        found = true;
      }
      if (found) continue;
      if (pattern.find_first_of("*?") != std::string::npos) {
        return fail(ErrorKind::usage, fmt::format("no MPI function matches '{}'", pattern),
                    "quote patterns, as in --function 'MPI_*send'");
      }
      std::vector<std::string> names;
      names.reserve(all.size());
      for (const auto &function : all) names.emplace_back(function.name);
      std::string guess = nearest(pattern, names);
      if (guess.empty()) guess = nearest("MPI_" + pattern, names);
      return fail(ErrorKind::usage, fmt::format("unknown function '{}'", pattern),
                  guess.empty() ? "names are those of the MPI standard, as in MPI_Send"
                                : fmt::format("did you mean {}?", guess));
    }
  }
  return chosen;
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
  for (const std::string &piece : split(text, ',')) {
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
  const char *end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || !std::isfinite(value) || value < 0) return bad();
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  double scale = 0;
  if (unit.empty() || unit == "s") scale = 1e9;
  if (unit == "ms") scale = 1e6;
  if (unit == "us") scale = 1e3;
  if (unit == "ns") scale = 1;
  if (scale == 0 || value * scale > 9e18) return bad();
  return static_cast<uint64_t>(std::llround(value * scale));
}

std::string ranks_text(const std::vector<uint32_t> &ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

Result<Filter> make_filter(const FilterText &text, const trace::Trace &trace) {
  Filter filter;
  filter.limit = text.limit;
  filter.ranks = trace.ranks();
  if (!text.ranks.empty()) {
    auto ranks = parse_ranks(text.ranks);
    if (!ranks) return tl::unexpected(ranks.error());
    for (const uint32_t rank : *ranks) {
      if (std::binary_search(filter.ranks.begin(), filter.ranks.end(), rank)) continue;
      return fail(ErrorKind::usage, fmt::format("there is no rank {} in this trace", rank),
                  fmt::format("it holds {}", filter.ranks.empty() ? "none" : ranks_text(filter.ranks)));
    }
    filter.all_ranks = ranks->size() == filter.ranks.size();
    filter.ranks = std::move(*ranks);
  }
  if (!text.functions.empty()) {
    auto functions = parse_functions(text.functions);
    if (!functions) return tl::unexpected(functions.error());
    filter.functions = std::move(*functions);
  }
  if (!text.time.empty()) {
    auto window = parse_window(text.time);
    if (!window) return tl::unexpected(window.error());
    if (!timing::keeps_times(trace.run().timing)) {
      return fail(ErrorKind::usage, "--time needs the time of every call, and this trace has statistics only",
                  "record with --timing lossless");
    }
    filter.window = *window;
  }
  return filter;
}

}  // namespace cairn::analyze
