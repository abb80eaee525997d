// Setting: a timing mode, and how far times may be off. As text, from a user and in the trace: a mode, then bounds
// after a colon, with commas: `context`, `context:rel=10%`, `context:rel=10%,MPI_Wait*=1%`, `zfp:abs=10us`.
//
// - Relative bounds, of `context` and the like: a percentage from 0.01 % to 100 %, of each gap and duration.
// - Absolute ones, of `zfp`: a time, in ns, us, ms or s.
// - A rule, PATTERN=BOUND, sets the bound of the functions that match the pattern (shell wildcards), or of the call
//   sites that it names, as in halo.c:42=1%; of several rules the last that matches counts. `exact` is a bound, too.
//
// Two promises go with a bound, and tests hold them in these words: *every duration and every gap is within its bound*;
// and *the clock of a call, put together from these, is off by no more than what gathers since the last anchor*
// (stream.h), which `cairn info` prints.
//
// Plain value. Parsing trusts nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "timing/mode.h"

namespace cairn::timing {

struct Rule {
  std::string pattern;
  uint64_t bound = 0;
  /// Whether it names call sites, as "halo.c:42", "halo.c", "exchange()", "app+0x1234" do: their lines are known only
  /// once a recording has ended.
  [[nodiscard]] bool of_sites() const { return pattern.find_first_of(":.(+") != std::string::npos; }
};

struct Setting {
  const Mode *mode = nullptr;
  uint64_t bound = 0;
  std::vector<Rule> rules;

  /// Whether times are recorded exactly, and become this once the run has ended: some rule is of call sites, whose
  /// lines are not known before, or the mode is coded then.
  [[nodiscard]] bool is_after() const;
  /// Of the function of that name, at a call site that is called so.
  [[nodiscard]] uint64_t bound_of(const char *function, std::span<const std::string> site_names = {}) const;
  /// The same setting in the shortest way.
  [[nodiscard]] std::string text() const;
};

/// Of one setting's text; or what is wrong with it, as a user would understand it.
Result<Setting> parse_setting(std::string_view text);
/// How exact times of that setting are, for whoever sees them: "within 10%", "within 10% (MPI_Wait* 1%)"; nothing where
/// they are exact, or there are none.
std::string exactness(std::string_view setting);
/// A bound as a user reads it: "10%", "10us", "exact".
std::string bound_text(Bounds bounds, uint64_t bound);

}  // namespace cairn::timing
