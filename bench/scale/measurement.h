// Measurement: one pattern on one number of ranks, reduced, written, read back; as JSON and as text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "scale/reduction.h"

namespace cairn::scale {

struct Request {
  const Pattern *pattern = nullptr;
  Setting setting;
  Tree tree;
  std::string tree_name;
  SourceOptions options;
  uint32_t verify = 16;  ///< ranks that are read back; the first and the last always among them
  std::string keep;      ///< where to leave the file, or empty
};

/// schema cairn-scale-1; an Error if the trace does not hold what the program did.
Result<nlohmann::ordered_json> measure(const Request &request);
/// What a person wants to see of it.
std::string text_of(const nlohmann::ordered_json &measured);

}  // namespace cairn::scale
