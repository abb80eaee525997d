#include "cli/kernels.h"

#include <fmt/format.h>

#include "gpu/analyze/points.h"
#include "text/utf8.h"

namespace cairn::cli {

Result<gpu::Launches> kernels_of(const trace::Trace &trace, const std::string &file, const std::string &without,
                                 const std::string &hint) {
  auto launches = analyze::gpu_launches(trace);
  if (launches && launches->launches.empty()) {
    launches = fail(ErrorKind::usage, "this trace holds no GPU kernels" + without, hint);
  }
  if (!launches) launches.error().path = file;
  return launches;
}

void add_place(const gpu::ProgramRecord &program, uint16_t location, nlohmann::ordered_json *to) {
  const gpu::LocationRecord *found = program.find(location);
  if (found == nullptr) return;
  (*to)["kind"] = name_of(found->kind);
  (*to)["function"] = valid_utf8(found->function);
  (*to)["file"] = valid_utf8(found->file);
  (*to)["line"] = found->line;
  if (found->column != 0) (*to)["column"] = found->column;
}

std::string mask_text(uint64_t mask, unsigned lanes) { return fmt::format("{:0{}x}", mask, lanes / 4); }

}  // namespace cairn::cli
