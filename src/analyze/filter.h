// Filter: which ranks, threads, functions, places, partners, tags, communicators, results and times a verb looks at.
// One struct and one parser for every verb; whether a call is one of those is WantedCalls' to say (wanted_calls.h).
//
// `FilterText` is what the user typed; `make_filter` checks it against a trace and the MPI standard, and its errors
// (usage) name the word that is wrong and what would be right. Words are separated by commas, but for those within
// brackets; one with ^ before it leaves out what it names. That is git's sign for it: ! would have to be quoted in most
// shells.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/sources.h"
#include "base/result.h"
#include "trace/read/trace.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {

struct FilterText {
  std::string ranks{};                   ///< "0-7,12"
  std::string threads{};                 ///< "0,2-3"
  std::vector<std::string> functions{};  ///< "MPI_*send,^MPI_Rsend"
  std::vector<std::string> sites{};      ///< "main.c:42", "main.c", "exchange", "app+0x1234"
  std::vector<std::string> peers{};      ///< "0-3,any,MPI_PROC_NULL"
  std::vector<std::string> tags{};       ///< "7,100-199,any"
  std::vector<std::string> comms{};      ///< "MPI_COMM_WORLD", or as communicators are printed
  std::vector<std::string> results{};    ///< "MPI_ERR_TRUNCATE"
  bool errors = false;
  std::string steps{};     ///< "17,20-22"
  std::string step_at{};   ///< as a site, or a function
  std::string time{};      ///< "1s+20ms": 20 ms from 1 s on
  bool made_axis = false;  ///< `time` may be of an axis that is made where calls have no times (src/timeline)
  std::optional<uint64_t> from{};
  std::optional<uint64_t> limit{};
};

/// What the words of one option choose: what any of them takes, or everything where none takes, but for what is left
/// out.
template <typename Word>
struct Chosen {
  std::vector<Word> taken;
  std::vector<Word> left_out;

  [[nodiscard]] bool chooses() const { return !taken.empty() || !left_out.empty(); }
  /// `matches(word)` says whether that word names the thing asked about.
  template <typename Matches>
  [[nodiscard]] bool has(const Matches &matches) const {
    return (taken.empty() || std::any_of(taken.begin(), taken.end(), matches)) &&
           std::none_of(left_out.begin(), left_out.end(), matches);
  }
};

/// Numbers from `first` to `last`, or one constant.
struct Span {
  int64_t first = 0;
  int64_t last = 0;
  trace::Atom constant = 0;  ///< 0: numbers
  [[nodiscard]] bool has(const trace::AtomValue &value) const {
    if (constant != 0) return value.is(constant);
    return !value.special && !value.missing && first <= value.value && value.value <= last;
  }
};

struct Filter {
  std::vector<uint32_t> ranks;  ///< ascending, all present in the trace
  bool all_ranks = true;
  std::vector<char> functions;  ///< by function id; empty: all
  Chosen<Span> threads;
  Chosen<std::string> sites;    ///< patterns of what sites are called (site_names)
  Chosen<Span> peers;           ///< with MPI_ANY_SOURCE and MPI_PROC_NULL
  Chosen<Span> tags;            ///< with MPI_ANY_TAG
  Chosen<std::string> comms;    ///< patterns of communicators' names, as they are printed
  Chosen<std::string> results;  ///< patterns of MPI_SUCCESS and of error classes
  bool errors = false;          ///< only calls that failed or did not return
  Chosen<Span> steps;           ///< of the main loop, or between calls made there (trace/read/steps.h)
  std::string step_at;
  uint64_t from = 0;  ///< the first call of each rank
  std::optional<uint64_t> limit;
  struct Window {
    uint64_t begin_ns = 0;
    uint64_t end_ns = UINT64_MAX;
    [[nodiscard]] bool overlaps(uint64_t begin, uint64_t end) const { return begin <= end_ns && end >= begin_ns; }
  };
  std::optional<Window> window;
  bool outermost = false;  ///< of a summary, only calls that no other call was around: no option of a user's

  [[nodiscard]] bool has_function(uint32_t id) const {
    return functions.empty() || (id < functions.size() && functions[id] != 0);
  }
  [[nodiscard]] bool has_thread(uint32_t thread) const {
    return threads.has([&](const Span &span) { return span.has({false, false, thread}); });
  }
  /// Values of calls are needed to choose, beside function, site and thread.
  [[nodiscard]] bool chooses_by_values() const {
    return peers.chooses() || tags.chooses() || comms.chooses() || results.chooses() || errors;
  }
  /// Not all calls of the ranks looked at are wanted.
  [[nodiscard]] bool chooses_calls() const {
    return !functions.empty() || threads.chooses() || sites.chooses() || chooses_by_values();
  }
};

Result<Filter> make_filter(const FilterText &text, const trace::Trace &trace, const Sources &sources);

/// "0-7,12" → numbers, ascending, each once; at most 2^24 of them.
Result<std::vector<uint32_t>> parse_ranks(const std::string &text);
/// "20ms", "1.5s", "300us", "7ns"; a bare number is seconds.
Result<uint64_t> parse_duration(const std::string &text);

}  // namespace cairn::analyze
