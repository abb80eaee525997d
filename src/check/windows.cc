#include "check/windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "spec/ids.h"
#include "trace/values/atom_reader.h"

namespace cairn::check {
namespace {

using Role = analyze::WindowRole;

/// Offsets and bounds within it can be added up.
constexpr int64_t kFarthest = INT64_MAX / 8;

bool is_access(Role role) { return role == Role::gets || role == Role::puts || role == Role::accumulates; }

const char *verb(Role role) { return role == Role::gets ? "gets" : role == Role::puts ? "puts" : "accumulates"; }

/// The access, in bytes of the target's window.
int64_t begin_of(const WindowCall &what, int64_t unit) {
  return what.displacement * unit + what.layout->true_lower_bound;
}
int64_t end_of(const WindowCall &what, int64_t unit) {
  return what.displacement * unit + what.layout->true_upper_bound;
}
std::string bytes_text(uint64_t bytes) { return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes"); }

}  // namespace

std::optional<WindowCall> window_call(const trace::Row &row, const analyze::RowScope &scope,
                                      const objects::RankLayouts &layouts) {
  const Role role = analyze::window_role(row.function);
  const bool matters = role == Role::makes || role == Role::frees || role == Role::fences || role == Role::locks ||
                       role == Role::starts || is_access(role);
  if (!matters) return std::nullopt;
  const analyze::RowAccess access(row, scope);
  const auto window = access.handle("win");
  if (!access.succeeded() || !window || window->special != 0) return std::nullopt;
  WindowCall what;
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
  if (!is_access(role)) return what;
  const bool one = !access.has("target_datatype");  // MPI_Fetch_and_op, MPI_Compare_and_swap
  const auto type = access.handle(one ? "datatype" : "target_datatype");
  const auto count = one ? std::optional<int64_t>(1) : access.number("target_count");
  const auto target = access.number("target_rank");
  const auto displacement = access.displacements("target_disp");
  if (!type || !count || !target || !displacement || displacement->size() != 1) return std::nullopt;
  what.target = *target;
  what.displacement = displacement->front();
  what.layout = layouts.of(*type, *count);
  if (what.layout == nullptr || what.layout->size == 0) return std::nullopt;
  return what;
}

Windows::~Windows() {
  for (const auto &[name, part] : parts_) let_go(part.get());
}

void Windows::let_go(Part *part) {
  part->freed = true;
  if (part->window == nullptr) return;
  const std::shared_ptr<Window> window = part->window;
  const auto is_done = [](const auto &each) { return each == nullptr || each->freed; };
  if (!std::all_of(window->parts.begin(), window->parts.end(), is_done)) return;
  for (const auto &each : std::exchange(window->parts, {})) {
    if (each != nullptr) each->window = nullptr;
  }
}

void Windows::see(const WindowCall &what, const analyze::CallTime &call) {
  const auto name = std::pair(call.rank, what.window);
  if (what.role == Role::makes) {
    auto part = std::make_shared<Part>();
    part->size = what.size;
    part->unit = what.unit;
    made_[{call.rank, call.call}] = part;
    std::swap(parts_[name], part);
    if (part != nullptr) let_go(part.get());  // nobody saw it freed
    return;
  }
  const auto found = parts_.find(name);
  if (found == parts_.end()) return;
  const std::shared_ptr<Part> part = found->second;
  if (what.role == Role::frees) {
    // What no fence ended.
    for (const Access &access : std::exchange(part->since, {})) {
      if (part->window != nullptr) {
        is_within(*part->window, access);
      } else {
        part->others.push_back(access);
      }
    }
    parts_.erase(found);
    let_go(part.get());
    return;
  }
  if (what.role == Role::fences) {
    std::vector<Access> since = std::exchange(part->since, {});
    const uint64_t before = part->fences++;
    part->fenced = what.opens;
    if (part->window != nullptr) {
      pass(part->window.get(), before, std::move(since));
    } else {
      part->waiting.push_back(std::move(since));
    }
    return;
  }
  if (what.role == Role::locks || what.role == Role::starts) {
    part->fenced = false;
  } else if (part->fenced) {
    part->since.push_back({what, call});
  } else if (part->window != nullptr) {
    is_within(*part->window, {what, call});
  } else {
    part->others.push_back({what, call});
  }
}

void Windows::met(const analyze::Meeting &meeting) {
  const bool all_came = std::find(meeting.came.begin(), meeting.came.end(), false) == meeting.came.end();
  if (meeting.broken || !all_came || analyze::window_role(meeting.operation) != Role::makes) return;
  auto window = std::make_shared<Window>();
  for (const analyze::CallTime &call : meeting.begins) {
    const auto made = made_.find({call.rank, call.call});
    window->parts.push_back(made == made_.end() ? nullptr : made->second);
    window->complete = window->complete && made != made_.end();
    if (made != made_.end()) made_.erase(made);
  }
  const std::vector<std::shared_ptr<Part>> parts = window->parts;
  for (const auto &part : parts) {
    if (part == nullptr) continue;
    part->window = window;
    for (const Access &access : std::exchange(part->others, {})) is_within(*window, access);
    uint64_t fences = 0;
    for (std::vector<Access> &accesses : std::exchange(part->waiting, {})) {
      pass(window.get(), fences++, std::move(accesses));
    }
  }
  for (const auto &part : parts) {
    if (part != nullptr && part->freed) let_go(part.get());  // before that was known
  }
}

void Windows::pass(Window *window, uint64_t fences, std::vector<Access> accesses) {
  if (!window->complete) {
    for (const Access &access : accesses) is_within(*window, access);
    return;
  }
  Epoch &epoch = window->epochs[fences];
  std::move(accesses.begin(), accesses.end(), std::back_inserter(epoch.all));
  if (++epoch.passed != window->parts.size()) return;
  collide(*window, std::move(epoch.all));
  window->epochs.erase(fences);
}

bool Windows::is_within(const Window &window, const Access &access) {
  const auto target = static_cast<size_t>(access.what.target);
  if (target >= window.parts.size() || window.parts[target] == nullptr) return false;
  const Part &part = *window.parts[target];
  if (!part.size || part.unit < 1) return false;
  if (access.what.displacement > kFarthest / part.unit || access.what.displacement < -kFarthest / part.unit)
    return false;
  const int64_t begin = begin_of(access.what, part.unit);
  const int64_t end = end_of(access.what, part.unit);
  if (begin >= 0 && end <= *part.size) return true;
  const uint32_t rank = access.call.rank;
  const std::string where = begin < 0
                                ? fmt::format("begins {} before", bytes_text(static_cast<uint64_t>(-begin)))
                                : fmt::format("ends {} behind", bytes_text(static_cast<uint64_t>(end - *part.size)));
  findings_.add(
      {Kind::windows, true,
       fmt::format("rank {} {} what {} rank {}'s part of the window, which has {}", rank, verb(access.what.role), where,
                   access.what.target, bytes_text(static_cast<uint64_t>(*part.size))),
       ""},
      access.call);
  return false;
}

void Windows::collide(const Window &window, std::vector<Access> accesses) {
  std::erase_if(accesses, [&](const Access &each) { return !is_within(window, each); });
  const auto unit_of = [&](const Access &each) { return window.parts[static_cast<size_t>(each.what.target)]->unit; };
  std::sort(accesses.begin(), accesses.end(), [&](const Access &one, const Access &other) {
    const auto order = [&](const Access &each) {
      return std::tuple(each.what.target, begin_of(each.what, unit_of(each)), each.call.rank, each.call.call);
    };
    return order(one) < order(other);
  });
  size_t pairs = 0;
  for (size_t i = 0; i < accesses.size(); ++i) {
    const Access &one = accesses[i];
    const int64_t unit = unit_of(one);
    for (size_t k = i + 1; k < accesses.size() && pairs < kMostPairs; ++k) {
      const Access &other = accesses[k];
      if (other.what.target != one.what.target || begin_of(other.what, unit) >= end_of(one.what, unit)) break;
      ++pairs;
      if (one.what.role != Role::puts && other.what.role != Role::puts) continue;
      const int64_t apart = (other.what.displacement - one.what.displacement) * unit;
      const uint64_t bytes = objects::common_bytes(*one.what.layout, *other.what.layout, apart).value_or(0);
      if (bytes == 0) continue;
      const bool one_first = std::pair(one.call.rank, one.call.call) < std::pair(other.call.rank, other.call.call);
      const Access &first = one_first ? one : other;
      const Access &second = one_first ? other : one;
      findings_.add({Kind::windows, true,
                     fmt::format("rank {} {} {} of rank {}'s memory that rank {} {}, too, between the same fences",
                                 first.call.rank, verb(first.what.role), bytes_text(bytes), first.what.target,
                                 second.call.rank, verb(second.what.role)),
                     ""},
                    first.call, second.call);
    }
  }
}

}  // namespace cairn::check
