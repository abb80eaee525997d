#include "objects/rank_layouts.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "analyze/darray.h"
#include "analyze/function_table.h"
#include "analyze/type_parts.h"

namespace cairn::objects {
namespace {

using analyze::RowAccess;
using Item = TypeLayout::Item;

bool asks_for_extent(std::string_view function) {
  return function == "MPI_Type_get_extent" || function == "MPI_Type_get_extent_x";
}

/// `a` times `b`, and INT64_MAX, which no layout reaches, where that is too large.
int64_t product(int64_t a, int64_t b) {
  int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

/// Dimension by dimension, from the one whose elements are neighbours.
const TypeLayout *distributed(const RowAccess &row, const TypeLayout *old, TypeLayouts *table) {
  const auto dimensions = analyze::darray_of(row);
  if (!dimensions) return nullptr;
  const bool fortran = row.constant("order") == "MPI_ORDER_FORTRAN";
  const TypeLayout *made = old;
  int64_t stride = old->extent();
  int64_t at = 0;
  for (size_t step = 0; step < dimensions->size(); ++step) {
    const analyze::DarrayDimension &each = (*dimensions)[fortran ? step : dimensions->size() - 1 - step];
    const int64_t first = product(each.block, each.place);
    if (each.cyclic) {
      const int64_t round = product(each.block, each.parts);
      const int64_t there = std::max<int64_t>(0, each.side - first);
      const int64_t rest = std::min(there % round, each.block);
      const TypeLayout *turns =
          table->repeated(there / round, product(round, stride), table->repeated(each.block, stride, made));
      const int64_t behind = product(there / round, product(round, stride));
      made = table->sequence({{0, turns}, {behind, table->repeated(rest, stride, made)}});
    } else {
      made = table->repeated(each.elements(), stride, made);
    }
    if (made == nullptr) return nullptr;
    if (made->size != 0 && __builtin_add_overflow(at, product(first, stride), &at)) return nullptr;
    stride = product(stride, each.side);
  }
  return table->resized(table->sequence({{at, made}}), 0, stride);
}

const TypeLayout *part_of_array(const RowAccess &row, const TypeLayout *old, TypeLayouts *table) {
  const auto sides = row.numbers("array_of_sizes");
  const auto counts = row.numbers("array_of_subsizes");
  const auto starts = row.numbers("array_of_starts");
  if (!sides || !counts || !starts || counts->size() != sides->size() || starts->size() != sides->size()) {
    return nullptr;
  }
  const bool fortran = row.constant("order") == "MPI_ORDER_FORTRAN";
  const TypeLayout *made = old;
  int64_t stride = old->extent();
  int64_t at = 0;
  for (size_t step = 0; step < sides->size(); ++step) {
    const size_t i = fortran ? step : sides->size() - 1 - step;
    made = table->repeated((*counts)[i], stride, made);
    if (__builtin_add_overflow(at, product((*starts)[i], stride), &at)) return nullptr;
    stride = product(stride, (*sides)[i]);
  }
  return table->resized(table->sequence({{at, made}}), 0, stride);
}

}  // namespace

bool RankLayouts::concerns(uint32_t function) {
  static const auto all = analyze::function_table([](const spec::Function &each) {
    const auto end = each.parameters + each.parameter_count;
    const bool makes = std::any_of(each.parameters, end, [](const spec::Parameter &parameter) {
      return std::string_view(parameter.name) == "newtype";
    });
    return makes || asks_for_extent(analyze::base_function(each));
  });
  return function < all.size() && all[function];
}

bool RankLayouts::see(const trace::Row &row, const analyze::RowScope &scope) {
  if (!concerns(row.function)) return false;
  const RowAccess access(row, scope);
  if (!access.succeeded()) return false;
  if (asks_for_extent(analyze::base_function(*access.function()))) {
    const auto type = access.handle("datatype");
    const auto lower = access.number("lb");
    const auto extent = access.number("extent");
    const auto known = type ? derived_.find(*type) : derived_.end();
    if (known == derived_.end() || known->second == nullptr || !lower || !extent) return false;
    if (known->second->lower_bound == *lower && known->second->extent() == *extent) return false;
    known->second = table_->resized(known->second, *lower, *extent);
    return true;
  }
  const auto type = access.handle("newtype");
  if (!type || type->special != 0) return false;
  const TypeLayout *layout = made(access);
  const auto [entry, fresh] = derived_.try_emplace(*type, layout);
  if (fresh || entry->second == layout) return false;
  entry->second = layout;
  return true;
}

const TypeLayout *RankLayouts::of(const analyze::HandleName &type) const {
  if (type.special != 0) return table_->predefined(type.constant());
  const auto found = derived_.find(type);
  return found == derived_.end() ? nullptr : found->second;
}

const TypeLayout *RankLayouts::of(const analyze::HandleName &type, int64_t count) const {
  const TypeLayout *one = of(type);
  return one == nullptr ? nullptr : table_->repeated(count, one->extent(), one);
}

const TypeLayout *RankLayouts::made(const RowAccess &row) const {
  const std::string_view name = analyze::base_function(*row.function());
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const TypeLayout *old = nullptr;
  for (const char *parameter : {"oldtype", "type", "datatype"}) {
    const auto handle = row.handle(parameter);
    if (handle && old == nullptr) old = of(*handle);
  }
  const auto count = row.number("count");
  const auto length = row.number("blocklength");
  const auto lengths = row.numbers("array_of_blocklengths");
  const auto places = row.displacements("array_of_displacements");

  if (is({"MPI_Type_struct", "MPI_Type_create_struct"})) {
    const auto types = row.handles("array_of_types");
    if (!lengths || !places || types.size() != lengths->size() || places->size() != types.size()) return nullptr;
    std::vector<Item> items;
    for (size_t i = 0; i < types.size(); ++i) items.push_back({(*places)[i], of(types[i], (*lengths)[i])});
    return table_->structure(items);
  }
  if (old == nullptr) return nullptr;
  const int64_t extent = old->extent();
  if (is({"MPI_Type_dup"})) return old;
  if (is({"MPI_Type_contiguous"})) return count ? table_->repeated(*count, extent, old) : nullptr;
  if (is({"MPI_Type_create_resized"})) {
    const auto lower = row.number("lb");
    const auto new_extent = row.number("extent");
    return lower && new_extent ? table_->resized(old, *lower, *new_extent) : nullptr;
  }
  const bool in_elements = is({"MPI_Type_vector", "MPI_Type_indexed", "MPI_Type_create_indexed_block"});
  if (is({"MPI_Type_vector", "MPI_Type_hvector", "MPI_Type_create_hvector"})) {
    const auto stride = row.number("stride");
    if (!count || !length || !stride) return nullptr;
    return table_->repeated(*count, in_elements ? product(*stride, extent) : *stride,
                            table_->repeated(*length, extent, old));
  }
  if (is({"MPI_Type_indexed", "MPI_Type_hindexed", "MPI_Type_create_hindexed", "MPI_Type_create_indexed_block",
          "MPI_Type_create_hindexed_block"})) {
    if (!places || (!length && (!lengths || lengths->size() != places->size()))) return nullptr;
    if (places->size() > TypeLayouts::kMostItems) return nullptr;
    std::vector<Item> items;
    for (size_t i = 0; i < places->size(); ++i) {
      const int64_t at = in_elements ? product((*places)[i], extent) : (*places)[i];
      items.push_back({at, table_->repeated(length ? *length : (*lengths)[i], extent, old)});
    }
    return table_->sequence(items);
  }
  if (is({"MPI_Type_create_subarray"})) return part_of_array(row, old, table_);
  if (is({"MPI_Type_create_darray"})) return distributed(row, old, table_);
  return nullptr;
}

}  // namespace cairn::objects
