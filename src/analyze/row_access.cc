#include "analyze/row_access.h"

#include "trace/values/atom_reader.h"

namespace cairn::analyze {
RowAccess::RowAccess(const trace::Row &row, const RowScope &scope) : row_(row), scope_(scope) {
  const auto all = spec::functions();
  if (row.function < all.size()) function_ = &all[row.function];
}

const trace::Field *RowAccess::field(std::string_view name) const {
  if (function_ == nullptr) return nullptr;
  for (size_t i = 0; i < function_->parameter_count && i < row_.fields.size(); ++i) {
    if (function_->parameters[i].name != name) continue;
    const trace::Field &field = row_.fields[i];
    return field.is_bytes || !field.atoms.empty() ? &field : nullptr;
  }
  return nullptr;
}

std::optional<int64_t> RowAccess::number(std::string_view name) const {
  const trace::Field *found = field(name);
  if (found == nullptr || found->is_bytes) return std::nullopt;
  trace::AtomReader atoms(found->atoms);
  const trace::AtomValue value = atoms.next();
  if (value.special || atoms.failed() || !atoms.at_end()) return std::nullopt;
  return value.value;
}

std::optional<std::vector<int64_t>> RowAccess::numbers(std::string_view name) const {
  const trace::Field *found = field(name);
  if (found == nullptr || found->is_bytes) return std::nullopt;
  std::vector<int64_t> values;
  trace::AtomReader atoms(found->atoms);
  while (!atoms.at_end()) {
    const trace::AtomValue value = atoms.next();
    if (value.special || atoms.failed()) return std::nullopt;
    values.push_back(value.value);
  }
  return values;
}

HandleName handle_name(trace::Atom first, trace::Atom second, spec::Layout layout, const RowScope &scope) {
  HandleName name;
  if (trace::is_special(first)) {
    name.special = first;
    name.number = second;
  } else if (layout == spec::Layout::comm) {
    name.number = first;
  } else {
    const CreationSite creation = CreationSite::of(first);
    name.thread = creation.thread.value_or(scope.thread);
    if (creation.site < scope.sites.size()) name.site = scope.sites[creation.site];
    name.number = second;
  }
  return name;
}

std::vector<HandleName> RowAccess::handles(std::string_view name) const {
  std::vector<HandleName> all;
  const trace::Field *found = field(name);
  if (found == nullptr || found->is_bytes) return all;
  spec::Layout layout = spec::Layout::handle;
  bool array = false;
  for (size_t i = 0; i < function_->parameter_count; ++i) {
    if (function_->parameters[i].name != name) continue;
    layout = function_->parameters[i].layout;
    array = function_->parameters[i].passing == spec::Passing::array;
  }
  if (layout != spec::Layout::handle && layout != spec::Layout::comm) return all;
  trace::AtomReader atoms(found->atoms);
  while (!atoms.at_end() && !atoms.failed()) {
    const trace::AtomValue first = atoms.next();
    // A communicator is one atom: a local number or a constant; an unknown one is followed by its number.
    const bool one = layout == spec::Layout::comm && !first.is(trace::kUnknown);
    all.push_back(handle_name(first.value, one ? 0 : atoms.next().value, layout, scope_));
    if (!array) break;
  }
  return all;
}

std::optional<HandleName> RowAccess::handle(std::string_view name) const {
  const auto all = handles(name);
  if (all.size() != 1) return std::nullopt;
  return all[0];
}

std::string_view RowAccess::constant(std::string_view name) const {
  const trace::Field *found = field(name);
  if (found == nullptr || found->is_bytes) return {};
  trace::AtomReader atoms(found->atoms);
  const int id = atoms.next().constant();
  const auto all = spec::constants();
  return id >= 0 && static_cast<size_t>(id) < all.size() ? std::string_view(all[static_cast<size_t>(id)].name)
                                                         : std::string_view();
}

bool RowAccess::succeeded() const {
  if (row_.fields.empty()) return false;
  const trace::Field &result = row_.fields.back();
  return !result.is_bytes && result.atoms.size() == 1 && (result.atoms[0] == 0 || result.atoms[0] == trace::kImplied);
}

}  // namespace cairn::analyze
