#include "check/buffers.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analyze/volume.h"
#include "spec/ids.h"
#include "trace/values/atom_reader.h"

namespace cairn::check {
namespace {

using analyze::HandleName;

/// Offsets and bounds within it can be added up.
constexpr int64_t kFar = INT64_MAX / 8;

/// Where a buffer begins; nullopt: a constant, or not known.
std::optional<std::pair<Region::Space, int64_t>> place_of(const trace::Field &field, uint32_t thread) {
  trace::AtomReader atoms(field.atoms);
  const trace::AtomValue kind = atoms.next();
  const trace::AtomValue number = atoms.next();
  const trace::AtomValue offset = atoms.next();
  if (atoms.failed() || number.special || offset.special) return std::nullopt;
  const bool stack = kind.is(trace::kStack);
  if (!stack && !kind.is(trace::kHeap) && !kind.is(trace::kStatic) && !kind.is(trace::kMapping) &&
      !kind.is(trace::kMpiMemory)) {
    return std::nullopt;
  }
  return std::pair(Region::Space{kind.value, number.value, stack ? thread : 0}, offset.value);
}

/// Where the parts of a buffer lie that has one for each member, which the counts are told of.
const objects::TypeLayout *parts(const analyze::RowAccess &access, size_t count_parameter, size_t type_parameter,
                                 const objects::RankLayouts &layouts) {
  const spec::Function &function = *access.function();
  const auto counts = access.numbers(function.parameters[count_parameter].name);
  const auto type = access.handle(function.parameters[type_parameter].name);
  const std::vector<HandleName> types = access.handles(function.parameters[type_parameter].name);
  const bool one_type = function.parameters[type_parameter].passing != spec::Passing::array;
  if (!counts || (one_type ? !type : types.size() != counts->size())) return nullptr;
  // Displacements stand behind their counts; MPI_Reduce_scatter has none, and its results follow each other.
  const spec::Parameter &behind = function.parameters[count_parameter + 1];
  std::optional<std::vector<int64_t>> places;
  if (behind.kind == spec::Kind::displacement) {
    places = access.numbers(behind.name);
    if (!places || places->size() != counts->size()) return nullptr;
  }
  std::vector<objects::TypeLayout::Item> items;
  int64_t elements = 0;
  for (size_t i = 0; i < counts->size(); ++i) {
    const HandleName &of = one_type ? *type : types[i];
    const objects::TypeLayout *element = layouts.of(of);
    const int64_t place = places ? (*places)[i] : elements;
    int64_t at = place;
    if (element == nullptr || (one_type && __builtin_mul_overflow(place, element->extent(), &at))) return nullptr;
    items.push_back({at, layouts.of(of, (*counts)[i])});
    if (__builtin_add_overflow(elements, (*counts)[i], &elements)) return nullptr;
  }
  return layouts.table().sequence(items);
}

/// How many parts, one for each member, a buffer has whose count is that of one part; nothing where that is not known.
std::optional<int64_t> part_count(const analyze::RowAccess &access, std::string_view buffer,
                                  const analyze::Sizes &sizes) {
  const std::string &operation = analyze::operation(*access.function());
  const bool sends = buffer == "sendbuf";
  const bool several = operation == "Alltoall" || (operation == "Scatter" && sends) ||
                       ((operation == "Gather" || operation == "Allgather") && !sends) ||
                       (operation == "Reduce_scatter_block" && sends);
  if (!several) return 1;
  const auto communicator = access.handle("comm");
  return communicator ? sizes.communicator(*communicator) : std::nullopt;
}

/// Whether the process gives what MPI_Bcast moves: it is the root, or nobody knows.
bool gives_broadcast(const analyze::RowAccess &access, const OwnRanks &own) {
  if (analyze::operation(*access.function()) != "Bcast") return false;
  const auto communicator = access.handle("comm");
  const auto root = access.number("root");  // of an intercommunicator's root group it is a constant
  const auto rank = communicator ? own.in(*communicator) : std::nullopt;
  return !root || !rank || *root == *rank;
}

}  // namespace

bool OwnRanks::see(const trace::Row &row) {
  const analyze::NewCommunicator *made = names_.see(row);
  const auto numbers = analyze::CommunicatorNames::numbers(row);
  if (made == nullptr || !numbers) return false;
  const auto [known, fresh] = by_number_.try_emplace(numbers->made, made->rank);
  return std::exchange(known->second, made->rank) != made->rank || fresh;
}

std::optional<int64_t> OwnRanks::in(const HandleName &communicator) const {
  if (communicator.constant() == spec::constant_id::k_COMM_WORLD) return in_world_;
  if (communicator.special != 0) return std::nullopt;
  const auto known = by_number_.find(communicator.number);
  return known == by_number_.end() ? std::nullopt : known->second;
}

std::vector<Region> regions_of(const trace::Row &row, const analyze::RowScope &scope,
                               const objects::RankLayouts &layouts, const analyze::Sizes &sizes, const OwnRanks &own) {
  std::vector<Region> regions;
  const analyze::RowAccess access(row, scope);
  const spec::Function &function = *access.function();
  for (size_t i = 0; i < function.parameter_count; ++i) {
    const spec::Parameter &parameter = function.parameters[i];
    const bool reads = parameter.kind == spec::Kind::buf_in;
    if (!reads && parameter.kind != spec::Kind::buf_out && parameter.kind != spec::Kind::buf_inout) continue;
    if (parameter.count_parameter == 0 || parameter.type_parameter == 0) continue;
    const trace::Field *field = access.field(parameter.name);
    if (field == nullptr) continue;
    if (reads && access.constant("dest") == "MPI_PROC_NULL") continue;
    if (!reads && access.constant("source") == "MPI_PROC_NULL") continue;
    const auto place = place_of(*field, scope.thread);
    if (!place || place->second < -kFar || place->second > kFar) continue;
    Region region;
    region.space = place->first;
    region.at = place->second;
    const size_t count_parameter = parameter.count_parameter - 1U;
    const size_t type_parameter = parameter.type_parameter - 1U;
    if (function.parameters[count_parameter].passing == spec::Passing::array) {
      region.layout = parts(access, count_parameter, type_parameter, layouts);
    } else {
      auto count = access.number(function.parameters[count_parameter].name);
      const auto type = access.handle(function.parameters[type_parameter].name);
      if (!count || !type ||
          __builtin_mul_overflow(*count, part_count(access, parameter.name, sizes).value_or(1), &*count))
        continue;
      region.layout = layouts.of(*type, *count);
    }
    if (region.layout == nullptr || region.layout->size == 0) continue;
    region.writes = !reads && !gives_broadcast(access, own);
    region.later = parameter.asynchronous;
    regions.push_back(region);
  }
  return regions;
}

std::vector<PendingBuffers::Overlap> PendingBuffers::use(const std::vector<Region> &regions,
                                                         const analyze::CallTime &call,
                                                         const std::optional<analyze::HandleName> &request) {
  std::vector<Overlap> found;
  for (const Region &region : regions) {
    const auto space = spaces_.find(region.space);
    if (space == spaces_.end()) continue;
    const auto look_at = [&](const Places &places) {
      for (auto at = places.lower_bound(region.begin() - space->second.longest); at != places.end(); ++at) {
        if (at->first.at >= region.end() || found.size() == kMostOverlaps) break;
        ++looks_;
        const Region &pending = at->second;
        if (pending.end() <= region.begin()) continue;
        const Request &of = requests_.at(at->first.request);
        if (of.unsure) continue;
        const bool told = std::any_of(found.begin(), found.end(),
                                      [&](const Overlap &each) { return each.pending.call == of.call.call; });
        if (told) continue;
        const uint64_t bytes = common(pending, region);
        if (bytes != 0) found.push_back({of.call, pending.writes, region.writes, bytes});
      }
    };
    look_at(space->second.written);
    if (region.writes) look_at(space->second.read);
  }
  if (!request) return found;
  complete(*request);  // one of that name that nobody saw complete
  Request made;
  made.call = call;
  for (const Region &region : regions) {
    if (!region.later) continue;
    made.sends = made.sends && !region.writes;
    Space &space = spaces_[region.space];
    (region.writes ? space.written : space.read).emplace(Begin{region.begin(), *request}, region);
    space.longest = std::max(space.longest, region.layout->true_extent());
    made.regions.push_back(region);
  }
  if (made.sends) sends_.push_back(*request);
  requests_.emplace(*request, std::move(made));
  return found;
}

uint64_t PendingBuffers::read_and_written(const std::vector<Region> &regions) {
  uint64_t bytes = 0;
  for (const Region &read : regions) {
    for (const Region &written : regions) {
      const bool apart = read.space != written.space || read.end() <= written.begin() || written.end() <= read.begin();
      if (!read.writes && written.writes && !apart) bytes += common(read, written);
    }
  }
  return bytes;
}

uint64_t PendingBuffers::common(const Region &first, const Region &second) {
  const int64_t apart = second.at - first.at;
  if (first.layout->dense && second.layout->dense) {
    return objects::common_bytes(*first.layout, *second.layout, apart).value_or(0);
  }
  constexpr size_t kMost = size_t{1} << 14;
  if (common_.size() >= kMost) common_.clear();
  const auto [known, fresh] = common_.try_emplace({first.layout, second.layout, apart}, 0);
  if (fresh) known->second = objects::common_bytes(*first.layout, *second.layout, apart).value_or(0);
  return known->second;
}

void PendingBuffers::complete(const analyze::HandleName &request) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  for (const Region &region : found->second.regions) {
    const auto space = spaces_.find(region.space);
    Places &places = region.writes ? space->second.written : space->second.read;
    const auto place = places.find(Begin{region.begin(), request});
    if (place != places.end()) places.erase(place);
    if (space->second.read.empty() && space->second.written.empty()) spaces_.erase(space);
  }
  const bool sends = found->second.sends;
  requests_.erase(found);
  if (!sends) return;
  for (const HandleName &name : std::exchange(sends_, {})) {
    const auto other = requests_.find(name);
    if (other != requests_.end()) other->second.unsure = other->second.unsure || other->second.sends;
  }
}

}  // namespace cairn::check
