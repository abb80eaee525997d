#include "analyze/window_calls.h"

#include <algorithm>

#include "analyze/function_table.h"
#include "spec/ids.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

WindowRole find_role(uint32_t function) {
  namespace id = spec::function_id;
  switch (function) {
    case id::Win_create:
    case id::Win_create_c:
    case id::Win_allocate:
    case id::Win_allocate_c:
    case id::Win_allocate_shared:
    case id::Win_allocate_shared_c:
    case id::Win_create_dynamic:
      return WindowRole::makes;
    case id::Win_free:
      return WindowRole::frees;
    case id::Win_fence:
      return WindowRole::fences;
    case id::Win_post:
      return WindowRole::posts;
    case id::Win_start:
      return WindowRole::starts;
    case id::Win_complete:
      return WindowRole::completes;
    case id::Win_wait:
    case id::Win_test:
      return WindowRole::waits;
    case id::Win_lock:
    case id::Win_lock_all:
      return WindowRole::locks;
    case id::Win_unlock:
    case id::Win_unlock_all:
      return WindowRole::unlocks;
    case id::Get:
    case id::Get_c:
    case id::Rget:
    case id::Rget_c:
      return WindowRole::gets;
    case id::Put:
    case id::Put_c:
    case id::Rput:
    case id::Rput_c:
      return WindowRole::puts;
    case id::Accumulate:
    case id::Accumulate_c:
    case id::Raccumulate:
    case id::Raccumulate_c:
    case id::Get_accumulate:
    case id::Get_accumulate_c:
    case id::Rget_accumulate:
    case id::Rget_accumulate_c:
    case id::Fetch_and_op:
    case id::Compare_and_swap:
      return WindowRole::accumulates;
    case id::Win_flush:
    case id::Win_flush_all:
    case id::Win_flush_local:
    case id::Win_flush_local_all:
      return WindowRole::flushes;
    default:
      return WindowRole::none;
  }
}

bool has_flag(const RowAccess &access, const char *name, uint16_t constant) {
  const trace::Field *field = access.field(name);
  if (field == nullptr) return false;
  const spec::Function &function = *access.function();
  const spec::Parameter *end = function.parameters + function.parameter_count;
  const auto *parameter = std::find_if(
      function.parameters, end, [&](const spec::Parameter &each) { return std::string_view(each.name) == name; });
  const auto names = spec::domain(parameter->domain);
  const auto bit = std::find(names.begin(), names.end(), constant) - names.begin();
  trace::AtomReader atoms(field->atoms);
  const trace::AtomValue bits = atoms.next();
  if (atoms.failed() || bits.special || bit >= 64) return false;
  return (static_cast<uint64_t>(bits.value) >> static_cast<unsigned>(bit) & 1U) != 0;
}

}  // namespace

WindowRole window_role(uint32_t function) {
  static const auto all = function_table([](const spec::Function &each) { return find_role(each.id); });
  return function < all.size() ? all[function] : WindowRole::none;
}

std::optional<WindowSync> window_sync(const trace::Row &row, const RowScope &scope) {
  const WindowRole role = window_role(row.function);
  if (role == WindowRole::none || role > WindowRole::unlocks) return std::nullopt;
  const RowAccess access(row, scope);
  const auto window = access.handle("win");
  if (!access.succeeded() || !window || window->special != 0) return std::nullopt;
  WindowSync sync;
  sync.role = role;
  sync.window = *window;
  sync.communicator = access.handle("comm");
  sync.group = access.handle("group");
  if (role == WindowRole::waits && access.has("flag") && access.number("flag").value_or(0) == 0) return std::nullopt;
  if (access.has("rank")) {
    sync.target = access.number("rank");
    sync.exclusive = access.constant("lock_type") == "MPI_LOCK_EXCLUSIVE";
    if (!sync.target) return std::nullopt;
  }
  if (role == WindowRole::fences) {
    sync.ends = !has_flag(access, "assert", spec::constant_id::k_MODE_NOPRECEDE);
    sync.opens = !has_flag(access, "assert", spec::constant_id::k_MODE_NOSUCCEED);
  }
  return sync;
}

}  // namespace cairn::analyze
