#include "analyze/type_parts.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "analyze/counts.h"
#include "analyze/darray.h"

namespace cairn::analyze {
std::string_view base_function(const spec::Function &function) {
  std::string_view name = function.name;
  if (function.large_count && name.ends_with("_c")) name.remove_suffix(2);
  return name;
}

std::optional<std::vector<TypePart>> type_parts(const RowAccess &row) {
  const std::string_view name = base_function(*row.function());
  const auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::optional<HandleName> old;
  for (const char *parameter : {"oldtype", "type", "datatype"}) {
    if (!old) old = row.handle(parameter);
  }
  const auto of_old = [&](std::optional<int64_t> count) -> std::optional<std::vector<TypePart>> {
    if (!count || *count < 0 || !old) return std::nullopt;
    return std::vector<TypePart>{{*count, *old}};
  };
  const auto lengths = row.numbers("array_of_blocklengths");
  if (is({"MPI_Type_contiguous"})) return of_old(row.number("count"));
  if (is({"MPI_Type_vector", "MPI_Type_hvector", "MPI_Type_create_hvector", "MPI_Type_create_indexed_block",
          "MPI_Type_create_hindexed_block"})) {
    const auto blocks = row.number("count");
    const auto length = row.number("blocklength");
    return blocks && length ? of_old(product({*blocks, *length})) : std::nullopt;
  }
  if (is({"MPI_Type_indexed", "MPI_Type_hindexed", "MPI_Type_create_hindexed"})) {
    return lengths ? of_old(sum(*lengths)) : std::nullopt;
  }
  if (is({"MPI_Type_struct", "MPI_Type_create_struct"})) {
    const auto types = row.handles("array_of_types");
    if (!lengths || types.size() != lengths->size()) return std::nullopt;
    std::vector<TypePart> parts;
    for (size_t i = 0; i < types.size(); ++i) {
      if ((*lengths)[i] < 0) return std::nullopt;
      parts.push_back({(*lengths)[i], types[i]});
    }
    return parts;
  }
  if (is({"MPI_Type_create_subarray"})) {
    const auto extents = row.numbers("array_of_subsizes");
    return extents ? of_old(product(*extents)) : std::nullopt;
  }
  if (is({"MPI_Type_create_darray"})) {
    const auto dimensions = darray_of(row);
    if (!dimensions) return std::nullopt;
    std::vector<int64_t> elements;
    for (const DarrayDimension &each : *dimensions) elements.push_back(each.elements());
    return of_old(product(elements));
  }
  if (is({"MPI_Type_dup", "MPI_Type_create_resized"})) return of_old(1);
  return std::nullopt;
}

}  // namespace cairn::analyze
