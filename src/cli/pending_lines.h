// What ranks wait in, as `cairn info` and `cairn peek` say it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyze/pending.h"

namespace cairn::cli {

/// "rank 0 in MPI_Recv from 1 tag 7 on MPI_COMM_WORLD at solver.c:88 in solve() for 31 s", a line for each group.
std::vector<std::string> pending_lines(const std::vector<analyze::PendingCall> &calls);
nlohmann::ordered_json pending_json(const std::vector<analyze::PendingCall> &calls);

}  // namespace cairn::cli
