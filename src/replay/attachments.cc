#include "replay/attachments.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace cairn::replay {

Attachments::Attachments(const trace::Trace &trace, uint32_t rank, std::string folder, uint32_t first)
    : trace_(trace), rank_(rank), folder_(std::move(folder)), first_(first), any_(analyze::attaches(trace)) {
  // Of an earlier replay in the same folder. No window is made before all processes have come past this.
  if (any_) unlink(path(rank).c_str());
}

std::string Attachments::path(uint32_t rank) const { return fmt::format("{}/.attached.{}", folder_, first_ + rank); }

const std::vector<analyze::Segment> &Attachments::segments(uint32_t rank) {
  const auto [entry, fresh] = segments_.try_emplace(rank);
  if (fresh) entry->second = analyze::attached_segments(trace_, rank);
  return entry->second;
}

std::optional<size_t> Attachments::number(const analyze::Segment &segment) {
  const std::lock_guard<std::mutex> guard(lock_);
  const auto &all = segments(rank_);
  const auto found = std::lower_bound(all.begin(), all.end(), segment);
  if (found == all.end() || !(*found == segment)) return std::nullopt;
  return static_cast<size_t>(found - all.begin());
}

Result<void> Attachments::tell(size_t number, Word address) {
  const std::lock_guard<std::mutex> guard(lock_);
  const Told told{address, ++told_};
  const int file = open(path(rank_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const bool written = file >= 0 && pwrite(file, &told, sizeof told, static_cast<off_t>(number * sizeof told)) ==
                                        static_cast<ssize_t>(sizeof told);
  const int error = errno;
  if (file >= 0) close(file);
  if (written) return {};
  return fail(ErrorKind::environment, fmt::format("{} cannot be written: {}", path(rank_), std::strerror(error)),
              "the folder of a replay is one that all ranks can write to");
}

std::vector<Attachments::Place> Attachments::places(uint32_t rank, uint64_t raw) {
  const std::lock_guard<std::mutex> guard(lock_);
  const auto &all = segments(rank);
  std::vector<Place> places;
  for (size_t number = 0; number < all.size() && all[number].raw <= raw; ++number) {
    if (all[number].holds(raw)) places.push_back({number, raw - all[number].raw});
  }
  // One past the end is where a program may put nothing.
  for (size_t number = 0; places.empty() && number < all.size(); ++number) {
    if (raw - all[number].raw == all[number].size) places.push_back({number, all[number].size});
  }
  return places;
}

std::optional<Word> Attachments::find(uint32_t rank, const std::vector<Place> &places) const {
  const int file = open(path(rank).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::optional<Word> found;
  uint64_t latest = 0;
  for (const Place &place : places) {
    Told told;
    const auto at = static_cast<off_t>(place.number * sizeof told);
    if (pread(file, &told, sizeof told, at) != static_cast<ssize_t>(sizeof told) || told.order <= latest) continue;
    latest = told.order;
    found = told.address + place.distance;
  }
  close(file);
  return found;
}

}  // namespace cairn::replay
