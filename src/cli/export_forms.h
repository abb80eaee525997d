// What `cairn export` writes, form by form: opens what is written, says what was left out, and how much there is.
#pragma once

#include <optional>
#include <string>

#include "cli/inspect.h"

namespace cairn::cli {

struct ExportOptions : Inspection {
  std::string to = "perfetto";
  std::string output;
  std::string graph = "messages";
  bool logical = false;
  bool no_arrows = false;
  std::string launches;
  std::string warps;
  bool no_points = false;
  std::optional<double> speed;
  bool no_gaps = false;

  /// Something is asked of GPU warps: then they are what is wanted.
  [[nodiscard]] bool names_warps() const {
    return !launches.empty() || !warps.empty() || no_points || filter.limit.has_value();
  }
};

/// Calls, as perfetto, chrome, otf2, csv, sqlite, folded or dot.
int export_calls(const ExportOptions &options, const trace::Trace &trace);
/// GPU warps, as perfetto or chrome.
int export_warps(const ExportOptions &options, const trace::Trace &trace);

}  // namespace cairn::cli
