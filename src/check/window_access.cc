#include "check/window_access.h"

#include <string_view>

#include "analyze/outcome.h"
#include "spec/ids.h"
#include "trace/values/atom_reader.h"

namespace cairn::check {
namespace {

using Role = analyze::WindowRole;

bool reaches_into(Role role) { return role == Role::gets || role == Role::puts || role == Role::accumulates; }

bool matters(Role role) { return role != Role::none && role != Role::posts && role != Role::waits; }

}  // namespace

std::optional<WindowCall> window_call(const trace::Row &row, const analyze::RowScope &scope,
                                      const objects::RankLayouts &layouts) {
  const Role role = analyze::window_role(row.function);
  if (!matters(role)) return std::nullopt;
  const analyze::RowAccess access(row, scope);
  const auto window = access.handle("win");
  WindowCall what;
  what.pending = reaches_into(role) && analyze::outcome_of(row).kind == analyze::Outcome::Kind::pending;
  if ((!access.succeeded() && !what.pending) || !window || window->special != 0) return std::nullopt;
  what.role = role;
  what.window = *window;
  if (role == Role::makes) {
    const auto unit = access.number("disp_unit");
    what.size = unit ? access.number("size") : std::nullopt;
    what.unit = unit.value_or(1);
    return what;
  }
  if (role == Role::fences) {
    const auto fence = analyze::window_sync(row, scope);
    what.opens = fence && fence->opens;
    return what;
  }
  if (!reaches_into(role)) {
    if (access.has("rank")) {
      what.whose = access.number("rank");
      if (!what.whose) return std::nullopt;  // nobody's
    }
    what.exclusive = access.constant("lock_type") == "MPI_LOCK_EXCLUSIVE";
    what.local = std::string_view(access.function()->name).find("_local") != std::string_view::npos;
    return what;
  }
  const bool one = !access.has("target_datatype");  // MPI_Fetch_and_op, MPI_Compare_and_swap
  const auto type = access.handle(one ? "datatype" : "target_datatype");
  const auto count = one ? std::optional<int64_t>(1) : access.number("target_count");
  const auto target = access.number("target_rank");
  const auto displacement = access.displacements("target_disp");
  if (!type || !count || !target || !displacement || displacement->size() != 1) return std::nullopt;
  what.target = *target;
  what.displacement = displacement->front();
  what.fetches = role == Role::gets || access.has("result_addr");
  what.by_request = access.has("request");
  what.layout = layouts.of(*type, *count);
  if (what.layout == nullptr || what.layout->size == 0) return std::nullopt;
  return what;
}

int64_t WindowAccess::begin(int64_t unit) const { return what.displacement * unit + what.layout->true_lower_bound; }
int64_t WindowAccess::end(int64_t unit) const { return what.displacement * unit + what.layout->true_upper_bound; }

const char *verb_of(Role role) { return role == Role::gets ? "gets" : role == Role::puts ? "puts" : "accumulates"; }

}  // namespace cairn::check
