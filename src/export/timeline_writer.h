// TimelineWriter: slices on the tracks of threads, counters, and arrows from one slice to another, as a file that
// viewers of timelines open. One class a form; who has something to show (calls of MPI, events of GPU warps) tells it.
//
// Slices of a track nest, and times of a track never go back. One thread. Memory for the names that were used, and the
// tracks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "export/files.h"

namespace cairn::exporting {

/// What is told of a slice besides: a number, or a text.
struct Detail {
  const char *name = "";
  int64_t number = 0;
  std::string text{};
  bool is_text = false;
  static Detail of(const char *name, uint64_t number) { return {name, static_cast<int64_t>(number)}; }
  static Detail of(const char *name, std::string text) { return {name, 0, std::move(text), true}; }
};

struct SliceBegin {
  std::string_view name;
  const char *category = "";
  std::vector<Detail> details{};
};

/// From one mark to another, by its number, which is not 0.
struct Arrow {
  enum class Ends : uint8_t { none, begins, ends } here = Ends::none;
  uint64_t number = 0;
};

struct Track {
  uint32_t process = 0;  ///< from 1
  uint32_t thread = 0;   ///< from 1, in its process
};

class TimelineWriter {
 public:
  TimelineWriter() = default;
  virtual ~TimelineWriter() = default;
  TimelineWriter(const TimelineWriter &) = delete;
  TimelineWriter &operator=(const TimelineWriter &) = delete;

  // Before anything is on them.
  virtual void process(uint32_t process, const std::string &name) = 0;
  virtual void thread(const Track &track, const std::string &name) = 0;

  virtual void begin(const Track &track, uint64_t ns, const SliceBegin &slice) = 0;
  virtual void end(const Track &track, uint64_t ns, const std::vector<Detail> &details = {}) = 0;
  /// One that has none within.
  virtual void slice(const Track &track, uint64_t ns, uint64_t length_ns, const SliceBegin &slice) = 0;
  /// Something without a length, in the slice that is open.
  virtual void mark(const Track &track, uint64_t ns, const SliceBegin &what, const Arrow &arrow) = 0;
  virtual void counter(uint32_t process, const std::string &name, const char *unit, uint64_t ns, uint64_t value) = 0;
  /// Nothing comes any more.
  virtual void finish() = 0;
};

/// Perfetto's own form: packets of Protocol Buffers (TracePacket, TrackEvent), https://perfetto.dev.
std::unique_ptr<TimelineWriter> perfetto_writer(OutFile *out);
/// "Trace Event Format", JSON that Chrome's tracing made common.
std::unique_ptr<TimelineWriter> chrome_writer(OutFile *out);

}  // namespace cairn::exporting
