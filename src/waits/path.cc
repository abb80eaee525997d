#include "waits/path.h"

namespace cairn::waits {
namespace {

constexpr size_t kFew = 8;

}  // namespace

PathStep::~PathStep() {
  // Not one within the other: there may be millions.
  PathPointer next = std::move(before_);
  while (next && next.use_count() == 1) next = PathPointer(std::move(next->before_));
}

void PathStep::add(Key key, uint64_t ns) {
  for (auto &[known, sum] : few_) {
    if (known == key) {
      sum += ns;
      return;
    }
  }
  if (few_.size() < kFew && many_.empty()) {
    few_.emplace_back(key, ns);
    return;
  }
  many_[key] += ns;
}

void PathStep::join() {
  while (before_ && before_.use_count() == 1) {
    const PathPointer before = std::move(before_);
    before_ = std::move(before->before_);
    if (many_.size() < before->many_.size()) {
      many_.swap(before->many_);
      few_.swap(before->few_);
    }
    for (const auto &[key, ns] : before->few_) add(key, ns);
    for (const auto &[key, ns] : before->many_) add(key, ns);
  }
}

std::vector<std::pair<Cause, uint64_t>> PathStep::all() const {
  std::unordered_map<Key, uint64_t> sums;
  for (const PathStep *step = this; step != nullptr; step = step->before_.get()) {
    for (const auto &[key, ns] : step->few_) sums[key] += ns;
    for (const auto &[key, ns] : step->many_) sums[key] += ns;
  }
  std::vector<std::pair<Cause, uint64_t>> result;
  result.reserve(sums.size());
  for (const auto &[key, ns] : sums) {
    result.emplace_back(Cause{static_cast<uint32_t>(key >> 32), static_cast<Activity>(key)}, ns);
  }
  return result;
}

void Path::add(const Cause &cause, uint64_t ns) {
  if (ns == 0) return;
  if (!last_ || last_.use_count() > 1) last_ = std::make_shared<PathStep>(std::move(last_));
  last_->join();
  last_->add(uint64_t{cause.rank} << 32 | cause.activity, ns);
}

}  // namespace cairn::waits
