// What `cairn waits`, `path` and `efficiency` share: the analysis of waiting, and the texts of what ranks do.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/inspect.h"
#include "terminal/listing.h"
#include "waits/report.h"

namespace cairn::cli {

struct ChosenWaits : waits::Report {
  bool some = false;  ///< not all of the run's waiting was asked for
};
/// The analysis of an open trace. Fails where it has no times of single calls, or no axis of time for all ranks. `verb`
/// is for the error. `filter`: whose waiting is told.
Result<ChosenWaits> analyse_waits(const trace::Trace &trace, const std::string &verb,
                                  const analyze::FilterText &filter = {});

/// "MPI_Recv  app.c:9 in main()"
Cell place_cell(const waits::Report &report, uint32_t place);
/// "outside MPI before MPI_Recv  app.c:9 in main()"
Cell activity_cell(const waits::Report &report, waits::Activity activity);

/// What the analysis left out, or cannot be sure of: a line each.
void say_left_out(const waits::Report &report, const trace::Trace &trace);

}  // namespace cairn::cli
