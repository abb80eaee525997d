// Rows of JSON as CSV, for spreadsheets and data frames.
//
// Plain function. Cost: the rows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cairn::cli {

/// `rows`: an array of objects. The first line has their members, `first` ahead of all, the others as they come first;
/// an object within is taken apart, as in first.rank, of a list the elements stand with spaces between them, and null
/// is empty. Ends with a new line; "" where there are neither rows nor `first`.
std::string csv_of(const nlohmann::ordered_json &rows, const std::vector<std::string> &first = {});

}  // namespace cairn::cli
