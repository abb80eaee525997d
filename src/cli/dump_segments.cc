#include "cli/dump_segments.h"

#include <fmt/format.h>

#include <iterator>

#include "terminal/words.h"

namespace cairn::cli {

void SegmentLines::add(uint32_t thread, const trace::HeapEvent &event) {
  const auto to = std::back_inserter(lines_);
  if (json_) {
    fmt::format_to(to, "{{\"rank\":{},\"thread\":{},\"heap\":{},", rank_, thread, event.number);
    lines_ += event.ends() ? "\"freed\":true}\n" : fmt::format("\"bytes\":{}}}\n", event.bytes);
    return;
  }
  lines_.append(8, ' ');  // where calls have their numbers
  if (threads_) fmt::format_to(to, "t{}  ", thread);
  fmt::format_to(to, "heap#{}: {}\n", event.number, event.ends() ? "freed" : grouped(event.bytes) + " bytes");
}

const std::string &SegmentLines::before(const trace::Event &event) {
  lines_.clear();
  const auto add_it = [&](const trace::HeapEvent &each) { add(event.thread, each); };
  const auto [entry, first] = threads_met_.try_emplace(event.thread);
  OfThread &thread = entry->second;
  if (first || thread.class_index != event.class_index) {
    thread.events.at_end(add_it);
    for (const trace::SequenceView &view : trace_.sequences(rank_)) {
      if (view.class_index == event.class_index) thread = {event.class_index, analyze::HeapEvents(trace_, view)};
    }
  }
  thread.events.before_call(event.values->function, add_it);
  return lines_;
}

const std::string &SegmentLines::rest() {
  lines_.clear();
  for (auto &[number, thread] : threads_met_) {
    thread.events.at_end([&, number = number](const trace::HeapEvent &each) { add(number, each); });
  }
  return lines_;
}

}  // namespace cairn::cli
