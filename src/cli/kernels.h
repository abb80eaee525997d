// What the verbs that look at GPU kernels share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "gpu/file/launches.h"
#include "trace/read/trace.h"

namespace cairn::cli {

/// The kernels of a trace. Error: they cannot be read, or there are none: then it says `without`, and what to do.
Result<gpu::Launches> kernels_of(const trace::Trace &trace, const std::string &file, const std::string &without = {},
                                 const std::string &hint = "trace some with cairn instrument");
/// Adds what a trace point is and where it stands, if that is known.
void add_place(const gpu::ProgramRecord &program, uint16_t location, nlohmann::ordered_json *to);
/// Lanes as hexadecimal digits, as many as `lanes` have.
std::string mask_text(uint64_t mask, unsigned lanes);

}  // namespace cairn::cli
