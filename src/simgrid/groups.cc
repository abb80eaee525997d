#include "simgrid/groups.h"

#include <algorithm>
#include <numeric>

#include "analyze/job_places.h"

namespace cairn::simgrid {

Result<Groups> Groups::of(const trace::Trace &trace, const analyze::Sources &sources) {
  const auto communicators = analyze::Communicators::of(trace, sources);
  if (!communicators) return tl::unexpected(communicators.error());
  Groups groups;
  groups.graphs_ = communicators->graphs();
  groups.members_.resize(kWorld + 1);
  groups.rank_count_ = trace.rank_count();
  for (uint32_t rank = 0; rank < trace.rank_count(); ++rank) groups.alone_.push_back({rank});
  for (const trace::Trace::JobPlace &job : analyze::job_places(trace)) {
    groups.job_begins_.push_back(job.first);
    if (job.number != 0) {
      groups.numbers_.emplace(communicators->all()[job.number].name, static_cast<uint32_t>(groups.members_.size()));
      groups.members_.emplace_back();
    }
    std::vector<uint32_t> &world = groups.members_.back()[0];
    world.resize(job.size);
    std::iota(world.begin(), world.end(), job.first);
  }
  for (size_t i = communicators->worlds(); i < communicators->all().size(); ++i) {
    const analyze::Communicator &communicator = communicators->all()[i];
    if (!communicator.complete || communicator.foreign) continue;
    groups.numbers_.emplace(communicator.name, static_cast<uint32_t>(groups.members_.size()));
    auto &sides = groups.members_.emplace_back();
    for (size_t side = 0; side < sides.size(); ++side) {
      for (const auto &member : communicator.groups[side]) sides[side].push_back(member.in_world);
    }
  }
  return groups;
}

std::optional<View> Groups::view(const std::string &name, uint32_t rank) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end()) return std::nullopt;
  const auto &sides = members_[found->second];
  for (size_t side = 0; side < sides.size(); ++side) {
    const auto place = std::find(sides[side].begin(), sides[side].end(), rank);
    if (place == sides[side].end()) continue;
    const std::vector<uint32_t> &other = sides[1 - side];
    return View{found->second, static_cast<uint32_t>(place - sides[side].begin()), &sides[side],
                other.empty() ? nullptr : &other,
                other.empty() && sides[side].size() == rank_count_ && sides[side] == members_[kWorld][0]};
  }
  return std::nullopt;
}

View Groups::world(uint32_t rank) const {
  // The worlds of the other jobs follow that of the first.
  const auto behind = std::upper_bound(job_begins_.begin(), job_begins_.end(), rank);
  const auto number = kWorld + static_cast<uint32_t>(behind - job_begins_.begin() - 1);
  const std::vector<uint32_t> &members = members_[number][0];
  return {number, rank - members[0], &members, nullptr, members.size() == rank_count_};
}

int32_t Tags::of(uint32_t communicator, int64_t tag, Of of) {
  constexpr int64_t kWorldTags = int64_t{1} << 30;
  constexpr int64_t kBlock = int64_t{1} << 20;
  constexpr int64_t kBlocks = 512;
  constexpr int64_t kFirst = kWorldTags + kBlocks * kBlock;
  constexpr int64_t kRoom = INT32_MAX - kFirst;
  if (of == Of::messages && tag >= 0) {
    if (communicator == Groups::kWorld && tag < kWorldTags) return static_cast<int32_t>(tag);
    if (communicator < kBlocks && tag < kBlock) return static_cast<int32_t>(kWorldTags + communicator * kBlock + tag);
  }
  const int64_t next = kFirst + static_cast<int64_t>(numbered_.size()) % kRoom;
  const auto number = static_cast<int32_t>(of == Of::messages ? next : -next);
  return numbered_.try_emplace({{communicator, of}, tag}, number).first->second;
}

}  // namespace cairn::simgrid
