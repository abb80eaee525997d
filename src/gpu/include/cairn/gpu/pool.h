// A device's memory for tracing, as numbers: which parts of one allocation launches in flight have. First fit; what
// lies side by side and is free is one part. Costs the number of parts that are free. One thread at a time. Host only.
#pragma once

#include <cassert>
#include <cstdint>
#include <map>

namespace cairn::gpu {

class Pool {
 public:
  static constexpr uint64_t kAlignment = 256;
  static constexpr uint64_t kNone = UINT64_MAX;

  explicit Pool(uint64_t bytes) : bytes_(bytes / kAlignment * kAlignment) {
    if (bytes_ != 0) free_[0] = bytes_;
  }

  /// Where so many bytes are, or kNone.
  uint64_t take(uint64_t bytes) {
    bytes = aligned(bytes);
    for (auto each = free_.begin(); each != free_.end(); ++each) {
      if (each->second < bytes) continue;
      const uint64_t at = each->first;
      const uint64_t rest = each->second - bytes;
      free_.erase(each);
      if (rest != 0) free_[at + bytes] = rest;
      taken_[at] = bytes;
      return at;
    }
    return kNone;
  }

  void give(uint64_t at) {
    const auto taken = taken_.find(at);
    assert(taken != taken_.end());
    auto here = free_.emplace(at, taken->second).first;
    taken_.erase(taken);
    const auto next = std::next(here);
    if (next != free_.end() && here->first + here->second == next->first) {
      here->second += next->second;
      free_.erase(next);
    }
    if (here == free_.begin()) return;
    const auto before = std::prev(here);
    if (before->first + before->second != here->first) return;
    before->second += here->second;
    free_.erase(here);
  }

  /// Taken or not.
  [[nodiscard]] uint64_t bytes() const { return bytes_; }
  /// Bytes that nobody has.
  [[nodiscard]] uint64_t left() const {
    uint64_t sum = 0;
    for (const auto &[at, bytes] : free_) sum += bytes;
    return sum;
  }
  /// The most that `take` can give at once.
  [[nodiscard]] uint64_t largest() const {
    uint64_t most = 0;
    for (const auto &[at, bytes] : free_) most = bytes > most ? bytes : most;
    return most;
  }
  [[nodiscard]] bool is_unused() const { return taken_.empty(); }
  static uint64_t aligned(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

 private:
  std::map<uint64_t, uint64_t> free_;   ///< bytes, by where they begin
  std::map<uint64_t, uint64_t> taken_;  ///< likewise
  uint64_t bytes_;
};

/// What is known when a launch asks for words.
struct WordsAsked {
  uint64_t warps;
  uint64_t most;   ///< words that are there
  uint64_t whole;  ///< words of the whole pool
  uint64_t seen;   ///< the most that a launch of its kernel took; 0: none has ended yet
  bool alone;      ///< no launch is in flight: there will not be more
};
/// Words that there are for each warp of a launch, however little its kernel was seen to write: about what the warp's
/// tables take. A launch that writes more than those before it would lose what a moment's wait would have kept.
constexpr uint64_t kLeastForEach = 256;
/// As long as none has ended.
constexpr uint64_t kUnseenForEach = 1024;
/// A quarter of what is there, so that launches behind it find some too; but twice what was seen, or where nothing was,
/// a thousand for each warp. 0: not now, or where it is alone, never.
inline uint64_t words_for(const WordsAsked &asked) {
  const auto larger = [](uint64_t a, uint64_t b) { return a > b ? a : b; };
  const auto smaller = [](uint64_t a, uint64_t b) { return a < b ? a : b; };
  const uint64_t least = asked.seen != 0 ? larger(2 * asked.seen, kLeastForEach * asked.warps)
                                         : smaller(kUnseenForEach * asked.warps, asked.whole / 4);
  if (least <= asked.most) return larger(asked.most / 4, least);
  return asked.alone && kLeastForEach * asked.warps <= asked.most ? asked.most : 0;
}

}  // namespace cairn::gpu
