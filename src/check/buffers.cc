#include "check/buffers.h"

#include <algorithm>
#include <string_view>

#include "analyze/volume.h"
#include "trace/values/atom_reader.h"

namespace cairn::check {
namespace {

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

}  // namespace

std::vector<Region> regions_of(const trace::Row &row, const analyze::RowScope &scope, const RankTypes &types) {
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
    const auto count = access.number(function.parameters[parameter.count_parameter - 1].name);
    const auto type = access.handle(function.parameters[parameter.type_parameter - 1].name);
    const auto stretch = count && type ? types.of(*type, *count) : std::nullopt;
    if (!stretch || !stretch->dense || stretch->bytes() == 0 || stretch->bytes() > INT64_MAX / 2) continue;
    const auto place = place_of(*field, scope.thread);
    if (!place) continue;
    Region region;
    region.space = place->first;
    region.begin = place->second;
    if (__builtin_add_overflow(region.begin, static_cast<int64_t>(stretch->bytes()), &region.end)) continue;
    // The root of MPI_Bcast reads it.
    region.writes = !reads && analyze::operation(function) != "Bcast";
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
    const Places &places = space->second.pending;
    for (auto at = places.lower_bound(region.begin - space->second.longest); at != places.end(); ++at) {
      if (at->first >= region.end) break;
      const Pending &pending = at->second;
      if (pending.end <= region.begin || (!pending.writes && !region.writes)) continue;
      const Request &of = requests_.at(pending.request);
      if (of.unsure) continue;
      const bool told = std::any_of(found.begin(), found.end(),
                                    [&](const Overlap &each) { return each.pending.call == of.call.call; });
      if (told) continue;
      const int64_t bytes = std::min(pending.end, region.end) - std::max(at->first, region.begin);
      found.push_back({of.call, pending.writes, region.writes, static_cast<uint64_t>(bytes)});
    }
  }
  if (!request) return found;
  complete(*request);  // one of that name that nobody saw complete
  Request made;
  made.call = call;
  for (const Region &region : regions) {
    if (!region.later) continue;
    made.sends = made.sends && !region.writes;
    Space &space = spaces_[region.space];
    space.pending.emplace(region.begin, Pending{region.end, region.writes, *request});
    space.longest = std::max(space.longest, region.end - region.begin);
    made.regions.push_back(region);
  }
  if (made.sends) ++sends_;
  requests_.emplace(*request, std::move(made));
  return found;
}

void PendingBuffers::complete(const analyze::HandleName &request) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  for (const Region &region : found->second.regions) {
    const auto space = spaces_.find(region.space);
    Places &places = space->second.pending;
    const auto [first, last] = places.equal_range(region.begin);
    const auto place = std::find_if(first, last, [&](const auto &each) { return each.second.request == request; });
    if (place != last) places.erase(place);
    if (places.empty()) spaces_.erase(space);
  }
  const bool sends = found->second.sends;
  if (sends && !found->second.unsure) --sends_;
  requests_.erase(found);
  if (!sends || sends_ == 0) return;
  for (auto &[name, other] : requests_) other.unsure = other.unsure || other.sends;
  sends_ = 0;
}

}  // namespace cairn::check
