#include "analyze/red_flags.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "analyze/communicators.h"
#include "analyze/decode.h"
#include "analyze/sizes.h"
#include "analyze/wanted_calls.h"

namespace cairn::analyze {
namespace {

constexpr uint64_t kFewestRanks = 8;

bool is_per_peer(spec::Kind kind) {
  return kind == spec::Kind::count || kind == spec::Kind::displacement || kind == spec::Kind::datatype;
}

/// Dimensions and the like are short by nature: their length says nothing.
bool may_follow_ranks(spec::Kind kind) {
  return is_per_peer(kind) || kind == spec::Kind::request || kind == spec::Kind::rank || kind == spec::Kind::status ||
         kind == spec::Kind::index || kind == spec::Kind::weight;
}

}  // namespace

std::vector<RedFlag> find_red_flags(const trace::Trace &trace, const Sources &sources, const Filter &filter) {
  std::map<std::pair<uint32_t, size_t>, RedFlag> flags;
  const auto functions = spec::functions();
  const Decoder decoder(trace, sources);
  const WantedCalls wanted(trace, sources, filter);
  std::optional<LastNames> last_names;
  if (wanted.by_communicators()) last_names.emplace(trace);
  const SelectedCalls::Wanted suspect = [&](const spec::Function &function) {
    const auto all = std::span(function.parameters, function.parameter_count);
    return filter.has_function(function.id) &&
           std::any_of(all.begin(), all.end(), [](const spec::Parameter &parameter) {
             return parameter.passing == spec::Passing::array && may_follow_ranks(parameter.kind);
           });
  };
  const SelectedCalls selected(
      trace, [&](const spec::Function &function) { return suspect(function) || Sizes::is_creator(function); });
  // Of the rank that was looked at last: the classes of one rank's threads and segments follow one another.
  std::optional<uint32_t> known;
  std::vector<SelectedCalls::Sequence> calls;
  std::unique_ptr<Sizes> sizes;
  for (const uint32_t index : trace.classes_of(filter.ranks)) {
    if (!SelectedCalls::has(trace, index, suspect)) continue;
    const trace::ClassView view = trace.class_view(index);
    // The structure is the same on all members: any one that was asked for will do.
    const auto member = std::find_if(view.ranks.begin(), view.ranks.end(), [&](uint32_t rank) {
      return std::binary_search(filter.ranks.begin(), filter.ranks.end(), rank);
    });
    if (member == view.ranks.end()) continue;
    if (known != *member) {
      calls = selected.of(*member);
      sizes = std::make_unique<Sizes>(trace.job_of(*member).size, calls);
      known = *member;
    }
    const auto here =
        std::find_if(calls.begin(), calls.end(), [&](const auto &each) { return each.class_index == index; });
    if (here == calls.end()) continue;
    const uint64_t world = trace.job_of(*member).size;
    const CommunicatorNames names = last_names ? last_names->of(*member) : CommunicatorNames(trace, *member);
    for (const auto &[row, class_row, count] : here->calls) {
      const spec::Function &function = functions[row.function];
      if (!suspect(function) || !wanted.wants(index, row, &names)) continue;
      const auto all = std::span(function.parameters, function.parameter_count);
      const RowAccess access(row, *here->scope);
      const auto comm = access.handle("comm");
      const auto comm_size = comm ? sizes->communicator(*comm) : std::nullopt;
      for (size_t p = 0; p < all.size() && p < row.fields.size(); ++p) {
        if (all[p].passing != spec::Passing::array || !may_follow_ranks(all[p].kind)) continue;
        const Value value = decoder.value(index, all[p], row.fields[p]);
        const uint64_t length = value.items.size();
        if (value.kind != Value::Kind::list || length < 2) continue;
        const bool by_definition =
            function.collective && is_per_peer(all[p].kind) && comm_size && static_cast<uint64_t>(*comm_size) == length;
        const bool by_number = world >= kFewestRanks && (length == world || length == world - 1 ||
                                                         length == 2 * world || length == 2 * (world - 1));
        if (!by_definition && !by_number) continue;
        RedFlag &flag = flags[{row.function, p}];
        if (flag.elements >= length) continue;
        flag = {row.function, all[p].name, length, sources.position(index, row.site), by_definition};
      }
    }
  }
  std::vector<RedFlag> list;
  list.reserve(flags.size());
  for (auto &[key, flag] : flags) list.push_back(std::move(flag));
  return list;
}

}  // namespace cairn::analyze
