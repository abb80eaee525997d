// How large messages are as `cairn sizes` tells it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "terminal/listing.h"
#include "trace/read/trace.h"
#include "traffic/message_sizes.h"

namespace cairn::cli {

/// A line for each size; `all`: messages_of(group).
Listing sizes_list(const traffic::SizeGroup &group, bool timed, uint64_t all);
uint64_t messages_of(const traffic::SizeGroup &group);
uint64_t bytes_of(const traffic::SizeGroup &group);

/// As --json has it. `file`: which it was; `by`: "op", "comm" or "site".
nlohmann::ordered_json sizes_json(const std::string &file, const std::string &by, bool exact, const trace::Trace &trace,
                                  const traffic::MessageSizes &sizes);

}  // namespace cairn::cli
