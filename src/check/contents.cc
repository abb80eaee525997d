#include "check/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analyze/row_access.h"

namespace cairn::check {
namespace {

using analyze::RowAccess;

/// By the names of the parameters that count elements and give their types: one, or one for each rank.
std::vector<Content::Part> parts_of(const RowAccess &row, const RankTypes &types, const std::string &count,
                                    const std::string &type) {
  std::vector<Content::Part> parts;
  const auto one_type = row.handle(type);
  if (const auto number = row.number(count); number && one_type) return {types.of(*one_type, *number)};
  const auto counts = row.numbers(count + "s");
  if (!counts) return parts;
  const auto several = row.handles(type + "s");
  if (!one_type && several.empty()) return parts;
  for (size_t i = 0; i < counts->size(); ++i) {
    const auto of = one_type ? one_type : i < several.size() ? std::optional(several[i]) : std::nullopt;
    parts.push_back(of ? types.of(*of, (*counts)[i]) : std::nullopt);
  }
  // Else it would be taken for one for all.
  if (parts.size() == 1) parts.emplace_back();
  return parts;
}

void add(const std::vector<Content::Part> &parts, std::string *key) {
  for (const Content::Part &part : parts) {
    *key += part ? fmt::format("{}*{} ", static_cast<const void *>(part->signature), part->times) : "? ";
  }
  *key += '|';
}

}  // namespace

const Content &content_of(const analyze::Meeting &meeting, size_t member) {
  static const Content nothing;
  const auto *found = static_cast<const Content *>(meeting.contents[member].get());
  return found == nullptr ? nothing : *found;
}

ContentPointer Contents::of(const trace::Row &row, const analyze::RowScope &scope, const RankTypes &types) {
  const RowAccess access(row, scope);
  auto made = std::make_shared<Content>();
  const spec::Function &function = *access.function();
  made->nonblocking = function.nonblocking;
  made->root = access.number("root");
  made->is_root = access.constant("root") == "MPI_ROOT";
  if (access.has("op")) {
    made->op = access.constant("op");
    if (made->op.empty()) made->op = kOwnOperator;
  }
  made->sends = parts_of(access, types, "sendcount", "sendtype");
  made->receives = parts_of(access, types, "recvcount", "recvtype");
  auto both = parts_of(access, types, "count", "datatype");
  // What is counted of a message in partitions is one of them.
  if (const auto partitions = access.number("partitions"); partitions && both.size() == 1 && both[0]) {
    both[0]->times *= static_cast<uint64_t>(std::max<int64_t>(*partitions, 0));
  }
  if (made->sends.empty()) made->sends = both;
  if (made->receives.empty()) made->receives = both;
  // MPI_Reduce_scatter has counts of results and a datatype; MPI_Reduce_scatter_block one count.
  if (!made->op.empty() && made->receives.empty()) {
    if (const auto type = access.handle("datatype")) {
      if (const auto count = access.number("recvcount")) made->receives = {types.of(*type, *count)};
      if (const auto counts = access.numbers("recvcounts")) {
        for (const int64_t count : *counts) made->receives.push_back(types.of(*type, count));
        if (made->receives.size() == 1) made->receives.emplace_back();
      }
    }
  }
  std::string key = fmt::format("{} {} {} ", made->nonblocking, made->is_root ? -2 : made->root.value_or(-1), made->op);
  add(made->sends, &key);
  add(made->receives, &key);
  return all_.try_emplace(std::move(key), std::move(made)).first->second;
}

}  // namespace cairn::check
