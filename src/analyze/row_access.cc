#include "analyze/row_access.h"

#include <algorithm>

#include "analyze/function_table.h"
#include "base/as_size.h"
#include "trace/values/atom_reader.h"

namespace cairn::analyze {
namespace {

/// The names of a function's parameters with their lengths: finding those is most of what reading an argument costs.
const std::vector<std::string_view> &parameter_names(const spec::Function &function) {
  static const auto names = function_table([](const spec::Function &each) {
    std::vector<std::string_view> own;
    for (size_t i = 0; i < each.parameter_count; ++i) own.emplace_back(each.parameters[i].name);
    return own;
  });
  return names[function.id];
}

/// `or_addresses`: of integers that may be addresses as well, those that are none.
std::optional<std::vector<int64_t>> integers(const trace::Field *field, bool or_addresses) {
  if (field == nullptr || field->is_bytes) return std::nullopt;
  std::vector<int64_t> values;
  trace::AtomReader atoms(field->atoms);
  while (!atoms.at_end()) {
    trace::AtomValue value = atoms.next();
    if (or_addresses && value.is(trace::kInteger)) {
      atoms.next();
      value = atoms.next();
    }
    if (value.special || atoms.failed()) return std::nullopt;
    values.push_back(value.value);
  }
  return values;
}

}  // namespace

RowAccess::RowAccess(const trace::Row &row, const RowScope &scope) : row_(row), scope_(scope) {
  const auto all = spec::functions();
  if (row.function < all.size()) function_ = &all[row.function];
}

std::optional<size_t> RowAccess::place(std::string_view name) const {
  if (function_ == nullptr) return std::nullopt;
  const std::vector<std::string_view> &names = parameter_names(*function_);
  const auto at = static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (at == names.size() || at >= row_.fields.size()) return std::nullopt;
  const trace::Field &field = row_.fields[at];
  return field.is_bytes || !field.atoms.empty() ? std::optional(at) : std::nullopt;
}

const trace::Field *RowAccess::field(std::string_view name) const {
  const std::optional<size_t> at = place(name);
  return at ? &row_.fields[*at] : nullptr;
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
  return integers(field(name), false);
}

std::optional<std::vector<int64_t>> RowAccess::displacements(std::string_view name) const {
  return integers(field(name), true);
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
    if (creation.site < scope.sites.size()) name.site = scope.sites[as_size(creation.site)];
    name.number = second;
  }
  return name;
}

template <typename Visit>
void RowAccess::each_handle(std::string_view name, Visit visit) const {
  const std::optional<size_t> at = place(name);
  if (!at || row_.fields[*at].is_bytes) return;
  const spec::Parameter &parameter = function_->parameters[*at];
  const spec::Layout layout = parameter.layout;
  if (layout != spec::Layout::handle && layout != spec::Layout::comm) return;
  trace::AtomReader atoms(row_.fields[*at].atoms);
  while (!atoms.at_end() && !atoms.failed()) {
    const trace::AtomValue first = atoms.next();
    // A communicator is one atom: a local number or a constant; an unknown one is followed by its number.
    const bool one = layout == spec::Layout::comm && !first.is(trace::kUnknown);
    visit(handle_name(first.value, one ? 0 : atoms.next().value, layout, scope_));
    if (parameter.passing != spec::Passing::array) break;
  }
}

std::vector<HandleName> RowAccess::handles(std::string_view name) const {
  std::vector<HandleName> all;
  each_handle(name, [&all](const HandleName &each) { all.push_back(each); });
  return all;
}

std::optional<HandleName> RowAccess::handle(std::string_view name) const {
  std::optional<HandleName> only;
  size_t count = 0;
  each_handle(name, [&](const HandleName &each) {
    if (count++ == 0) only = each;
  });
  return count == 1 ? only : std::nullopt;
}

std::string_view RowAccess::constant(std::string_view name) const {
  const trace::Field *found = field(name);
  if (found == nullptr || found->is_bytes) return {};
  trace::AtomReader atoms(found->atoms);
  const int id = atoms.next().constant();
  const auto all = spec::constants();
  return as_size(id) < all.size() ? std::string_view(all[as_size(id)].name) : std::string_view();
}

bool RowAccess::succeeded() const {
  if (row_.fields.empty()) return false;
  const trace::Field &result = row_.fields.back();
  return !result.is_bytes && result.atoms.size() == 1 && (result.atoms[0] == 0 || result.atoms[0] == trace::kImplied);
}

}  // namespace cairn::analyze
