#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "export/timeline_writer.h"
#include "text/utf8.h"

namespace cairn::exporting {
namespace {

using nlohmann::ordered_json;

/// One object a line, with commas between.
class ChromeWriter : public TimelineWriter {
 public:
  explicit ChromeWriter(OutFile *out) : out_(*out) { out_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["); }

  void process(uint32_t process, const std::string &name) override {
    add({{"ph", "M"}, {"pid", process}, {"name", "process_name"}, {"args", {{"name", valid_utf8(name)}}}});
  }
  void thread(const Track &track, const std::string &name) override {
    add({{"ph", "M"},
         {"pid", track.process},
         {"tid", track.thread},
         {"name", "thread_name"},
         {"args", {{"name", valid_utf8(name)}}}});
  }
  void begin(const Track &track, uint64_t ns, const SliceBegin &slice) override {
    ordered_json event = head("B", track, ns);
    tell(slice, &event);
    add(event);
  }
  void end(const Track &track, uint64_t ns, const std::vector<Detail> &details) override {
    ordered_json event = head("E", track, ns);
    if (!details.empty()) event["args"] = arguments(details);
    add(event);
  }
  void slice(const Track &track, uint64_t ns, uint64_t length_ns, const SliceBegin &slice) override {
    ordered_json event = head("X", track, ns);
    set_time("dur", length_ns, &event);
    tell(slice, &event);
    add(event);
  }
  void mark(const Track &track, uint64_t ns, const SliceBegin &what, const Arrow &arrow) override {
    ordered_json event = head("i", track, ns);
    tell(what, &event);
    event["s"] = "t";
    add(event);
    if (arrow.here == Arrow::Ends::none) return;
    const bool begins = arrow.here == Arrow::Ends::begins;
    event = head(begins ? "s" : "f", track, ns);
    event["name"] = "message";
    event["cat"] = "message";
    event["id"] = arrow.number;
    if (!begins) event["bp"] = "e";  // to the slice that is open
    add(event);
  }
  void counter(uint32_t process, const std::string &name, const char *unit, uint64_t ns, uint64_t value) override {
    ordered_json event{{"ph", "C"}, {"pid", process}};
    set_time("ts", ns, &event);
    event["name"] = name;
    event["args"] = {{unit, value}};
    add(event);
  }
  void finish() override { out_.write("\n]}\n"); }

 private:
  /// Microseconds, whole ones without a fraction.
  static void set_time(const char *name, uint64_t ns, ordered_json *event) {
    if (ns % 1000 == 0) {
      (*event)[name] = ns / 1000;
    } else {
      (*event)[name] = static_cast<double>(ns) / 1000;
    }
  }
  static ordered_json head(const char *phase, const Track &track, uint64_t ns) {
    ordered_json event{{"ph", phase}, {"pid", track.process}, {"tid", track.thread}};
    set_time("ts", ns, &event);
    return event;
  }
  static ordered_json arguments(const std::vector<Detail> &details) {
    ordered_json all = ordered_json::object();
    for (const Detail &each : details) {
      if (each.is_text) {
        all[each.name] = valid_utf8(each.text);
      } else {
        all[each.name] = each.number;
      }
    }
    return all;
  }
  static void tell(const SliceBegin &slice, ordered_json *event) {
    (*event)["name"] = valid_utf8(std::string(slice.name));
    (*event)["cat"] = slice.category;
    if (!slice.details.empty()) (*event)["args"] = arguments(slice.details);
  }
  void add(const ordered_json &event) {
    out_.write(first_ ? "\n" : ",\n");
    out_.write(event.dump());
    first_ = false;
  }

  OutFile &out_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<TimelineWriter> chrome_writer(OutFile *out) { return std::make_unique<ChromeWriter>(out); }

}  // namespace cairn::exporting
