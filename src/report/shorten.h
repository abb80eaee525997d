// A verb's JSON made small enough for a page: long lists are cut, and say how many were left out; lists of ranks become
// text, "0-3,8". Numbers that are no integers keep 12 digits.
//
// Plain function. Cost: the JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

namespace cairn::report {

/// Of each list of objects or texts the first `most` stay; beside list "x" that was cut stands "x_further".
void shorten(nlohmann::ordered_json *json, size_t most);

}  // namespace cairn::report
