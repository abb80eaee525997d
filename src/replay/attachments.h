// Attachments: where the segments of dynamic windows lie in a replay. A displacement in such a window is an address of
// the target process: other processes have to be told the one that it has now. The replay's ranks tell one another by
// a file each in a folder that they all see, not by messages, which a recording of the replay would have too many of.
//
// A rank's segments are numbered by the trace (analyze::attached_segments), so that all ranks mean the same by a
// number. The file of a rank has 16 bytes for each: the address, and how many were told before it, from 1; 0: not yet.
// It is opened anew each time: so it is up to date on file systems of several machines, too.
//
// Several threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "analyze/attached.h"
#include "base/result.h"
#include "replay/mpi_side.h"
#include "trace/read/trace.h"

namespace cairn::replay {

class Attachments {
 public:
  /// The trace must outlive this. `first`: how many ranks other jobs have that use the folder, too, and come before
  /// this one. Cost: the trace's rows.
  Attachments(const trace::Trace &trace, uint32_t rank, std::string folder, uint32_t first);

  /// Whether the trace has segments at all.
  [[nodiscard]] bool any() const { return any_; }
  /// Of this rank's.
  std::optional<size_t> number(const analyze::Segment &segment);
  /// That segment is, or is about to be, at that address.
  Result<void> tell(size_t number, Word address);

  /// A segment that held an address, and how far into it that was.
  struct Place {
    size_t number = 0;
    uint64_t distance = 0;
  };
  /// All that a rank ever had there: memory that was given up may be given again.
  std::vector<Place> places(uint32_t rank, uint64_t raw);
  /// Where that is now, by the one of them that was told last; nothing: none was told yet.
  [[nodiscard]] std::optional<Word> find(uint32_t rank, const std::vector<Place> &places) const;

 private:
  struct Told {
    uint64_t address = 0;
    uint64_t order = 0;
  };
  const std::vector<analyze::Segment> &segments(uint32_t rank);
  [[nodiscard]] std::string path(uint32_t rank) const;

  const trace::Trace &trace_;
  uint32_t rank_;
  std::string folder_;
  uint32_t first_;
  bool any_;
  std::mutex lock_;
  std::map<uint32_t, std::vector<analyze::Segment>> segments_;  ///< by rank; read when they are asked for
  uint64_t told_ = 0;
};

}  // namespace cairn::replay
