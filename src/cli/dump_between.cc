#include "cli/dump_between.h"

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "terminal/words.h"

namespace cairn::cli {

void LinesBetween::begin_line(uint32_t thread) {
  const auto to = std::back_inserter(lines_);
  if (json_) {
    fmt::format_to(to, "{{\"rank\":{},\"thread\":{},", rank_, thread);
    return;
  }
  lines_.append(8, ' ');  // where calls have their numbers
  if (several_threads_) fmt::format_to(to, "t{}  ", thread);
}

void LinesBetween::add(uint32_t thread, const trace::HeapEvent &event) {
  const auto to = std::back_inserter(lines_);
  begin_line(thread);
  const bool on_device = trace::DeviceEvent::is(event);
  const char *const where = on_device ? "device" : "heap";
  const int64_t number = on_device ? trace::DeviceEvent::of(event).number : event.number;
  if (json_) {
    fmt::format_to(to, "\"{}\":{},", where, number);
    lines_ += event.ends() ? "\"freed\":true}\n" : fmt::format("\"bytes\":{}}}\n", event.bytes);
    return;
  }
  fmt::format_to(to, "{}#{}: {}\n", where, number, event.ends() ? "freed" : grouped(event.bytes) + " bytes");
}

void LinesBetween::add(uint32_t thread, const trace::ThreadEvent &event) {
  const auto to = std::back_inserter(lines_);
  const bool own = event.thread == thread;
  const char *what = own ? (event.ends ? "ends" : "begins") : (event.ends ? "joined" : "made");
  begin_line(thread);
  if (json_) {
    fmt::format_to(to, "\"{}\":{}}}\n", what, own ? "true" : std::to_string(event.thread));
  } else if (own) {
    fmt::format_to(to, "thread {}\n", what);
  } else {
    fmt::format_to(to, "thread {}: {}\n", event.thread, what);
  }
}

void LinesBetween::add_rest(uint32_t thread, OfThread *of) {
  of->segments.at_end([&](const trace::HeapEvent &each) { add(thread, each); });
  of->threads.at_end([&](const trace::ThreadEvent &each) { add(thread, each); });
}

const std::string &LinesBetween::before(const trace::Event &event) {
  lines_.clear();
  const auto [entry, first] = threads_met_.try_emplace(event.thread);
  OfThread &thread = entry->second;
  if (first || thread.class_index != event.class_index) {
    add_rest(event.thread, &thread);
    for (const trace::SequenceView &view : trace_.sequences(rank_)) {
      if (view.class_index != event.class_index) continue;
      thread.class_index = event.class_index;
      if (wanted_.segments) thread.segments = analyze::HeapEvents(trace_, view);
      if (wanted_.threads) thread.threads = analyze::ThreadEvents(trace_, view);
    }
  }
  thread.segments.before_call(event.values->function, [&](const auto &each) { add(event.thread, each); });
  thread.threads.before_call([&](const auto &each) { add(event.thread, each); });
  return lines_;
}

const std::string &LinesBetween::rest() {
  lines_.clear();
  for (auto &[number, thread] : threads_met_) add_rest(number, &thread);
  return lines_;
}

}  // namespace cairn::cli
