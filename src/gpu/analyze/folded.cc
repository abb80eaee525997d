#include "gpu/analyze/folded.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/saturating.h"
#include "gpu/analyze/distinct_warps.h"

namespace cairn::analyze {
namespace {

/// A frame stands between semicolons.
std::string as_frame(std::string text) {
  std::replace(text.begin(), text.end(), ';', ',');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string place_of(const gpu::ProgramRecord &program, uint16_t location) {
  const gpu::LocationRecord *found = program.find(location);
  if (found == nullptr) return "location " + std::to_string(location);
  return found->file.substr(found->file.rfind('/') + 1) + ":" + std::to_string(found->line);
}

/// Of one warp, or of all that did the same.
class Folding : public TimelineVisitor {
 public:
  Folding(const gpu::ProgramRecord &program, const gpu::LaunchRecord &launch, Weight weight)
      : program_(program), lanes_(launch.lanes), weight_(weight), kernel_(as_frame(program.kernel(launch.kernel))) {}

  void function_begins(uint64_t, const std::string &function) override {
    const bool is_kernel = open_.empty() && function == kernel_;
    enter(is_kernel ? kernel_ : (open_.empty() ? kernel_ : stack()) + ";" + as_frame(function));
  }
  void loop_begins(uint64_t, uint16_t point) override {
    enter(stack() + ";loop " + as_frame(place_of(program_, point)));
  }
  void slice_ends(uint64_t, uint64_t) override { open_.pop_back(); }
  void point(uint64_t, const gpu::Event &event) override {
    if (program_.is_access(event.location)) return;  // as in gpu_points
    const auto there = static_cast<uint64_t>(std::popcount(event.mask));
    const uint64_t weight = weight_ == Weight::visits ? 1 : weight_ == Weight::lanes ? there : lanes_ - there;
    weights_[{open_.back(), event.location}] += weight;
  }

  /// To all stacks, so many times.
  void add(uint64_t times, std::map<std::string, uint64_t> *stacks) const {
    for (const auto &[key, weight] : weights_) {
      if (weight == 0) continue;
      const auto &[number, location] = key;
      const gpu::LocationRecord *found = program_.find(location);
      const std::string kind = found == nullptr ? "" : " " + std::string(gpu::name_of(found->kind));
      add_to(&(*stacks)[names_[number] + ";" + as_frame(place_of(program_, location)) + kind],
             saturating_product(weight, times));
    }
  }

 private:
  [[nodiscard]] const std::string &stack() const { return names_[open_.back()]; }
  void enter(std::string stack) {
    const auto [place, fresh] = numbers_.try_emplace(stack, names_.size());
    if (fresh) names_.push_back(std::move(stack));
    open_.push_back(place->second);
  }

  const gpu::ProgramRecord &program_;
  uint64_t lanes_;
  Weight weight_;
  std::string kernel_;
  std::vector<std::string> names_;  ///< of stacks, by number
  std::unordered_map<std::string, size_t> numbers_;
  std::vector<size_t> open_;  ///< stacks that go on, the innermost last
  std::map<std::pair<size_t, uint16_t>, uint64_t> weights_;
};

}  // namespace

Result<std::map<std::string, uint64_t>> folded_stacks(const gpu::Launches &launches, Weight weight) {
  const WarpWalks walks(launches);
  std::map<std::string, uint64_t> stacks;
  for (const DistinctWarp &warp : distinct_warps(launches)) {
    Folding folding(launches.programs[warp.launch->program], *warp.launch, weight);
    if (auto done = walks.walk(warp, &folding); !done) return tl::unexpected(done.error());
    folding.add(warp.times, &stacks);
  }
  return stacks;
}

}  // namespace cairn::analyze
