// Program: what all files of a generated program share: the handles that its calls make and use, the constants that are
// looked up by number, and what was found that cannot be made again.
//
// Borrows the trace and the sources. One thread. Cost: what is asked of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyze/row_access.h"
#include "analyze/sources.h"
#include "base/result.h"
#include "proxy/c_text.h"
#include "proxy/kept_ranks.h"
#include "proxy/single_handles.h"
#include "spec/spec.h"
#include "trace/read/trace.h"

namespace cairn::proxy {

enum class Gaps : uint8_t { none, spin, blocks };
enum class Language : uint8_t { c, cpp };

struct Settings {
  Gaps gaps = Gaps::none;
  bool random_payload = false;
  Language language = Language::c;
  std::vector<uint32_t> left_out;  ///< ranks
};

/// The word that the functions of src/proxy/support have for handles of that kind; empty: they have none.
std::string kind_word(spec::Kind kind);
/// The C type of one: "MPI_Comm".
std::string kind_type(spec::Kind kind);
/// The null one: "MPI_COMM_NULL".
std::string kind_null(spec::Kind kind);

class Program {
 public:
  Program(const trace::Trace &of, const analyze::Sources &its_sources, const Settings &with)
      : trace(of), sources(its_sources), settings(with) {}

  const trace::Trace &trace;
  const analyze::Sources &sources;
  const Settings settings;
  Identifiers names;       ///< of what all files see
  bool grequests = false;  ///< there are generalised requests
  bool several_threads = false;
  bool keyvals = false;         ///< attributes may have functions
  bool attaches = false;        ///< memory to dynamic windows
  std::set<std::string> newer;  ///< functions that came after MPI 3.1

  const KeptRanks *kept = nullptr;  ///< the ranks that it has, if not all
  /// Those that plain variables have (single_handles.h); to be set before anything is written.
  std::map<HandleKey, std::string> singles;
  /// The plain variable that has it; nothing: it is in a queue.
  std::optional<std::string> single(spec::Kind kind, const analyze::HandleName &name);
  /// The queue that has what that call made.
  std::string handles(spec::Kind kind, const analyze::HandleName &name);
  /// Its number, for fields that change.
  size_t handles_number(spec::Kind kind, const analyze::HandleName &name);
  void makes(spec::Kind kind, const analyze::HandleName &name) { made_.insert({kind, without_number(name)}); }
  void uses(spec::Kind kind, const analyze::HandleName &name, const std::string &where) {
    used_.try_emplace({kind, without_number(name)}, where);
  }
  /// An atom that stands in a table: if it is a constant, it is looked up by its number.
  void looks_up(trace::Atom atom);

  /// Handles that are used and that no call makes.
  [[nodiscard]] std::vector<std::string> unmade() const;
  /// program.h and program.c, once all else is written.
  [[nodiscard]] std::string header(const std::vector<std::string> &parts) const;
  [[nodiscard]] std::string definitions() const;
  /// What each rank attached to dynamic windows, in program.c.
  [[nodiscard]] std::string attached() const;
  /// Who is in which communicator, in program.c, if not all ranks are there.
  [[nodiscard]] std::string members() const;
  /// All that has a number: (kind, name), (number, variable).
  using Key = HandleKey;
  [[nodiscard]] const std::map<Key, std::pair<size_t, std::string>> &all() const { return handles_; }

 private:
  static analyze::HandleName without_number(analyze::HandleName name) {
    name.number = 0;
    return name;
  }
  std::map<Key, std::pair<size_t, std::string>> handles_;
  std::map<Key, std::string> variables_;
  std::set<Key> made_;
  std::map<Key, std::string> used_;
  std::set<std::pair<int, spec::Kind>> constants_;
};

}  // namespace cairn::proxy
